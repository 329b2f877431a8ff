import type { TerminatedPolicy, TtlRule } from '../../api/policy.ts';
import type { PodDeleteReason, PodKeepReason } from '../../api/reasons.ts';
import type { OwnerRef, PodFacts } from '../../kube/objects.ts';
import { globMatcher } from '../../runtime/glob.ts';
import { isFinalizerHeld, type Given, type Group, type PodGcFacts } from './facts.ts';
import { firstToGo } from './order.ts';

/** What the terminated rule says of the finished pods of one policy. */
export interface TerminatedVerdicts {
  /** In the order they go: over the threshold, over the namespace's, expired. */
  readonly due: readonly { readonly pod: PodFacts; readonly reason: PodDeleteReason }[];
  /** Why each finished pod that is not due stays, and when its time is up. */
  keepReason(pod: PodFacts): { readonly reason: PodKeepReason; readonly eligibleAtMs: number | undefined };
}

/** Finished pods that carry it have not been counted by their Job yet. */
const jobTrackingFinalizer = 'batch.kubernetes.io/job-tracking';

/**
 * The rule "terminated": threshold, then perNamespaceThreshold, then ttl; a pod that cannot go counts, and the next goes instead.
 * The threshold is upstream's (upstream.md 1.3), the rest is ours.
 */
export function judgeTerminated(group: Group, facts: PodGcFacts, given: Given): TerminatedVerdicts {
  const rule = group.policy.pods?.terminated;
  if (rule === undefined)
    return { due: [], keepReason: () => ({ reason: 'RuleOff', eligibleAtMs: undefined }) };

  const held = (pod: PodFacts): PodKeepReason | undefined => holdOf(pod, rule, facts);
  const newest = newestOfOwners(group.terminated, rule, facts);
  const expiryOf = expiry(rule);
  const overall = overThreshold(group.terminated, rule.threshold, (pod) => held(pod) === undefined);
  const gone = new Set(overall);
  const free = (pod: PodFacts): boolean => held(pod) === undefined && !newest.has(pod) && !gone.has(pod);
  const inNamespace = overNamespaceThreshold(group.terminated, rule, { gone, free });
  for (const pod of inNamespace) gone.add(pod);
  const nowMs = given.now.getTime();
  const expired = firstToGo(group.terminated.filter((pod) => expiryOf(pod) <= nowMs && free(pod)));
  return {
    due: [
      ...overall.map((pod) => ({ pod, reason: 'Terminated' as const })),
      ...inNamespace.map((pod) => ({ pod, reason: 'TerminatedInNamespace' as const })),
      ...expired.map((pod) => ({ pod, reason: 'Expired' as const })),
    ],
    keepReason: (pod) =>
      keepReason(held(pod) ?? (newest.has(pod) ? 'KeptForOwner' : undefined), expiryOf(pod)),
  };
}

function keepReason(
  hold: PodKeepReason | undefined,
  expiresAtMs: number,
): ReturnType<TerminatedVerdicts['keepReason']> {
  if (hold !== undefined) return { reason: hold, eligibleAtMs: undefined };
  if (expiresAtMs !== Infinity) return { reason: 'TooYoung', eligibleAtMs: expiresAtMs };
  return { reason: 'UnderThreshold', eligibleAtMs: undefined };
}

/** Why this pod cannot go by this rule, however old it is. */
function holdOf(pod: PodFacts, rule: TerminatedPolicy, facts: PodGcFacts): PodKeepReason | undefined {
  if (isFinalizerHeld(pod)) return 'FinalizerHeld';
  if (pod.finalizers.includes(jobTrackingFinalizer)) return 'JobUncounted';
  if (!rule.protectUnfinishedJobs || pod.controller?.kind !== 'Job') return undefined;
  // A Job that was not observed, or not yet, may still be running: keep.
  return facts.jobsFinished?.get(pod.controller.uid) === true ? undefined : 'JobUnfinished';
}

function overThreshold(
  terminated: readonly PodFacts[],
  threshold: number,
  mayGo: (pod: PodFacts) => boolean,
): PodFacts[] {
  if (threshold <= 0 || terminated.length <= threshold) return [];
  return firstToGo(terminated.filter(mayGo), terminated.length - threshold);
}

interface Taken {
  readonly gone: ReadonlySet<PodFacts>;
  readonly free: (pod: PodFacts) => boolean;
}

function overNamespaceThreshold(
  terminated: readonly PodFacts[],
  { perNamespaceThreshold }: TerminatedPolicy,
  { gone, free }: Taken,
): PodFacts[] {
  if (perNamespaceThreshold === undefined) return [];
  const remaining = groupBy(
    terminated.filter((pod) => !gone.has(pod)),
    (pod) => pod.namespace,
  );
  return firstToGo(
    [...remaining.values()].flatMap((pods) => overThreshold(pods, perNamespaceThreshold, free)),
  );
}

/** The newest finished pods of each controller owner, which ttl and perNamespaceThreshold leave alone. */
function newestOfOwners(
  terminated: readonly PodFacts[],
  { keepPerOwner }: TerminatedPolicy,
  facts: PodGcFacts,
): ReadonlySet<PodFacts> {
  if (keepPerOwner <= 0) return new Set();
  const owned = terminated.filter((pod) => pod.controller !== undefined);
  const byOwner = groupBy(owned, (pod) => ownerOf(pod, facts.replicaSetOwners)?.uid ?? '');
  return new Set([...byOwner.values()].flatMap((pods) => pods.sort(byNewestFinished).slice(0, keepPerOwner)));
}

/** The pod's controller; a ReplicaSet's own controller (its Deployment) stands for it, or each rollout would be an owner of its own. */
export function ownerOf(
  pod: PodFacts,
  replicaSetOwners: ReadonlyMap<string, OwnerRef>,
): OwnerRef | undefined {
  if (pod.controller?.kind !== 'ReplicaSet') return pod.controller;
  return replicaSetOwners.get(pod.controller.uid) ?? pod.controller;
}

const finishedAt = (pod: PodFacts): number => pod.finishedAtMs ?? pod.createdAtMs;
const byNewestFinished = (a: PodFacts, b: PodFacts): number =>
  finishedAt(b) - finishedAt(a) || (a.uid < b.uid ? -1 : 1);

/** When a finished pod's ttl is up, Unix milliseconds; Infinity = never. The first rule that matches wins over ttlAfterFinished. */
function expiry(rule: TerminatedPolicy): (pod: PodFacts) => number {
  const rules = rule.ttlByReason.map((ttl) => ({ matches: ttlMatcher(ttl), ttlMs: ttl.ttlMs }));
  return (pod) => {
    const ttlMs = rules.find(({ matches }) => matches(pod))?.ttlMs ?? rule.ttlAfterFinishedMs;
    return ttlMs === undefined ? Infinity : finishedAt(pod) + ttlMs;
  };
}

function ttlMatcher({ phase, reason, messagePattern }: TtlRule): (pod: PodFacts) => boolean {
  const matchesMessage = messagePattern === undefined ? undefined : globMatcher(messagePattern);
  return (pod) =>
    (phase === undefined || pod.phase === phase) &&
    (reason === undefined || pod.reason === reason) &&
    (matchesMessage === undefined || matchesMessage(pod.message));
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
