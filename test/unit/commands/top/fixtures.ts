import type { NodeGCReportStatusUsage } from '../../../../src/api/gen/nodegcreport.gen.ts';
import type { TopKind, TopQuestion } from '../../../../src/commands/top/command.ts';
import type { TopFacts } from '../../../../src/commands/top/facts.ts';
import { topView, type TopView } from '../../../../src/commands/top/view.ts';

type FileSystem = NonNullable<NodeGCReportStatusUsage['fileSystems']>[number];
type Pod = NonNullable<NodeGCReportStatusUsage['pods']>[number];
type Namespace = NonNullable<NodeGCReportStatusUsage['namespaces']>[number];
type Image = NonNullable<NodeGCReportStatusUsage['images']>[number];

export const now = new Date('2026-01-15T12:00:00Z');
export const gib = 1024 ** 3;

/** RFC 3339, to the second. */
export const inMinutes = (minutes: number): string =>
  new Date(now.getTime() + minutes * 60_000).toISOString().replace(/\.\d+Z$/, 'Z');

/** A disk of 200 GiB, of which as much is used; state only what matters. */
export const disk = (usedGib: number, more: Partial<FileSystem> = {}): FileSystem => ({
  name: 'nodefs',
  capacityBytes: 200 * gib,
  availableBytes: (200 - usedGib) * gib,
  usedBytes: usedGib * gib,
  ...more,
});

/** A disk with images, pods and a forecast. */
export const busyDisk = (usedGib: number): FileSystem =>
  disk(usedGib, {
    imagesInUseBytes: 30 * gib,
    imagesUnusedBytes: 12 * gib,
    layersBytes: 9 * gib,
    volumesBytes: 40 * gib,
    logsBytes: 7 * gib,
    orphansBytes: 0,
    otherBytes: (usedGib - 98) * gib,
    collectableBytes: 12 * gib,
    growthBytesPerHour: Math.round(2.1 * gib),
    fullTime: inMinutes(31 * 60),
    fullAfterCollectionTime: inMinutes(36 * 60),
    forecastErrorPercent: 12,
  });

/** Half in layers, a quarter in volumes and in logs. */
const classes = (bytes: number) => ({
  bytes,
  layersBytes: bytes / 2,
  volumesBytes: bytes / 4,
  logsBytes: bytes / 4,
});

export const namespace = (name: string, sizeGib: number, more: Partial<Namespace> = {}): Namespace => ({
  name,
  pods: 3,
  ...classes(sizeGib * gib),
  ...more,
});

export const pod = (namespaceName: string, name: string, sizeGib: number, more: Partial<Pod> = {}): Pod => ({
  namespace: namespaceName,
  name,
  uid: `uid-${name}`,
  ...classes(sizeGib * gib),
  ...more,
});

export const image = (name: string, sizeGib: number, more: Partial<Image> = {}): Image => ({
  id: `sha256:${Buffer.from(name).toString('hex').padStart(64, '0').slice(-64)}`,
  name,
  bytes: sizeGib * gib,
  inUse: false,
  isKept: false,
  ...more,
});

/** A node that team-a fills. */
export const busyUsage = (usedGib = 134): NodeGCReportStatusUsage => ({
  measuredTime: inMinutes(-1),
  forecast:
    'At 2.1 GiB/h, nodefs is full in 31 h; collection gives back 12.0 GiB, then in 36 h. EmptyDirs of namespace team-a grow 1.8 GiB/h.',
  fileSystems: [busyDisk(usedGib)],
  podCount: 6,
  namespaces: [
    namespace('team-a', 40, { growthBytesPerHour: Math.round(1.8 * gib) }),
    namespace('kube-system', 4, { pods: 2 }),
    namespace('team-b', 1, { pods: 1, growthBytesPerHour: Math.round(0.3 * gib) }),
  ],
  pods: [
    pod('team-a', 'etl-5c7d9-x2x4p', 32, { limitBytes: 40 * gib }),
    pod('team-a', 'web-7f9c8b6d5-kq8zt', 6),
    pod('kube-system', 'kube-proxy-9xk2d', 3, { limitBytes: 8 * gib }),
    pod('team-b', 'cache-0', 1),
  ],
  images: [
    image('registry.example.com/team-a/etl:2026.11.3', 6, { inUse: true }),
    image('registry.example.com/team-a/etl:2026.11.2', 6, { unusedSince: inMinutes(-3 * 24 * 60) }),
    image('docker.io/library/python:3.12', 1, { unusedSince: inMinutes(-50 * 24 * 60), isKept: true }),
  ],
});

export const reported = (node: string, usage = busyUsage()): TopFacts['reports'][number] => ({
  node,
  reportTime: inMinutes(-1),
  usage,
});

/** Of an older agent. */
export const withoutUsage = (node: string): TopFacts['reports'][number] => ({
  node,
  reportTime: inMinutes(-1),
  usage: undefined,
});

/** Facts of these reports, whose nodes are all nodes; state only what matters. */
export const facts = (reports: TopFacts['reports'], more: Partial<TopFacts> = {}): TopFacts => ({
  reports,
  nodes: new Set(reports.map(({ node }) => node)),
  selected: undefined,
  namespace: undefined,
  ...more,
});

const defaultSort = { nodes: 'percent', namespaces: 'bytes', pods: 'bytes', images: 'bytes' } as const;

export const viewOf = (kind: TopKind, given: TopFacts, more: Partial<TopQuestion> = {}): TopView =>
  topView(
    given,
    {
      kind,
      sortBy: defaultSort[kind],
      namespace: undefined,
      isCurrentNamespace: false,
      nodes: undefined,
      selector: undefined,
      ...more,
    },
    now,
  );
