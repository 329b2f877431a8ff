import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Policy } from '../../../../src/api/policy/policy.ts';
import {
  decisionsOf,
  type PodDeletion,
  type PodGcFacts,
  type PodGcPlan,
} from '../../../../src/controllers/podgc/facts.ts';
import { removableAtOnce } from '../../../../src/gc/hold.ts';
import { podDeleteReasons } from '../../../../src/api/reasons.ts';
import type { PodFacts } from '../../../../src/kube/cache/objects.ts';
import { minutesAgo, noHold, now, owner, pod } from '../../../builders.ts';
import { worlds } from '../../../worlds.ts';
import {
  facts,
  given,
  governorOf,
  jobTracking,
  lineOf,
  planned,
  type Given,
  type Seen,
  inEachCluster,
  testClusters,
  unlimited,
  withRules,
} from './arbitraries.ts';

testClusters(
  'deletes only selected pods in known namespaces, without the keep label on pod, namespace or node',
  (seen, how) => {
    for (const { target, policy: by } of planned(seen, how).deletions) {
      const one = target.pod;
      expect(by.name).toBe(governorOf(one, how));
      expect(one.labels).not.toHaveProperty(['gc.dustpan.dev/keep']);
      expect(['default', 'shop']).toContain(one.namespace);
      expect(one.nodeName).not.toBe('keep');
    }
  },
);

const annotatedMs: Readonly<Record<string, number>> = {
  '0s': 0,
  '2m': 120_000,
  '5m': 300_000,
  '48h': 172_800_000,
};

test('an annotation adds only deletions of expired pods, which no threshold counts', () => {
  const honoring = (how: Given, honorTTLAnnotation: boolean): Given =>
    withRules(how, ({ terminated }) => ({ terminated: terminated && { ...terminated, honorTTLAnnotation } }));
  let added = 0;
  inEachCluster(
    (seen, how) => {
      const [on, off] = [planned(seen, honoring(how, true)), planned(seen, honoring(how, false))];
      const byUid = new Map(off.deletions.map((one) => [one.target.uid, one]));
      for (const { target, reason } of on.deletions) {
        if (byUid.delete(target.uid)) continue;
        added += 1;
        expect(reason).toBe('Expired');
        expect(Object.keys(annotatedMs)).toContain(target.pod.ttlAnnotation);
      }
      for (const { reason } of byUid.values()) expect(byThreshold).toContain(reason);
    },
    { policies: given.map((how) => withRules(how, unlimited)) },
  );
  expect(added).toBeGreaterThan(0);
});

/** Whether the condition of a reason holds. */
const grounds: Record<PodDeletion['reason'], (one: PodFacts, by: Policy, seen: Seen) => boolean> = {
  Terminated: (_, by) => (by.pods?.terminated?.threshold ?? 0) > 0,
  TerminatedInNamespace: (_, by) => by.pods?.terminated?.perNamespaceThreshold !== undefined,
  Expired: ({ uid, ttlAnnotation = '' }, by, { trueFinishMs }) => {
    const { ttlAfterFinishedMs = Infinity, honorTTLAnnotation = false } = by.pods?.terminated ?? {};
    const annotated = honorTTLAnnotation ? (annotatedMs[ttlAnnotation] ?? Infinity) : Infinity;
    return (trueFinishMs.get(uid) ?? Infinity) + Math.min(ttlAfterFinishedMs, annotated) <= now.getTime();
  },
  OutOfService: ({ nodeName, deletionAtMs }, by) =>
    by.pods?.outOfService === true && nodeName === 'out' && deletionAtMs !== undefined,
  Orphaned: ({ nodeName = '' }, by, { missingForMs, closedForMs }) => {
    const quarantineMs = by.pods?.orphaned?.quarantineMs ?? Infinity;
    const known = [missingForMs.get(nodeName), closedForMs.get(by.name)];
    return nodeName.startsWith('gone') && known.every((ms = 0) => ms >= quarantineMs);
  },
  Unscheduled: ({ nodeName, deletionAtMs }, by) =>
    by.pods?.unscheduledTerminating === true && nodeName === undefined && deletionAtMs !== undefined,
};

testClusters(
  'deletes an unfinished pod only because of its node, and marks it first; the condition of each reason holds',
  (seen, how) => {
    for (const { target, reason, policy: by } of planned(seen, how).deletions) {
      const { pod: one, markFailed } = target;
      const isAlive = ['Running', 'Pending', 'Unknown'].includes(one.phase);
      if (isAlive) expect(['Orphaned', 'OutOfService', 'Unscheduled']).toContain(reason);
      expect(markFailed).toBe(isAlive || one.phase === '');
      expect(grounds[reason](one, by, seen)).toBe(true);
    }
  },
);

const count = (deletions: readonly PodDeletion[], planned: PodDeletion['reason']): number =>
  deletions.filter(({ reason }) => reason === planned).length;
const surplus = (there: number, threshold: number): number =>
  threshold === 0 ? 0 : Math.max(0, there - threshold);

testClusters('never deletes more than thresholds and the limit of a pass allow', (seen, how) => {
  const { deletions, policies } = planned(seen, how);
  for (const { policy: by } of policies) {
    const mine = deletions.filter((one) => one.policy === by);
    expect(mine.length).toBeLessThanOrEqual(how.maxDeletesPerPass === 0 ? Infinity : how.maxDeletesPerPass);
    const { threshold = 0, perNamespaceThreshold = 0 } = by.pods?.terminated ?? {};
    const governed = seen.pods.filter((one) => governorOf(one, how) === by.name && isCounted(one, by, seen));
    expect(count(mine, 'Terminated')).toBeLessThanOrEqual(surplus(governed.length, threshold));
    for (const name of ['default', 'shop']) {
      const ofNamespace = mine.filter(({ target }) => target.namespace === name);
      const there = governed.filter((one) => one.namespace === name).length;
      expect(count(ofNamespace, 'TerminatedInNamespace')).toBeLessThanOrEqual(
        surplus(there, perNamespaceThreshold),
      );
    }
  }
});

const isHeld = ({ deletionGracePeriodSeconds, finalizers, phase }: PodFacts): boolean =>
  deletionGracePeriodSeconds === 0 && finalizers.length > 0 && ['Succeeded', 'Failed'].includes(phase);
const isOfUnfinishedJob = ({ controller }: PodFacts, by: Policy, { jobsFinished }: PodGcFacts): boolean =>
  by.pods?.terminated?.protectUnfinishedJobs === true &&
  controller?.kind === 'Job' &&
  controller.apiVersion === 'batch/v1' &&
  jobsFinished?.get(controller.uid) !== true;
const isStuck = (one: PodFacts, by: Policy, seen: PodGcFacts): boolean =>
  isHeld(one) || one.finalizers.includes(jobTracking) || isOfUnfinishedJob(one, by, seen);
const isTerminated = ({ phase }: PodFacts): boolean => !['Running', 'Pending', 'Unknown'].includes(phase);
/** Whether a threshold of the policy counts it. */
const isCounted = (one: PodFacts, by: Policy, seen: PodGcFacts): boolean =>
  isTerminated(one) && !isStuck(one, by, seen);
const byThreshold = ['Terminated', 'TerminatedInNamespace'];
const ofFinished = [...byThreshold, 'Expired'];
const ofOwners = ['TerminatedInNamespace', 'Expired'];

testClusters(
  'does not delete finished pods that their Job has not counted or that only wait for finalizers',
  (seen, how) => {
    for (const { target, reason, policy: by } of planned(seen, how).deletions) {
      const one = target.pod;
      expect(isHeld(one)).toBe(false);
      if (ofFinished.includes(reason)) expect(isStuck(one, by, seen)).toBe(false);
    }
  },
);

/** Pods that are tried last give their place under the limit of a pass to any other. */
const unfailed = facts.map((seen) => ({ ...seen, failedBefore: new Map() }));

/**
 * Held pods may be among the newest of their owner, and a policy governs them too: half of what it governs is never held. With a limit, those that
 * another rule deletes come first.
 */
const withoutOwners = given.map((how) =>
  withRules(how, ({ terminated, ...rules }) => ({
    ...unlimited(rules),
    terminated: terminated && {
      ...terminated,
      keepPerOwner: 0,
      keepPerOwnerByPhase: { succeeded: 0, failed: 0 },
    },
    hold: noHold,
  })),
);

test('pods that cannot be deleted cause no other deletion: without them the same finished pods are deleted', () => {
  let stuckCount = 0;
  inEachCluster(
    (seen, how) => {
      const policyOf = (one: PodFacts) => how.policies.find(({ name }) => name === governorOf(one, how));
      const pods = seen.pods.filter((one) => {
        const by = policyOf(one);
        return by === undefined || 'problems' in by || !isTerminated(one) || !isStuck(one, by, seen);
      });
      stuckCount += seen.pods.length - pods.length;
      const lines = (known: PodGcFacts): string[] =>
        planned(known, how)
          .deletions.filter(({ reason }) => ofFinished.includes(reason))
          .map(lineOf);
      expect(lines(seen)).toEqual(lines({ ...seen, pods }));
    },
    { clusters: unfailed, policies: withoutOwners },
  );
  expect(stuckCount).toBeGreaterThan(worlds.numRuns / 5);
});

const withNamespaceLimit = given.map((how) =>
  withRules(how, ({ terminated, ...rules }) => ({
    ...unlimited(rules),
    terminated: terminated && { ...terminated, perNamespaceThreshold: terminated.perNamespaceThreshold ?? 2 },
  })),
);

test('a flood of finished pods in one namespace with a limit changes no deletion in another one', () => {
  let deletions = 0;
  const flooded = facts.map((seen) => ({
    ...seen,
    namespaces: new Map([...seen.namespaces, ['flood', {}] as const]),
  }));
  const floodOf = fc.record({ age: fc.integer({ min: 0, max: 6 }), size: fc.integer({ min: 4, max: 40 }) });
  fc.assert(
    fc.property(flooded, floodOf, withNamespaceLimit, (seen, { age, size }, how) => {
      const over = { createdAtMs: minutesAgo(60 + age), finishedAtMs: minutesAgo(age) };
      const flood = Array.from({ length: size }, (_, i) => pod(`flood/p${99 - i}`, over));
      const elsewhere = (pods: readonly PodFacts[]): string[] =>
        planned({ ...seen, pods: [...seen.pods, ...pods] }, how)
          .deletions.filter(({ target }) => target.namespace !== 'flood')
          .map(lineOf);
      const few = elsewhere(flood.slice(0, 4));
      expect(elsewhere(flood)).toEqual(few);
      deletions += few.length;
    }),
    worlds,
  );
  expect(deletions).toBeGreaterThan(worlds.numRuns / 5);
});

test('pods whose deletion has failed are last, and none of them is due during its pause', () => {
  let [late, waiting] = [0, 0];
  inEachCluster((seen, how) => {
    const plan = planned(seen, how);
    const retries = plan.deletions.map(({ target: { uid } }) => seen.failedBefore.get(uid)?.retryInMs);
    const first = retries.findIndex((one) => one !== undefined);
    if (first >= 0) expect(new Set(retries.slice(first))).toEqual(new Set([0]));
    late += Number(first > 0);
    for (const { target, reason, eligibleAt } of plan.kept) {
      if (reason !== 'DeletionFailed') continue;
      expect(seen.failedBefore.get(target.uid)?.retryInMs).toBe(1);
      expect(eligibleAt).toEqual(new Date(now.getTime() + 1));
      waiting += 1;
    }
  });
  expect(Math.min(late, waiting)).toBeGreaterThan(worlds.numRuns / 20);
});

testClusters('pods that wait after a failed deletion do not use up the limit of a pass', (seen, how) => {
  const unfailed = planned({ ...seen, failedBefore: new Map() }, how);
  const { deletions, kept } = planned(seen, how);
  const waiting = [...kept].filter(({ reason }) => reason === 'DeletionFailed').length;
  const paced = [...unfailed.kept].filter(({ reason }) => reason === 'PacingLimit').length;
  expect(deletions.length).toBeGreaterThanOrEqual(unfailed.deletions.length - waiting);
  if (paced === 0) expect(deletions.length).toBe(unfailed.deletions.length - waiting);
});

test('keeps the newest pods of each owner in a namespace, whatever other namespaces name the same UID', () => {
  const ofOneUid = facts.map((seen) => ({
    ...seen,
    pods: seen.pods.map((one) => ({ ...one, controller: owner('Job', 'j') })),
  }));
  /** One policy for all namespaces. */
  const oneForAll = given.map((how) => ({
    ...how,
    policies: how.policies.filter(({ name }) => name === 'all'),
  }));
  inEachCluster(
    (seen, how) => {
      const plan = planned(seen, how);
      const reasonOf = new Map(plan.deletions.map(({ target, reason }) => [target.pod, reason]));
      for (const { policy: by } of plan.policies) {
        const finished = seen.pods.filter(
          (one) =>
            governorOf(one, how) === by.name &&
            isTerminated(one) &&
            one.deletionAtMs === undefined &&
            one.labels['gc.dustpan.dev/keep'] === undefined &&
            one.nodeName !== 'keep',
        );
        const keep = by.pods?.terminated?.keepPerOwner ?? 0;
        for (const name of ['default', 'shop']) {
          const pods = finished.filter(({ namespace }) => namespace === name);
          // The threshold of the cluster ignores the owners.
          const keptPods = pods.filter((one) => !ofOwners.includes(reasonOf.get(one) ?? ''));
          expect(keptPods.length).toBeGreaterThanOrEqual(Math.min(keep, pods.length));
        }
      }
    },
    { clusters: ofOneUid, policies: oneForAll },
  );
});

test('every pod has one decision; the order of the input changes neither decisions nor their order', () => {
  const shuffled = facts.chain((seen) =>
    fc
      .shuffledSubarray([...seen.pods], { minLength: seen.pods.length })
      .map((listed) => ({ seen, other: { ...seen, pods: listed } })),
  );
  fc.assert(
    fc.property(shuffled, given, ({ seen, other }, how) => {
      const [plan, again] = [planned(seen, how), planned(other, how)];
      expect(again.deletions.map(lineOf)).toEqual(plan.deletions.map(lineOf));
      const kept = (made: PodGcPlan): string[] =>
        [...made.kept].map(
          ({ target: { uid }, reason, eligibleAt }) => `${uid} ${reason} ${eligibleAt?.toISOString() ?? ''}`,
        );
      expect(kept(again).sort()).toEqual(kept(plan).sort());
      const decided = [...decisionsOf(plan)].map(({ target: { uid } }) => uid);
      expect(decided.sort()).toEqual(seen.pods.map(({ uid }) => uid).sort());
    }),
    worlds,
  );
});

testClusters(
  'after a plan is carried out nothing is due, unless a limit, the circuit breaker or a hold kept pods',
  (seen, how) => {
    const plan = planned(seen, how);
    const isCut = [...plan.kept].some(({ reason }) =>
      ['PacingLimit', 'Holding', 'DeletionFailed'].includes(reason),
    );
    // A pod that the circuit breaker keeps may show the rule that deletes it earlier.
    const isOpen = plan.policies.some(({ trippedPercent }) => trippedPercent !== undefined);
    fc.pre(!isCut && !isOpen);
    const gone = new Set(plan.deletions.map(({ target }) => target.pod));
    const after = { ...seen, pods: seen.pods.filter((one) => !gone.has(one)) };
    expect(planned(after, how).deletions.map(lineOf)).toEqual([]);
  },
);

/** For how much longer the hold of a policy may last. */
function newForMs({ mode, pods, name }: Policy, { inForceForMs }: PodGcFacts): number {
  if (mode === 'DryRun' || pods === undefined || pods.hold.above === 0) return 0;
  return pods.hold.forMs - (inForceForMs.get(name) ?? Infinity);
}

test('new rules delete at most what holdAbove allows, and what waits is due when holdFor has passed', () => {
  let held = 0;
  inEachCluster((seen, how) => {
    const plan = planned(seen, how);
    for (const { policy: by, governed, removable, selected } of plan.policies) {
      const leftMs = newForMs(by, seen);
      if (leftMs <= 0) continue;
      const deleted = plan.deletions.filter((one) => one.policy === by).length;
      expect(deleted).toBeLessThanOrEqual(removableAtOnce(by.pods?.hold ?? noHold, { governed, removable }));
      const waiting = [...plan.kept].filter((one) => one.policy === by && one.reason === 'Holding');
      held += waiting.length;
      if (waiting.length > 0) expect([deleted, waiting.length]).toEqual([0, selected]);
      for (const { eligibleAt } of waiting) expect(eligibleAt?.getTime()).toBe(now.getTime() + leftMs);
    }
  });
  expect(held).toBeGreaterThan(3);
});

test('the random clusters are such that each rule applies in some of them', () => {
  const reasons = fc
    .sample(fc.tuple(facts, given), worlds.numRuns)
    .flatMap(([seen, how]) => planned(seen, how).deletions.map(({ reason }) => reason));
  for (const reason of podDeleteReasons)
    expect(reasons.filter((one) => one === reason).length).toBeGreaterThan(3);
});
