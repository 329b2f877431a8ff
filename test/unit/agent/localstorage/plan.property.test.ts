import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unknownDevices, type DiskDevices } from '../../../../src/api/file-system.ts';
import type { StoragePod, StorageUsage } from '../../../../src/api/local-storage.ts';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import type { LocalStoragePolicy } from '../../../../src/api/policy/policy.ts';
import type { Given, LocalStorageFacts } from '../../../../src/agent/localstorage/facts.ts';
import { limitsOf } from '../../../../src/agent/localstorage/limits.ts';
import { planLocalStorage } from '../../../../src/agent/localstorage/plan.ts';
import { storageUsageOf } from '../../../../src/node/kubelet/summary.ts';
import { minutesAgo, now } from '../../../builders.ts';
import {
  container,
  emptyDir,
  governedBy,
  init,
  mib,
  sidecar,
  spec,
  storagePod,
  storagePolicy,
} from './builders.ts';
import { worlds } from '../../../worlds.ts';
import { anyAge } from '../../../../src/agent/localstorage/pods.ts';

/** MiB around the limits, so that about half of the usages exceed one. */
const size = fc.integer({ min: 0, max: 12 });
const quantity = fc.option(
  size.map((mebibytes) => (mebibytes === 0 ? '0' : `${mebibytes}Mi`)),
  { nil: undefined },
);
const names = ['a', 'b'] as const;

const storage = fc.record({
  emptyDirs: fc
    .tuple(quantity, quantity, fc.boolean())
    .map(([a, b, isMemory]) => [emptyDir('a', a, isMemory), emptyDir('b', b)]),
  containers: fc.tuple(quantity, quantity).map(([a, b]) => [container('a', a), container('b', b)]),
  initContainers: fc
    .array(fc.tuple(fc.boolean(), quantity), { maxLength: 3 })
    .map((list) => list.map(([restarts, text], i) => (restarts ? sidecar : init)(`i${i}`, text))),
  overheadBytes: fc.option(
    size.map((mebibytes) => mebibytes * mib),
    { nil: undefined },
  ),
});

const state = fc.record({
  phase: fc.constantFrom('Running', 'Running', 'Running', 'Pending', 'Failed', 'Succeeded'),
  isDeleted: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  isOptedOut: fc.integer({ min: 0, max: 5 }).map((n) => n === 0),
  namespace: fc.constantFrom('web', 'web', 'web', 'kube-system'),
  priority: fc.constantFrom(undefined, 0, 1_999_999_999, 2_000_000_000, 2_000_001_000),
  configHash: fc.constantFrom(undefined, undefined, undefined, 'hash'),
});

/** A number below 0 as the kubelet reports it. */
const belowZero = 2 ** 64 - 4096;
const diskBytes = 1000 * mib;
/** Values that no file system can have, seldom. */
const impossible = fc.constantFrom(belowZero, -1, 2 * diskBytes + 1);
const measured = fc.option(
  fc.oneof(
    { weight: 20, arbitrary: size.map((mebibytes) => mebibytes * mib) },
    { weight: 1, arbitrary: impossible },
  ),
  { nil: undefined },
);
const measurements = fc.record({
  total: measured,
  volumes: fc.tuple(measured, measured),
  layers: fc.tuple(measured, measured),
});
type Measurements = typeof measurements extends fc.Arbitrary<infer T> ? T : never;

const time = now.toISOString();
const stats = (usedBytes: number | undefined): object => ({ time, usedBytes });

const summaryPod = (uid: string, { total, volumes, layers }: Measurements): object => ({
  podRef: { uid, namespace: 'web', name: uid },
  'ephemeral-storage': stats(total),
  volume: names.map((name, i) => ({ name, ...stats(volumes[i]) })),
  containers: names.map((name, i) => ({ name, rootfs: stats(layers[i]), logs: stats(mib) })),
});

/** Disks of one size: one disk, or two; the values of two may be the same, and the devices may be unknown. */
const disks = fc.record({
  isDedicated: fc.boolean(),
  hasSameValues: fc.boolean(),
  areDevicesKnown: fc.boolean(),
});
type Disks = typeof disks extends fc.Arbitrary<infer T> ? T : never;

const nodeOf = ({ isDedicated, hasSameValues }: Disks): object => {
  const fs = { time, capacityBytes: diskBytes, availableBytes: diskBytes / 2, inodes: 1000, inodesFree: 500 };
  const imageFs = isDedicated && !hasSameValues ? { ...fs, availableBytes: diskBytes / 3 } : fs;
  return { fs, runtime: { imageFs, containerFs: imageFs } };
};
const devicesOf = ({ isDedicated, areDevicesKnown }: Disks): DiskDevices =>
  areDevicesKnown
    ? { kubeletRoot: 1, imageFs: isDedicated ? 2 : 1, containerFs: isDedicated ? 2 : 1 }
    : unknownDevices;

interface World extends LocalStorageFacts {
  readonly pods: readonly StoragePod[];
  readonly usage: StorageUsage;
  readonly disks: Disks;
  /** UIDs of pods with a value that cannot be. */
  readonly wrong: ReadonlySet<string>;
}

const isWrong = ({ total, volumes, layers }: Measurements): boolean =>
  [total, ...volumes, ...layers].some((bytes = 0) => bytes < 0 || bytes > 2 ** 63);

const cluster: fc.Arbitrary<World> = fc
  .tuple(
    fc.array(fc.tuple(storage, state, fc.option(measurements, { nil: undefined })), { maxLength: 12 }),
    disks,
  )
  .map(([list, layout]) => {
    const reported = list.flatMap(([, , used], i) =>
      used === undefined ? [] : [[`uid-p${i}`, used] as const],
    );
    const summary = { node: nodeOf(layout), pods: reported.map(([uid, used]) => summaryPod(uid, used)) };
    return {
      pods: list.map(([declared, { isDeleted, ...over }], i) =>
        storagePod(`p${i}`, spec(declared), { ...over, deletionAtMs: isDeleted ? minutesAgo(1) : undefined }),
      ),
      usage: storageUsageOf(summary, now.getTime(), devicesOf(layout)),
      disks: layout,
      wrong: new Set(reported.filter(([, used]) => isWrong(used)).map(([uid]) => uid)),
    };
  });

function excluding(
  governance: ReturnType<typeof governedBy>,
): Extract<NodeGovernance, { readonly kind: 'governed' }> {
  return { ...governance, nodes: { ...governance.nodes, excludeNamespaces: new Set(['kube-system']) } };
}

const by = (policy: LocalStoragePolicy): Given & { readonly policy: LocalStoragePolicy } => ({
  governance: excluding(governedBy(policy)),
  maxAges: anyAge,
  policy,
  now,
});

/** The pods of these decisions, as the facts have them. */
const podsOf = (
  { pods = [] }: LocalStorageFacts,
  decisions: readonly { readonly target: { readonly uid: string } }[],
): readonly StoragePod[] =>
  decisions.flatMap(({ target }) => pods.find(({ uid }) => uid === target.uid) ?? []);

const given: fc.Arbitrary<Given & { readonly policy: LocalStoragePolicy }> = fc
  .record({
    evictAtPercent: fc.integer({ min: 1, max: 100 }),
    emptyDirBytes: fc.constantFrom(undefined, 0, 5 * mib),
    podBytes: fc.constantFrom(undefined, 0, 20 * mib),
    containerBytes: fc.constantFrom(undefined, 0, 5 * mib),
  })
  .map(({ evictAtPercent, ...defaultLimits }) => by(storagePolicy({ evictAtPercent, defaultLimits })));

/** A property of every world. */
const holds = (check: (facts: World, how: ReturnType<typeof by>) => void) => (): void =>
  fc.assert(fc.property(cluster, given, check), worlds);

test(
  'evicts only measured, running or pending pods that are neither kept, deleted nor critical',
  holds((facts, how) => {
    const { evictions } = planLocalStorage(facts, how);
    expect(podsOf(facts, evictions)).toHaveLength(evictions.length);
    for (const pod of podsOf(facts, evictions)) {
      expect(pod.isOptedOut).toBe(false);
      expect(pod.namespace).toBe('web');
      expect(pod.deletionAtMs).toBeUndefined();
      expect(['Running', 'Pending']).toContain(pod.phase);
      expect(pod.priority ?? 0).toBeLessThan(2_000_000_000);
      expect(pod.configHash).toBeUndefined();
      expect(facts.usage.pods.has(pod.uid)).toBe(true);
    }
  }),
);

test(
  'an eviction names a limit of the pod whose usage exceeds evictAtPercent',
  holds((facts, how) => {
    for (const eviction of planLocalStorage(facts, how).evictions) {
      const { excess } = eviction.target;
      const [pod] = podsOf(facts, [eviction]);
      if (pod === undefined) throw new Error('an eviction of an unknown pod');
      const isInMemory = pod.storage.emptyDirs.some(
        ({ name, isMemory }) => isMemory && name === excess.subject && excess.signal === 'emptydirfs.limit',
      );
      const percent = isInMemory ? 100 : how.policy.evictAtPercent;
      expect(excess.usedBytes * 100).toBeGreaterThan(excess.limit.bytes * percent);
      expect(isInMemory && excess.isDefault).toBe(false);
      const { emptyDirs, pod: total, containers } = limitsOf(pod.storage, how.policy);
      const own = {
        'emptydirfs.limit': emptyDirs.find(({ name }) => name === excess.subject)?.limit,
        'ephemeralpodfs.limit': total?.limit,
        'ephemeralcontainerfs.limit': containers.get(excess.subject ?? '')?.limit,
      }[excess.signal];
      expect(excess.limit).toEqual(own);
    }
  }),
);

test(
  'no pod is evicted for a value that cannot be, and the others are judged as if it were not there',
  holds((facts, how) => {
    const plan = planLocalStorage(facts, how);
    for (const { target } of [...plan.evictions, ...plan.warnings])
      expect(facts.wrong.has(target.uid)).toBe(false);
    const pods = facts.pods.filter(({ uid }) => !facts.wrong.has(uid));
    expect(planLocalStorage({ ...facts, pods }, how).evictions).toEqual(plan.evictions);
  }),
);

test(
  'layers count for the limit of a container only where they are on the disk of the kubelet',
  holds((facts, how) => {
    const { isDedicated, areDevicesKnown, hasSameValues } = facts.disks;
    const isKnown = areDevicesKnown || !hasSameValues;
    for (const { reading } of planLocalStorage(facts, how).readings) {
      if (reading.signal !== 'ephemeralcontainerfs.limit') continue;
      if (isDedicated && isKnown) expect(reading.usedBytes).toBe(mib);
      else expect(reading.usedBytes).toBeGreaterThanOrEqual(mib);
    }
  }),
);

test(
  'every pod has one verdict, in the order of the pods',
  holds((facts, how) => {
    const { evictions, kept } = planLocalStorage(facts, how);
    const order = facts.pods.map(({ uid }) => uid);
    for (const list of [evictions, kept])
      expect(list.map(({ target }) => target.uid)).toEqual(
        order.filter((uid) => list.some(({ target }) => target.uid === uid)),
      );
    expect([...evictions, ...kept].map(({ target }) => target.uid).sort()).toEqual(order.toSorted());
  }),
);

test('pods in another order get the same verdicts', () => {
  const lines = (facts: LocalStorageFacts, how: Given): string[] => {
    const { evictions, kept } = planLocalStorage(facts, how);
    return [...evictions, ...kept]
      .map(({ target, verdict, reason }) => `${target.uid} ${verdict} ${reason}`)
      .sort();
  };
  const shuffled = cluster.chain((facts) =>
    fc
      .shuffledSubarray([...facts.pods], { minLength: facts.pods.length })
      .map((pods) => ({ facts, other: { ...facts, pods } })),
  );
  fc.assert(
    fc.property(shuffled, given, ({ facts, other }, how) => {
      expect(lines(other, how)).toEqual(lines(facts, how));
    }),
    worlds,
  );
});

test(
  'evicts no further pod once the evicted pods are deleted',
  holds((facts, how) => {
    const evicted = new Set(planLocalStorage(facts, how).evictions.map(({ target }) => target.uid));
    const pods = facts.pods.map((pod) =>
      evicted.has(pod.uid) ? { ...pod, deletionAtMs: now.getTime() } : pod,
    );
    expect(planLocalStorage({ ...facts, pods }, how).evictions).toEqual([]);
  }),
);

test(
  'a lower evictAtPercent evicts every pod that a higher one evicts',
  holds((facts, how) => {
    const evicted = (evictAtPercent: number): string[] =>
      planLocalStorage(facts, by({ ...how.policy, evictAtPercent })).evictions.map(
        ({ target }) => target.uid,
      );
    expect(evicted(50)).toEqual(expect.arrayContaining(evicted(100)));
  }),
);

test('the random nodes are such that some pod is evicted in many of them', () => {
  const evicting = fc
    .sample(fc.tuple(cluster, given), worlds.numRuns)
    .filter(([facts, how]) => planLocalStorage(facts, how).evictions.length > 0);
  expect(evicting.length).toBeGreaterThan(worlds.numRuns / 5);
});
