import { describe, expect, test } from 'vitest';
import { churnSection, type ChurnResult } from '../../bench/churn-report.ts';
import type { DustpanObserved, Observed } from '../../bench/churn-run.ts';
import { behindMs } from '../../bench/churn-view.ts';

describe('how far a pass is behind', () => {
  const scrape = (passAtMs: number, keepMarked: number) => ({ passAtMs, keepMarked });
  const marked = [1_000, 1_050, 1_100, 1_150];

  test.each([
    { name: 'the oldest mark that it did not see', passes: [scrape(1_160, 2)], expected: [60] },
    { name: 'nothing when it saw all', passes: [scrape(9_000, 4)], expected: [0] },
    {
      name: 'nothing when what it did not see was answered later',
      passes: [scrape(1_090, 2)],
      expected: [0],
    },
    {
      name: 'a pass is told once, however often it is scraped',
      passes: [scrape(1_160, 2), scrape(1_160, 2)],
      expected: [60],
    },
    { name: 'each pass', passes: [scrape(1_060, 0), scrape(1_120, 1)], expected: [60, 70] },
    { name: 'the pass before the first change is none', passes: [], expected: [] },
  ])('$name', ({ passes, expected }) => {
    expect(behindMs([scrape(500, 0), ...passes], marked)).toEqual(expected);
  });
});

/** Looked at once a second, the resident memory of each minute as given. */
function observed(minutesMb: readonly number[], changes = minutesMb.length * 12_000): Observed {
  const during = minutesMb.flatMap((residentMb) =>
    Array.from({ length: 60 }, () => ({ residentMb, peakMb: residentMb + 1, cpuSeconds: 12 })),
  );
  return {
    churned: { seconds: minutesMb.length * 60, changes, failed: 0, answerMs: [1, 2, 9] },
    before: { residentMb: 90, peakMb: 91, cpuSeconds: 2 },
    during,
  };
}

const dustpanOf = (base: Observed, p99Ms = 20): DustpanObserved => ({
  ...base,
  delays: { samples: 30_000, p50Ms: 0.1, p99Ms, p999Ms: 30, maxMs: 80 },
  ...{ lagMs: [1, 2, 3], planMs: [40], behindMs: [0, 12] },
  serverCpuSecondsPerMinute: { etcd: 5, api: 20 },
});

const resultOf = (dustpan: DustpanObserved, more: Partial<ChurnResult> = {}): ChurnResult => ({
  ...{ command: 'npm run bench:churn', loadBefore: 1, nodeArgs: '--x', env: 'A=1', apiServer: 'v1' },
  ...{ pods: 50_000, rate: 200, minutes: 5, dustpan },
  ...more,
});

function rowOf(result: ChurnResult, title: string): string[] {
  const line = churnSection(result)
    .split('\n')
    .find((one) => one.startsWith(`| ${title} |`));
  return (
    line
      ?.split('|')
      .slice(2, -1)
      .map((cell) => cell.trim()) ?? []
  );
}

const delay = 'event loop delay, 99th percentile';
const growth = 'growth from the second minute to the last';

describe('the section of the churn', () => {
  test.each([
    { name: 'below it', p99Ms: 49.9, expected: 'met' },
    { name: 'at it', p99Ms: 50, expected: '**missed**' },
  ])('a delay $name is $expected', ({ p99Ms, expected }) => {
    const row = rowOf(resultOf(dustpanOf(observed([100, 100, 100, 100, 100]), p99Ms)), delay);
    expect(row).toEqual([`${p99Ms.toFixed(1)} ms`, '', '< 50 ms', expected]);
  });

  test.each([
    { name: 'level', minutes: [80, 100, 100, 99, 104], expected: ['4.0 %', '', '5 %', 'met'] },
    { name: 'that grows', minutes: [80, 100, 102, 104, 106], expected: ['6.0 %', '', '5 %', '**missed**'] },
  ])('memory $name, the first minute not counted', ({ minutes, expected }) => {
    expect(rowOf(resultOf(dustpanOf(observed(minutes))), growth)).toEqual(expected);
  });

  test.each([
    { name: 'fewer pods', more: { pods: 5_000 }, changes: 60_000 },
    { name: 'a shorter time', more: { minutes: 1 }, changes: 60_000 },
    { name: 'a lower rate', more: { rate: 100 }, changes: 60_000 },
    { name: 'a rate that was not reached', more: {}, changes: 50_000 },
  ])('$name meets and misses no budget', ({ more, changes }) => {
    const result = resultOf(dustpanOf(observed([100, 100, 100, 100, 100], changes), 99), more);
    expect(rowOf(result, delay).at(-1)).toBe('');
    expect(rowOf(result, growth).at(-1)).toBe('');
  });

  test('has the peer beside it', () => {
    const upstream = observed([700, 800, 800, 800, 800]);
    const result = resultOf(dustpanOf(observed([100, 100, 100, 100, 100])), { upstream });
    expect(rowOf(result, 'changes a second')).toEqual(['200.0', '200.0', '200', '']);
    expect(rowOf(result, 'resident memory before')).toEqual(['90 MB', '90 MB', '', '']);
    expect(rowOf(result, '… in the last minute').slice(0, 2)).toEqual(['100 MB', '800 MB']);
    expect(rowOf(result, '… peak').slice(0, 2)).toEqual(['101 MB', '801 MB']);
    expect(rowOf(result, 'CPU a minute').slice(0, 2)).toEqual(['2.0 s', '2.0 s']);
  });

  test('of one minute no growth is known', () => {
    const result = resultOf(dustpanOf(observed([100])), { minutes: 1 });
    expect(rowOf(result, growth)[0]).toBe('–');
    expect(rowOf(result, 'view behind, longest')[0]).toBe('12.0 ms');
    expect(churnSection(result)).not.toContain('NaN');
  });
});
