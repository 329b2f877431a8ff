import { expect, test } from 'vitest';
import { pickedSummary, withDisk } from '../../../../src/commands/snapshot/stats.ts';
import { storageUsageOf } from '../../../../src/node/kubelet/summary.ts';

const measured = {
  ...{ capacityBytes: 1000, availableBytes: 400, inodes: 10, inodesFree: 5 },
  ...{ usedBytes: 300, inodesUsed: 3 },
};

/** As the kubelet tells it. */
const capacities = (fs: number | undefined, imageFs: number | undefined): Buffer =>
  Buffer.from(
    JSON.stringify({
      node: { fs: { capacityBytes: fs }, runtime: { imageFs: { capacityBytes: imageFs } } },
      pods: [],
    }),
  );

test.each([
  { name: 'shared', answer: capacities(900, 900), dedicated: false },
  { name: 'its own', answer: capacities(900, 800), dedicated: true },
  {
    name: 'its own, and the other as large as it is measured',
    answer: capacities(1000, 800),
    dedicated: true,
  },
  { name: 'not told', answer: capacities(1000, undefined), dedicated: true },
  { name: 'nothing is told', answer: capacities(undefined, undefined), dedicated: true },
])("whose the image file system is stays the kubelet's word: $name", ({ answer, dedicated }) => {
  const stats = withDisk(pickedSummary(answer), { imageFs: measured, fs: undefined });
  const written: unknown = JSON.parse(JSON.stringify(stats));
  expect(storageUsageOf(written, 0).dedicatedImageFs).toBe(dedicated);
  expect(written).toHaveProperty('node.runtime.imageFs.capacityBytes', 1000);
});

test('a kubelet without pods tells that there are none', () => {
  expect(pickedSummary(Buffer.from('{"node":{}}'))).toEqual({ node: {}, pods: [] });
});
