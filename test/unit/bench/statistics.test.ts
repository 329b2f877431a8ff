import { describe, expect, test } from 'vitest';
import { median } from '../../bench/median.ts';
import { percentile, slope } from '../../bench/statistics.ts';

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => n - i);

describe('percentile', () => {
  test.each([
    { name: '99 of a hundred is the 99th', values: upTo(100), percent: 99, expected: 99 },
    { name: '99 of ten is the largest', values: upTo(10), percent: 99, expected: 10 },
    { name: '99 of 300 leaves three above', values: upTo(300), percent: 99, expected: 297 },
    { name: '0 is the smallest', values: upTo(10), percent: 0, expected: 1 },
    { name: '100 is the largest', values: upTo(10), percent: 100, expected: 10 },
    { name: 'of none there is none', values: [], percent: 99, expected: NaN },
  ])('$name', ({ values, percent, expected }) => {
    expect(percentile(values, percent)).toBe(expected);
  });
});

describe('slope', () => {
  test.each([
    {
      name: 'of a line',
      points: [
        { x: 1_000, y: 50 },
        { x: 3_000, y: 51 },
        { x: 5_000, y: 52 },
      ],
      expected: 0.0005,
    },
    {
      name: 'through scattered points the least squares',
      points: [
        { x: 0, y: 0 },
        { x: 1, y: 3 },
        { x: 2, y: 2 },
      ],
      expected: 1,
    },
    {
      name: 'of a level',
      points: [
        { x: 0, y: 7 },
        { x: 9, y: 7 },
      ],
      expected: 0,
    },
  ])('$name', ({ points, expected }) => {
    expect(slope(points)).toBeCloseTo(expected, 10);
  });

  test.each([
    { name: 'of one point', points: [{ x: 5, y: 5 }] },
    {
      name: 'of points of one x',
      points: [
        { x: 5, y: 5 },
        { x: 5, y: 6 },
      ],
    },
    { name: 'of none', points: [] },
  ])('$name is not known', ({ points }) => {
    expect(slope(points)).toBeNaN();
  });
});

describe('median', () => {
  test.each([
    { values: [3, 1, 2], expected: 2 },
    { values: [10, 1, 2, 3], expected: 2.5 },
    { values: [7], expected: 7 },
    { values: [], expected: NaN },
  ])('of $values is $expected', ({ values, expected }) => {
    expect(median(values)).toBe(expected);
  });
});
