import { expect, test } from 'vitest';
import { jobTrackingFinalizer, keptFinalizers } from '../../../src/api/finalizers.ts';

const others = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `a/${i}`);

test.each([
  { name: 'none', finalizers: [], expected: [] },
  { name: 'a few are kept', finalizers: others(8), expected: others(8) },
  { name: 'of many the first', finalizers: others(9), expected: others(8) },
  {
    name: "and the Job's, if it comes late",
    finalizers: [...others(9), jobTrackingFinalizer, ...others(9)],
    expected: [...others(7), jobTrackingFinalizer],
  },
  {
    name: "the Job's once",
    finalizers: [jobTrackingFinalizer, ...others(9), jobTrackingFinalizer],
    expected: [jobTrackingFinalizer, ...others(7)],
  },
])('$name', ({ finalizers, expected }) => {
  expect(keptFinalizers(finalizers)).toEqual(expected);
});
