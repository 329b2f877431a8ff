import { expect, test } from 'vitest';
import { inSlices } from '../../../src/runtime/scheduling/slices.ts';

const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

test('takes every item in order', async () => {
  const seen: number[] = [];
  await inSlices(numbers(1_234), (item) => seen.push(item));
  expect(seen).toEqual(numbers(1_234));
});

test('of many items others have their turn before the last', async () => {
  let seen = 0;
  let seenByOthers = 0;
  setImmediate(() => {
    seenByOthers = seen;
  });
  await inSlices(numbers(5_000), () => seen++);
  expect(seenByOthers).toBeGreaterThan(0);
  expect(seenByOthers).toBeLessThan(5_000);
});

test('ends with what an item throws', async () => {
  const failing = inSlices(numbers(10), (item) => {
    if (item === 3) throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
});
