import { jobTrackingFinalizer } from '../../api/finalizers.ts';
import type { TerminatedPolicy } from '../../api/policy/policy.ts';
import type { OwnerRef, PodFacts } from '../../kube/cache/objects.ts';
import {
  isAlreadyDeleted,
  isOf,
  isTerminating,
  toDelete,
  type Expiry,
  type Given,
  type Group,
  type KeptBecause,
  type KeptForOwner,
  type PodDeletion,
  type PodGcFacts,
  type PolicyVerdicts,
  type RemovedBecause,
} from './facts.ts';
import { eachInSteps } from '../../runtime/scheduling/slices.ts';
import { earliestFinish, finishedAt } from './finish.ts';
import { DeletionQueue } from './order.ts';
import { hasTtl, ttlFinder } from './ttl.ts';

/** The verdicts of the terminated rule about the finished pods of one policy. */
export interface TerminatedVerdicts extends Pick<PolicyVerdicts, 'overall' | 'byNamespace'> {
  /** Each pod once. */
  readonly due: readonly PodDeletion[];
  /** Why a finished pod that is not due is kept. */
  keptBecause(pod: PodFacts): KeptBecause;
}

const ruleOff: TerminatedVerdicts = {
  due: [],
  overall: undefined,
  byNamespace: new Map(),
  keptBecause: () => ({ reason: 'RuleOff' }),
};

/**
 * Applies the rule "terminated": ttl, then perNamespaceThreshold, then threshold. Each counts the pods that the earlier ones leave, and none that
 * cannot be deleted now: neither the flood nor the stuck pods of one tenant may cause deletions of another's (ADR 56). The threshold is upstream's
 * (gcTerminated), the rest is ours.
 */
export function* judgeTerminated(
  { policy, rules: { terminated: rule }, terminated }: Group,
  facts: PodGcFacts,
  { now }: Given,
): Generator<void, TerminatedVerdicts> {
  if (rule === undefined) return ruleOff;
  const nowMs = now.getTime();
  const sparedBy = yield* newestOfOwners(terminated, rule, facts, nowMs);
  const isSpared = (pod: PodFacts): boolean => sparedBy(pod) !== undefined;
  const ttlOf = ttlFinder(rule);
  const expiryOf = (pod: PodFacts): Expiry => ({ countedMs: finishedAt(pod, facts, nowMs), ttl: ttlOf(pod) });

  const keptAnyway = findUndeletable(terminated, rule, facts);
  const kept = new Set<PodFacts>();
  yield* eachInSteps(terminated, (pod) => {
    if (keptAnyway(pod) !== undefined) kept.add(pod);
  });
  const due = new Map<PodFacts, PodDeletion>();
  const remove = (pod: PodFacts, because: RemovedBecause): void => {
    due.set(pod, toDelete(pod, because, policy));
  };
  yield* eachInSteps(hasTtl(rule) ? terminated : [], (pod) => {
    if (kept.has(pod) || isSpared(pod)) return;
    const expiry = expiryOf(pod);
    if (expiryMs(expiry) <= nowMs) remove(pod, { reason: 'Expired', expiry });
  });
  yield;
  const byNamespace = new Map<string, DeletionQueue>();
  if (rule.perNamespaceThreshold !== undefined)
    for (const [namespace, pods] of Map.groupBy(terminated, (pod) => pod.namespace)) {
      const queue = new DeletionQueue(pods, rule.perNamespaceThreshold, { kept, due, isSpared });
      byNamespace.set(namespace, queue);
      for (const pod of queue.surplus()) remove(pod, { reason: 'TerminatedInNamespace' });
    }
  yield;
  const overall = new DeletionQueue(terminated, rule.threshold, { kept, due });
  for (const pod of overall.surplus()) remove(pod, { reason: 'Terminated' });

  return {
    due: [...due.values()],
    overall,
    byNamespace,
    keptBecause: (pod) => {
      const because = kept.has(pod) ? keptAnyway(pod) : undefined;
      if (because !== undefined) return because;
      const field = sparedBy(pod);
      if (field !== undefined) return { reason: 'KeptForOwner', field, owner: ownerOf(pod, facts.owners) };
      const expiry = expiryOf(pod);
      const eligibleAtMs = expiryMs(expiry);
      return eligibleAtMs === Infinity
        ? { reason: 'UnderThreshold', expiry }
        : { reason: 'TooYoung', expiry, eligibleAt: new Date(eligibleAtMs) };
    },
  };
}

/** Returns why the rule cannot delete a pod now, however old it is: 100 000 such pods need no object each. */
function findUndeletable(
  terminated: readonly PodFacts[],
  rule: TerminatedPolicy,
  facts: PodGcFacts,
): (pod: PodFacts) => KeptBecause | undefined {
  // A pod of an owner that is not known would count for another owner, and other pods would be deleted for it.
  const isBlind = needsOwners(rule) && facts.owners === undefined && terminated.some(hasOwnerBehind);
  return (pod) => undeletableBecause(pod, rule, facts) ?? (isBlind ? { reason: 'OwnersUnknown' } : undefined);
}

/** When a finished pod's ttl ends, Unix milliseconds; Infinity = it has none. */
const expiryMs = ({ countedMs, ttl }: Expiry): number => countedMs + ttl.ttlMs;

/** Whether a step of ours applies, which upstream does not have. */
const hasOwnSteps = (rule: TerminatedPolicy): boolean =>
  rule.perNamespaceThreshold !== undefined || hasTtl(rule);

/** Whether a deletion by the rule depends on the owners of pods: the threshold ignores them. */
const needsOwners = (rule: TerminatedPolicy): boolean => hasOwnSteps(rule) && quotasOf(rule).length > 0;

/** Whether the owner of the pod is the controller of its controller, as far as there is one. */
const hasOwnerBehind = ({ controller }: PodFacts): boolean =>
  isOf(controller, 'apps', 'ReplicaSet') || isOf(controller, 'batch', 'Job');

function undeletableBecause(
  pod: PodFacts,
  rule: TerminatedPolicy,
  facts: PodGcFacts,
): KeptBecause | undefined {
  const { controller, finalizers } = pod;
  if (isAlreadyDeleted(pod)) return { reason: 'FinalizerHeld' };
  const isOfJob = isOf(controller, 'batch', 'Job');
  const finished = isOfJob ? facts.jobsFinished?.get(controller.uid) : undefined;
  // A Job that was not observed may be younger than the list of Jobs; the garbage collector deletes the pods of one that is gone.
  const jobExists = isOfJob ? facts.jobsFinished && finished !== undefined : false;
  if (finalizers.includes(jobTrackingFinalizer)) return { reason: 'JobUncounted', jobExists };
  if (!rule.protectUnfinishedJobs || !isOfJob || finished === true) return undefined;
  return { reason: 'JobUnfinished', jobExists };
}

/** How many pods of an owner are kept from ttl and perNamespaceThreshold. keepPerOwner is the last: it is named where two keep a pod. */
const quotasOf = ({ keepPerOwner, keepPerOwnerByPhase: { succeeded, failed } }: TerminatedPolicy) =>
  (
    [
      { field: 'keepPerOwnerByPhase.succeeded', count: succeeded, phase: 'Succeeded' },
      { field: 'keepPerOwnerByPhase.failed', count: failed, phase: 'Failed' },
      { field: 'keepPerOwner', count: keepPerOwner, phase: undefined },
    ] as const
  ).filter(({ count }) => count > 0);

type Quota = ReturnType<typeof quotasOf>[number];

const countsFor = ({ phase }: Quota, pod: PodFacts): boolean => phase === undefined || pod.phase === phase;

/**
 * Returns the field of the last quota that keeps a pod from ttl and perNamespaceThreshold, because it is among the newest finished ones of its
 * controller. Where the finish time of a pod is in doubt, the newest by the latest and by the earliest time possible: a pod that was first seen after
 * a restart must not displace its siblings.
 */
function* newestOfOwners(
  terminated: readonly PodFacts[],
  rule: TerminatedPolicy,
  facts: PodGcFacts,
  nowMs: number,
): Generator<void, (pod: PodFacts) => KeptForOwner['field'] | undefined> {
  if (!needsOwners(rule)) return () => undefined;
  const quotas = quotasOf(rule);
  const uidOf = (pod: PodFacts): string | undefined =>
    isTerminating(pod) ? undefined : ownerOf(pod, facts.owners)?.uid;
  // Mostly an owner has one pod, which every quota keeps: only the pods of other owners are listed.
  const [seen, crowded] = [new Set<string | undefined>(), new Set<string | undefined>()];
  yield* eachInSteps(terminated, (pod) => {
    const uid = uidOf(pod);
    if (seen.has(uid)) crowded.add(uid);
    else seen.add(uid);
  });
  crowded.delete(undefined);
  const siblings: PodFacts[] = [];
  yield* eachInSteps(crowded.size === 0 ? [] : terminated, (pod) => {
    if (crowded.has(uidOf(pod))) siblings.push(pod);
  });
  const newest = new Map(quotas.map((quota) => [quota, new Set<PodFacts>()]));
  const finishTimes = [finishedAt, earliestFinish];
  for (const [quota, kept] of newest)
    yield* eachInSteps(byOwner(siblings, uidOf), (all) => {
      const pods = all.filter((pod) => countsFor(quota, pod));
      for (const at of finishTimes)
        for (const pod of pods.sort(byNewest((one) => at(one, facts, nowMs))).slice(0, quota.count))
          kept.add(pod);
    });
  return (pod) => {
    const uid = uidOf(pod);
    if (uid === undefined) return undefined;
    const isKept = (quota: Quota): boolean =>
      crowded.has(uid) ? newest.get(quota)?.has(pod) === true : countsFor(quota, pod);
    return quotas.findLast(isKept)?.field;
  };
}

/** An owner is in its pod's namespace: pods of two namespaces that name one UID have two owners. */
function* byOwner(
  pods: readonly PodFacts[],
  uidOf: (pod: PodFacts) => string | undefined,
): Generator<PodFacts[]> {
  for (const ofUid of Map.groupBy(pods, uidOf).values())
    yield* Map.groupBy(ofUid, ({ namespace }) => namespace).values();
}

/** The pod's controller; for a ReplicaSet its own controller (its Deployment), for a Job its CronJob, or each rollout and each run would be an owner of its own. */
export function ownerOf(pod: PodFacts, owners: PodGcFacts['owners']): OwnerRef | undefined {
  const { controller } = pod;
  return controller !== undefined && hasOwnerBehind(pod)
    ? (owners?.get(controller.uid) ?? controller)
    : controller;
}

/** Pods that were first seen finished in the same pass: by creation. */
const byNewest =
  (finishOf: (pod: PodFacts) => number) =>
  (a: PodFacts, b: PodFacts): number =>
    finishOf(b) - finishOf(a) || b.createdAtMs - a.createdAtMs || (a.uid < b.uid ? -1 : 1);
