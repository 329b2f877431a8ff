import { expect, test } from 'vitest';
import {
  growthPerMinute,
  observeTrend,
  type Sample,
  type Trend,
} from '../../../../src/agent/localstorage/growth.ts';

/** Seconds and bytes. */
type Look = readonly [at: number, bytes: number];

const trendOf = (looks: readonly Look[]): Trend | undefined =>
  looks
    .map(([at, bytes]): Sample => ({ atMs: 1e12 + at * 1000, bytes }))
    .reduce<Trend | undefined>((trend, look) => observeTrend(trend, look), undefined);

const growthOf = (looks: readonly Look[]): number | undefined => {
  const trend = trendOf(looks);
  return trend && growthPerMinute(trend);
};

const every = (seconds: number, untilS: number, bytesAt: (at: number) => number): Look[] =>
  Array.from({ length: Math.floor(untilS / seconds) + 1 }, (_, i) => [i * seconds, bytesAt(i * seconds)]);

test.each<{ readonly name: string; readonly looks: readonly Look[]; readonly expected: number | undefined }>([
  { name: 'one look tells nothing', looks: [[0, 100]], expected: undefined },
  {
    name: 'nor do two in quick succession',
    looks: [
      [0, 100],
      [40, 500],
    ],
    expected: undefined,
  },
  {
    name: 'two a minute apart do',
    looks: [
      [0, 100],
      [60, 700],
    ],
    expected: 600,
  },
  {
    name: 'a figure that is seen six times before it is measured anew grows by what it grew',
    looks: every(10, 600, (at) => 100 + Math.floor(at / 60) * 60).map(([at, bytes]) => [
      Math.floor(at / 60) * 60,
      bytes,
    ]),
    expected: 60,
  },
  {
    name: 'so does one whose time moves on although only a part of it was measured anew',
    looks: every(10, 600, (at) => 100 + Math.floor(at / 60) * 60),
    expected: 60,
  },
  {
    name: 'a figure between two measurements does not look as if it stood still',
    looks: every(10, 170, (at) => 100 + Math.floor(at / 60) * 60),
    expected: 60,
  },
  {
    name: 'steady growth, looked at every ten seconds',
    looks: every(10, 300, (at) => at * 5),
    expected: 300,
  },
  { name: 'what stands still does not grow', looks: every(10, 900, () => 1e9), expected: undefined },
  {
    name: 'what stopped growing 15 min ago does not grow',
    looks: every(10, 1800, (at) => Math.min(at, 800)),
    expected: undefined,
  },
  { name: 'what shrinks does not grow', looks: every(60, 600, (at) => 1e6 - at), expected: undefined },
  {
    name: 'only the last 15 min count',
    looks: every(60, 3600, (at) => (at < 1800 ? at * 1000 : 1_800_000 + (at - 1800))),
    expected: 60,
  },
  {
    name: 'large figures lose no precision',
    looks: every(60, 600, (at) => 8e15 + at),
    expected: 60,
  },
  {
    name: 'a clock that was set back starts anew',
    looks: [
      [10_000, 5],
      [10_060, 100_000],
      [0, 100],
      [60, 160],
    ],
    expected: 60,
  },
  {
    name: 'a figure that comes late is passed over',
    looks: [
      [0, 100],
      [60, 160],
      [30, 9999],
      [120, 220],
    ],
    expected: 60,
  },
])('growth a minute: $name', ({ looks, expected }) => {
  expect(growthOf(looks)).toBe(expected);
});

test('a day of looks keeps a quarter of an hour of them, a minute apart', () => {
  const { samples = [], latest } = trendOf(every(10, 86_400, (at) => at)) ?? {};
  expect(samples.length).toBeLessThanOrEqual(15);
  const [first] = samples;
  expect((latest?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThan(13 * 60_000);
  const gaps = samples.slice(1).map(({ atMs }, i) => atMs - (samples[i]?.atMs ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(60_000);
});
