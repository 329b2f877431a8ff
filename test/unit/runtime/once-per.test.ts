import { expect, test } from 'vitest';
import { oncePer } from '../../../src/runtime/once-per.ts';

test('makes a value once for each object, also if it is undefined', () => {
  const made: object[] = [];
  const of = oncePer((key: object) => {
    made.push(key);
    return key === first ? undefined : made.length;
  });
  const [first, second] = [{}, {}];
  expect([of(first), of(second), of(first), of(second)]).toEqual([undefined, 2, undefined, 2]);
  expect(made).toEqual([first, second]);
});
