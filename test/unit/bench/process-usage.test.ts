import { expect, test } from 'vitest';
import { startOf, usageOf } from '../../bench/process-usage.ts';

test('a process started before now, and its parent before it', () => {
  const started = startOf(process.pid);
  expect(started).toBeLessThan(performance.now());
  expect(startOf(process.ppid)).toBeLessThanOrEqual(started);
  expect(startOf(1)).toBeLessThanOrEqual(startOf(process.ppid));
});

test('what a process uses of the CPU grows with what it does', () => {
  const before = usageOf(process.pid);
  let after = before;
  for (let looks = 0; looks < 50_000 && after.cpuSeconds === before.cpuSeconds; looks++)
    after = usageOf(process.pid);
  expect(after.cpuSeconds).toBeGreaterThan(before.cpuSeconds);
  expect(before.peakMb).toBeGreaterThanOrEqual(before.residentMb);
});
