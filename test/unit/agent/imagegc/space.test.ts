import { describe, expect, test } from 'vitest';
import { freedInOrder, imageSpace, packedOnly } from '../../../../src/agent/imagegc/space.ts';
import type { ImageSpace } from '../../../../src/api/image-space.ts';
import { image } from '../../../fakes/runtime.ts';
import type { ContainerdStore, Labels, NamespaceStore } from '../../../../src/containerd/store.ts';
import { blob, block, container, layer, lease, name, nothing } from '../stored.ts';

const now = new Date('2026-06-01T12:00:00Z');
const gc = 'containerd.io/gc';
const [past, future] = ['2026-06-01T11:59:59Z', '2026-06-01T12:00:01Z'];

/** Two images, `a` of 100 + 10 + 1 blocks packed and 1000 unpacked, and `b` of 20 and 2000 on the same base of 500 packed and 5000 unpacked. */
const pair: NamespaceStore = {
  ...nothing,
  images: [name('a:1', 'ma'), name('a@ma', 'ma'), name('a', 'ma'), name('b', 'mb')],
  blobs: [
    blob('ma', 1, {
      [`${gc}.ref.content.config`]: 'ca',
      [`${gc}.ref.content.l.0`]: 'base',
      [`${gc}.ref.content.l.1`]: 'la',
    }),
    blob('ca', 10, { [`${gc}.ref.snapshot.overlayfs`]: 'top-a' }),
    blob('la', 100),
    blob('base', 500),
    blob('mb', 20, { [`${gc}.ref.content.l.0`]: 'base', [`${gc}.ref.snapshot.overlayfs/suffix`]: 'top-b' }),
  ],
  snapshots: [layer('base', 5000), layer('top-a', 1000, 'base'), layer('top-b', 2000, 'base')],
};
const images = [
  { ...image('a'), id: 'a', tags: ['a:1'], digests: ['a@ma'] },
  { ...image('b'), id: 'b', tags: [], digests: [] },
];

const spaceIn = (more: Partial<NamespaceStore> = {}, foreign: ContainerdStore = new Map()): ImageSpace =>
  imageSpace(new Map([...foreign, ['k8s.io', { ...pair, ...more }]]), images, now);

const freed = ({ shares }: ImageSpace, ...ids: readonly string[]): readonly number[] =>
  ids.map((id) => (freedInOrder(shares, ids).get(id) ?? 0) / block);

/** What the removal of both images frees, in this order, and who holds the rest. */
const outcome = (space: ImageSpace) => ({
  freed: freed(space, 'a', 'b'),
  heldBy: [...new Set(space.shares.flatMap(({ heldBy }) => heldBy ?? []))],
});

const withLabels = (digest: string, labels: Labels) =>
  pair.blobs.map((one) => (one.digest === digest ? { ...one, labels: { ...one.labels, ...labels } } : one));

describe('bytes of images', () => {
  test('what an image shares counts as shared, blocks are whole, packed blobs are part of both', () => {
    const { images: bytes } = spaceIn();
    expect(bytes.get('a')).toEqual({
      unique: 1111 * block,
      shared: 5500 * block,
      packed: 611 * block,
      inexactBecause: undefined,
    });
    expect(bytes.get('b')).toMatchObject({ unique: 2020 * block, shared: 5500 * block });
  });

  test('the packed blobs alone; of a recorded space they may be unknown, and count as none', () => {
    const space = spaceIn();
    expect(packedOnly(space).shares.map(({ bytes }) => bytes / block)).toEqual(
      expect.arrayContaining([111, 500, 20]),
    );
    const recorded = { images: ['a'], bytes: 9, heldBy: undefined };
    expect(packedOnly({ ...space, shares: [recorded] }).shares).toEqual([{ ...recorded, bytes: 0 }]);
  });

  test('a containerd that no kubelet has used yet has nothing', () => {
    const none = { images: new Map(), ownPins: new Map(), sandboxImages: new Set() };
    expect(imageSpace(new Map(), images, now)).toMatchObject(none);
  });

  test('sandboxes run from the images of their containers, by any name', () => {
    const of = (image: string, kind: string) => ({
      ...container(image, 'key', { 'io.cri-containerd.kind': kind }),
      image,
    });
    const store = { ...nothing, containers: [of('a:1', 'sandbox'), of('b', 'container')] };
    expect(imageSpace(new Map([['k8s.io', store]]), images, now).sandboxImages).toEqual(new Set(['a']));
  });

  test('an image that containerd does not have has no bytes: they are not known', () => {
    const listed = [...images, { ...image('c'), id: 'c', tags: ['c:1'], digests: [] }];
    expect(imageSpace(new Map([['k8s.io', pair]]), listed, now).images.has('c')).toBe(false);
  });

  test('what neither an image nor a container has is left over; a blob that other namespaces have too is not theirs', () => {
    const active = { ...layer('w', 1), kind: 'other', sizeBytes: 'unknown' } as const;
    const { others } = spaceIn(
      {
        blobs: [...pair.blobs, blob('pulled', 7)],
        snapshots: [...pair.snapshots, layer('left', 30, 'base'), layer('old', 400)],
        containers: [{ id: 'c', snapshotter: 'overlayfs', snapshotKey: 'old', image: '', labels: {} }],
      },
      new Map([
        [
          'moby',
          { ...nothing, blobs: [blob('base', 500), blob('x', 3)], snapshots: [layer('l', 2000), active] },
        ],
        ['buildkit', { ...nothing, blobs: [blob('x', 3)] }],
      ]),
    );
    expect(others).toEqual({ leftovers: 37 * block, namespaces: 2003 * block });
  });

  test.each([
    { name: 'the last of two images frees what they share', ids: ['a', 'b'], expected: [1111, 7520] },
    { name: 'in the other order', ids: ['b', 'a'], expected: [2020, 6611] },
    { name: 'one alone', ids: ['b'], expected: [2020] },
    { name: 'an image that containerd does not have', ids: ['c', 'a'], expected: [0, 1111] },
  ])('removals are simulated: $name', ({ ids, expected }) => {
    expect(freed(spaceIn(), ...ids)).toEqual(expected);
  });
});

describe('what else keeps layers', () => {
  const all = { freed: [1111, 7520], heldBy: [] };
  const flat = { [`${gc}.flat`]: '' };
  test.each<{
    name: string;
    store?: Partial<NamespaceStore>;
    foreign?: ContainerdStore;
    expected: ReturnType<typeof outcome>;
  }>([
    { name: 'nothing', expected: all },
    {
      name: 'a container keeps its snapshots, not the blobs',
      store: { containers: [container('c1', 'top-a')] },
      expected: { freed: [111, 2520], heldBy: ['container c1'] },
    },
    {
      name: 'a sandbox keeps what its labels refer to',
      store: { sandboxes: [{ id: 's1', labels: { [`${gc}.ref.snapshot.overlayfs`]: 'top-a' } }] },
      expected: { freed: [111, 2520], heldBy: ['sandbox s1'] },
    },
    {
      name: 'a lease, before a container that needs the same',
      store: {
        leases: [lease('l1', 'content', 'ma')],
        containers: [container('c1', 'base')],
      },
      expected: { freed: [0, 2020], heldBy: ['lease l1'] },
    },
    {
      name: 'a lease of a snapshot',
      store: { leases: [lease('l1', 'snapshots/overlayfs', 'top-a')] },
      expected: { freed: [111, 2520], heldBy: ['lease l1'] },
    },
    {
      name: 'a lease of an image',
      store: { leases: [lease('l1', 'images', 'b')] },
      expected: { freed: [1111, 0], heldBy: ['lease l1'] },
    },
    {
      name: 'a lease of a download of a blob',
      store: {
        leases: [lease('l1', 'ingests', 'layer-1')],
      },
      expected: all,
    },
    {
      name: 'a flat lease keeps only the blob',
      store: { leases: [lease('l1', 'content', 'ma', flat)] },
      expected: { freed: [1110, 7520], heldBy: ['lease l1'] },
    },
    {
      name: 'a flat lease of a snapshot keeps its parents',
      store: { leases: [lease('l1', 'snapshots/overlayfs', 'top-a', flat)] },
      expected: { freed: [111, 2520], heldBy: ['lease l1'] },
    },
    {
      name: 'a lease that has expired keeps nothing',
      store: { leases: [lease('l1', 'content', 'ma', { [`${gc}.expire`]: past })] },
      expected: all,
    },
    {
      name: 'a lease whose end is no time never ends',
      store: { leases: [lease('l1', 'content', 'mb', { [`${gc}.expire`]: 'soon' })] },
      expected: { freed: [1111, 0], heldBy: ['lease l1'] },
    },
    {
      name: 'a name that the kubelet does not list',
      store: { images: [...pair.images, name('tagged-by-ctr', 'mb')] },
      expected: { freed: [1111, 0], heldBy: ['image tagged-by-ctr'] },
    },
    {
      name: 'a name that has expired',
      store: { images: [...pair.images, name('old', 'mb', { [`${gc}.expire`]: past })] },
      expected: all,
    },
    {
      name: 'a name that an image refers to is kept with it',
      store: {
        images: [
          name('a', 'ma', { [`${gc}.ref.image.also`]: 'old' }),
          name('old', 'extra', { [`${gc}.expire`]: past }),
        ],
        blobs: [...pair.blobs, blob('extra', 7)],
      },
      expected: { freed: [6618, 0], heldBy: [] },
    },
    {
      name: 'a root label on a blob',
      store: { blobs: withLabels('mb', { [`${gc}.root`]: '' }) },
      expected: { freed: [1111, 0], heldBy: [`label ${gc}.root`] },
    },
    {
      name: 'a blob until its time, and not longer',
      store: {
        blobs: pair.blobs.map((one) =>
          one.digest === 'la' || one.digest === 'ca'
            ? { ...one, labels: { ...one.labels, [`${gc}.expire`]: one.digest === 'la' ? future : past } }
            : one,
        ),
      },
      expected: { freed: [1011, 7520], heldBy: [`label ${gc}.expire`] },
    },
    {
      name: 'a snapshot until its time',
      store: {
        snapshots: [
          layer('base', 5000, '', { labels: { [`${gc}.expire`]: future } }),
          ...pair.snapshots.slice(1),
        ],
      },
      expected: { freed: [1111, 2520], heldBy: [`label ${gc}.expire`] },
    },
    {
      name: 'a download that needs the blob',
      store: {
        ingests: [
          {
            ref: 'layer-base',
            startedAtSeconds: 0,
            updatedAtSeconds: 0,
            receivedBytes: 0,
            totalBytes: 0,
            expectedDigest: 'base',
          },
        ],
      },
      expected: { freed: [1111, 7020], heldBy: ['download layer-base'] },
    },
    {
      name: 'another namespace has the same blob, its layers are its own',
      foreign: new Map([['moby', { ...nothing, blobs: [blob('mb', 20), blob('base', 500)] }]]),
      expected: { freed: [1111, 7000], heldBy: ['namespace moby'] },
    },
    {
      name: 'what names an image as its owner goes with it',
      store: { blobs: [...pair.blobs, blob('extra', 3, { [`${gc}.bref.image.x`]: 'a' })] },
      expected: { freed: [1114, 7520], heldBy: [] },
    },
    {
      name: 'what names a container as its owner belongs to no image',
      store: { blobs: [...pair.blobs, blob('extra', 3, { [`${gc}.bref.container`]: 'c1' })] },
      expected: all,
    },
    {
      name: 'objects that refer to each other',
      store: { blobs: withLabels('base', { [`${gc}.ref.content`]: 'mb' }) },
      expected: { freed: [1111, 7520], heldBy: [] },
    },
    {
      name: 'snapshots that are their own parents',
      store: {
        snapshots: [layer('base', 5000, 'top-a'), layer('top-a', 1000, 'base'), layer('top-b', 2000, 'base')],
        leases: [lease('l1', 'snapshots/overlayfs', 'base', flat)],
      },
      expected: { freed: [111, 2520], heldBy: ['lease l1'] },
    },
  ])('$name', ({ store, foreign, expected }) => {
    expect(outcome(spaceIn(store, foreign))).toEqual(expected);
  });
});

describe('bytes that are not exact', () => {
  const doubtsIn = (store: Partial<NamespaceStore>) => {
    const { images: bytes } = spaceIn(store);
    return images.map(({ id }) => bytes.get(id)?.inexactBecause);
  };
  test.each<{ name: string; store: Partial<NamespaceStore>; expected: readonly (string | undefined)[] }>([
    {
      name: 'a layer without a size, of the images that have it',
      store: { snapshots: [layer('base', 5000), layer('top-a', 0, 'base', { sizeBytes: 'unknown' })] },
      expected: ['the size of a layer is unknown', undefined],
    },
    {
      name: 'a writable layer has no size',
      store: {
        snapshots: [...pair.snapshots, layer('c1', 0, 'top-a', { kind: 'other', sizeBytes: 'unknown' })],
        containers: [container('c1', 'c1')],
      },
      expected: [undefined, undefined],
    },
    {
      name: 'a snapshotter that fetches layers when they are read',
      store: {
        blobs: withLabels('mb', { [`${gc}.ref.snapshot.stargz`]: 'remote' }),
        snapshots: [...pair.snapshots, layer('remote', 1, '', { snapshotter: 'stargz' })],
      },
      expected: [undefined, 'the snapshotter stargz does not measure whole layers'],
    },
    {
      name: 'a label of a newer containerd, on a blob that both have',
      store: { blobs: withLabels('base', { [`${gc}.ref.mount.x`]: 'm' }) },
      expected: [
        `dustpan does not know the label ${gc}.ref.mount.x`,
        `dustpan does not know the label ${gc}.ref.mount.x`,
      ],
    },
    {
      name: 'a reference on a condition',
      store: { blobs: withLabels('ma', { [`${gc}.cond.snapshot.overlayfs`]: 'usedat<1h|top-b' }) },
      expected: [`dustpan does not know the label ${gc}.cond.snapshot.overlayfs`, undefined],
    },
  ])('$name', ({ store, expected }) => {
    expect(doubtsIn(store)).toEqual(expected);
  });
});
