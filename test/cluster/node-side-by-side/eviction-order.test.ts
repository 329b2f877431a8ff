// @bed node
import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { maxAges } from '../../../src/agent/localstorage/pods.ts';
import { evictionPlaces } from '../../../src/agent/nodepressure/rank.ts';
import { nodePodCodec } from '../../../src/kube/cache/node-pods.ts';
import { storageUsageOf } from '../../../src/node/kubelet/summary.ts';
import { seededRandom, type Random } from '../population/random.ts';

const now = new Date();
const mebi = 1024 ** 2;

/** Few values, so that pods are equal in some of what counts, or use exactly what they request. */
const sizes = [0, 1, 4096, 10 * mebi, 64 * mebi, 64 * mebi + 1, 100_000_000, 1024 * mebi] as const;
const requests = [undefined, '0', '1', '4Ki', '10Mi', '64Mi', '100M', '1Gi'] as const;
const priorities = [undefined, -10, 0, 0, 0, 1000, 1_999_999_999, 2_000_000_000] as const;

const stats = (random: Random) => ({ time: now.toISOString(), usedBytes: random.pick(sizes), inodesUsed: 1 });

const several = <T>(random: Random, below: number, one: (i: number) => T): readonly T[] =>
  Array.from({ length: random.int(below) }, (_, i) => one(i));

function randomContainer(random: Random, name: string): object {
  const request = random.pick(requests);
  const other = random.chance(0.3) ? { cpu: '10m' } : {};
  const requested = request === undefined ? other : { ...other, 'ephemeral-storage': request };
  return { name, image: 'bed.test/busybox:1', resources: { requests: requested } };
}

/** A pod as the API server stores it, and as the kubelet reports it. */
function randomPod(random: Random, name: string) {
  const uid = random.uid();
  const names = ['main', ...several(random, 3, (i) => `more-${i}`)];
  const sidecars = several(random, 3, (i) => `sidecar-${i}`);
  const first = several(random, 3, (i) => randomContainer(random, `first-${i}`));
  const restartable = sidecars.map((one) => ({
    ...randomContainer(random, one),
    restartPolicy: 'Always',
  }));
  const disks = several(random, 3, (i) => `disk-${i}`);
  const memory = several(random, 2, (i) => `memory-${i}`);
  const overhead = random.chance(0.2)
    ? { overhead: { 'ephemeral-storage': random.pick(['0', '10Mi']) } }
    : {};
  const isMirror = random.chance(0.1);
  return {
    pod: {
      metadata: {
        ...{ uid, name, namespace: 'default', resourceVersion: '1' },
        annotations: isMirror ? { 'kubernetes.io/config.mirror': uid } : {},
        ownerReferences: isMirror
          ? [{ apiVersion: 'v1', kind: 'Node', name: 'node-a', uid: 'node', controller: true }]
          : [],
      },
      spec: {
        ...{ nodeName: 'node-a', priority: random.pick(priorities), ...overhead },
        containers: names.map((one) => randomContainer(random, one)),
        initContainers: random.chance(0.5) ? [...restartable, ...first] : [...first, ...restartable],
        volumes: [
          ...disks.map((one) => ({ name: one, emptyDir: {} })),
          ...memory.map((one) => ({ name: one, emptyDir: { medium: 'Memory' } })),
        ],
      },
      status: { phase: 'Running' },
    },
    stats: {
      podRef: { name, namespace: 'default', uid },
      containers: [...names, ...sidecars].map((one) => ({
        ...{ name: one, rootfs: stats(random), logs: stats(random) },
      })),
      volume: [...disks, ...memory].map((one) => ({ name: one, ...stats(random) })),
    },
  };
}

const layouts = [
  { dedicatedImageFs: false, splitContainerFs: false },
  { dedicatedImageFs: true, splitContainerFs: false },
  { dedicatedImageFs: true, splitContainerFs: true },
] as const;
const signals = ['nodefs.available', 'imagefs.available'] as const;

const nodes = Array.from({ length: 2000 }, (_, seed) => {
  const random = seededRandom(seed);
  const pods = several(random, 14, (i) => randomPod(random, `pod-${i}`));
  return {
    ...random.pick<(typeof layouts)[number]>(layouts),
    signal: random.pick(signals),
    pods: pods.map(({ pod }) => pod),
    stats: pods.map((one) => one.stats),
  };
});

function kubeletsOrders(): readonly (readonly (readonly string[])[])[] {
  const stdout = execFileSync('eviction-order', { input: JSON.stringify(nodes), maxBuffer: 256 * mebi });
  return JSON.parse(stdout.toString()) as string[][][];
}

test('in 2 000 random nodes the places of eviction are those of the kubelet', () => {
  const orders = kubeletsOrders();
  expect(orders).toHaveLength(nodes.length);
  const codec = nodePodCodec();
  const differences = nodes.flatMap(({ pods, stats: reported, signal, ...layout }, seed) => {
    const nodeUsage = { ...storageUsageOf({ pods: reported }, now.getTime()), ...layout };
    const places = evictionPlaces(
      pods.map((pod) => codec.fromJson(pod)),
      { signal, nodeUsage, now, maxAges },
    );
    const ours = [...(places ?? [])].toSorted(([, a], [, b]) => a - b).map(([uid]) => uid);
    let ranked = 0;
    const groups = (orders[seed] ?? []).map((group) => {
      const begin = ranked;
      ranked += group.length;
      return [group.toSorted(), ours.slice(begin, ranked).toSorted()] as const;
    });
    const isEqual =
      ranked === ours.length && groups.every(([kubelets, own]) => kubelets.join() === own.join());
    return isEqual ? [] : [{ seed, signal, layout, groups }];
  });
  expect(differences).toEqual([]);
  expect(orders.filter((groups) => groups.length > 3).length).toBeGreaterThan(nodes.length / 3);
});
