import { describe, expect, test } from 'vitest';
import { usageOfPod, type StorageMeasurement } from '../../../src/api/local-storage.ts';
import { signalsOf } from '../../../src/node/kubelet/node-stats.ts';
import { storageUsageOf } from '../../../src/node/kubelet/summary.ts';
import { configuredThresholds, defaultThresholds } from '../../../src/node/kubelet/thresholds.ts';

const time = '2026-01-15T12:00:00Z';
const atMs = Date.parse(time);

describe('a stats summary', () => {
  const pod = {
    podRef: { name: 'web', namespace: 'shop', uid: 'u1' },
    containers: [
      { name: 'main', rootfs: { time, usedBytes: 10 }, logs: { time, usedBytes: 20 } },
      { name: 'new', startTime: time },
      { rootfs: { time, usedBytes: 99 } },
    ],
    volume: [
      { name: 'data', time, usedBytes: 30 },
      { name: 'claim', time, usedBytes: 1e12, pvcRef: { name: 'c', namespace: 'shop' } },
      { name: 'unmeasured', time },
    ],
    'ephemeral-storage': { time, usedBytes: 60 },
  };

  test('has the usage of local storage', () => {
    const usage = storageUsageOf({ node: {}, pods: [pod] }, 7);
    expect(usage.atMs).toBe(7);
    expect(usage.pods.get('u1')).toEqual({
      total: { bytes: 60, atMs },
      volumes: new Map([['data', { bytes: 30, atMs }]]),
      containers: [
        { name: 'main', layer: { bytes: 10, atMs }, logs: { bytes: 20, atMs } },
        { name: 'new', layer: undefined, logs: undefined },
      ],
    });
  });

  describe('of a claim', () => {
    const disk = { time, usedBytes: 70, availableBytes: 20, capacityBytes: 100, inodes: 10, inodesFree: 4 };
    const claimsOf = (...volume: readonly unknown[]) =>
      storageUsageOf({ node: {}, pods: [{ ...pod, volume }] }, 7).claims;
    const pvcRef = { name: 'data', namespace: 'shop' };
    const known = {
      ...{ namespace: 'shop', name: 'data', pod: 'web', usedBytes: 70, capacityBytes: 100 },
      ...{ availableBytes: 20, inodes: { total: 10, free: 4 }, atMs },
    };

    test('has its file system, which is no volume of the pod', () => {
      const usage = storageUsageOf({ node: {}, pods: [{ ...pod, volume: [{ ...disk, pvcRef }] }] }, 7);
      expect(usage.claims).toEqual([known]);
      expect(usage.pods.get('u1')?.volumes).toEqual(new Map());
    });

    test.each([
      ['counts no inodes', { inodes: 0, inodesFree: 0 }, { inodes: undefined }],
      ['has more free inodes than inodes', { inodesFree: 11 }, { inodes: undefined }],
      ['was measured at an unknown time', { time: undefined }, { atMs: undefined }],
      ['is full', { usedBytes: 100, availableBytes: 0 }, { usedBytes: 100, availableBytes: 0 }],
      ['is empty', { usedBytes: 0, availableBytes: 100 }, { usedBytes: 0, availableBytes: 100 }],
    ])('that %s', (_, stats, expected) => {
      expect(claimsOf({ ...disk, ...stats, pvcRef })).toEqual([{ ...known, ...expected }]);
    });

    test.each([
      ['is a block volume, of which the kubelet reports 0 bytes', { usedBytes: 0, availableBytes: 0 }],
      ['has a capacity of 0', { capacityBytes: 0 }],
      ['has no capacity', { capacityBytes: undefined }],
      ['uses more than its capacity', { usedBytes: 101 }],
      ['uses a negative number', { usedBytes: -1 }],
      ['uses an unknown number', { usedBytes: '70' }],
      ['has more available than its capacity', { availableBytes: 101 }],
      ['has an unknown number available', { availableBytes: undefined }],
      ['has no name', { pvcRef: { namespace: 'shop' } }],
      ['has no namespace', { pvcRef: { name: 'data' } }],
      ['is none', { pvcRef: undefined }],
    ])('that %s is unknown', (_, stats) => {
      expect(claimsOf({ ...disk, pvcRef, ...stats }, null, 'x')).toEqual([]);
    });
  });

  const one = { capacityBytes: 100, availableBytes: 50, inodes: 10, inodesFree: 5 };
  const two = { ...one, capacityBytes: 200 };
  const three = { ...one, capacityBytes: 300 };
  const inodesElsewhere = { ...one, inodes: 20 };
  const uncounted = { ...one, inodes: undefined, inodesFree: undefined };
  /** The devices of the kubelet, of images and of containers. */
  const devices = (kubeletRoot?: number, imageFs?: number, containerFs?: number) => {
    return { kubeletRoot, imageFs, containerFs };
  };
  type Devices = ReturnType<typeof devices>;

  test.each<readonly [string, readonly (object | undefined)[], Devices, boolean]>([
    ['of equal values', [one, one], devices(), false],
    ['of different capacity', [one, two], devices(), true],
    ['of one size, with other inodes', [one, inodesElsewhere], devices(), true],
    [
      'of one size, with 0.8 % fewer inodes, as XFS a moment later',
      [one, { ...one, inodes: 9.92 }],
      devices(),
      false,
    ],
    [
      'of which one is 0.5 % smaller, as ZFS a moment later',
      [one, { ...one, capacityBytes: 99.5 }],
      devices(),
      false,
    ],
    ['of one size, of which neither counts inodes', [uncounted, uncounted], devices(), false],
    ['of which one counts no inodes', [one, uncounted], devices(), true],
    [
      'of which one has less than 1 % less available',
      [one, { ...one, availableBytes: 49.6 }],
      devices(),
      false,
    ],
    ['of which one has 1 % less available', [one, { ...one, availableBytes: 49.5 }], devices(), true],
    ['of which one has 10 % more free inodes', [{ ...one, inodesFree: 4.5 }, one], devices(), true],
    ['of unknown size', [], devices(), true],
    ['of which one is unknown', [one], devices(), true],
    [
      'of which one has an unknown amount available',
      [one, { ...one, availableBytes: undefined }],
      devices(),
      true,
    ],
    ['of equal values on two devices', [one, one], devices(0, 2, 2), true],
    ['of one device with other values', [one, inodesElsewhere], devices(1, 1, 1), false],
    ['of equal values, with one device known', [one, one], devices(0), false],
  ])('whether file systems %s are dedicated', (_name, [fs, imageFs], known, expected) => {
    expect(storageUsageOf({ node: { fs, runtime: { imageFs } } }, 0, known).dedicatedImageFs).toBe(expected);
  });

  test.each<readonly [string, object | undefined, Devices, boolean]>([
    ['another capacity', { imageFs: two, containerFs: three }, devices(), true],
    ['the same values', { imageFs: two, containerFs: two }, devices(), false],
    ['the same values on two devices', { imageFs: two, containerFs: two }, devices(1, 1, 2), true],
    ['one device', { imageFs: two, containerFs: three }, devices(1, 2, 2), false],
    ['no file system of containers', { imageFs: two }, devices(), false],
  ])('whether containers have a file system of their own: %s', (_name, runtime, known, expected) => {
    expect(storageUsageOf({ node: { fs: one, runtime } }, 0, known).splitContainerFs).toBe(expected);
  });

  test('layers on a disk of their own do not count, even if the images share that of the kubelet', () => {
    const node = { fs: one, runtime: { imageFs: one, containerFs: one } };
    const usage = storageUsageOf({ node }, 0, devices(1, 1, 2));
    expect(usage).toMatchObject({ dedicatedImageFs: true, splitContainerFs: true });
  });

  const [below0, negative] = [2 ** 64 - 4096, -1];
  const shared = { fs: one, runtime: { imageFs: one, containerFs: one } };
  const apart = { fs: one, runtime: { imageFs: two, containerFs: two } };
  const splitNode = { fs: one, runtime: { imageFs: two, containerFs: three } };
  const used = (usedBytes: number, inodesUsed = 1): object => ({ time, usedBytes, inodesUsed });
  const layer = (bytes: number) => ({ containers: [{ name: 'main', rootfs: used(bytes) }] });
  const logs = (bytes: number, inodes?: number) => ({
    containers: [{ name: 'main', logs: used(bytes, inodes) }],
  });
  const volume = (bytes: number, inodes?: number) => ({ volume: [{ name: 'v', ...used(bytes, inodes) }] });
  const total = (bytes: number, inodes?: number) => ({ 'ephemeral-storage': used(bytes, inodes) });
  const withMemory = { ...shared, memory: { availableBytes: 5e6, workingSetBytes: 5e6 } };
  const noInodes = { fs: { ...one, inodes: 0, inodesFree: 0 } };
  test.each<readonly [string, object, object, string | undefined]>([
    ['logs below 0', shared, logs(below0), 'logs of container main'],
    ['a volume as large as the disk', shared, volume(100), undefined],
    ['a volume that may be in memory', withMemory, volume(1e6, 200), undefined],
    ['a total below 0', shared, total(below0), 'total'],
    ['a total of both disks', apart, total(300), undefined],
    ['a layer on the disk of images', apart, layer(200), undefined],
    ['a layer on the disk of containers', splitNode, layer(300), undefined],
    ['inodes below 0', shared, logs(1, below0), 'logs of container main'],
    ['more than 2^63 without a known capacity', {}, total(2 ** 63 * 1.1), 'total'],
    ['no inodes counted', noInodes, total(1, 99), undefined],
  ])(
    'the usage of a pod with an impossible value is unknown, of that pod alone: %s',
    (_, node, stats, part) => {
      const other = { podRef: { uid: 'other', name: 'b', namespace: 'web' }, 'ephemeral-storage': used(7) };
      const bad = { podRef: { uid: 'bad', name: 'a', namespace: 'web' }, ...stats };
      const usage = storageUsageOf({ node, pods: [bad, other] }, 0);
      expect(usage.pods.has('bad')).toBe(part === undefined);
      expect(usage.pods.get('other')?.total?.bytes).toBe(7);
      expect(usage.impossible).toEqual(part === undefined ? [] : [`pod web/a (${part})`]);
    },
  );

  // Files that share their extents, for example.
  test.each<readonly [string, object, object, StorageMeasurement]>([
    ['a total', shared, total(500), { bytes: 100, inodes: 1, atMs }],
    ['a total of more than both disks', apart, total(301), { bytes: 300, inodes: 1, atMs }],
    ['a layer', apart, layer(201), { bytes: 200, inodes: 1, atMs }],
    ['a layer on a disk of its own', splitNode, layer(301), { bytes: 300, inodes: 1, atMs }],
    ['logs', apart, logs(101, 11), { bytes: 100, inodes: 10, atMs }],
    ['an emptyDir', shared, volume(500), { bytes: 100, inodes: 1, atMs }],
    ['inodes', shared, total(1, 11), { bytes: 1, inodes: 10, atMs }],
  ])('a usage larger than the disk counts as the size of the disk: %s', (_, node, stats, expected) => {
    const usage = storageUsageOf({ node, pods: [{ podRef: { uid: 'a' }, ...stats }] }, 0);
    const { total: all, volumes, containers } = usage.pods.get('a') ?? { volumes: new Map(), containers: [] };
    const parts = [all, volumes.get('v'), ...containers.flatMap((one) => [one.layer, one.logs])];
    expect(parts.filter((part) => part !== undefined)).toEqual([expected]);
    expect(usage.impossible).toEqual([]);
  });

  test.each([
    { name: 'another volume', emptyDirs: ['own'], isKnown: true },
    { name: 'an emptyDir', emptyDirs: ['own', 'share'], isKnown: false },
  ])('a volume with an impossible value is left out alone: $name', ({ emptyDirs, isKnown }) => {
    const volume = ['share', 'own'].map((name) => ({ name, ...used(name === 'share' ? below0 : 5) }));
    const pod = { podRef: { uid: 'a', name: 'a', namespace: 'web' }, volume, ...total(7) };
    const usage = storageUsageOf({ node: shared, pods: [pod] }, 0);
    expect(usage.impossible).toEqual([]);
    expect([...(usage.pods.get('a')?.volumes.keys() ?? [])]).toEqual(['own']);
    const storage = {
      emptyDirs: emptyDirs.map((one) => ({ name: one, isMemory: false, limit: undefined })),
      ...{ containers: [], initContainers: [], overheadBytes: undefined },
    };
    const found = usageOfPod(usage, { uid: 'a', configHash: undefined, storage });
    expect(found?.total?.bytes).toBe(isKnown ? 7 : undefined);
  });

  test('impossible values of the node are named', () => {
    const memory = { availableBytes: below0, workingSetBytes: 1 };
    const runtime = { imageFs: { ...one, inodesFree: negative }, containerFs: { capacityBytes: 0 } };
    expect(storageUsageOf({ node: { fs: one, memory, runtime } }, 0).impossible).toEqual([
      'file system of images (inodesFree)',
      'file system of containers (capacityBytes is 0)',
      'memory (availableBytes)',
    ]);
  });

  test.each([null, [], { pods: { a: 1 } }, { pods: [null, 3, {}, { podRef: { uid: '' } }] }])(
    '%j has no pods',
    (summary) => {
      expect(storageUsageOf(summary, 0).pods.size).toBe(0);
    },
  );

  test('a size that is a text is not measured', () => {
    const stats = {
      'ephemeral-storage': { time, usedBytes: '10' },
      volume: [{ name: 'v', usedBytes: '10' }],
    };
    const usage = storageUsageOf({ pods: [{ podRef: { uid: 'u' }, ...stats }] }, 0).pods.get('u');
    expect([usage?.total, usage?.volumes.size]).toEqual([undefined, 0]);
  });

  test.each(['0001-01-01T00:00:00Z', null, 'yesterday'])(
    'a measurement at the time %s has no time',
    (measured) => {
      const pods = [{ podRef: { uid: 'u' }, 'ephemeral-storage': { time: measured, usedBytes: 1 } }];
      expect(storageUsageOf({ pods }, 0).pods.get('u')?.total).toEqual({ bytes: 1, atMs: undefined });
    },
  );
});

const nowMs = atMs + 10_000;
const disk = (capacityBytes: number, over: object = {}): object => ({
  ...{ time, capacityBytes, availableBytes: capacityBytes / 4, inodes: 1000, inodesFree: 600 },
  ...over,
});
const devices = { kubeletRoot: 1, imageFs: 2, containerFs: 3 };

/** `nodefs.available 25/100`. */
const lines = (node: unknown): readonly string[] =>
  signalsOf(node, nowMs, devices).map(
    ({ signal, available, capacity }) => `${signal} ${available}/${capacity}`,
  );

const inodes = ['nodefs.inodesFree 600/1000'];

describe('signals of a summary', () => {
  test('all that a kubelet reports, with the time of the measurement', () => {
    const node = {
      fs: disk(100),
      runtime: { imageFs: disk(200), containerFs: disk(300) },
      memory: { time, availableBytes: 30, workingSetBytes: 10, usageBytes: 99 },
    };
    expect(lines(node)).toEqual([
      ...['nodefs.available 25/100', 'nodefs.inodesFree 600/1000'],
      ...['imagefs.available 50/200', 'imagefs.inodesFree 600/1000'],
      ...['containerfs.available 75/300', 'containerfs.inodesFree 600/1000'],
      'memory.available 30/40',
    ]);
    const measured = signalsOf(
      { ...node, runtime: { imageFs: disk(200, { time: undefined }) } },
      nowMs,
      devices,
    );
    expect(measured.map(({ device }) => device)).toEqual([1, 1, 2, 2, undefined]);
    expect([...new Set(measured.map(({ measuredAtMs }) => measuredAtMs))]).toEqual([atMs, nowMs]);
  });

  test('inodes that a file system does not count are not unknown', () => {
    const btrfs = disk(100, { inodes: 0, inodesFree: 0 });
    const node = { fs: btrfs, runtime: { imageFs: { ...disk(100), inodes: undefined } } };
    expect(storageUsageOf({ node, pods: [] }, nowMs, devices).uncounted).toEqual(['nodefs.inodesFree']);
  });

  const bytes = ['nodefs.available 25/100'];
  test.each<readonly [string, unknown, readonly string[]]>([
    ['no object', undefined, []],
    ['no inodes', { fs: disk(100, { inodes: undefined, inodesFree: undefined }) }, bytes],
    ['0 inodes', { fs: disk(100, { inodes: 0, inodesFree: 0 }) }, bytes],
    ['no capacity', { fs: disk(100, { capacityBytes: 0, inodes: 0 }) }, []],
    ['memory without what is available', { memory: { workingSetBytes: 30 } }, []],
    ['more available than there is', { fs: disk(100, { availableBytes: 101, inodesFree: 1001 }) }, []],
    ['a capacity above 2^63', { fs: disk(2 ** 63 * 1.1) }, inodes],
  ])('%s', (_, node, expected) => {
    expect(lines(node)).toEqual(expected);
  });
});

const texts = (thresholds: ReturnType<typeof configuredThresholds>): object =>
  Object.fromEntries([...(thresholds ?? [])].map(([signal, { text }]) => [signal, text]));

describe('the thresholds of a kubelet', () => {
  test('by default', () => {
    expect(texts(defaultThresholds)).toEqual({
      ...{ 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' },
      ...{ 'imagefs.available': '15%', 'imagefs.inodesFree': '5%', 'memory.available': '100Mi' },
    });
  });

  test.each<readonly [string, object, object]>([
    ['a hard one', { evictionHard: { 'nodefs.available': '10%' } }, { 'nodefs.available': '10%' }],
    [
      'of a hard and a soft one the one that is crossed first',
      {
        evictionHard: { 'nodefs.available': '10%', 'imagefs.available': '2Gi' },
        evictionSoft: { 'nodefs.available': '20%', 'imagefs.available': '1Gi' },
      },
      { 'nodefs.available': '20%', 'imagefs.available': '2Gi' },
    ],
    [
      'the hard one, if a percentage and a quantity cannot be compared',
      { evictionHard: { 'nodefs.available': '10%' }, evictionSoft: { 'nodefs.available': '20Gi' } },
      { 'nodefs.available': '10%' },
    ],
    [
      'unknown signals and nonsense are none',
      { evictionHard: { 'pid.available': '10%', 'nodefs.available': 'much', 'imagefs.available': 15 } },
      {},
    ],
  ])('of its configuration: %s', (_, kubeletconfig, expected) => {
    expect(texts(configuredThresholds({ kubeletconfig }))).toEqual(expected);
  });

  test.each([undefined, { kubeletconfig: 'x' }])('none in %j', (configz) => {
    expect(configuredThresholds(configz)).toBeUndefined();
  });
});
