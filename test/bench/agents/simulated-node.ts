import type { ReportDeps } from '../../../src/agent/report/manager.ts';
import type {
  ContainerInventory,
  ImageInventory,
  NodePassReport,
  Offender,
} from '../../../src/api/report/node-pass.ts';
import type { MountedImageDisk } from '../../../src/node/disk/filesystem.ts';

const gib = 1024 ** 3;
const some = (count: number): { count: number; bytes: number } => ({ count, bytes: count * 0.3 * gib });

const offenders: readonly Offender[] = Array.from({ length: 10 }, (_, i) => ({
  kind: 'Image',
  id: `sha256:${String(i).repeat(64)}`,
  name: `registry.example.com/team-${i}/machine-learning/service-with-a-name:2026.1.${i}`,
  namespace: undefined,
  bytes: (10 - i) * gib,
  reason: 'DiskPressure',
}));

const images: ImageInventory = {
  ...{ total: some(120), inUse: some(60), pinned: some(1), kept: some(9), removable: some(50) },
  ...{ collectable: some(50), listed: [], disk: undefined },
  offenders,
};

const containers: ContainerInventory = {
  containers: { total: 80, removable: 3 },
  sandboxes: { total: 45, removable: 2 },
  logs: { bytes: 900_000_000, removableBytes: 100_000 },
  orphans: undefined,
  offenders: [],
};

const disk: MountedImageDisk = {
  mountpoint: '/var/lib/containerd',
  ...{ capacityBytes: 100 * gib, availableBytes: 55 * gib, usedBytes: 36 * gib, usedPercent: 45 },
  ...{ inodes: 6_553_600, inodesFree: 6_000_000, inodesUsed: 553_600 },
};

const unknown = Promise.resolve(undefined);
const found = Promise.resolve(disk);

/** A node of usual size, where nothing is wrong and no value changes. */
export const simulatedNode = {
  images: () => images,
  containers: () => containers,
  storage: () => undefined,
  pressure: () => undefined,
  usage: () => undefined,
  lastRemoved: () => ({ images: [], others: [] }),
  runtimeVersion: () => ({ name: 'containerd', version: 'v2.3.6', apiVersion: 'v1' }),
  runtimeTrouble: () => undefined,
  imageDisk: () => found,
  nodeDisk: () => found,
  snapshots: { find: () => unknown },
} satisfies Partial<ReportDeps>;

/** The report of a pass that removed this number of things. */
export const simulatedPass = (unit: NodePassReport['unit'], removed: number): NodePassReport => ({
  unit,
  at: new Date(),
  result: removed > 0 ? 'Succeeded' : 'Idle',
  removed,
  freedBytes: removed * 1_000_000,
  errors: 0,
  message: undefined,
});
