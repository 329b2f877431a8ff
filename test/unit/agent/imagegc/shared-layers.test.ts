import { describe, expect, test } from 'vitest';
import type { Share } from '../../../../src/api/image-space.ts';
import type { ContainerdStore } from '../../../../src/containerd/store.ts';
import { container, image } from '../../../fakes/runtime.ts';
import { facts, planOf } from './builders.ts';
import { governed, Node } from './environment.ts';

const share = (images: string, bytes: number, heldBy?: string): Share => ({
  images: images.split(' ').map((name) => `sha256:${name}`),
  bytes,
  heldBy,
});

const spaceOf = (...shares: readonly Share[]) => ({
  shares,
  ownPins: new Map<string, string>(),
  sandboxImages: new Set<string>(),
  images: new Map(
    ['a', 'b', 'c'].map((name) => {
      const of = shares.filter(({ images }) => images.includes(`sha256:${name}`));
      const sum = (some: readonly Share[]): number => some.reduce((total, { bytes }) => total + bytes, 0);
      const unique = sum(of.filter(({ images }) => images.length === 1));
      return [`sha256:${name}`, { unique, shared: sum(of) - unique, packed: 0, inexactBecause: undefined }];
    }),
  ),
});

const images = ['a', 'b', 'c'].map((name) => image(name, { sizeBytes: 500 }));

test.each([
  {
    name: 'images that share a layer free it with the last of them',
    space: spaceOf(share('a', 300), share('b', 200), share('a b', 500), share('c', 900)),
    expected: { a: 300, b: 700 },
  },
  {
    name: 'what a lease or a container holds is not freed',
    space: spaceOf(share('a', 1000, 'lease l'), share('b', 1000, 'container c'), share('c', 1000)),
    expected: { a: 0, b: 0, c: 1000 },
  },
  {
    name: 'an image that was pulled after the read counts with the size that the runtime reports',
    space: {
      shares: [share('b', 500)],
      images: new Map(),
      ownPins: new Map(),
      sandboxImages: new Set<string>(),
    },
    expected: { a: 500, b: 500 },
  },
  { name: 'without knowledge of layers, all do', space: undefined, expected: { a: 500, b: 500 } },
])('a plan frees 1000 bytes: $name', ({ space, expected }) => {
  const { removals, plannedBytes } = planOf(facts(images, { space }));
  expect(Object.fromEntries(removals.map(({ target, bytes }) => [target.id.slice(7), bytes]))).toEqual(
    expected,
  );
  expect(plannedBytes).toBe(1000);
});

test('an image shows what it has on the disk, with what it shares', () => {
  const space = spaceOf(share('a', 300), share('a b', 500), share('b', 10), share('c', 1));
  const disk = { capacityBytes: 10_000, availableBytes: 9_000 };
  const { kept } = planOf(facts(images, { space, disk }));
  expect(kept.map(({ bytes }) => bytes)).toEqual([800, 510, 1]);
});

/** Each image has one packed layer of its own, `a` and `b` one in common; `b` is unpacked. */
const store: ContainerdStore = new Map([
  [
    'k8s.io',
    {
      images: ['a', 'b', 'c'].map((name) => ({ name: `sha256:${name}`, target: name, labels: {} })),
      blobs: [
        ...['a', 'b'].map((digest) => ({
          digest,
          sizeBytes: 4096,
          createdAtSeconds: 0,
          labels: {
            'containerd.io/gc.ref.content.l.0': 'base',
            ...(digest === 'b' && { 'containerd.io/gc.ref.snapshot.overlayfs': 'chain' }),
          },
        })),
        { digest: 'c', sizeBytes: 8192, createdAtSeconds: 0, labels: {} },
        { digest: 'base', sizeBytes: 40_960, createdAtSeconds: 0, labels: {} },
      ],
      snapshots: [
        {
          ...{ snapshotter: 'overlayfs', name: 'chain', parent: '', kind: 'committed' },
          ...{ createdAtSeconds: 0, labels: {}, sizeBytes: 100_000 },
        },
      ],
      leases: [],
      containers: [],
      sandboxes: [],
      ingests: [],
    },
  ],
]);

async function nodeWith(read: Node['store']): Promise<Node> {
  const node = new Node();
  node.runtime.add(...images);
  node.store = read;
  node.runtime.containers = [container('c')];
  await node.pass();
  return node;
}

test('the report counts a shared layer once, and what removals of all unused images free', async () => {
  const node = await nodeWith(() => Promise.resolve(store));
  expect(node.inventories.at(-1)).toMatchObject({
    total: { count: 3, bytes: 157_344 },
    inUse: { count: 1, bytes: 8192 },
    collectable: { count: 2, bytes: 149_152 },
    packed: { total: 57_344, inUse: 8192, collectable: 49_152 },
    listed: [
      { bytes: 145_056, uniqueBytes: 104_096, packedBytes: 45_056 },
      { bytes: 45_056, uniqueBytes: 4096 },
      { bytes: 8192, uniqueBytes: 8192 },
    ],
  });
});

test('images that the report does not list are summed up', async () => {
  const node = new Node();
  node.capacityBytes = 1e6;
  node.runtime.add(...Array.from({ length: 66 }, (_, i) => image(`i${i}`, { sizeBytes: 100 - i })));
  await node.pass();
  expect(node.inventories.at(-1)).toMatchObject({
    packed: 'unsupported',
    unlisted: { count: 2, bytes: 36 + 35 },
  });
  expect((await nodeWith(() => Promise.resolve(store))).inventories.at(-1)?.unlisted).toBeUndefined();
});

test('a pass goes on with the sizes of the runtime while the layers cannot be read', async () => {
  const node = await nodeWith(() => Promise.reject(new Error('it is slow')));
  expect(node.inventories.at(-1)).toMatchObject({
    total: { bytes: 1500 },
    collectable: { bytes: 1000 },
    packed: 'unknown',
  });
  expect(node.log.lines).toContainEqual(
    expect.objectContaining({ level: 'warn', message: 'reading the layers of images failed' }),
  );
  expect(await node.metric('dustpan_unit_errors_total', { stage: 'layers' })).toBe(1);
  expect(node.reports.at(-1)).toMatchObject({ result: 'Idle' });
});

test('an aborted read ends the pass', async () => {
  const abort = new AbortController();
  const node = new Node();
  node.governance = governed({});
  node.store = () => {
    abort.abort();
    return Promise.reject(new Error('aborted'));
  };
  await expect(node.pass(abort.signal)).rejects.toThrow('aborted');
});

/** Each image has the one unpacked layer of this name, of 1000 bytes. */
function layersOf(layers: Readonly<Record<string, string>>, lease: readonly string[] = []): ContainerdStore {
  const names = Object.entries(layers);
  return new Map([
    [
      'k8s.io',
      {
        images: names.map(([name]) => ({ name: `sha256:${name}`, target: name, labels: {} })),
        blobs: names.map(([digest, layer]) => ({
          digest,
          sizeBytes: 0,
          createdAtSeconds: 0,
          labels: { 'containerd.io/gc.ref.snapshot.overlayfs': layer },
        })),
        snapshots: [...new Set(Object.values(layers))].map((name) => ({
          snapshotter: 'overlayfs',
          name,
          parent: '',
          kind: 'committed' as const,
          createdAtSeconds: 0,
          labels: {},
          sizeBytes: 1000,
        })),
        leases: lease.map((id) => ({
          id: `lease-${id}`,
          createdAtSeconds: 0,
          labels: {},
          resources: [{ type: 'snapshots/overlayfs', id }],
        })),
        containers: [],
        sandboxes: [],
        ingests: [],
      },
    ],
  ]);
}

const nine = Object.fromEntries('a b c d e f g h i'.split(' ').map((name) => [name, `layer-${name}`]));

/** Nine images fill the disk; `kept`: what the removal of each leaves on it. */
async function fullNode(
  layers: ContainerdStore,
  kept: (name: string) => number,
  before: (node: Node) => void = () => undefined,
): Promise<Node> {
  const node = new Node();
  node.fill();
  await node.observe();
  node.store = () => Promise.resolve(layers);
  const left = node.left.split(' ');
  node.runtime.before = (call) => {
    if (call !== 'removeImage') return;
    node.otherBytes += kept(left.shift() ?? '');
    before(node);
  };
  return node;
}

describe('removals for space', () => {
  test('do not cost every image when a lease holds all layers', async () => {
    const node = await fullNode(layersOf(nine, Object.values(nine)), () => 1000);
    expect(await node.pass()).toMatchObject({ result: 'Short', removed: 2 });
  });

  test('do not cost every image when a lease holds all layers and the disk cannot be measured', async () => {
    const node = await fullNode(
      layersOf(nine, Object.values(nine)),
      () => 1000,
      (full) => (full.diskError = new Error('statfs failed')),
    );
    expect(await node.pass()).toMatchObject({ result: 'Short', removed: 2 });
  });

  test('go on after an image whose layers another image has too', async () => {
    const layers = layersOf({ ...nine, b: 'layer-c' });
    const keptBytes: Readonly<Record<string, number>> = { a: 100, b: 1000 };
    const node = await fullNode(layers, (name) => keptBytes[name] ?? 0);
    expect(await node.pass()).toMatchObject({ result: 'Succeeded', removed: 3 });
    expect(node.left).toBe('d e f g h i');
  });
});
