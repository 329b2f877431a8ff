import { expect, test } from 'vitest';
import type { NodeGCReportStatusUsageFileSystem } from '../../../../src/api/gen/nodegcreport.gen.ts';
import { diskSummary } from '../../../../src/commands/top/disk.ts';

type Disk = NodeGCReportStatusUsageFileSystem;
const disk = (name: Disk['name'], more: Partial<Disk>): Disk => ({
  ...{ name, capacityBytes: 100, availableBytes: 50, usedBytes: 50, ...more },
});
const node = (...fileSystems: Disk[]) => ({ usage: { fileSystems }, counts: undefined, stale: false });

const rowOf = (kind: string, nodes: Parameters<typeof diskSummary>[0]) =>
  diskSummary(nodes).kinds.find(({ name }) => name === kind);

test.each([
  ['of both disks is their sum', 7, { bytes: 17, lowerBound: false }],
  [
    'of one disk is a lower bound, because the other disk has some, too',
    undefined,
    { bytes: 10, lowerBound: true },
  ],
])('other %s', (_, otherBytes, expected) => {
  const both = node(disk('nodefs', { otherBytes: 10 }), disk('imagefs', { otherBytes }));
  expect(rowOf('other', [both])).toMatchObject(expected);
});

test('volumes are on one of two disks; on none they are unknown', () => {
  const volumes = node(disk('nodefs', { volumesBytes: 10 }), disk('imagefs', {}));
  expect(rowOf('volumes', [volumes])).toMatchObject({ bytes: 10, lowerBound: false });
  expect(rowOf('volumes', [volumes, node(disk('nodefs', {}))])).toMatchObject({
    bytes: 10,
    lowerBound: true,
  });
  const none = rowOf('other', [node()]);
  expect(none).toMatchObject({ bytes: undefined, lowerBound: true });
});

const counts = { containers: 0, runningContainers: 0, volumes: 0, checkpoints: 0, orphans: 0, leftovers: 0 };

test('numbers of objects, and what can be reclaimed, lack nodes of which they are unknown', () => {
  const one = {
    ...node(disk('nodefs', { collectableBytes: 5 })),
    counts: { ...counts, images: 2, imagesInUse: 1 },
  };
  const exact = { totalLowerBound: false, activeLowerBound: false };
  expect(rowOf('images', [one])).toMatchObject({ total: 2, active: 1, ...exact });
  expect(rowOf('other', [one])).toMatchObject(exact);
  const all = [one, node(disk('nodefs', {}))];
  const bounds = { totalLowerBound: true, activeLowerBound: true };
  expect(rowOf('images', all)).toMatchObject({ total: 2, active: 1, ...bounds });
  expect(diskSummary([one])).toMatchObject({ reclaimableBytes: 5, reclaimableLowerBound: false });
  expect(diskSummary(all)).toMatchObject({ reclaimableBytes: 5, reclaimableLowerBound: true });
});

test('while the size of a kind is unknown, a number of 0 is unknown, too', () => {
  const early = {
    ...node(disk('nodefs', { logsBytes: 0 })),
    counts: { ...counts, images: 0, imagesInUse: 0 },
  };
  expect(rowOf('images', [early])).toMatchObject({ total: undefined, active: undefined, bytes: undefined });
  const later = { ...early, ...node(disk('nodefs', { checkpointsBytes: 0 })), counts: early.counts };
  expect(rowOf('checkpoints', [later])).toMatchObject({ total: 0, totalLowerBound: false, bytes: 0 });
});
