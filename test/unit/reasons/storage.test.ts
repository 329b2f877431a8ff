import { describe, expect, test } from 'vitest';
import { evictionSignals, type EvictionSignal, type StoragePod } from '../../../src/api/local-storage.ts';
import type { Policy } from '../../../src/api/policy/policy.ts';
import { nodeKeepReasons, storageKeepReasons, type StorageKeepReason } from '../../../src/api/reasons.ts';
import type { NodePodFacts } from '../../../src/kube/cache/node-pods.ts';
import { everything, node, nodesRules, now } from '../../builders.ts';
import {
  container,
  emptyDir,
  limited,
  overPod,
  overVolume,
  scratch,
  storagePod,
  storagePolicy,
  usage,
  type Used,
} from '../agent/localstorage/builders.ts';
import { decided, invalidPolicy, keepMark, nodesBy, type Fixture } from './reasons.fixture.ts';

const by = (over: Parameters<typeof storagePolicy>[0] = {}): { readonly policies: readonly [Policy] } =>
  nodesBy({ localStorageEviction: storagePolicy({ warnAtPercent: [], ...over }) });

/** The pod `a` and its usage. */
const withPod = (
  storage: Parameters<typeof storagePod>[1],
  used: Used | undefined,
  over: Partial<StoragePod> = {},
): Pick<Fixture, 'part' | 'namespaces'> => ({
  part: {
    pods: [bound(storagePod('a', storage, over))],
    usage: usage(used === undefined ? {} : { a: used }),
  },
  namespaces: ['web'],
});
const bound = (pod: StoragePod): NodePodFacts => ({ ...pod, resourceVersion: '1' });
const over = withPod(scratch, overVolume);

/** Has a rule for local storage, but selects other nodes. */
const elsewhere: Policy = {
  ...by().policies[0],
  name: 'elsewhere',
  nodes: nodesRules({
    nodeSelector: { ...everything, matchLabels: { disk: 'none' } },
    localStorageEviction: storagePolicy(),
  }),
};

/** A fixture for each reason about the pod `a`. */
const planned: Readonly<Record<EvictionSignal | StorageKeepReason, Fixture>> = {
  'emptydirfs.limit': { ...by(), ...over },
  'ephemeralpodfs.limit': { ...by(), ...withPod(limited, overPod) },
  'ephemeralcontainerfs.limit': {
    ...by(),
    ...withPod(
      { containers: [container('main', '100Mi'), container('side', '900Mi')] },
      { total: 150, containers: { main: { logs: 150 } } },
    ),
  },
  UnderLimit: { ...by(), ...withPod(scratch, { volumes: { tmp: 10 } }) },
  NoLimit: { ...by(), ...withPod({}, overPod) },
  CriticalPod: { ...by(), ...withPod(scratch, overVolume, { priority: 2_000_000_000 }) },
  KeepMarked: { ...by(), ...withPod(scratch, overVolume, { isOptedOut: true }) },
  NamespaceExcluded: {
    ...nodesBy({ ...by().policies[0].nodes, excludeNamespaces: ['web'] }),
    ...over,
  },
  Finished: { ...by(), ...withPod(scratch, overVolume, { phase: 'Failed' }) },
  Terminating: { ...by(), ...withPod(scratch, overVolume, { deletionAtMs: 1 }) },
  UsageUnknown: { ...by(), ...withPod(scratch, undefined) },
  NoPolicy: { policies: [elsewhere], ...over },
  InvalidPolicy: { policies: [invalidPolicy, elsewhere], ...over },
  NodeUnknown: { ...by(), ...over, nodes: [] },
  RuleOff: { policies: [...nodesBy({}).policies, elsewhere], ...over },
};

const reasonsOf = (fixture: Fixture): readonly string[] =>
  decided(fixture, 'localstorage').map(({ verdict, reason }) => `${verdict} ${reason}`);

const isSignal = (reason: string): boolean => evictionSignals.some((one) => one === reason);

test.each(Object.entries(planned))('a plan decides %s', (reason, fixture) => {
  expect(reasonsOf(fixture)).toEqual([`${isSignal(reason) ? 'Evict' : 'Keep'} ${reason}`]);
});

test('every reason has a row', () => {
  const all = new Set([...evictionSignals, ...storageKeepReasons, ...nodeKeepReasons]);
  expect(Object.keys(planned).sort()).toEqual([...all].sort());
});

test.each<{
  readonly name: string;
  readonly fixture: Fixture;
  readonly detail: string;
  readonly field: string | null;
}>([
  {
    name: 'over a limit, where budgets are ignored',
    fixture: { ...by({ respectPodDisruptionBudgets: false, evictAtPercent: 90 }), ...over },
    detail:
      'Usage of EmptyDir volume "tmp" exceeds the limit "100Mi". It uses 130 MiB, 130 % of the limit 100Mi.',
    field: 'nodes.localStorageEviction.evictAtPercent=90',
  },
  {
    name: 'under its limit',
    fixture: planned.UnderLimit,
    detail:
      'Usage of EmptyDir volume "tmp" is 10.0 MiB, 10 % of the limit 100Mi, the highest percentage among its limits.',
    field: 'nodes.localStorageEviction.evictAtPercent=100',
  },
  {
    name: 'without a limit, where the policy has a default for others',
    fixture: { ...by({ defaultLimits: { emptyDirBytes: 1 } }), ...withPod({}, overPod) },
    detail: 'The pod declares no local storage limit, and the policy sets no default for it.',
    field: null,
  },
  {
    name: 'critical by its priority',
    fixture: planned.CriticalPod,
    detail:
      'The pod is critical, because its priority is 2000000000; dustpan only warns about it. Usage of EmptyDir volume "tmp" is 130 MiB, 130 % of the limit 100Mi.',
    field: null,
  },
  {
    name: 'critical as a mirror, and not measured',
    fixture: { ...by(), ...withPod(scratch, undefined, { configHash: 'abc' }) },
    detail: 'The pod is critical, because it mirrors a static pod; dustpan only warns about it.',
    field: null,
  },
  {
    name: 'with the keep label',
    fixture: planned.KeepMarked,
    detail: 'The label gc.dustpan.dev/keep is on the pod.',
    field: 'metadata.labels["gc.dustpan.dev/keep"]',
  },
  {
    name: 'in an excluded namespace',
    fixture: planned.NamespaceExcluded,
    detail: 'The policy of the node excludes the namespace of the pod.',
    field: 'nodes.excludeNamespaces or pods.excludeNamespaces has web',
  },
  {
    name: 'being deleted',
    fixture: planned.Terminating,
    detail: 'The pod is already terminating; its grace period ends at 1970-01-01T00:00:00.001Z.',
    field: null,
  },
  {
    name: 'on a node without measurements',
    fixture: { ...by(), ...over, part: { ...over.part, usage: undefined } },
    detail: 'The usage of the pods on this node is unknown.',
    field: null,
  },
])('explains the decision: $name', ({ fixture, detail, field }) => {
  expect(decided(fixture, 'localstorage')).toMatchObject([{ detail, field }]);
});

describe('as the controller, which verifies the request', () => {
  test.each([
    {
      name: 'a namespace with the keep label',
      fixture: { namespaces: [], keptNamespaces: ['web'] },
      reason: 'KeepMarked',
    },
    { name: 'an unknown namespace', fixture: { namespaces: [] }, reason: 'NamespaceUnknown' },
  ])('$name', ({ fixture, reason }) => {
    expect(reasonsOf({ ...by(), ...over, ...fixture })).toEqual([`Keep ${reason}`]);
    const [one] = decided({ ...by(), ...over, ...fixture }, 'localstorage');
    expect(one?.detail).toMatch(/130 MiB, 130 % of the limit 100Mi\. But .*namespace web/);
  });

  test('a node with the keep label', () => {
    const fixture = { ...by(), ...over, nodes: [node('node-1', { labels: keepMark })] };
    expect(reasonsOf(fixture)).toEqual(['Keep KeepMarked']);
    expect(decided(fixture, 'localstorage')[0]?.detail).toContain('keep is on the node.');
  });
});

test('a warning is beside the decision about the pod and has no order', () => {
  const fixture = { ...by({ warnAtPercent: [50, 80] }), ...withPod(scratch, { volumes: { tmp: 85 } }) };
  const [warning, kept, ...others] = decided(fixture, 'localstorage');
  expect(warning).toMatchObject({ verdict: 'Warn', reason: 'emptydirfs.limit', order: null });
  expect(warning?.detail).toBe(
    'Usage of EmptyDir volume "tmp" is 85.0 MiB, 85 % of the limit 100Mi; dustpan warns above 80 %.',
  );
  expect(warning?.field).toBe('nodes.localStorageEviction.warnAtPercent=[50, 80]');
  expect(kept).toMatchObject({ verdict: 'Keep', reason: 'UnderLimit' });
  expect(others).toEqual([]);
});

describe('as a pass at the time of the snapshot', () => {
  const readAt = now.getTime() - 86_400_000;
  const at = (atMs: number, measuredMs: number): Fixture => ({
    ...by(),
    ...withPod(scratch, undefined),
    part: {
      pods: [bound(storagePod('a', scratch))],
      usage: usage({ a: { ...overVolume, atMs: measuredMs } }, { atMs }),
    },
  });

  test.each([
    { name: 'a measurement of a day ago, read then', fixture: at(readAt, readAt - 120_000), isEvicted: true },
    {
      name: 'a measurement that was stale when it was read',
      fixture: at(readAt, readAt - 301_000),
      isEvicted: false,
    },
    { name: 'a measurement without a time of reading', fixture: at(0, readAt), isEvicted: true },
  ])('$name', ({ fixture, isEvicted }) => {
    expect(reasonsOf(fixture)).toEqual([isEvicted ? 'Evict emptydirfs.limit' : 'Keep UsageUnknown']);
  });
});

test('evicts the pod with the largest excess first', () => {
  const pods = ['a', 'b', 'c'].map((name) =>
    bound(storagePod(name, { emptyDirs: [emptyDir('tmp', '100Mi')] })),
  );
  const used = { a: { volumes: { tmp: 120 } }, b: { volumes: { tmp: 300 } }, c: { volumes: { tmp: 200 } } };
  const fixture = { ...by(), part: { pods, usage: usage(used) }, namespaces: ['web'] };
  const order = decided(fixture, 'localstorage').map(
    ({ order, object }) => `${order ?? '-'} ${String(object.name)}`,
  );
  expect(order).toEqual(['1 b', '2 c', '3 a']);
});

test('a default limit is named as the field that decides', () => {
  const fixture = {
    ...by({ evictAtPercent: 90, defaultLimits: { emptyDirBytes: 100 * 1024 ** 2 } }),
    ...withPod({ emptyDirs: [emptyDir('tmp')] }, { volumes: { tmp: 95 } }),
  };
  expect(decided(fixture, 'localstorage')[0]).toMatchObject({
    verdict: 'Evict',
    field:
      'nodes.localStorageEviction.evictAtPercent=90, nodes.localStorageEviction.defaultLimits.emptyDir=100Mi',
  });
});

test('no field of the policy decides about a volume in memory', () => {
  const about = (mebi: number) =>
    decided(
      {
        ...by({ evictAtPercent: 90, defaultLimits: { emptyDirBytes: 1024 ** 2 } }),
        ...withPod({ emptyDirs: [emptyDir('shm', '100Mi', true)] }, { volumes: { shm: mebi } }),
      },
      'localstorage',
    ).find(({ verdict }) => verdict !== 'Warn');
  expect(about(101)).toMatchObject({ verdict: 'Evict', field: null });
  expect(about(95)).toMatchObject({ reason: 'UnderLimit', field: null });
});

test('has no decision without a policy for local storage', () => {
  expect(reasonsOf({ ...nodesBy({}), ...over })).toEqual([]);
  expect(reasonsOf({ policies: [invalidPolicy], ...over })).toEqual([]);
});
