import { expect, test } from 'vitest';
import { labelled, metric, planTimes } from '../../bench/scrape.ts';

const exposition = [
  '# HELP pods Pods.',
  '# TYPE pods gauge',
  'pods{reason="KeepMarked"} 12',
  'pods{reason="NotTerminated",mode="a"} 30',
  'pods{mode="b",reason="NotTerminated"} 4',
  'pods_total 99',
  'seconds{loop="podgc"} 1763749200.25',
].join('\n');

test('a metric is the sum over its labels', () => {
  expect(metric(exposition, 'pods')).toBe(46);
  expect(metric(exposition, 'pods_total')).toBe(99);
  expect(metric(exposition, 'none')).toBe(0);
});

test('of a label only its own samples count', () => {
  expect(labelled(exposition, 'pods', 'reason="KeepMarked"')).toBe(12);
  expect(labelled(exposition, 'pods', 'reason="NotTerminated"')).toBe(34);
  expect(labelled(exposition, 'seconds', 'loop="podgc"')).toBe(1763749200.25);
  expect(labelled(exposition, 'pods', 'reason="Kept"')).toBe(0);
});

test('times of plans are what the sum grew by for each', () => {
  const scrape = (passes: number, planSeconds: number) => ({
    ...{ passes, planSeconds, atMs: 0, lagSeconds: 0, requests: 0, heapMb: 0, passAtMs: 0, keepMarked: 0 },
    usage: { residentMb: 0, peakMb: 0, cpuSeconds: 0 },
  });
  const times = planTimes([scrape(0, 0), scrape(1, 0.5), scrape(1, 0.5), scrape(3, 0.7)]);
  expect(times).toEqual([0.5, expect.closeTo(0.1)]);
});
