import { describe, expect, test } from 'vitest';
import { usageOfPod } from '../../../src/api/local-storage.ts';
import { storageUsageOf } from '../../../src/node/kubelet/summary.ts';

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

  const one = { capacityBytes: 100, availableBytes: 50, inodes: 10, inodesFree: 5 };
  const inodesElsewhere = { ...one, inodes: 20 };
  test.each([
    { name: 'of equal values', fs: one, imageFs: one, expected: false },
    { name: 'of different capacity', fs: one, imageFs: { ...one, capacityBytes: 200 }, expected: true },
    { name: 'of one size, with other inodes', fs: one, imageFs: inodesElsewhere, expected: true },
    {
      name: 'of one size, of which one is fuller',
      fs: one,
      imageFs: { ...one, availableBytes: 40 },
      expected: true,
    },
    { name: 'of unknown size', fs: undefined, imageFs: undefined, expected: true },
    { name: 'of which one is unknown', fs: one, imageFs: undefined, expected: true },
    { name: 'of equal values on two devices', fs: one, imageFs: one, devices: [1, 2], expected: true },
    {
      name: 'of one device with other values',
      fs: one,
      imageFs: inodesElsewhere,
      devices: [1, 1],
      expected: false,
    },
    { name: 'of equal values, with one device known', fs: one, imageFs: one, devices: [1], expected: false },
  ])('file systems $name: dedicated $expected', ({ fs, imageFs, devices = [], expected }) => {
    const [kubeletRoot, images] = devices;
    const known = { kubeletRoot, imageFs: images, containerFs: images };
    expect(storageUsageOf({ node: { fs, runtime: { imageFs } } }, 0, known).dedicatedImageFs).toBe(expected);
  });

  const [two, three] = [
    { ...one, capacityBytes: 200 },
    { ...one, capacityBytes: 300 },
  ];
  test.each([
    { name: 'another capacity', runtime: { imageFs: two, containerFs: three }, expected: true },
    { name: 'the same values', runtime: { imageFs: two, containerFs: two }, expected: false },
    {
      name: 'the same values on two devices',
      runtime: { imageFs: two, containerFs: two },
      devices: [1, 1, 2],
      expected: true,
    },
    {
      name: 'one device',
      runtime: { imageFs: two, containerFs: three },
      devices: [1, 2, 2],
      expected: false,
    },
    { name: 'no file system of containers', runtime: { imageFs: two }, expected: false },
    { name: 'no file system of images', runtime: { containerFs: two }, expected: false },
    { name: 'neither', runtime: undefined, expected: false },
  ])(
    'containers have a file system of their own: $name: $expected',
    ({ runtime, devices = [], expected }) => {
      const [kubeletRoot, imageFs, containerFs] = devices;
      const usage = storageUsageOf({ node: { fs: one, runtime } }, 0, { kubeletRoot, imageFs, containerFs });
      expect(usage.splitContainerFs).toBe(expected);
    },
  );

  test('layers on a disk of their own do not count, even if the images share that of the kubelet', () => {
    const node = { fs: one, runtime: { imageFs: one, containerFs: one } };
    const usage = storageUsageOf({ node }, 0, { kubeletRoot: 1, imageFs: 1, containerFs: 2 });
    expect(usage).toMatchObject({ dedicatedImageFs: true, splitContainerFs: true });
  });

  const [below0, negative] = [2 ** 64 - 4096, -1];
  const shared = { fs: one, runtime: { imageFs: one, containerFs: one } };
  const apart = { fs: one, runtime: { imageFs: two, containerFs: two } };
  const splitNode = { fs: one, runtime: { imageFs: two, containerFs: three } };
  const used = (usedBytes: number, inodesUsed = 1): object => ({ time, usedBytes, inodesUsed });
  test.each<readonly [string, object, object, string | undefined]>([
    [
      'logs below 0',
      shared,
      { containers: [{ name: 'main', logs: used(below0) }] },
      'logs of container main',
    ],
    [
      'a negative layer',
      shared,
      { containers: [{ name: 'main', rootfs: used(negative) }] },
      'writable layer of container main',
    ],
    ['a volume as large as the disk', shared, { volume: [{ name: 'v', ...used(100) }] }, undefined],
    [
      'a volume that may be in memory',
      { ...shared, memory: { availableBytes: 5e6, workingSetBytes: 5e6 } },
      { volume: [{ name: 'v', ...used(1e6, 200) }] },
      undefined,
    ],
    ['a total below 0', shared, { 'ephemeral-storage': used(below0) }, 'total'],
    ['a total of more than the disk', shared, { 'ephemeral-storage': used(101) }, 'total'],
    ['a total of both disks', apart, { 'ephemeral-storage': used(300) }, undefined],
    ['a total of more than both disks', apart, { 'ephemeral-storage': used(301) }, 'total'],
    ['a layer on the disk of images', apart, { containers: [{ name: 'a', rootfs: used(200) }] }, undefined],
    [
      'a layer that is larger than the disk of images',
      apart,
      { containers: [{ name: 'a', rootfs: used(201) }] },
      'writable layer of container a',
    ],
    [
      'a layer on the disk of containers',
      splitNode,
      { containers: [{ name: 'a', rootfs: used(300) }] },
      undefined,
    ],
    ['more inodes than there are', shared, { 'ephemeral-storage': used(1, 11) }, 'total'],
    ['inodes below 0', shared, { containers: [{ name: 'a', logs: used(1, below0) }] }, 'logs of container a'],
    ['any number without a known capacity', {}, { 'ephemeral-storage': used(2 ** 63, 2 ** 63) }, undefined],
    ['more than 2^63 without a known capacity', {}, { 'ephemeral-storage': used(2 ** 63 * 1.1) }, 'total'],
    [
      'no inodes counted',
      { fs: { ...one, inodes: 0, inodesFree: 0 } },
      { 'ephemeral-storage': used(1, 99) },
      undefined,
    ],
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

  test.each([
    { name: 'another volume', emptyDirs: ['own'], isKnown: true },
    { name: 'an emptyDir', emptyDirs: ['own', 'share'], isKnown: false },
  ])('a volume larger than the disk is left out alone: $name', ({ emptyDirs, isKnown }) => {
    const volume = [
      { name: 'share', ...used(101) },
      { name: 'own', ...used(5) },
    ];
    const pod = { podRef: { uid: 'a', name: 'a', namespace: 'web' }, volume, 'ephemeral-storage': used(7) };
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
    const node = {
      fs: { ...one, availableBytes: 101 },
      memory: { availableBytes: below0, workingSetBytes: 1 },
      runtime: {
        imageFs: { ...one, inodesFree: negative, capacityBytes: below0 },
        containerFs: { inodes: below0 },
      },
    };
    expect(storageUsageOf({ node }, 0).impossible).toEqual([
      'file system of the kubelet (availableBytes)',
      'file system of images (capacityBytes)',
      'file system of images (inodesFree)',
      'file system of containers (inodes)',
      'memory (availableBytes)',
    ]);
  });

  test.each([
    { name: 'null', summary: null },
    { name: 'a text', summary: 'x' },
    { name: 'a list', summary: [] },
    { name: 'pods that are no list', summary: { pods: { a: 1 } } },
    {
      name: 'pods without identity',
      summary: { pods: [null, 3, {}, { podRef: { uid: 3 } }, { podRef: { uid: '' } }] },
    },
  ])('that is $name has no pods', ({ summary }) => {
    expect(storageUsageOf(summary, 0).pods.size).toBe(0);
  });

  test.each([
    { name: 'a text', usedBytes: '10' },
    { name: 'missing', usedBytes: undefined },
    { name: 'null', usedBytes: null },
  ])('a size that is $name is not measured', ({ usedBytes }) => {
    const stats = { 'ephemeral-storage': { time, usedBytes }, volume: [{ name: 'v', usedBytes }] };
    const usage = storageUsageOf({ pods: [{ podRef: { uid: 'u' }, ...stats }] }, 0).pods.get('u');
    expect(usage?.total).toBeUndefined();
    expect(usage?.volumes.size).toBe(0);
  });

  test.each([
    { name: 'none', time: undefined },
    { name: "Go's zero", time: '0001-01-01T00:00:00Z' },
    { name: 'null', time: null },
    { name: 'no time', time: 'yesterday' },
  ])('a measurement whose time is $name has no time', ({ time: measured }) => {
    const pods = [{ podRef: { uid: 'u' }, 'ephemeral-storage': { time: measured, usedBytes: 1 } }];
    expect(storageUsageOf({ pods }, 0).pods.get('u')?.total).toEqual({ bytes: 1, atMs: undefined });
  });
});
