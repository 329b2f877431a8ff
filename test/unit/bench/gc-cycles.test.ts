import { describe, expect, test } from 'vitest';
import { endsIn, rateOf, wholeCycles, wholeRate } from '../../bench/gc-cycles.ts';

describe('runs of a collector in a log', () => {
  test('end after what they took, by the clock', () => {
    const log = [
      'I1122 10:00:00.000000 1 server.go:1] "gc 9 @1.0s 1%: 1+1+1 ms clock" is not a line of the collector',
      'gc 1 @0.042s 3%: 0.5+2.0+0.25 ms clock, 1.0+0.5/1.5/0+0.5 ms cpu, 4->5->2 MB, 5 MB goal, 2 P',
      'I1122 10:00:00.000000 1 server.go:1] "Serving"',
      'gc 12 @61.5s 9%: 0.1+7000+0.1 ms clock, 0.2+3500/7000/900+0.2 ms cpu, 900->1100->600 MB, 2 P (forced)',
    ].join('\n');
    expect(endsIn(log)).toEqual([44.75, 68_500.2]);
  });

  test('are none where the program does not tell', () => {
    expect(endsIn('I1122 10:00:00.000000 1 server.go:1] "Serving"\n')).toEqual([]);
  });
});

/** 100 deletes in the first second, 300 in each later one. */
const marks = [
  { atMs: 1_000, done: 0 },
  { atMs: 2_000, done: 100 },
  { atMs: 3_000, done: 400 },
  { atMs: 4_000, done: 700 },
];

describe('whole cycles', () => {
  test.each([
    {
      name: 'reach from the first end to the last',
      ends: [1_500, 2_500, 3_500],
      cycles: 2,
      done: 500,
      seconds: 2,
    },
    {
      name: 'leave out what ended before and after',
      ends: [0, 2_500, 3_000, 9_000],
      cycles: 1,
      done: 150,
      seconds: 0.5,
    },
    { name: 'may begin and end with a mark', ends: [1_000, 4_000], cycles: 1, done: 700, seconds: 3 },
  ])('$name', ({ ends, cycles, done, seconds }) => {
    expect(wholeCycles(marks, ends)).toEqual({ cycles, done, seconds });
  });

  test.each([
    { name: 'no end', ends: [] },
    { name: 'one end', ends: [2_500] },
    { name: 'a second end that came later', ends: [2_500, 4_001] },
  ])('are none with $name', ({ ends }) => {
    expect(wholeCycles(marks, ends)).toBeUndefined();
  });

  test('are none where nothing was marked', () => {
    expect(wholeCycles([], [1_500, 2_500])).toBeUndefined();
  });
});

test('a rate is from the first mark to the last', () => {
  expect(rateOf(marks)).toBeCloseTo(700 / 3);
});

test('the rate of several stretches is of all that was done in all their time', () => {
  const long = { cycles: 2, done: 900, seconds: 3 };
  const short = { cycles: 1, done: 100, seconds: 1 };
  expect(wholeRate([long, undefined, short])).toBe(250);
  expect(wholeRate([undefined])).toBeNaN();
});
