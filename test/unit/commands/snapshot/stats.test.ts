import { expect, test } from 'vitest';
import { pickedSummary, withDisk } from '../../../../src/commands/snapshot/stats.ts';
import { storageUsageOf } from '../../../../src/node/kubelet/summary.ts';

const measured = {
  ...{ capacityBytes: 1000, availableBytes: 400, inodes: 10, inodesFree: 5 },
  ...{ usedBytes: 300, inodesUsed: 3 },
};

test.each([
  ['the same capacity', 900, false],
  ['another capacity', 800, true],
  ['none', undefined, false],
])('takes from the kubelet whether containers have their own file system: %s', (_, containerFs, split) => {
  const runtime = {
    imageFs: { capacityBytes: 900, availableBytes: 1 },
    ...(containerFs !== undefined && { containerFs: { capacityBytes: containerFs, availableBytes: 1 } }),
  };
  const answer = Buffer.from(JSON.stringify({ node: { fs: { capacityBytes: 900 }, runtime }, pods: [] }));
  const stats = withDisk(pickedSummary(answer), { imageFs: measured, fs: undefined });
  const usage = storageUsageOf(JSON.parse(JSON.stringify(stats)), 0);
  expect(usage.splitContainerFs).toBe(split);
  const signals = usage.signals.map(({ signal }) => signal);
  expect(signals.includes('containerfs.available')).toBe(containerFs !== undefined);
});
