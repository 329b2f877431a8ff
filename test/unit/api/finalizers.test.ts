import { expect, test } from 'vitest';
import { jobTrackingFinalizer, keptFinalizers } from '../../../src/api/finalizers.ts';

const others = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `a/${i}`);

test.each([
  { name: 'none', finalizers: [], expected: [] },
  { name: 'a few', finalizers: others(8), expected: others(8) },
  { name: 'the first of many', finalizers: others(9), expected: others(8) },
  {
    name: "the Job's, even if it is late in the list",
    finalizers: [...others(9), jobTrackingFinalizer, ...others(9)],
    expected: [...others(7), jobTrackingFinalizer],
  },
  {
    name: "the Job's only once",
    finalizers: [jobTrackingFinalizer, ...others(9), jobTrackingFinalizer],
    expected: [jobTrackingFinalizer, ...others(7)],
  },
])('keeps $name', ({ finalizers, expected }) => {
  expect(keptFinalizers(finalizers)).toEqual(expected);
});
