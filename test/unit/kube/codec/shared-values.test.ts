import { expect, test } from 'vitest';
import { SharedValues } from '../../../../src/kube/codec/shared-values.ts';

const value = (name: string): { readonly name: string } => ({ name });

test('equal values are one until the table is full', () => {
  const shared = new SharedValues<object>();
  const first = shared.share(value('a'));
  expect(shared.share(value('a'))).toBe(first);
  for (let i = 0; i < 4096; i += 1) shared.share(value(`b${i}`));
  expect(shared.share(value('a'))).not.toBe(first);
});

test('a long value is not shared', () => {
  const shared = new SharedValues<object>();
  const first = shared.share(value('x'.repeat(1024)));
  expect(shared.share(value('x'.repeat(1024)))).not.toBe(first);
});
