import { describe, expect, test } from 'vitest';
import type { NodeGCReportStatusUsage } from '../../../../src/api/gen/nodegcreport.gen.ts';
import type { TopKind, TopQuestion } from '../../../../src/commands/top/command.ts';
import type { TopFacts } from '../../../../src/commands/top/rows.ts';
import { nameLines } from '../../../../src/commands/top/names.ts';
import { topTable } from '../../../../src/commands/top/table.ts';
import { topView, type TopView } from '../../../../src/commands/top/view.ts';

type FileSystem = NonNullable<NodeGCReportStatusUsage['fileSystems']>[number];
type Pod = NonNullable<NodeGCReportStatusUsage['pods']>[number];
type Namespace = NonNullable<NodeGCReportStatusUsage['namespaces']>[number];
type Image = NonNullable<NodeGCReportStatusUsage['images']>[number];
type Report = TopFacts['reports'][number];

const now = new Date('2026-01-15T12:00:00Z');
const gib = 1024 ** 3;

/** RFC 3339, to the second. */
const inMinutes = (minutes: number): string =>
  new Date(now.getTime() + minutes * 60_000).toISOString().replace(/\.\d+Z$/, 'Z');

/** A disk of 200 GiB, of which as much is used; state only what matters. */
const disk = (usedGib: number, more: Partial<FileSystem> = {}): FileSystem => ({
  name: 'nodefs',
  capacityBytes: 200 * gib,
  availableBytes: (200 - usedGib) * gib,
  usedBytes: usedGib * gib,
  ...more,
});

/** A disk with images, pods and a forecast. */
const busyDisk = (usedGib: number): FileSystem =>
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

/** A disk of a node with containerd, with what its objects are. */
const knownDisk = (name: string, more: Partial<FileSystem> = {}): Report => ({
  node: name,
  reportTime: inMinutes(-1),
  usage: {
    measuredTime: inMinutes(-1),
    fileSystems: [
      disk(134, {
        ...{ imagesInUseBytes: 21 * gib, imagesUnusedBytes: 9 * gib, packedBytes: 12 * gib },
        ...{
          layersBytes: 9 * gib,
          volumesBytes: 40 * gib,
          logsBytes: 7 * gib,
          orphansBytes: 0,
          checkpointsBytes: 0,
        },
        ...{ leftoversBytes: 3 * gib, namespacesBytes: 6 * gib, otherBytes: 27 * gib },
        collectableBytes: 15 * gib,
        collectable: {
          imagesUnusedBytes: 8 * gib,
          packedBytes: 4 * gib,
          logsBytes: 2 * gib,
          ...{ orphansBytes: 0, checkpointsBytes: 0 },
          leftoversBytes: gib,
        },
        ...more,
      }),
    ],
  },
  counts: {
    ...{ images: 48, imagesInUse: 31, containers: 62, runningContainers: 55 },
    ...{ volumes: 17, checkpoints: 0, orphans: 0, leftovers: 3 },
  },
});

/** Half in layers, a quarter in volumes and in logs. */
const classes = (bytes: number) => ({
  bytes,
  layersBytes: bytes / 2,
  volumesBytes: bytes / 4,
  logsBytes: bytes / 4,
});

const namespace = (name: string, sizeGib: number, more: Partial<Namespace> = {}): Namespace => ({
  name,
  pods: 3,
  ...classes(sizeGib * gib),
  ...more,
});

const pod = (namespaceName: string, name: string, sizeGib: number, limitBytes?: number): Pod => ({
  namespace: namespaceName,
  name,
  uid: `uid-${name}`,
  ...classes(sizeGib * gib),
  limitBytes,
});

const image = (name: string, sizeGib: number, more: Partial<Image> = {}): Image => ({
  id: `sha256:${Buffer.from(name).toString('hex').padStart(64, '0').slice(-64)}`,
  name,
  bytes: sizeGib * gib,
  inUse: false,
  isKept: false,
  ...more,
});

/** A node that team-a fills. */
const busyUsage = (usedGib = 134): NodeGCReportStatusUsage => ({
  measuredTime: inMinutes(-1),
  forecast:
    'At 2.1 GiB/h, nodefs is full in 31 h; collection gives back 12.0 GiB, then in 36 h. EmptyDirs of namespace team-a grow 1.8 GiB/h.',
  fileSystems: [busyDisk(usedGib)],
  podCount: 6,
  podSlots: 110,
  podSlotsTaken: 117,
  namespaces: [
    namespace('team-a', 40, { growthBytesPerHour: Math.round(1.8 * gib) }),
    namespace('kube-system', 4, { pods: 2 }),
    namespace('team-b', 1, { pods: 1, growthBytesPerHour: Math.round(0.3 * gib) }),
  ],
  pods: [
    { ...pod('team-a', 'etl-5c7d9-x2x4p', 32, 40 * gib), requestBytes: 35 * gib, evictionPlace: 3 },
    { ...pod('team-a', 'web-7f9c8b6d5-kq8zt', 6), priority: -5, evictionPlace: 1 },
    pod('kube-system', 'kube-proxy-9xk2d', 3, 8 * gib),
    { ...pod('team-b', 'cache-0', 1), requestBytes: gib / 2, evictionPlace: 2 },
  ],
  images: [
    image('registry.example.com/team-a/etl:2026.11.3', 6, {
      inUse: true,
      uniqueBytes: gib,
      packedBytes: 2 * gib,
    }),
    image('registry.example.com/team-a/etl:2026.11.2', 6, { unusedSince: inMinutes(-3 * 24 * 60) }),
    image('docker.io/library/python:3.12', 1, {
      unusedSince: inMinutes(-50 * 24 * 60),
      isKept: true,
      uniqueBytes: gib / 2,
      packedBytes: gib / 4,
      inexactBecause: 'the size of a layer is unknown',
    }),
  ],
});

const reported = (node: string, usage = busyUsage()): Report => ({ node, reportTime: inMinutes(-1), usage });
/** Of an older agent. */
const withoutUsage = (node: string): Report => ({ node, reportTime: inMinutes(-1), usage: undefined });

/** Facts of these reports, whose nodes are all nodes; state only what matters. */
const facts = (reports: TopFacts['reports'], more: Partial<TopFacts> = {}): TopFacts => ({
  reports,
  nodes: new Set(reports.map(({ node }) => node)),
  selected: undefined,
  namespace: undefined,
  ...more,
});

const defaultSort = {
  disk: 'kind',
  nodes: 'percent',
  namespaces: 'bytes',
  workloads: 'highest',
  pods: 'bytes',
  volumes: 'percent',
  images: 'bytes',
} as const;

const viewOf = (kind: TopKind, given: TopFacts, more: Partial<TopQuestion> = {}): TopView => {
  const unset = { namespace: undefined, nodes: undefined, selector: undefined };
  return topView(
    given,
    { kind, sortBy: defaultSort[kind], isCurrentNamespace: false, ...unset, ...more },
    now,
  );
};

describe('tables', () => {
  const piped = { now, width: undefined, colours: false, isWide: false };
  const terminal = { ...piped, width: 120 };
  const narrow = { ...piped, width: 80 };
  const wide = { ...piped, isWide: true };

  const twoDisks = {
    measuredTime: inMinutes(-2),
    namespaces: [
      namespace('team-a', 8, { layersBytes: 0, volumesBytes: 8 * gib, logsBytes: 0 }),
      namespace('team-b', 1, { growthBytesPerHour: gib }),
    ],
    fileSystems: [
      disk(20, { volumesBytes: 8 * gib }),
      disk(180, {
        name: 'imagefs',
        imagesUnusedBytes: 60 * gib,
        collectableBytes: 60 * gib,
        growthBytesPerHour: gib,
        fullTime: inMinutes(20 * 60),
      }),
    ],
  };
  const ahead = {
    measuredTime: inMinutes(10),
    fileSystems: [disk(10, { availableBytes: 999 * gib }), disk(0, { capacityBytes: 0, availableBytes: 0 })],
  };
  const partly = {
    measuredTime: inMinutes(-1),
    unknown: 'pods: the kubelet responded with status 403',
    fileSystems: [disk(50, { fullTime: inMinutes(60) })],
  };
  const cluster = facts(
    [
      reported('node-1'),
      reported('node-2', twoDisks),
      withoutUsage('node-3'),
      reported('node-4', { ...busyUsage(60), measuredTime: inMinutes(-200) }),
      reported('node-5', ahead),
      reported('node-6', partly),
    ],
    { nodes: new Set(['node-1', 'node-2', 'node-3', 'node-4', 'node-5', 'node-6', 'node-7', 'node-8']) },
  );
  const bounded = facts([
    reported('node-1', {
      ...busyUsage(),
      podCount: 60,
      otherNamespaces: { count: 3, bytes: 2 * gib },
      otherImages: { count: 1, bytes: gib },
    }),
    reported('node-2', {
      ...busyUsage(),
      namespaces: [namespace('team-a', 1), namespace('true', 0.5, { logsBytes: undefined })],
      pods: [pod('true', 'web-0', 0.5, 0)],
      images: [image('registry.example.com/team-a/etl:2026.11.2', 6), image('', 1, { name: undefined })],
      otherImages: { count: 2, bytes: gib },
    }),
  ]);
  const one = facts([reported('node-1')]);
  const two = facts([reported('node-1'), reported('node-2', twoDisks)]);
  const ofNode = { nodes: ['node-1'] };
  const old = facts([withoutUsage('node-1')]);
  const slow = facts([reported('node-1', { ...busyUsage(), forecast: undefined })]);
  const selected = new Set(['uid-web-0', 'uid-gone']);

  const disks = facts([knownDisk('node-7'), knownDisk('node-8')], {
    nodes: new Set(['node-7', 'node-8', 'node-9']),
  });
  /** With a runtime that is not containerd, and a kubelet that cannot be read. */
  const cri = reported('cri-o', {
    measuredTime: inMinutes(-1),
    fileSystems: [disk(50, { imagesInUseBytes: 8 * gib, imagesUnusedBytes: 2 * gib, logsBytes: 0 })],
  });
  const mixed = facts([knownDisk('node-7'), cri, { ...knownDisk('late'), usage: busyUsage() }]);
  const imagefs = disk(0, { name: 'imagefs', capacityBytes: gib / 2, availableBytes: 0, usedBytes: gib / 2 });
  const nodefs = disk(32, { volumesBytes: 8 * gib });
  const apart = facts([reported('node-7', { measuredTime: inMinutes(-1), fileSystems: [nodefs, imagefs] })]);
  const fullLongAgo = reported('old', {
    measuredTime: inMinutes(-200),
    fileSystems: [disk(200)],
  });
  const starting = facts([
    {
      ...knownDisk('node-7', { volumesBytes: 0 }),
      usage: {
        ...knownDisk('node-7', { volumesBytes: 0 }).usage,
        volumesLowerBound: true,
      },
    },
  ]);
  const low = { ...piped, width: 80 };

  const tables = {
    'top disk, as in README': topTable(viewOf('disk', disks), piped),
    'top disk --node -o wide': topTable(
      viewOf('disk', facts([knownDisk('node-7')]), { nodes: ['node-7'] }),
      wide,
    ),
    'top disk --node, of two file systems': topTable(viewOf('disk', apart, { nodes: ['node-7'] }), piped),
    'top disk, of which one file system is full': topTable(
      viewOf('disk', facts([fullLongAgo, knownDisk('node-8'), ...apart.reports])),
      piped,
    ),
    'top disk, an emptyDir is not measured yet': topTable(viewOf('disk', starting), piped),
    'top nodes -o wide, an emptyDir is not measured yet': topTable(viewOf('nodes', starting), wide),
    'top disk -o wide, with what is unknown': topTable(viewOf('disk', mixed), wide),
    'top disk, all is unknown': topTable(viewOf('disk', facts([cri]), { sortBy: 'bytes' }), piped),
    'top disk, without a report': topTable(viewOf('disk', facts([])), piped),
    'top disk, on a terminal with few lines': topTable(viewOf('disk', disks), { ...low, height: 16 }),
    'top nodes, on a terminal with few lines': topTable(viewOf('nodes', cluster), { ...low, height: 20 }),
    'top images, on a terminal with few lines': topTable(viewOf('images', bounded), { ...low, height: 6 }),
    'top nodes': topTable(viewOf('nodes', cluster), piped),
    'top nodes, on a narrow terminal, without the right to list nodes': topTable(
      viewOf('nodes', { ...one, nodes: undefined }),
      narrow,
    ),
    'top nodes -o wide': topTable(viewOf('nodes', two), wide),
    'top nodes -o wide, a part of the disk is for root': topTable(
      viewOf(
        'nodes',
        facts([reported('node-1', { fileSystems: [disk(150, { availableBytes: 40 * gib })] })]),
      ),
      wide,
    ),
    'top nodes, without a report': topTable(viewOf('nodes', facts([])), piped),
    'top namespaces --node': topTable(viewOf('namespaces', one, ofNode), piped),
    'top namespaces, more than a report has': topTable(viewOf('namespaces', bounded), wide),
    'top namespaces --node, without usage': topTable(viewOf('namespaces', old, ofNode), piped),
    'top namespaces --node, without a forecast': topTable(viewOf('namespaces', slow, ofNode), piped),
    'top pods -A, on a terminal': topTable(viewOf('pods', bounded), terminal),
    'top pods -A --sort-by=eviction -o wide': topTable(viewOf('pods', two, { sortBy: 'eviction' }), wide),
    'top pods -n true -o wide': topTable(viewOf('pods', { ...bounded, namespace: 'true' }), wide),
    'top pods -n team-a': topTable(viewOf('pods', { ...one, namespace: 'team-a' }), piped),
    'top pods -l': topTable(viewOf('pods', { ...bounded, selected }), piped),
    'top images -o wide': topTable(viewOf('images', bounded), wide),
    'top images, before the first pass of the agents': topTable(viewOf('images', old), piped),
    'top nodes -o name': nameLines(viewOf('nodes', bounded)),
    'top namespaces -o name': nameLines(viewOf('namespaces', bounded)),
    'top pods -o name': nameLines(viewOf('pods', bounded)),
    'top images -o name': nameLines(viewOf('images', bounded)),
  };

  test('are those of the file', async () => {
    const texts = Object.entries(tables).map(([name, lines]) => `# ${name}\n\n${lines.join('\n')}\n`);
    await expect(texts.join('\n')).toMatchFileSnapshot('./__snapshots__/top.txt');
  });

  test('have as many rows as the terminal has lines, and at least three', () => {
    const many = Array.from({ length: 60 }, (_, i) => pod('team-a', `p-${i}`, 1));
    const view = viewOf('pods', facts([reported('node-1', { ...busyUsage(), pods: many })]));
    const linesIn = (height: number | undefined) => topTable(view, { ...narrow, height });
    const isRow = (line: string): boolean => line.startsWith('team-a');
    for (const height of [20, 40, 61]) {
      expect(linesIn(height).length).toBe(height - 1);
      expect(linesIn(height)).toContain(
        `${60 - linesIn(height).filter(isRow).length} more, ${63 - height}.0Gi; -o wide shows all`,
      );
    }
    expect(linesIn(63).filter(isRow)).toHaveLength(60);
    expect(linesIn(undefined).filter(isRow)).toHaveLength(60);
    expect(linesIn(1).filter(isRow)).toHaveLength(3);
  });

  test('are not wider than the terminal, whatever the names', () => {
    const node = reported(`node-${'x'.repeat(80)}`);
    for (const kind of ['disk', 'nodes', 'namespaces', 'pods', 'images'] as const)
      for (const width of [80, 120]) {
        const lines = topTable(viewOf(kind, facts([node])), { ...narrow, width });
        expect(Math.max(...lines.map(({ length }) => length))).toBeLessThanOrEqual(width);
      }
  });
});

const started = pod('shop', 'new', 1);
const critical = { ...pod('kube-system', 'dns', 1), priority: 2_000_000_000 };
test.each<
  [name: string, pods: readonly Pod[], given: { isWide?: boolean; isByPlace?: boolean }, isSaid: boolean]
>([
  ['in a wide table', [started, critical], { isWide: true }, true],
  ['in the order of eviction', [started, critical], { isByPlace: true }, true],
  ['not where nothing shows places', [started, critical], {}, false],
  ['not if a pod has one', [started, { ...started, evictionPlace: 1 }], { isWide: true }, false],
  ['not if all pods are critical', [critical], { isWide: true }, false],
  ['not without pods', [], { isWide: true }, false],
])('a note names the nodes without an order of eviction: %s', (_, pods, given, isSaid) => {
  const view = viewOf(
    'pods',
    facts([reported('node-1', { ...busyUsage(), pods: [...pods] }), reported('node-2')]),
  );
  const lines = topTable(view, { now, width: undefined, colours: false, isWide: false, ...given });
  expect(lines.some((line) => line.startsWith('! node-1: The order of eviction is unknown'))).toBe(isSaid);
});

test.each<[name: string, fileSystems: readonly FileSystem[], text: string]>([
  ['all of a pod is on one disk', [disk(1, { layersBytes: 5 })], '1. over request'],
  [
    'layers are on the disk of images',
    [disk(1), disk(1, { name: 'imagefs', layersBytes: 5 })],
    '1. in request',
  ],
  [
    'only images have a disk of their own',
    [disk(1, { layersBytes: 5 }), disk(1, { name: 'imagefs' })],
    '1. over request',
  ],
  ['the disk of the kubelet is unknown', [disk(1, { name: 'imagefs', layersBytes: 5 })], '1. request'],
])('the reason of a place compares what the kubelet ranks: %s', (_, fileSystems, text) => {
  const one = { ...pod('shop', 'web', 4), requestBytes: 3 * gib, evictionPlace: 1 };
  const given = facts([reported('a', { fileSystems: [...fileSystems], pods: [one] })]);
  expect(
    topTable(viewOf('pods', given), { now, width: undefined, colours: false, isWide: true }).join('\n'),
  ).toContain(text);
});

test('forecasts are of the three nodes that are full first, or of each node of --node', () => {
  const full = (name: string, hours: number) =>
    reported(name, {
      measuredTime: inMinutes(-1),
      forecast: `${hours} h`,
      fileSystems: [disk(1, { fullTime: inMinutes(60 * hours) })],
    });
  const old = reported('old', { ...busyUsage(), measuredTime: inMinutes(-16) });
  const given = facts([full('d', 40), full('c', 30), full('b', 20), full('a', 10), old, withoutUsage('x')]);
  const forecasts = (...args: Parameters<typeof viewOf>) => viewOf(...args).forecasts.map(({ node }) => node);
  expect(forecasts('nodes', given)).toEqual(['a', 'b', 'c']);
  expect(forecasts('namespaces', given, { nodes: ['d', 'old'] })).toEqual(['old', 'd']);
  expect(forecasts('pods', given)).toEqual([]);
});

describe('as data', () => {
  const usage = {
    measuredTime: inMinutes(-1),
    namespaces: [namespace('a', 4, { growthBytesPerHour: 10 }), namespace('b', 2)],
  };

  test('a node has its fullest file system first, and what is unknown is absent', () => {
    const given = facts([reported('a', { fileSystems: [disk(20), disk(150, { name: 'imagefs' })] })]);
    expect(JSON.parse(JSON.stringify(viewOf('nodes', given).items))).toEqual([
      {
        name: 'a',
        stale: false,
        fileSystems: [
          { ...disk(150, { name: 'imagefs' }), usedPercent: 75 },
          { ...disk(20), usedPercent: 10 },
        ],
      },
    ]);
  });

  test('a namespace is added up over its nodes, and a sum is unknown if a part is', () => {
    const other = [namespace('a', 4, { growthBytesPerHour: 10, logsBytes: undefined })];
    const given = facts([
      reported('x', usage),
      reported('y', { measuredTime: inMinutes(-20), namespaces: other }),
    ]);
    expect(viewOf('namespaces', given).items[0]).toEqual({
      ...{ name: 'a', nodes: 2, pods: 6, lowerBound: false, measuredTime: inMinutes(-20), stale: true },
      ...{ bytes: 8 * gib, layersBytes: 4 * gib, volumesBytes: 2 * gib, logsBytes: undefined },
      growthBytesPerHour: 20,
    });
  });

  test.each([
    ['has no agent', [], [true, true]],
    ['does not know its pods', [reported('y', {})], [true, true]],
    [
      'does not list all',
      [reported('y', { namespaces: [namespace('a', 1)], otherNamespaces: { count: 1, bytes: gib } })],
      [false, true],
    ],
    ['lists all', [reported('y', { namespaces: [namespace('a', 1)] })], [false, false]],
  ])('a sum is a lower bound if a node %s', (_, report, expected) => {
    const given = facts([reported('x', usage), ...report], { nodes: new Set(['x', 'y']) });
    expect(viewOf('namespaces', given).items).toMatchObject(
      expected.map((lowerBound, i) => ({ name: ['a', 'b'][i], lowerBound })),
    );
  });

  test('which namespace grows fastest is not known of a node that does not list all', () => {
    const growing = { namespaces: [namespace('a', 1, { growthBytesPerHour: 1 })] };
    const rest = { otherNamespaces: { count: 1, bytes: gib } };
    const given = facts([reported('x', growing), reported('y', { ...growing, ...rest })]);
    const { items } = viewOf('nodes', given, { sortBy: 'name' });
    expect(items).toMatchObject([{ fastestNamespace: { name: 'a' } }, { fastestNamespace: undefined }]);
  });

  test.each([
    ['lists no images', [reported('y', {})], true],
    ['does not list all', [reported('y', { images: [], otherImages: { count: 1, bytes: 1 } })], true],
    ['lists it', [reported('y', { images: [image('a', 1)], otherImages: { count: 1, bytes: 1 } })], false],
    ['lists all', [reported('y', { images: [] })], false],
  ])('the copies of an image are a lower bound if a node %s', (_, report, lowerBound) => {
    const given = facts([reported('x', { images: [image('a', 1)] }), ...report]);
    const view = viewOf('images', given);
    expect(view.items).toMatchObject([{ lowerBound }]);
    const [, row = ''] = topTable(view, { now, width: undefined, colours: false, isWide: true });
    expect([...row.matchAll(/≥/g)]).toHaveLength(lowerBound ? 5 : 0);
  });

  test('an image has what the cluster would gain, and since when nothing uses those copies', () => {
    const app = (sizeGib: number, more: Partial<Image>): Image => ({
      ...image('app:1', sizeGib, more),
      id: 'sha256:1',
    });
    const reports = [
      reported('x', {
        measuredTime: inMinutes(-2),
        images: [app(2, { unusedSince: inMinutes(-60), uniqueBytes: gib })],
      }),
      reported('y', { measuredTime: inMinutes(-1), images: [app(3, { unusedSince: inMinutes(-5) })] }),
      reported('z', {
        images: [app(2, { name: undefined, inUse: true }), image('base', 9, { isKept: true })],
      }),
    ];
    expect(viewOf('images', facts(reports), { sortBy: 'gain' }).items).toMatchObject([
      {
        ...{ name: 'app:1', sizeBytes: 3 * gib, uniqueBytes: gib, bytes: 7 * gib, gainBytes: 4 * gib },
        ...{ unusedSince: inMinutes(-5), measuredTime: inMinutes(-2) },
        nodes: [
          { node: 'x', inUse: false, kept: false, unusedSince: inMinutes(-60) },
          { node: 'y' },
          { node: 'z', inUse: true },
        ],
      },
      { name: 'base', gainBytes: 0 },
    ]);
  });
});

describe('rows', () => {
  const growing = disk(10, { growthBytesPerHour: 5, fullTime: inMinutes(10) });
  const slower = { growthBytesPerHour: 1, fullTime: inMinutes(20), fullAfterCollectionTime: inMinutes(30) };
  const id = { id: 'sha256:1' };
  const given = facts([
    withoutUsage('none'),
    reported('c', {
      measuredTime: inMinutes(-3),
      fileSystems: [growing, disk(1, { name: 'imagefs' })],
      namespaces: [namespace('a', 3)],
      images: [image('web', 4, { inUse: true })],
    }),
    reported('b', {
      measuredTime: inMinutes(-1),
      fileSystems: [disk(150)],
      namespaces: [namespace('a', 4, { growthBytesPerHour: 10 }), namespace('b', 2)],
      pods: [pod('a', 'p', 5, 10 * gib), pod('b', 'q', 3, 0), pod('a', 'r', 1)],
      images: [
        { ...image('app:1', 2, { unusedSince: inMinutes(-60) }), ...id },
        image('base', 1, { unusedSince: inMinutes(-90) }),
      ],
    }),
    reported('a', {
      measuredTime: inMinutes(-2),
      fileSystems: [disk(100, slower)],
      namespaces: [namespace('b', 1, { pods: 1 })],
      images: [{ ...image('app:1', 3, { unusedSince: inMinutes(-5) }), ...id }],
    }),
  ]);
  const orders: Readonly<
    Record<Exclude<TopKind, 'disk' | 'workloads' | 'volumes'>, Readonly<Record<string, readonly string[]>>>
  > = {
    nodes: {
      'b a c none': ['percent', 'bytes'],
      'c a b none': ['growth', 'full', 'age'],
      'a b c none': ['full-after-collection', 'name'],
    },
    namespaces: {
      'a b': ['bytes', 'layers', 'volumes', 'logs', 'growth', 'pods', 'nodes', 'age', 'name'],
    },
    pods: {
      'p q r': ['bytes', 'layers', 'volumes', 'logs', 'node', 'age'],
      'q p r': ['percent'],
      'p r q': ['name'],
    },
    images: {
      'app:1 web base': ['bytes'],
      'web app:1 base': ['size'],
      'app:1 base web': ['nodes', 'gain', 'name'],
      'base app:1 web': ['unused-since'],
    },
  };

  test.each(Object.entries(orders) as [TopKind, Record<string, string[]>][])(
    'of %s are sorted',
    (kind, by) => {
      const found = Object.entries(by).flatMap(([order, fields]) =>
        fields.map((sortBy) => {
          const { items } = viewOf(kind, given, { sortBy });
          return { sortBy, order, names: items.map(({ name }) => name).join(' ') };
        }),
      );
      expect(found).toEqual(found.map((one) => ({ ...one, names: one.order })));
    },
  );
});
