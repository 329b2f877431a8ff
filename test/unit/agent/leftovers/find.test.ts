import { describe, expect, test } from 'vitest';
import {
  countDirectories,
  findLeftovers,
  namespaceBytes,
  withSizes,
} from '../../../../src/agent/leftovers/find.ts';
import type { ContainerdStore, Ingest, NamespaceStore } from '../../../../src/containerd/store.ts';
import { blob, block, container, layer, lease, name, nothing } from '../stored.ts';

const now = new Date('2026-06-01T12:00:00Z');
const gc = 'containerd.io/gc';
const [past, future] = ['2026-06-01T11:59:59Z', '2026-06-02T12:00:00Z'];
const secondsAgo = (minutes: number): number => now.getTime() / 1000 - minutes * 60;

const ingest = (ref: string, blocks: number, minutes = 90): Ingest => ({
  ref,
  startedAtSeconds: secondsAgo(600),
  updatedAtSeconds: secondsAgo(minutes),
  receivedBytes: blocks * block,
  totalBytes: 0,
  expectedDigest: '',
});

/** An image `a` of 1 + 100 blocks packed and 1000 unpacked, on a base of 500 and 5000; container `c` runs it. */
const image: NamespaceStore = {
  ...nothing,
  images: [name('a', 'ma')],
  blobs: [
    blob('ma', 1, {
      [`${gc}.ref.content.l.0`]: 'base',
      [`${gc}.ref.content.l.1`]: 'la',
      [`${gc}.ref.snapshot.overlayfs`]: 'top',
    }),
    blob('base', 500),
    blob('la', 100),
  ],
  snapshots: [layer('base', 5000), layer('top', 1000, 'base'), active('c', 'top')],
  containers: [container('c', 'c')],
};

function active(key: string, parent = '', more: Partial<NamespaceStore['snapshots'][number]> = {}) {
  return layer(key, 0, parent, { kind: 'other', sizeBytes: 'unknown', ...more });
}

const storeOf = (more: Partial<NamespaceStore>, foreign: ContainerdStore = new Map()): ContainerdStore => {
  const { images, blobs, snapshots, containers } = image;
  return new Map([
    ...foreign,
    [
      'k8s.io',
      {
        ...image,
        ...more,
        images: [...images, ...(more.images ?? [])],
        blobs: [...blobs, ...(more.blobs ?? [])],
        snapshots: [...snapshots, ...(more.snapshots ?? [])],
        containers: [...containers, ...(more.containers ?? [])],
      },
    ],
  ]);
};

const found = (store: ContainerdStore, owners: readonly string[] = ['c', 'sandbox']) =>
  findLeftovers(store, { owners: new Set(owners), now });

/** `KIND ID BLOCKS`, with `+` for a lower bound. */
const shown = (store: ContainerdStore) =>
  found(store).leftovers.map(
    ({ kind, id, bytes, isLowerBound }) => `${kind} ${id} ${bytes / block}${isLowerBound ? '+' : ''}`,
  );

const leases = (id: string, resources: Readonly<Record<string, string>>, labels = {}, minutes = 90) => ({
  ...lease(id, '', '', labels),
  createdAtSeconds: secondsAgo(minutes),
  resources: Object.entries(resources).map(([resource, type]) => ({ type, id: resource })),
});
const expiring = { [`${gc}.expire`]: future };
const pulled = {
  ref: 'ingests',
  b: 'content',
  'extract-1 x': 'snapshots/overlayfs',
  x: 'snapshots/overlayfs',
};
const pull: Partial<NamespaceStore> = {
  leases: [leases('pull', pulled, expiring)],
  blobs: [blob('b', 20)],
  ingests: [ingest('ref', 7)],
  snapshots: [layer('x', 30), active('extract-1 x', 'x')],
};

describe('leftovers', () => {
  test.each<[name: string, more: Partial<NamespaceStore>, expected: readonly string[]]>([
    ['none', {}, []],
    ['an interrupted pull', pull, ['Download lease pull 57+']],
    ['a pull that still receives', { ...pull, ingests: [ingest('ref', 7, 59)] }, []],
    [
      'a pull that has just stored a blob',
      { ...pull, blobs: [{ ...blob('b', 20), createdAtSeconds: secondsAgo(5) }] },
      [],
    ],
    [
      'a pull that has just begun to unpack',
      {
        ...pull,
        snapshots: [layer('x', 30), active('extract-1 x', 'x', { createdAtSeconds: secondsAgo(5) })],
      },
      [],
    ],
    ['a pull that has just begun', { ...pull, leases: [leases('pull', pulled, expiring, 59)] }, []],
    [
      'what an image has too stays',
      {
        ...pull,
        leases: [leases('pull', { ...pulled, la: 'content', top: 'snapshots/overlayfs' }, expiring)],
      },
      ['Download lease pull 57+'],
    ],
    [
      'two pulls of one image: the bytes are freed with the last',
      { ...pull, leases: [leases('first', pulled, expiring), leases('second', pulled, expiring)] },
      ['Download lease first 0', 'Download lease second 57+'],
    ],
    [
      'a pull that another one has continued',
      { ...pull, leases: [leases('old', { ref: 'ingests' }, expiring), leases('new', pulled, expiring, 5)] },
      ['Download lease old 0'],
    ],
    [
      'an expired lease',
      { leases: [leases('old', { b: 'content' }, { [`${gc}.expire`]: past })], blobs: [blob('b', 20)] },
      ['Download lease old 20'],
    ],
    ['an expired lease of nothing', { leases: [leases('old', {}, { [`${gc}.expire`]: past })] }, []],
    [
      'a lease that its client lets expire',
      { leases: [leases('build', { b: 'content' }, expiring)], blobs: [blob('b', 20)] },
      [],
    ],
    [
      'a lease without expiry',
      { leases: [leases('left', { b: 'content' })], blobs: [blob('b', 20)] },
      ['Lease lease left 20'],
    ],
    ['a lease of a sandbox', { leases: [leases('sandbox', { b: 'content' })], blobs: [blob('b', 20)] }, []],
    [
      'a lease of a sandbox that only containerd lists',
      {
        leases: [leases('pod', { b: 'content' })],
        blobs: [blob('b', 20)],
        sandboxes: [{ id: 'pod', labels: {} }],
      },
      [],
    ],
    [
      'a flat lease keeps no references',
      {
        leases: [leases('left', { b: 'content' }, { [`${gc}.flat`]: '' })],
        blobs: [blob('b', 20, { [`${gc}.ref.content.0`]: 'd' }), blob('d', 5)],
      },
      ['Content unreferenced 5', 'Lease lease left 20'],
    ],
    ['a download without a lease', { ingests: [ingest('ref', 7)] }, ['Download download ref 7']],
    ['a download without a lease that still receives', { ingests: [ingest('ref', 7, 5)] }, []],
    [
      'a writable snapshot without a container, with its layers',
      { snapshots: [layer('x', 30), active('k', 'x', { labels: { [`${gc}.root`]: 't' } })] },
      ['Snapshot snapshot overlayfs/k 30+'],
    ],
    [
      'a writable snapshot that nothing refers to',
      { snapshots: [active('k', 'top', { sizeBytes: 4 * block })] },
      ['Snapshot snapshot overlayfs/k 4'],
    ],
    ['a young one', { snapshots: [active('k', 'top', { createdAtSeconds: secondsAgo(5) })] }, []],
    ['one of a sandbox', { snapshots: [active('sandbox', 'top')] }, []],
    [
      'one of a container of another client',
      { snapshots: [active('k', 'top')], containers: [container('ctr', 'k')] },
      [],
    ],
    [
      'one of a lease',
      { snapshots: [active('k', 'top')], leases: [leases('sandbox', { k: 'snapshots/overlayfs' })] },
      [],
    ],
    [
      'a labelled blob with what it refers to',
      { blobs: [blob('b', 20, { [`${gc}.root`]: 't', [`${gc}.ref.content.0`]: 'd' }), blob('d', 5)] },
      ['Content content b 25'],
    ],
    [
      'a labelled blob of an image',
      { images: [name('b', 'b')], blobs: [blob('b', 20, { [`${gc}.root`]: 't' })] },
      [],
    ],
    ['a labelled blob that expires', { blobs: [blob('b', 20, expiring)] }, []],
    [
      'what nothing refers to, without what is young',
      {
        blobs: [blob('b', 20), { ...blob('d', 5), createdAtSeconds: secondsAgo(5) }],
        snapshots: [layer('x', 30)],
      },
      ['Content unreferenced 50'],
    ],
  ])('%s', (_, more, expected) => {
    expect(shown(storeOf(more))).toEqual(expected);
  });

  test.each<readonly [expire: string, expected: string | undefined]>([
    ['2020-01-01T00:00:00Z', 'Download'],
    ['2026-06-01T13:59:59.9+02:00', 'Download'],
    ['2026-06-01T14:00:01+02:00', undefined],
    // What Go does not parse, containerd ignores.
    ...['soon', '2020', '2020-01-01', '2020-01-01t00:00:00z', '2020-01-01T24:00:00Z'].map(
      (ignored) => [ignored, 'Lease'] as const,
    ),
  ])('a lease until %s: %s', (expire, expected) => {
    const left = leases('left', { b: 'content' }, { [`${gc}.expire`]: expire });
    const { leftovers } = found(storeOf({ leases: [left], blobs: [blob('b', 20)] }));
    expect(leftovers.map(({ kind }) => kind)).toEqual(expected === undefined ? [] : [expected]);
  });

  const zeroOfGo = -62_135_596_800;
  const undated = { ...blob('b', 20), createdAtSeconds: zeroOfGo };
  test.each<[name: string, more: Partial<NamespaceStore>]>([
    ['a download', { ingests: [{ ...ingest('ref', 7), updatedAtSeconds: 0 }] }],
    [
      'an expired lease',
      { leases: [{ ...leases('old', { b: 'content' }, { [`${gc}.expire`]: past }), createdAtSeconds: 0 }] },
    ],
    ['a lease', { leases: [{ ...leases('left', {}), createdAtSeconds: 0 }] }],
    ['a blob of a lease', { leases: [leases('left', { b: 'content' })], blobs: [undated] }],
    ['a writable snapshot', { snapshots: [active('k', 'top', { createdAtSeconds: 0 })] }],
    ['a labelled blob', { blobs: [{ ...undated, labels: { [`${gc}.root`]: 't' } }] }],
    ['a blob that nothing refers to', { blobs: [undated, blob('d', 5)] }],
  ])('the age is unknown of %s without a time', (_, more) => {
    expect(found(storeOf(more)).leftovers).toMatchObject([{ sinceMs: undefined }]);
  });

  test.each<[name: string, all: NamespaceStore['leases'], obstacles: readonly unknown[]]>([
    [
      'of BuildKit for a layer, and for its copies',
      [leases('layer', {}, { [`${gc}.flat`]: '' }), leases('layer-variants', {})],
      ['HeldByOther', 'HeldByOther'],
    ],
    ['of nobody', [leases('layer', {}), leases('layer-variants', {})], [undefined, undefined]],
    ['that may be of a sandbox', [leases('0f'.repeat(32), {})], ['SandboxUnknown']],
  ])('leases %s', (_, all, obstacles) => {
    const { leftovers } = found(storeOf({ leases: all }));
    expect(leftovers.map(({ obstacle }) => obstacle)).toEqual(obstacles);
  });

  test('a part of unknown age does not make a young one old', () => {
    expect(shown(storeOf({ ...pull, blobs: [undated], ingests: [ingest('ref', 7, 5)] }))).toEqual([]);
  });

  test('what a lease names and containerd does not have says nothing about its age', () => {
    const { leftovers } = found(storeOf({ leases: [leases('left', { gone: 'content' })] }));
    expect(leftovers).toMatchObject([{ sinceMs: now.getTime() - 90 * 60_000 }]);
  });

  test('have the name of their image, what holds them, and the newest of their times', () => {
    const source = 'containerd.io/distribution.source.docker.io';
    const blobs = [
      { ...blob('b', 20, { [source]: 'library/nginx,library/other' }), createdAtSeconds: secondsAgo(61) },
    ];
    expect(found(storeOf({ ...pull, blobs })).leftovers).toMatchObject([
      { name: 'docker.io/library/nginx', holder: 'lease pull', sinceMs: now.getTime() - 61 * 60_000 },
    ]);
    const rooted = active('k', '', { labels: { [`${gc}.root`]: 't' } });
    const labelled = blob('d', 1, { [`${gc}.root`]: 't' });
    const others = found(
      storeOf({ leases: [leases('left', {})], blobs: [labelled], snapshots: [rooted, active('free')] }),
    ).leftovers;
    expect(others.map((one) => [one.name, one.holder])).toEqual([
      ['left', 'lease left'],
      ['k', `label ${gc}.root`],
      ['free', 'nothing'],
      ['d', `label ${gc}.root`],
    ]);
  });

  test('writable snapshots are measured, not those of others', () => {
    const store = storeOf({ ...pull, snapshots: [...(pull.snapshots ?? []), active('k', 'top')] });
    const { unmeasured } = found(store);
    expect(unmeasured.map((one) => one.name)).toEqual(['extract-1 x', 'k']);
    const measured = withSizes(store, new Map(unmeasured.map((one, i) => [one, (i + 1) * block])));
    expect(shown(measured)).toEqual(['Download lease pull 58', 'Snapshot snapshot overlayfs/k 2']);
    expect(found(measured).unmeasured).toEqual([]);
  });

  test('a container that only one list has keeps its snapshot', () => {
    const store = storeOf({ snapshots: [active('new', 'top')] });
    expect(found(store, ['new']).leftovers).toEqual([]);
    expect(found(store).leftovers).toHaveLength(1);
  });

  test('without a namespace of the kubelet there are none', () => {
    expect(found(new Map())).toEqual({ leftovers: [], unmeasured: [] });
    expect(withSizes(new Map(), new Map())).toEqual(new Map());
  });
});

const moby: NamespaceStore = {
  ...nothing,
  blobs: [blob('base', 500), blob('theirs', 40)],
  snapshots: [layer('base', 5000), active('box', 'base')],
};

test('other namespaces keep blobs, and their bytes are those that the kubelet does not have', () => {
  const foreign = new Map([
    ['moby', moby],
    ['default', nothing],
  ]);
  const store = storeOf({ blobs: [blob('theirs', 40)] }, foreign);
  expect(shown(store)).toEqual([]);
  expect(namespaceBytes(storeOf({}, foreign))).toEqual([
    { name: 'moby', bytes: 5040 * block, isLowerBound: true },
    { name: 'default', bytes: 0, isLowerBound: false },
  ]);
});

test.each([
  [5, { withoutSnapshot: 0, missing: 0 }],
  [7, { withoutSnapshot: 2, missing: 0 }],
  [4, { withoutSnapshot: 0, missing: 1 }],
  [undefined, undefined],
])('%s directories for five snapshots of all namespaces', (directories, expected) => {
  const others = {
    ...moby,
    snapshots: [...moby.snapshots, layer('remote', 1, '', { snapshotter: 'stargz' })],
  };
  expect(countDirectories(directories, storeOf({}, new Map([['moby', others]])))).toEqual(expected);
});
