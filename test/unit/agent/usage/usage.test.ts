import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { UsageDeps } from '../../../../src/agent/usage/manager.ts';
import { forecastOf, noHistory } from '../../../../src/agent/usage/forecast.ts';
import { container, emptyDir, storagePod, usage, type Used } from '../localstorage/builders.ts';
import { containers, disk, gib, images } from '../report/builders.ts';
import { node } from './environment.ts';

const minuteMs = 60_000;

const pods = [
  storagePod('db', { emptyDirs: [emptyDir('data'), emptyDir('shm', undefined, true)] }),
  storagePod('api', { containers: [container('main', '2Gi')] }, { namespace: 'shop' }),
];
const used: Readonly<Record<string, Used>> = {
  db: { volumes: { data: 3072, shm: 9999 }, containers: { main: { layer: 1024, logs: 512 } } },
  api: { containers: { main: { layer: 512, logs: 0 } } },
};
const measuredPods = { pods: () => pods, kubelet: () => Promise.resolve(usage(used)) };

describe('what uses a disk', () => {
  test('one file system: the classes add up to the used bytes', async () => {
    const { fileSystems, podCount, pods: listed, namespaces } = await node(measuredPods).measure();
    const layersBytes = 1.5 * gib;
    expect(fileSystems).toEqual([
      {
        name: 'nodefs',
        capacityBytes: 100 * gib,
        availableBytes: 50 * gib,
        usedBytes: 50 * gib,
        imagesInUseBytes: (10 * gib - layersBytes) / 2,
        imagesUnusedBytes: (10 * gib - layersBytes) / 2,
        layersBytes,
        volumesBytes: 3 * gib,
        ...{ logsBytes: 0, checkpointsBytes: 0 },
        otherBytes: 37 * gib,
        collectableBytes: Math.trunc((3 * (10 * gib - layersBytes)) / 10),
        collectable: {
          imagesUnusedBytes: Math.trunc((3 * (10 * gib - layersBytes)) / 10),
          ...{ logsBytes: 0, orphansBytes: 0, checkpointsBytes: 0 },
        },
      },
    ]);
    expect(podCount).toBe(2);
    expect(listed).toEqual([
      {
        ...{ namespace: 'web', name: 'db', uid: 'uid-db', bytes: 4.5 * gib },
        ...{ layersBytes: gib, volumesBytes: 3 * gib, logsBytes: gib / 2 },
        ...{ priority: 0, evictionPlace: 1 },
      },
      {
        ...{ namespace: 'shop', name: 'api', uid: 'uid-api', bytes: gib / 2, limitBytes: 2 * gib },
        ...{ layersBytes: gib / 2, volumesBytes: 0, logsBytes: 0 },
        ...{ priority: 0, evictionPlace: 2 },
      },
    ]);
    expect(namespaces?.map(({ name, pods: count, bytes }) => [name, count, bytes])).toEqual([
      ['web', 1, 4.5 * gib],
      ['shop', 1, gib / 2],
    ]);
  });

  test.each([
    ['a container without a limit counts as 0', [container('main', '2Gi'), container('side')], 2 * gib],
    ['no container has a limit', [container('main')], undefined],
  ])('the limit of a pod is that of the kubelet: %s', async (_, declared, limitBytes) => {
    const db = storagePod('db', { containers: declared });
    const { pods: listed } = await node({ ...measuredPods, pods: () => [db] }).measure();
    expect(listed?.map((one) => one.limitBytes)).toEqual([limitBytes]);
  });

  test('the pods that the kubelet would evict first are listed with their places, however small', async () => {
    const largest = Array.from({ length: 25 }, (_, i) => `pod-${i}`);
    const many = [...largest, 'first'].map((name) =>
      storagePod(name, { containers: [container('main')] }, { priority: name === 'first' ? -1 : 0 }),
    );
    const uses = Object.fromEntries(
      many.map(({ name }, i) => [name, { containers: { main: { layer: 100 - i, logs: 0 } } }]),
    );
    const { pods: listed = [] } = await node({
      pods: () => many,
      kubelet: () => Promise.resolve(usage(uses)),
    }).measure();
    expect(listed.map(({ name, evictionPlace }) => [name, evictionPlace])).toEqual([
      ...largest.slice(0, 19).map((name, i) => [name, i + 2]),
      ['first', 1],
    ]);
  });

  test('pods that have finished take no slot; without the pods or the node, nothing is known', async () => {
    const finished = storagePod('job', {}, { phase: 'Succeeded' });
    const known = await node({ ...measuredPods, pods: () => [...pods, finished] }).measure();
    expect(known).toMatchObject({ podSlots: 110, podSlotsTaken: 2 });
    const nothing = await node({ pods: () => undefined, podSlots: () => undefined }).measure();
    expect([nothing.podSlots, nothing.podSlotsTaken]).toEqual([undefined, undefined]);
  });

  test('two file systems: images and layers have their own', async () => {
    const imageDisk = () => Promise.resolve(disk(20, { device: 2, usedBytes: 10 * gib }));
    const { fileSystems } = await node({ ...measuredPods, imageDisk }).measure();
    expect(fileSystems?.map(({ name, usedBytes, otherBytes }) => [name, usedBytes, otherBytes])).toEqual([
      ['nodefs', 50 * gib, 47 * gib],
      ['imagefs', 20 * gib, 10 * gib],
    ]);
    expect(fileSystems?.[0]).not.toHaveProperty('layersBytes');
    expect(fileSystems?.[1]).not.toHaveProperty('logsBytes');
  });

  test('logs on a partition of their own use no disk that is listed', async () => {
    const logs = { bytes: 25 * gib, removableBytes: 20 * gib, byPod: new Map() };
    const orphan = { count: 1, bytes: gib, largest: [], isReadOnly: false };
    const orphans = { podDirectories: orphan, logDirectories: orphan, podCgroups: undefined };
    const found = await node({
      ...measuredPods,
      containers: () => ({ ...containers, logs, orphans }),
      logDisk: () => Promise.resolve(disk(5, { device: 3 })),
    }).measure();
    expect(found.fileSystems?.[0]).toMatchObject({ orphansBytes: gib, otherBytes: 36 * gib });
    expect(found.fileSystems?.[0]).not.toHaveProperty('logsBytes');
    expect(found.fileSystems?.[0]?.collectableBytes).toBeLessThan(10 * gib);
    expect(found.namespaces?.[0]).toMatchObject({ name: 'web', logsBytes: gib / 2 });
  });

  test('checkpoints, unless they are on a disk of their own; unknown ones may be in other', async () => {
    const checkpoints = { total: 2, bytes: 3 * gib, removable: 1, removableBytes: gib, isReadOnly: false };
    const nodefs = async (over: Partial<typeof containers>) => {
      const measured = node({ ...measuredPods, containers: () => ({ ...containers, ...over }) });
      const { fileSystems, unknown } = await measured.measure();
      return { ...fileSystems?.[0], unknown };
    };
    const here = await nodefs({ checkpoints: { ...checkpoints, isApart: false } });
    expect(here).toMatchObject({ checkpointsBytes: 3 * gib, otherBytes: 34 * gib - 5000 });
    expect(here.collectable?.checkpointsBytes).toBe(gib);
    const apart = await nodefs({ checkpoints: { ...checkpoints, isApart: true } });
    expect(apart).toMatchObject({ otherBytes: 37 * gib - 5000 });
    expect(apart).not.toHaveProperty('checkpointsBytes');
    const unknown = await nodefs({ checkpoints: undefined });
    expect(unknown).not.toHaveProperty('otherBytes');
    expect(unknown).not.toHaveProperty('collectableBytes');
    expect(unknown.unknown).toContain(
      'checkpoints: not listed yet, or not all in the last pass of containergc',
    );
  });

  test('layers on the disk of the kubelet, and images on their own (KEP-4191)', async () => {
    const layout = { dedicatedImageFs: true, splitContainerFs: true };
    const { fileSystems } = await node({
      ...measuredPods,
      kubelet: () => Promise.resolve(usage(used, layout)),
      imageDisk: () => Promise.resolve(disk(20, { device: 2, usedBytes: 10 * gib })),
    }).measure();
    expect(fileSystems).toMatchObject([
      { name: 'nodefs', layersBytes: 1.5 * gib, volumesBytes: 3 * gib },
      { name: 'imagefs', imagesInUseBytes: 5 * gib, imagesUnusedBytes: 5 * gib },
    ]);
    expect(fileSystems?.[1]).not.toHaveProperty('layersBytes');
  });

  test('images by their bytes on the disk, where these are known', async () => {
    const known = {
      inUse: { count: 1, bytes: 3 * gib },
      collectable: { count: 2, bytes: 4 * gib },
      packed: { total: 5 * gib, inUse: gib, collectable: 2 * gib },
      others: { leftovers: gib / 2, namespaces: 8 * gib },
    };
    const { fileSystems } = await node({ ...measuredPods, images: () => images(known) }).measure();
    expect(fileSystems).toMatchObject([
      {
        ...{ imagesInUseBytes: 2 * gib, imagesUnusedBytes: 3 * gib, packedBytes: 5 * gib },
        ...{ leftoversBytes: gib / 2, namespacesBytes: 8 * gib, otherBytes: 27 * gib },
        collectableBytes: 4 * gib,
        collectable: { imagesUnusedBytes: 2 * gib, packedBytes: 2 * gib, logsBytes: 0 },
      },
    ]);
  });

  test('bytes of images that cannot be read are those of a quarter of an hour ago, then unknown; never those of the runtime', async () => {
    const exact = images({
      packed: { total: 4 * gib, inUse: gib, collectable: gib },
      others: { leftovers: 0, namespaces: 0 },
    });
    let now: ReturnType<typeof images> | undefined = exact;
    const { clock, measure } = node({ ...measuredPods, images: () => now });
    const before = await measure();
    for (const failed of [undefined, images({ packed: 'unknown', total: { count: 9, bytes: gib } })]) {
      now = exact;
      await measure();
      now = failed;
      clock.advance(15 * minuteMs);
      expect((await measure()).fileSystems).toEqual(before.fileSystems);
    }
    clock.advance(1);
    const { fileSystems: [disk] = [], unknown } = await measure();
    expect(unknown).toBe('bytes of images: not read in the last passes of imagegc');
    for (const field of [
      'imagesInUseBytes',
      'imagesUnusedBytes',
      'packedBytes',
      'otherBytes',
      'collectableBytes',
    ])
      expect(disk).not.toHaveProperty(field);
    expect(disk).toMatchObject({ layersBytes: 1.5 * gib, volumesBytes: 3 * gib });
  });

  test('layers of dead containers, which the kubelet does not report, are no images', async () => {
    const stats = [1.5 * gib, 4 * gib, undefined].map((writableLayerBytes, i) => ({
      ...{ id: `c${i}`, labels: {}, writableLayerBytes, writableLayerInodes: undefined },
    }));
    const runtime = { containerStats: () => Promise.resolve(stats) };
    const { fileSystems } = await node({ ...measuredPods, runtime }).measure();
    expect(fileSystems).toMatchObject([{ layersBytes: 5.5 * gib, imagesInUseBytes: 2.25 * gib }]);
  });

  const broken = () => Promise.reject(new Error('EIO'));

  test('without statistics of the runtime, layers are those that the kubelet reports', async () => {
    const { fileSystems } = await node({ ...measuredPods, runtime: { containerStats: broken } }).measure();
    expect(fileSystems).toMatchObject([{ layersBytes: 1.5 * gib }]);
  });

  const sharing = (isShared: boolean) => () => Promise.resolve(usage({}, { dedicatedImageFs: !isShared }));
  const noDisk = { nodeDisk: broken, imageDisk: broken };

  test.each<[name: string, over: Partial<UsageDeps>, listed: readonly string[]]>([
    ['the disk of the kubelet, which images share', { nodeDisk: broken, kubelet: sharing(true) }, ['nodefs']],
    [
      'the disk of the kubelet, images have another',
      { nodeDisk: broken, kubelet: sharing(false) },
      ['imagefs'],
    ],
    ['the disk of images, which they share', { imageDisk: broken, kubelet: sharing(true) }, ['nodefs']],
    ['no disk, one is shared', { ...noDisk, kubelet: sharing(true) }, []],
    ['no disk, images have another', { ...noDisk, kubelet: sharing(false) }, []],
  ])('%s cannot be read', async (_, over, listed) => {
    const { fileSystems } = await node(over).measure();
    expect(fileSystems?.map(({ name }) => name)).toEqual(listed);
  });

  const refused = () => Promise.reject(new Error('connect ECONNREFUSED'));
  const impossible = () => Promise.resolve(usage({}, { impossible: ['pod web/a (logs)'] }));
  const noLogs = () => ({ ...containers, logs: undefined });

  test.each<[name: string, over: Partial<UsageDeps>, unknown: string, missing: readonly string[]]>([
    [
      'the kubelet',
      { pods: () => pods, kubelet: refused },
      'usage of the pods: connect ECONNREFUSED',
      ['layersBytes', 'volumesBytes', 'otherBytes'],
    ],
    [
      'a kubelet that has measured no pods since its start',
      { pods: () => pods },
      'usage of the pods: not measured yet by the kubelet',
      ['layersBytes'],
    ],
    [
      'the file system of images',
      { ...measuredPods, imageDisk: broken, kubelet: broken },
      'usage of the pods: EIO; disk of images: EIO',
      ['imagesInUseBytes', 'layersBytes', 'otherBytes', 'collectableBytes'],
    ],
    [
      'images and logs',
      { ...measuredPods, images: () => undefined, containers: noLogs },
      'images: not listed yet, or not in the last pass of imagegc; logs: not listed yet, or not in the last pass of containergc',
      ['collectableBytes'],
    ],
    ['a value that cannot be', { kubelet: impossible }, 'impossible values: pod web/a (logs)', []],
  ])('%s: what is unknown is named, and not 0', async (_, over, unknown, missing) => {
    const found = await node(over).measure();
    expect(found.unknown).toBe(unknown);
    const [disk, ...others] = found.fileSystems ?? [];
    expect([disk?.name, others]).toEqual(['nodefs', []]);
    for (const field of missing) expect(disk).not.toHaveProperty(field);
    expect('namespaces' in found).toBe(!unknown.startsWith('usage of the pods'));
  });

  test('nothing can be read: no disk is listed, and each is named', async () => {
    const { unknown, fileSystems } = await node({ ...noDisk, kubelet: broken }).measure();
    expect(unknown).toBe('usage of the pods: EIO; disk of the kubelet: EIO; disk of images: EIO');
    expect(fileSystems).toEqual([]);
  });

  test('orphans are part of what logs and directories use', async () => {
    const part = { count: 1, bytes: gib, largest: [], isReadOnly: false };
    const orphans = { podDirectories: part, logDirectories: part, podCgroups: undefined };
    const logs = { bytes: 3 * gib, removableBytes: gib, byPod: new Map() };
    const { fileSystems } = await node({ containers: () => ({ ...containers, logs, orphans }) }).measure();
    expect(fileSystems?.[0]).toMatchObject({ logsBytes: 2 * gib, orphansBytes: 2 * gib });
    // Never more of a class than it has.
    expect(fileSystems?.[0]?.collectable).toMatchObject({ logsBytes: 0, orphansBytes: gib });
    const more = { ...logs, removableBytes: 2.5 * gib };
    const all = await node({ containers: () => ({ ...containers, logs: more, orphans }) }).measure();
    expect(all.fileSystems?.[0]?.collectable).toMatchObject({ logsBytes: 1.5 * gib, orphansBytes: gib });
    const partly = { ...orphans, podDirectories: undefined };
    const other = await node({ containers: () => ({ ...containers, logs, orphans: partly }) }).measure();
    expect(other.fileSystems?.[0]).toMatchObject({ orphansBytes: gib });
  });

  test('before the first pass of containergc logs are those of running pods', async () => {
    const { fileSystems } = await node({ ...measuredPods, containers: () => undefined }).measure();
    expect(fileSystems?.[0]).toHaveProperty('logsBytes', gib / 2);
  });

  test('finished pods count as far as they are measured; namespaces of one size are in the order of their names', async () => {
    const names = ['c', 'a', 'b', 'd'];
    const finished = names.map((name) => storagePod(name, {}, { namespace: name, phase: 'Succeeded' }));
    const layered = { containers: { main: { layer: 1 } } };
    const kubelet = () => Promise.resolve(usage({ a: layered, b: layered, c: layered }));
    const { namespaces } = await node({ pods: () => finished, kubelet }).measure();
    expect(namespaces?.map(({ name }) => name)).toEqual(['a', 'b', 'c']);
  });

  test('what finished pods have left is measured by the runtime and by the agent', async () => {
    const finished = ['done', 'empty'].map((name) => storagePod(name, {}, { phase: 'Succeeded' }));
    const stats = [3, 2].map((size, i) => ({
      ...{ id: `c${i}`, labels: { 'io.kubernetes.pod.uid': 'uid-done' } },
      ...{ writableLayerBytes: size * gib, writableLayerInodes: undefined },
    }));
    const logs = { bytes: 2 * gib, removableBytes: 0, byPod: new Map([['uid-done', gib]]) };
    const found = await node({
      pods: () => finished,
      kubelet: () => Promise.resolve(usage({})),
      runtime: { containerStats: () => Promise.resolve(stats) },
      containers: () => ({ ...containers, logs }),
    }).measure();
    expect(found.pods).toMatchObject([
      { name: 'done', bytes: 6 * gib, layersBytes: 5 * gib, volumesBytes: 0, logsBytes: gib },
    ]);
    expect(found.fileSystems).toMatchObject([{ layersBytes: 5 * gib, logsBytes: 2 * gib }]);
  });

  test('what could not be read of a finished pod is a lower bound, and a failure is named', async () => {
    const finished = storagePod('done', {}, { phase: 'Succeeded' });
    const logs = { bytes: gib, removableBytes: 0, byPod: new Map([['uid-done', gib]]) };
    const broken = { containerStats: () => Promise.reject(new Error('broken')) };
    const given = { pods: () => [finished], kubelet: () => Promise.resolve(usage({})) };
    const found = await node({
      ...given,
      runtime: broken,
      containers: () => ({ ...containers, logs }),
    }).measure();
    expect(found.pods).toMatchObject([{ name: 'done', bytes: gib, lowerBound: true }]);
    expect(found.unknown).toBe('writable layers: broken');
    const unlisted = await node({ ...given, containers: () => undefined }).measure();
    expect(unlisted.pods).toMatchObject([{ name: 'done', bytes: 0, lowerBound: true }]);
  });

  test('a measurement ends with its signal, also while it waits for the statistics of the runtime', async () => {
    const stopped = AbortSignal.abort();
    const containerStats = () => Promise.reject(new Error('stopped'));
    await expect(node({ runtime: { containerStats } }).manager.measure(stopped)).rejects.toThrow('aborted');
  });

  test('a pod of which a part is not measured has its last usage for five minutes, then that of the other parts as a lower bound', async () => {
    let now = used;
    let bound = pods;
    const kubelet = () => Promise.resolve(usage(now));
    const { measure, log, clock } = node({ pods: () => bound, kubelet });
    await measure();
    now = { api: used['api'] ?? {}, db: { containers: { main: { layer: 2048, logs: 512 } } } };
    clock.advance(5 * minuteMs);
    const { namespaces } = await measure();
    expect(namespaces?.map(({ name, bytes }) => [name, bytes])).toEqual([
      ['web', 4.5 * gib],
      ['shop', gib / 2],
    ]);
    clock.advance(1);
    const later = await measure();
    expect(later.namespaces).toMatchObject([
      { name: 'web', bytes: 2.5 * gib, layersBytes: 2 * gib, volumesBytes: 0, lowerBound: true },
      { name: 'shop', bytes: gib / 2 },
    ]);
    expect(later.pods?.map(({ name, lowerBound }) => [name, lowerBound])).toEqual([
      ['db', true],
      ['api', undefined],
    ]);
    // A new pod is not measured at once.
    expect(later.unknown).toBeUndefined();
    expect(await measure()).toMatchObject({
      unknown: 'usage of 1 pod, measured in part or not at all: web/db',
      fileSystems: [{ layersBytes: 2.5 * gib, imagesInUseBytes: 3.75 * gib }],
    });
    now = { api: used['api'] ?? {} };
    bound = [...pods, storagePod('other', {}, { namespace: 'shop' })];
    expect((await measure()).namespaces).toMatchObject([{ name: 'shop', pods: 1, lowerBound: true }]);
    bound = pods.slice(1);
    expect((await measure()).namespaces?.map(({ name }) => name)).toEqual(['shop']);
    expect(log.lines).toEqual([]);
  });

  test('an unused image has the time since when', async () => {
    const image = { id: 'sha256:a', name: 'a', bytes: gib, inUse: false, isKept: false };
    const listed = [
      { ...image, unusedSince: '2026-01-15T11:00:00Z' },
      { ...image, id: 'sha256:b', unusedSince: undefined },
    ];
    const found = await node({ images: () => images({ listed }) }).measure();
    expect(found.images?.map(({ unusedSince }) => unusedSince)).toEqual(['2026-01-15T11:00:00Z', undefined]);
  });

  test('more pods and namespaces than a report lists', async () => {
    const many = Array.from({ length: 70 }, (_, i) => storagePod(`p${i}`, {}, { namespace: `ns-${i}` }));
    const sizes = many.map(({ name }, i) => [name, { containers: { main: { layer: i + 1 } } }] as const);
    const kubelet = () => Promise.resolve(usage(Object.fromEntries(sizes)));
    const found = await node({ pods: () => many, kubelet }).measure();
    expect(found.pods?.map(({ name }) => name).slice(0, 2)).toEqual(['p69', 'p68']);
    expect([found.pods?.length, found.podCount, found.namespaces?.length]).toEqual([20, 70, 64]);
    expect(found.otherNamespaces).toEqual({ count: 6, bytes: (1 + 2 + 3 + 4 + 5 + 6) * 1024 ** 2 });
  });

  test('the classes of any node add up to its used bytes', async () => {
    const size = fc.integer({ min: 0, max: 60 });
    const packed = fc.oneof(
      fc.constant('unsupported' as const),
      // Parts of the images below.
      size.map((part) => ({ total: part * gib * 0.1, inUse: 0, collectable: part })),
    );
    const others = fc.record({ leftovers: size, namespaces: size.map((bytes) => bytes * gib) });
    const world = fc.record({
      diskGib: size,
      imagesGib: size,
      logs: size,
      layer: size,
      data: size,
      packed,
      others,
    });
    await fc.assert(
      fc.asyncProperty(world, async ({ diskGib, imagesGib, logs, layer, data, packed, others }) => {
        const one = disk(diskGib, { usedBytes: imagesGib * gib });
        const of = { volumes: { data: data * 1024 }, containers: { main: { layer: layer * 1024 } } };
        const { fileSystems } = await node({
          pods: () => pods,
          kubelet: () => Promise.resolve(usage({ db: of })),
          images: () =>
            images({
              inUse: { count: 1, bytes: imagesGib * 3 },
              total: { count: 9, bytes: 7 * gib },
              packed,
              others,
            }),
          nodeDisk: () => Promise.resolve(one),
          imageDisk: () => Promise.resolve(one),
          containers: () => ({
            ...containers,
            logs: { bytes: logs * gib, removableBytes: 0, byPod: new Map() },
          }),
        }).measure();
        const { usedBytes = 0, ...rest } = fileSystems?.[0] ?? {};
        const classes = Object.entries(rest).filter(
          ([key]) => !/^(capacity|available|collectable|name$)/.test(key),
        );
        const total = classes.reduce((all, [, value]) => all + Number(value), 0);
        expect(total).toBe(usedBytes);
      }),
      { numRuns: 200 },
    );
  });
});

/** A disk of 100 GiB that is half full, and so many bytes more. */
const halfFullAnd = (bytes: number, usedBytes = 10 * gib) =>
  disk(0, { availableBytes: Math.round(50 * gib - bytes), usedBytes });

/** A disk that grows by `perMinute` bytes, written by the logs of one pod. */
function filling(perMinute: (minute: number) => number, over: Partial<UsageDeps> = {}) {
  let grown = 0;
  const size = () => Promise.resolve(halfFullAnd(grown));
  const all = node({
    pods: () => pods,
    kubelet: () => Promise.resolve(usage({ api: { containers: { main: { logs: grown / 1024 ** 2 } } } })),
    nodeDisk: size,
    imageDisk: size,
    containers: () => ({ ...containers, logs: { bytes: grown, removableBytes: 0, byPod: new Map() } }),
    ...over,
  });
  const during = (minutes: number) =>
    all.during(minutes, (minute) => {
      grown += perMinute(minute);
    });
  return { ...all, during };
}

const perMinute = gib / 30;

describe('when a disk is full', () => {
  test('no metric says that a disk is full before the first measurement', async () => {
    expect(await node().registry.metrics()).not.toMatch(/^dustpan_node_full_after_collection_seconds \d/m);
  });

  test('at the present growth, and after collection', async () => {
    const { during, recorder, registry } = filling(() => perMinute);
    const { forecast, fileSystems, namespaces } = await during(10);
    expect(forecast).toBe(
      'At 2.0 GiB/h, nodefs is full in 25 h; collection gives back 3.0 GiB, then in 26 h. Logs of namespace shop grow 2.0 GiB/h.',
    );
    expect(fileSystems?.[0]).toMatchObject({
      fullTime: '2026-01-16T12:59:00Z',
      fullAfterCollectionTime: '2026-01-16T14:29:00Z',
    });
    expect(namespaces?.find(({ name }) => name === 'shop')?.growthBytesPerHour).toBeCloseTo(2 * gib, -6);
    expect(recorder.events).toEqual([]);
    expect(await registry.metrics()).toMatch(/^dustpan_node_full_after_collection_seconds 9\d{4}/m);
  });

  test('one Event within a day, and none again for six hours', async () => {
    const { during, recorder } = filling((minute) => (minute < 300 ? 2 * perMinute : 0));
    await during(300);
    expect(recorder.events.map(({ reason }) => reason)).toEqual(['DiskFillsDespiteCollection']);
  });

  test.each([
    ['if nothing grows', 0, 30],
    ['if it takes more than a week: a busy node always grows a little', perMinute / 7, 30],
  ])('is not known %s', async (_, growth, minutes) => {
    const { forecast, fileSystems } = await filling(() => growth).during(minutes);
    expect(forecast).toBeUndefined();
    expect(fileSystems?.[0]).not.toHaveProperty('fullTime');
  });

  test('is not shown after forecasts that were wrong by more than half', async () => {
    const burst = filling((minute) => (minute % 60 < 12 ? perMinute : 0));
    const { fileSystems } = await burst.during(60 * 6 + 8);
    expect(fileSystems?.[0]?.forecastErrorPercent).toBeGreaterThan(50);
    expect(fileSystems?.[0]).not.toHaveProperty('fullTime');
  });

  test('the error of right forecasts is small', async () => {
    const { fileSystems } = await filling(() => perMinute).during(90);
    expect(fileSystems?.[0]?.forecastErrorPercent).toBeLessThan(5);
  });

  /** A disk that grows by 2 GiB of unused images an hour. */
  const pulling = (isCollectable: boolean) => {
    let grown = 0;
    const size = () => Promise.resolve(halfFullAnd(grown * gib, (10 + grown) * gib));
    const total = () => ({ count: 10, bytes: (10 + grown) * gib });
    const { during } = node({
      nodeDisk: size,
      imageDisk: size,
      images: () => {
        const collectable = isCollectable ? total() : { count: 0, bytes: 0 };
        return images({ total: total(), inUse: { count: 1, bytes: 5 * gib }, collectable });
      },
    });
    return during(10, () => (grown += 1 / 30));
  };

  test('is never, if only unused images grow', async () => {
    const { forecast, fileSystems } = await pulling(true);
    expect(forecast).toContain('is full in 25 h, but unused images grow, and collection removes them.');
    expect(fileSystems?.[0]).not.toHaveProperty('fullAfterCollectionTime');
  });

  test('collection removes no images of a keep list', async () => {
    const { forecast, fileSystems } = await pulling(false);
    expect(forecast).toBe(
      'At 2.0 GiB/h, nodefs is full in 25 h; nothing can be collected. Images grow 2.0 GiB/h.',
    );
    expect(fileSystems?.[0]).toHaveProperty('fullAfterCollectionTime');
  });

  test('the Event and the metric are about the disk that is full first after collection', async () => {
    let grown = 0;
    const { during, recorder } = node({
      nodeDisk: () => Promise.resolve(disk(50, { availableBytes: (10 - 2 * grown) * gib })),
      imageDisk: () =>
        Promise.resolve(disk(50, { device: 2, usedBytes: 50 * gib, availableBytes: (8 - 2 * grown) * gib })),
      images: () => images({ collectable: { count: 10, bytes: 10 * gib } }),
    });
    const { forecast } = await during(10, () => (grown += 1 / 30));
    expect(forecast).toContain('imagefs is full in');
    expect(recorder.events.map(({ note }) => note)).toEqual([expect.stringContaining('nodefs is full in')]);
  });

  test('what collection gives back is unknown: so is the time after it', async () => {
    const { forecast, fileSystems } = await filling(() => perMinute, { images: () => undefined }).during(10);
    expect(forecast).toContain('nodefs is full in 25 h. Logs');
    expect(fileSystems?.[0]).not.toHaveProperty('fullAfterCollectionTime');
  });

  test('without a history nothing is known about the time', () => {
    const bytes = { capacityBytes: 2, availableBytes: 1, usedBytes: 1, collectableBytes: 0, collectable: {} };
    const nothing = { partial: [], namespaces: [], workloads: [], places: undefined, volumes: [] };
    const measured = { ...nothing, at: new Date(), disks: [], pods: undefined };
    const one = { name: 'nodefs' as const, ...bytes, inodesPercent: undefined, classes: {} };
    const forecast = forecastOf(one, noHistory, measured);
    expect(forecast).toMatchObject({ bytesPerHour: undefined, fullSeconds: undefined });
    expect(forecast.errorPercent).toBeUndefined();
  });

  test('is forgotten after a jump of the clock', async () => {
    const { during, clock, measure } = filling(() => perMinute);
    await during(10);
    clock.stepWall(3_600_000);
    expect(await measure()).not.toHaveProperty('forecast');
  });
});
