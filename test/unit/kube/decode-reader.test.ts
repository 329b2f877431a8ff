import { expect, test } from 'vitest';
import { RecentStrings } from '../../../src/kube/decode-reader.ts';

test('a string is never taken for the bytes of another', () => {
  const strings = new RecentStrings();
  const read = (text: string): string => {
    const bytes = Buffer.from(text);
    return strings.read(bytes, 0, bytes.length);
  };
  // Characters of the first are the bytes of the second; now and then both have the same place in the table.
  for (let i = 0; i < 20_000; i += 1) {
    expect([`${i}Ã¶`, `${i}Ã¶`, `${i}ö`].map(read)).toEqual([`${i}Ã¶`, `${i}Ã¶`, `${i}ö`]);
  }
});
