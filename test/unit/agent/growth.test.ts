import { expect, test } from 'vitest';
import { growthPerMinute, observeTrend, type Trend } from '../../../src/agent/growth.ts';

/** Seconds and bytes. */
type Sample = readonly [at: number, bytes: number];

const trendOf = (samples: readonly Sample[]): Trend | undefined =>
  samples.reduce<Trend | undefined>(
    (trend, [at, bytes]) => observeTrend(trend, { atMs: 1e12 + at * 1000, bytes }),
    undefined,
  );

const every = (seconds: number, untilS: number, bytesAt: (at: number) => number): Sample[] =>
  Array.from({ length: Math.floor(untilS / seconds) + 1 }, (_, i) => [i * seconds, bytesAt(i * seconds)]);
const samples = (...list: readonly Sample[]): readonly Sample[] => list;
const minuteOf = (at: number): number => Math.floor(at / 60) * 60;

test.each<{ readonly name: string; readonly samples: readonly Sample[]; readonly expected?: number }>([
  { name: 'one sample: not known', samples: samples([0, 100]) },
  { name: 'two samples within 40 s: not known', samples: samples([0, 100], [40, 500]) },
  { name: 'two samples a minute apart', samples: samples([0, 100], [60, 700]), expected: 600 },
  {
    name: 'the time changes although only a part was measured again',
    samples: every(10, 600, (at) => 100 + minuteOf(at)),
    expected: 60,
  },
  {
    name: 'between two measurements the size does not seem to stand still',
    samples: every(10, 170, (at) => 100 + minuteOf(at)),
    expected: 60,
  },
  { name: 'an unchanged size does not grow', samples: every(10, 900, () => 1e9) },
  { name: 'growth that ended 15 min ago', samples: every(10, 1800, (at) => Math.min(at, 800)) },
  { name: 'a shrinking size does not grow', samples: every(60, 600, (at) => 1e6 - at) },
  {
    name: 'only the last 15 min count',
    samples: every(60, 3600, (at) => (at < 1800 ? at * 1000 : 1_800_000 + (at - 1800))),
    expected: 60,
  },
  { name: 'large sizes lose no precision', samples: every(60, 600, (at) => 8e15 + at), expected: 60 },
  {
    name: 'after the clock was set back the trend starts again',
    samples: samples([10_000, 5], [10_060, 100_000], [0, 100], [60, 160]),
    expected: 60,
  },
  {
    name: 'a late sample is ignored',
    samples: samples([0, 100], [60, 160], [30, 9999], [120, 220]),
    expected: 60,
  },
])('growth per minute: $name', ({ samples: given, expected }) => {
  const trend = trendOf(given);
  expect(trend && growthPerMinute(trend)).toBe(expected);
});

test('a trend keeps 15 min of samples, a minute apart', () => {
  const { samples: kept = [], latest } = trendOf(every(10, 86_400, (at) => at)) ?? {};
  expect(kept.length).toBeLessThanOrEqual(15);
  const [first] = kept;
  expect((latest?.atMs ?? 0) - (first?.atMs ?? 0)).toBeGreaterThan(13 * 60_000);
  const gaps = kept.slice(1).map(({ atMs }, i) => atMs - (kept[i]?.atMs ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(60_000);
});
