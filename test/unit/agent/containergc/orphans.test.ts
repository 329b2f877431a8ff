import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContainerGcFacts } from '../../../../src/agent/containergc/facts.ts';
import { orphanInventory } from '../../../../src/agent/containergc/orphans.ts';
import { planContainerGc } from '../../../../src/agent/containergc/plan.ts';
import { observeGone } from '../../../../src/agent/containergc/pods.ts';
import { recheck } from '../../../../src/agent/containergc/recheck.ts';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import type { OrphansPolicy } from '../../../../src/api/policy/policy.ts';
import type {
  FoundOrphan,
  OrphanObstacle,
  OrphansFound,
} from '../../../../src/node/storage/orphans-finder.ts';
import { nodesRules, now, policy } from '../../../builders.ts';
import { container, sandbox } from '../../../fakes/runtime.ts';
import { apiPod, dead, down, evictedPod, factsOf } from './builders.ts';
import { governed, keptBy } from './environment.ts';

const uid = '01234567-89ab-cdef-0123-456789abcdef';
const staticUid = 'f'.repeat(32);

const orphan = (over: Partial<FoundOrphan> = {}): FoundOrphan => ({
  ...{ path: `/pods/${over.podUid ?? uid}`, podUid: uid, sinceMs: 1, bytes: 10, obstacle: undefined },
  ...over,
});

const found = (over: Partial<OrphansFound> = {}): OrphansFound => ({
  ...{ podDirectories: undefined, logDirectories: undefined, podCgroups: undefined },
  ...over,
});

const removing: OrphansPolicy = { podCgroups: 'Remove', podDirectories: 'Remove' };
const governedBy = (orphans: OrphansPolicy | undefined): NodeGovernance =>
  governed({ ...policy({ pods: undefined }), nodes: nodesRules({ orphans }) });

type NodeState = Parameters<typeof factsOf>[0];

const verdicts = (node: NodeState, governance = governedBy(removing)): readonly string[] => {
  const { removals, kept } = planContainerGc(factsOf(node), { governance, now });
  return [...removals, ...kept].map(({ target, reason, verdict }) => `${target.kind} ${verdict} ${reason}`);
};

const seen = (times: number, podUid = uid) => ({ sightings: { [podUid]: times } });
const both = (over: Partial<FoundOrphan> = {}) => ({
  orphans: found({ podDirectories: [orphan(over)], podCgroups: [orphan({ path: '/cgroup', ...over })] }),
});

describe('a plan', () => {
  test.each<{
    name: string;
    node?: NodeState;
    rule?: NodeGovernance;
    group: string;
    directory: string;
  }>([
    { name: 'seen twice', group: 'Remove OrphanedCgroup', directory: 'Remove OrphanedDirectory' },
    { name: 'seen once', node: seen(1), group: 'Keep Quarantined', directory: 'Keep Quarantined' },
    {
      name: 'only groups may be removed',
      rule: governedBy({ podCgroups: 'Remove', podDirectories: 'Report' }),
      ...{ group: 'Remove OrphanedCgroup', directory: 'Keep RuleOff' },
    },
    { name: 'no rule', rule: governedBy(undefined), group: 'Keep RuleOff', directory: 'Keep RuleOff' },
    { name: 'no policy', rule: keptBy('NoPolicy'), group: 'Keep NoPolicy', directory: 'Keep NoPolicy' },
    {
      name: 'the node is opted out',
      rule: keptBy('KeepMarked'),
      ...{ group: 'Keep KeepMarked', directory: 'Keep KeepMarked' },
    },
    {
      name: 'the pods are not known',
      node: { pods: undefined },
      ...{ group: 'Keep PodsUnknown', directory: 'Keep PodsUnknown' },
    },
    {
      name: 'a static pod',
      node: { ...both({ podUid: staticUid }), ...seen(2, staticUid) },
      ...{ group: 'Keep StaticPod', directory: 'Keep StaticPod' },
    },
    {
      name: 'a pod that is opted out after all',
      node: { pods: [{ ...apiPod('x'), uid, isOptedOut: true }] },
      ...{ group: 'Keep KeepMarked', directory: 'Keep KeepMarked' },
    },
    {
      name: 'a pod that is back',
      node: { pods: [{ uid, configHash: undefined }] },
      group: 'Keep InUse',
      directory: 'Keep InUse',
    },
    ...(['Mounted', 'MountsUnknown', 'NotEmpty', 'ReadOnly', 'InUse', 'PacingLimit'] as const).map(
      (obstacle: OrphanObstacle) => ({
        ...{ name: obstacle, node: both({ obstacle }) },
        ...{ group: `Keep ${obstacle}`, directory: `Keep ${obstacle}` },
      }),
    ),
  ])('decides: $name', ({ node = {}, rule, group, directory }) => {
    const expected = [`PodCgroup ${group}`, `PodDirectory ${directory}`];
    expect([...verdicts({ ...both(), ...seen(2), ...node }, rule)].sort()).toEqual(expected.sort());
  });

  test('without a search nothing is decided', () => {
    expect(verdicts({ orphans: undefined })).toEqual([]);
    expect(verdicts({ orphans: found() })).toEqual([]);
  });

  test('removes nothing of other kinds without a rule for them', () => {
    const node = { ...both(), ...seen(2), containers: [dead('a', 60)], sandboxes: [down('pod', 60)] };
    expect(verdicts(node).filter((one) => one.includes('RuleOff'))).toEqual([
      'Container Keep RuleOff',
      'Sandbox Keep RuleOff',
    ]);
  });
});

describe('sightings', () => {
  test('count static pods too, so that two passes are reported', () => {
    const orphans = found({ podCgroups: [orphan({ podUid: staticUid })] });
    const once = observeGone(new Map(), factsOf({ orphans }), { now });
    expect(once.get(staticUid)).toBe(1);
    // A static pod that only its containers show is not counted.
    const running = container('c', { state: 'Exited', labels: { 'io.kubernetes.pod.uid': staticUid } });
    expect(observeGone(new Map(), factsOf({ containers: [running] }), { now }).size).toBe(0);
  });
});

describe('right before a removal', () => {
  const facts = factsOf({ ...both(), ...seen(2) });
  const { removals } = planContainerGc(facts, { governance: governedBy(removing), now });
  const view = { containers: [], sandboxes: [], pods: [], isCacheSynced: true, now };

  test.each<{ name: string; over: Partial<Parameters<typeof recheck>[1]>; verdict: string }>([
    { name: 'nothing knows the pod', over: {}, verdict: 'due' },
    { name: 'the cache is not synced', over: { isCacheSynced: false }, verdict: 'PodsUnknown' },
    { name: 'the pod is back', over: { pods: [{ uid, configHash: undefined }] }, verdict: 'InUse' },
    { name: 'the pod is back, but over', over: { pods: [{ ...evictedPod('x'), uid }] }, verdict: 'InUse' },
    { name: 'a static pod has the UID', over: { pods: [apiPod('mirror', uid)] }, verdict: 'InUse' },
    {
      name: 'a dead container has the UID',
      over: { containers: [dead('c', 1, { labels: { 'io.kubernetes.pod.uid': uid } })] },
      verdict: 'InUse',
    },
    {
      name: 'a dead sandbox has the UID',
      over: { sandboxes: [down('x', 1, { labels: { 'io.kubernetes.pod.uid': uid } })] },
      verdict: 'InUse',
    },
    {
      name: 'other pods run',
      over: { sandboxes: [sandbox('other')], containers: [container('other')], pods: [apiPod('other')] },
      verdict: 'due',
    },
  ])('$name: $verdict', ({ over, verdict }) => {
    expect(removals).toHaveLength(2);
    for (const removal of removals) expect(recheck(removal, { ...view, ...over })).toBe(verdict);
  });
});

describe('the inventory', () => {
  const inventoryOf = (facts: ContainerGcFacts) => {
    const { removals, kept } = planContainerGc(facts, { governance: governedBy(removing), now });
    return orphanInventory(facts, [...removals, ...kept]);
  };

  test('counts what two passes have found, and names the largest', () => {
    const uids = Array.from({ length: 12 }, (_, i) => uid.replace(/^0/, i.toString(16)));
    const podDirectories = uids.map((podUid, i) =>
      orphan({ podUid, bytes: i < 10 ? 5 : i, sinceMs: 100 - i }),
    );
    const sightings = Object.fromEntries(uids.map((one) => [one, 2]));
    const inventory = inventoryOf(factsOf({ orphans: found({ podDirectories }), sightings }));
    expect(inventory).toMatchObject({ logDirectories: undefined, podCgroups: undefined });
    expect(inventory?.podDirectories).toMatchObject({ count: 12, bytes: 71, isReadOnly: false });
    const largest = inventory?.podDirectories?.largest ?? [];
    expect(largest.map(({ bytes, sinceMs }) => [bytes, sinceMs])).toEqual([
      ...[
        [11, 89],
        [10, 90],
      ],
      ...[91, 92, 93, 94, 95, 96, 97, 98].map((since) => [5, since]),
    ]);
    expect(new Set(largest.map(({ reason }) => reason))).toEqual(new Set(['OrphanedDirectory']));
  });

  test('of equal size and age the order is fixed; an unknown age is last', () => {
    const podCgroups = ['/c', '/a', '/b', '/a1'].map((path) => orphan({ path, sinceMs: undefined }));
    podCgroups.push(orphan({ path: '/d', sinceMs: 5 }), orphan({ path: '/f', sinceMs: 7 }));
    podCgroups.unshift(orphan({ path: '/e', sinceMs: 6 }), orphan({ path: '/0', sinceMs: undefined }));
    const inventory = inventoryOf(factsOf({ orphans: found({ podCgroups }), ...seen(2) }));
    expect(inventory?.podCgroups?.largest.map(({ path }) => path)).toEqual([
      '/d',
      '/e',
      '/f',
      '/0',
      '/a',
      '/a1',
      '/b',
      '/c',
    ]);
  });

  test('counts nothing that only one pass has found, and nothing that was not searched', () => {
    expect(inventoryOf(factsOf({ ...both(), ...seen(1) }))?.podDirectories?.count).toBe(0);
    expect(inventoryOf(factsOf({}))).toBeUndefined();
  });

  test('says that a place is read-only, and has no reason without a decision', () => {
    const orphans = found({
      podDirectories: [orphan({ obstacle: 'ReadOnly' })],
      logDirectories: [orphan({ path: '/logs' })],
    });
    const inventory = inventoryOf(factsOf({ orphans, ...seen(2) }));
    expect(inventory?.podDirectories).toMatchObject({ isReadOnly: true, largest: [{ reason: 'ReadOnly' }] });
    expect(inventory?.logDirectories?.largest).toMatchObject([{ path: '/logs', reason: undefined }]);
  });
});

test('property: nothing is removed that has an obstacle, is static, was seen once or has no rule', () => {
  const podUid = fc.constantFrom(uid, uid.replace(/^0/, 'a'), staticUid);
  const obstacle = fc.constantFrom<(OrphanObstacle | undefined)[]>(
    undefined,
    'Mounted',
    'NotEmpty',
    'ReadOnly',
  );
  const place = fc.array(
    fc.record({ podUid, obstacle }).map((over) => orphan(over)),
    { maxLength: 4 },
  );
  const mode = fc.constantFrom('Report' as const, 'Remove' as const);
  fc.assert(
    fc.property(
      fc.record({ podDirectories: place, podCgroups: place }),
      fc.record({ podDirectories: mode, podCgroups: mode }),
      fc.dictionary(podUid, fc.integer({ min: 0, max: 3 })),
      (orphans, rule, sightings) => {
        const facts = factsOf({ orphans: found(orphans), sightings });
        const { removals, kept } = planContainerGc(facts, { governance: governedBy(rule), now });
        expect(removals.length + kept.length).toBe(orphans.podDirectories.length + orphans.podCgroups.length);
        const due = (all: readonly FoundOrphan[], of: 'Report' | 'Remove') =>
          all
            .filter((one) => of === 'Remove' && one.obstacle === undefined && one.podUid !== staticUid)
            .filter((one) => (sightings[one.podUid] ?? 0) >= 2).length;
        expect(removals).toHaveLength(
          due(orphans.podDirectories, rule.podDirectories) + due(orphans.podCgroups, rule.podCgroups),
        );
      },
    ),
  );
});
