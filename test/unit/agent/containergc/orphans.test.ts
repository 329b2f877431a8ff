import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContainerGcFacts } from '../../../../src/agent/containergc/facts.ts';
import { orphanInventory, unmountCommand } from '../../../../src/agent/containergc/orphans.ts';
import { planContainerGc } from '../../../../src/agent/containergc/plan.ts';
import { recheck } from '../../../../src/agent/containergc/recheck.ts';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import type { OrphansPolicy } from '../../../../src/api/policy/policy.ts';
import {
  orphanObstacles,
  type FoundOrphan,
  type OrphansFound,
} from '../../../../src/node/storage/orphans-finder.ts';
import { now } from '../../../builders.ts';
import { container, sandbox } from '../../../fakes/runtime.ts';
import { governedNode, keptBy } from '../builders.ts';
import {
  apiPod,
  dead,
  down,
  evictedPod,
  factsOf,
  orphan,
  orphanUid as uid,
  removingOrphans as removing,
} from './builders.ts';

const staticUid = 'f'.repeat(32);

const found = (over: Partial<OrphansFound> = {}): OrphansFound => ({
  ...{ podDirectories: undefined, logDirectories: undefined, podCgroups: undefined },
  ...over,
});

const governedBy = (orphans: OrphansPolicy | undefined): NodeGovernance => governedNode({ orphans });

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
  const decided = (node: NodeState = {}, rule?: NodeGovernance): readonly string[] =>
    verdicts({ ...both(), ...seen(2), ...node }, rule).toSorted();

  test.each<[name: string, reason: string, node?: NodeState, rule?: NodeGovernance]>([
    ['seen once', 'Quarantined', seen(1)],
    ['without a rule', 'RuleOff', {}, governedBy(undefined)],
    ['without a policy', 'NoPolicy', {}, keptBy('NoPolicy')],
    ['on a node that is opted out', 'KeepMarked', {}, keptBy('KeepMarked')],
    ['while the pods are not known', 'PodsUnknown', { pods: undefined }],
    ['of a static pod', 'StaticPod', { ...both({ podUid: staticUid }), ...seen(2, staticUid) }],
    ['of a pod that is opted out', 'KeepMarked', { pods: [{ ...apiPod('x'), uid, isOptedOut: true }] }],
    ['of a pod that is back', 'InUse', { pods: [{ uid, configHash: undefined }] }],
  ])('keeps what was found %s: %s', (_, reason, node, rule) => {
    expect(decided(node, rule)).toEqual([`PodCgroup Keep ${reason}`, `PodDirectory Keep ${reason}`]);
  });

  test.each(orphanObstacles)('keeps what has the obstacle %s', (obstacle) => {
    expect(decided(both({ obstacle }))).toEqual([
      `PodCgroup Keep ${obstacle}`,
      `PodDirectory Keep ${obstacle}`,
    ]);
  });

  test('keeps data of a CSI volume for an hour after it was written', () => {
    const at = (ageMs: number, node: NodeState = {}): string | undefined =>
      decided({ ...both({ volumeDataMs: now.getTime() - ageMs }), ...node })[1];
    const hour = 3_600_000;
    expect(at(hour)).toBe('PodDirectory Remove OrphanedDirectory');
    for (const ageMs of [hour - 1, 0, -hour]) expect(at(ageMs)).toBe('PodDirectory Keep TooYoung');
    expect(at(hour, { clockUnsure: true })).toBe('PodDirectory Keep ClockUnsure');
    expect(at(hour, { jumps: [{ untilMs: now.getTime() - hour, ms: 1 }] })).toBe(
      'PodDirectory Keep TooYoung',
    );
    const held = both({ volumeDataMs: now.getTime(), obstacle: 'VolumeAttached' });
    expect(decided(held)[1]).toBe('PodDirectory Keep VolumeAttached');
    expect(decided({ clockUnsure: true })[1]).toBe('PodDirectory Remove OrphanedDirectory');
  });

  test('removes what was seen twice, if its rule is Remove', () => {
    const group = 'PodCgroup Remove OrphanedCgroup';
    expect(decided()).toEqual([group, 'PodDirectory Remove OrphanedDirectory']);
    const groupsOnly = governedBy({ podCgroups: 'Remove', podDirectories: 'Report' });
    expect(decided({}, groupsOnly)).toEqual([group, 'PodDirectory Keep RuleOff']);
  });

  test('removes nothing of other kinds without a rule for them', () => {
    const node = { ...both(), ...seen(2), containers: [dead('a', 60)], sandboxes: [down('pod', 60)] };
    expect(verdicts(node).filter((one) => one.includes('RuleOff'))).toEqual([
      'Container Keep RuleOff',
      'Sandbox Keep RuleOff',
    ]);
  });
});

describe('right before a removal', () => {
  const facts = factsOf({ ...both(), ...seen(2) });
  const { removals } = planContainerGc(facts, { governance: governedBy(removing), now });
  const view = { containers: [], sandboxes: [], pods: [], isCacheSynced: true, now };

  const ofUid = { labels: { 'io.kubernetes.pod.uid': uid } };
  const others = { sandboxes: [sandbox('other')], containers: [container('other')], pods: [apiPod('other')] };

  test.each<[name: string, over: Partial<Parameters<typeof recheck>[1]>, verdict: string]>([
    ['nothing knows the pod', {}, 'due'],
    ['the cache is not synced', { isCacheSynced: false }, 'PodsUnknown'],
    ['the pod is back', { pods: [{ uid, configHash: undefined }] }, 'InUse'],
    ['the pod is back, but over', { pods: [{ ...evictedPod('x'), uid }] }, 'InUse'],
    ['a static pod has the UID', { pods: [apiPod('mirror', uid)] }, 'InUse'],
    ['a dead container has the UID', { containers: [dead('c', 1, ofUid)] }, 'InUse'],
    ['a dead sandbox has the UID', { sandboxes: [down('x', 1, ofUid)] }, 'InUse'],
    ['other pods run', others, 'due'],
  ])('%s', (_, over, verdict) => {
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
      orphan({ podUid, bytes: i < 10 ? 5 : i, sinceMs: (100 - i) * 1000 }),
    );
    const sightings = Object.fromEntries(uids.map((one) => [one, 2]));
    const inventory = inventoryOf(factsOf({ orphans: found({ podDirectories }), sightings }));
    expect(inventory).toMatchObject({ logDirectories: undefined, podCgroups: undefined });
    expect(inventory?.podDirectories).toMatchObject({ count: 12, bytes: 71, isReadOnly: false });
    const largest = inventory?.podDirectories?.largest ?? [];
    expect(largest.map(({ bytes, since = '' }) => [bytes, Date.parse(since) / 1000])).toEqual([
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
    const shown = inventory?.podCgroups?.largest?.map(({ path }) => path).join(' ');
    expect(shown).toBe('/d /e /f /0 /a /a1 /b /c');
  });

  test('names what holds a directory, and the command that unmounts it, also while the policy only reports', () => {
    const held = (obstacle: FoundOrphan['obstacle'], holders: readonly string[]) => {
      const orphans = found({ podDirectories: [orphan({ path: '/pods/a', obstacle, holders })] });
      const facts = factsOf({ orphans, ...seen(2) });
      const { kept } = planContainerGc(facts, { governance: governedBy(undefined), now });
      return orphanInventory(facts, kept)?.podDirectories?.largest?.[0];
    };
    expect(held('Mounted', ['/pods/a/v/mount', '/pods/a/v'])).toMatchObject({
      ...{ reason: 'RuleOff', holder: '/pods/a/v/mount', remedy: 'umount /pods/a/v/mount /pods/a/v' },
    });
    const attached = held('VolumeAttached', ['csi-1']);
    expect(attached).toMatchObject({ holder: 'csi-1', remedy: undefined });
  });

  test.each([
    ['the directory itself', ['/pods/a'], 'umount /pods/a'],
    [
      'a tilde',
      ['/pods/a/volumes/kubernetes.io~csi/pv/mount'],
      'umount /pods/a/volumes/kubernetes.io~csi/pv/mount',
    ],
    ['a mount elsewhere', ['/pods/ab/v'], undefined],
    ['nothing', [], undefined],
    ['a name that a shell interprets', ['/pods/a/v', '/pods/a/$(reboot)', '/pods/a/w'], 'umount /pods/a/v'],
    ['a name with a blank', ['/pods/a/b c'], undefined],
    [
      'too many for a command',
      Array.from({ length: 999 }, () => `/pods/a/${'v'.repeat(600)}`),
      'umount /pods/a/' + 'v'.repeat(600),
    ],
  ])('the command for %s', (_, mountPoints, command) => {
    expect(unmountCommand('/pods/a', mountPoints)).toBe(command);
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
  const obstacle = fc.option(fc.constantFrom(...orphanObstacles), { nil: undefined, freq: 3 });
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
