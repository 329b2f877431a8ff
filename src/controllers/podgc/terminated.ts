import { jobTrackingFinalizer } from '../../api/finalizers.ts';
import type { TerminatedPolicy, TtlRule } from '../../api/policy/policy.ts';
import type { Finish, Ttl } from '../../gc/reasons/pod-evidence.ts';
import type { OwnerRef, PodFacts } from '../../kube/cache/objects.ts';
import { TTL_ANNOTATION } from '../../api/policy/matching.ts';
import { parseDuration } from '../../runtime/text/duration.ts';
import { globMatcher } from '../../runtime/text/glob.ts';
import { toDelete } from './decide.ts';
import {
  finalizerHeld,
  isFinalizerHeld,
  isTerminating,
  type Because,
  type Given,
  type Group,
  type PodDeletion,
  type PodGcFacts,
} from './facts.ts';
import { earliestFinish, finishedAt, reportedFinish } from './finish.ts';
import { listIn } from './groups.ts';
import { Line, Place } from './order.ts';

/** The verdicts of the terminated rule about the finished pods of one policy. */
export interface TerminatedVerdicts {
  /** Each pod once. */
  readonly due: readonly PodDeletion[];
  /** Why a finished pod that is not due is kept. */
  keepReason(pod: PodFacts): Because;
}

/**
 * Applies the rule "terminated": threshold, then perNamespaceThreshold, then ttl. No threshold counts a pod that cannot be deleted now:
 * the stuck pods of one tenant must not cause deletions of another's. The threshold is upstream's (gcTerminated), the rest is ours.
 */
export function judgeTerminated(group: Group, facts: PodGcFacts, { now }: Given): TerminatedVerdicts {
  const rule = group.rules.terminated;
  return rule === undefined
    ? { due: [], keepReason: () => ({ reason: 'RuleOff', evidence: undefined }) }
    : judgeFinished(group, rule, { facts, nowMs: now.getTime() });
}

interface Context {
  readonly facts: PodGcFacts;
  readonly nowMs: number;
}

function judgeFinished(
  { policy, terminated }: Group,
  rule: TerminatedPolicy,
  context: Context,
): TerminatedVerdicts {
  const heldBecause = (pod: PodFacts): Because | undefined => holdOf(pod, rule, context.facts);
  const finishOf = finishes(rule, context);
  const held = terminated.filter((pod) => heldBecause(pod) !== undefined);
  const counted = without(terminated, held);
  const { threshold } = rule;
  const overall = new Line(counted, { threshold, counted: counted.length, held: held.length });
  const over = overall.surplus();
  const needsMore = needsRest(rule, counted.length);
  const left = needsMore ? without(counted, over) : [];
  // The newest of the pods that the threshold leaves, held ones included: if it deletes the newest pod of an owner, the next one is kept.
  const newest = newestOfOwners(needsMore ? without(terminated, over) : [], rule, context);
  const mayDelete = (pod: PodFacts): boolean => !newest.has(pod);
  const lines = namespaceLines(rule, left, held, mayDelete);
  const overInNamespace = [...lines.values()].flatMap((line) => line.surplus());
  const expired = without(left, overInNamespace).filter(
    (pod) => mayDelete(pod) && expiryMs(finishOf(pod)) <= context.nowMs,
  );
  return {
    due: [
      ...toDelete(over, { reason: 'Terminated', policy, evidenceOf: (pod) => new Place(overall, pod) }),
      ...[...lines.values()].flatMap((line) =>
        toDelete(line.surplus(), {
          ...{ reason: 'TerminatedInNamespace', policy },
          evidenceOf: (pod) => new Place(line, pod),
        }),
      ),
      ...toDelete(expired, { reason: 'Expired', policy, evidenceOf: finishOf }),
    ],
    keepReason: (pod) => {
      const hold = heldBecause(pod);
      if (hold !== undefined) return hold;
      const { keepPerOwner } = rule;
      if (newest.has(pod)) return { reason: 'KeptForOwner', evidence: { keepPerOwner } };
      const finish = finishOf(pod);
      const eligibleAtMs = expiryMs(finish);
      return eligibleAtMs === Infinity
        ? underThreshold(pod, finish, { overall, line: lines.get(pod.namespace) })
        : { reason: 'TooYoung', evidence: finish, eligibleAtMs };
    },
  };
}

/** The finished pods of each namespace that the threshold leaves; empty without perNamespaceThreshold. */
function namespaceLines(
  { perNamespaceThreshold: threshold }: TerminatedPolicy,
  left: readonly PodFacts[],
  held: readonly PodFacts[],
  mayDelete: (pod: PodFacts) => boolean,
): ReadonlyMap<string, Line> {
  if (threshold === undefined) return new Map();
  const heldIn = groupBy(held, namespaceOf);
  return new Map(
    [...groupBy(left, namespaceOf)].map(([namespace, pods]) => {
      const counts = { threshold, counted: pods.length, held: heldIn.get(namespace)?.length ?? 0 };
      return [namespace, new Line(pods.filter(mayDelete), counts)];
    }),
  );
}

const namespaceOf = ({ namespace }: PodFacts): string => namespace;

/** When a finished pod's ttl ends, Unix milliseconds; Infinity = it has none. */
const expiryMs = ({ countedMs, ttl }: Finish): number => countedMs + ttl.ttlMs;

interface Lines {
  readonly overall: Line;
  /** Count in the pod's namespace; undefined = the policy has no perNamespaceThreshold. */
  readonly line: Line | undefined;
}

function underThreshold(pod: PodFacts, { ttl: { annotation } }: Finish, { overall, line }: Lines): Because {
  const inNamespace = line && new Place(line, pod);
  return {
    reason: 'UnderThreshold',
    evidence: { overall: new Place(overall, pod), inNamespace, annotation },
  };
}

function without(pods: readonly PodFacts[], removed: readonly PodFacts[]): readonly PodFacts[] {
  if (removed.length === 0) return pods;
  const removedSet = new Set(removed);
  return pods.filter((pod) => !removedSet.has(pod));
}

/** Whether any other step can delete a pod that the threshold leaves, or keep it for its own reason. */
const needsRest = (rule: TerminatedPolicy, count: number): boolean =>
  rule.perNamespaceThreshold !== undefined ||
  rule.ttlAfterFinishedMs !== undefined ||
  rule.ttlByReason.length > 0 ||
  rule.honorTTLAnnotation ||
  (rule.keepPerOwner > 0 && rule.threshold > 0 && count > rule.threshold);

/** Why the rule cannot delete this pod now, however old it is. */
function holdOf(pod: PodFacts, rule: TerminatedPolicy, facts: PodGcFacts): Because | undefined {
  const { controller, finalizers } = pod;
  if (isFinalizerHeld(pod)) return finalizerHeld(pod);
  if (finalizers.includes(jobTrackingFinalizer))
    return { reason: 'JobUncounted', evidence: { owner: controller } };
  if (!rule.protectUnfinishedJobs || !isOf(controller, 'batch', 'Job')) return undefined;
  // A Job that was not observed, or not yet, may still be running: keep.
  return facts.jobsFinished?.get(controller.uid) === true
    ? undefined
    : { reason: 'JobUnfinished', evidence: { owner: controller } };
}

/** Whether the owner is of this API group and kind: another group may have a kind of the same name. */
const isOf = (owner: OwnerRef | undefined, group: string, kind: string): owner is OwnerRef =>
  owner?.kind === kind && owner.apiVersion.startsWith(`${group}/`);

/**
 * The newest finished pods of each controller owner, which ttl and perNamespaceThreshold do not delete. Where the finish time of a pod is in doubt,
 * the newest by the latest and by the earliest time possible: a pod that was first seen after a restart must not displace its siblings.
 */
function newestOfOwners(
  terminated: readonly PodFacts[],
  { keepPerOwner }: TerminatedPolicy,
  { facts, nowMs }: Context,
): ReadonlySet<PodFacts> {
  if (keepPerOwner <= 0) return new Set();
  const byOwner = groupBy(terminated, (pod) =>
    isTerminating(pod) ? undefined : ownerKey(pod, ownerOf(pod, facts.replicaSetOwners)),
  );
  const orders: readonly FinishOf[] = [
    (pod) => finishedAt(pod, facts, nowMs),
    (pod) => earliestFinish(pod, facts, nowMs),
  ];
  const newest = new Set<PodFacts>();
  byOwner.forEach((pods) => {
    const isFew = pods.length <= keepPerOwner;
    const kept = isFew ? pods : orders.flatMap((at) => pods.sort(byNewest(at)).slice(0, keepPerOwner));
    for (const pod of kept) newest.add(pod);
  });
  return newest;
}

/** An owner is in its pod's namespace: pods of two namespaces that name one UID have two owners. */
const ownerKey = ({ namespace }: PodFacts, owner: OwnerRef | undefined): string | undefined =>
  owner && `${namespace}/${owner.uid}`;

/** The pod's controller; for a ReplicaSet its own controller (its Deployment), or each rollout would be an owner of its own. */
export function ownerOf(
  pod: PodFacts,
  replicaSetOwners: ReadonlyMap<string, OwnerRef>,
): OwnerRef | undefined {
  const { controller } = pod;
  return isOf(controller, 'apps', 'ReplicaSet')
    ? (replicaSetOwners.get(controller.uid) ?? controller)
    : controller;
}

type FinishOf = (pod: PodFacts) => number;

/** Pods that were first seen finished in the same pass: by creation. */
const byNewest =
  (finishOf: FinishOf) =>
  (a: PodFacts, b: PodFacts): number =>
    finishOf(b) - finishOf(a) || b.createdAtMs - a.createdAtMs || (a.uid < b.uid ? -1 : 1);

/**
 * When a pod finished, and its ttl: the first rule that matches wins over ttlAfterFinished, and a shorter annotation over both, if the policy reads
 * it. Without any of them it never expires.
 */
function finishes(
  { ttlAfterFinishedMs = Infinity, ttlByReason, honorTTLAnnotation }: TerminatedPolicy,
  { facts, nowMs }: Context,
): (pod: PodFacts) => Finish {
  const general: Ttl = {
    field: 'pods.terminated.ttlAfterFinished',
    ttlMs: ttlAfterFinishedMs,
    ...{ rule: undefined, annotation: undefined },
  };
  const rules = ttlByReason.map((rule, i) => ({
    matches: ttlMatcher(rule),
    ttl: { field: `pods.terminated.ttlByReason[${i}].ttl`, ttlMs: rule.ttlMs, rule, annotation: undefined },
  }));
  const ttlOf = (pod: PodFacts): Ttl => rules.find(({ matches }) => matches(pod))?.ttl ?? general;
  return (pod) => ({
    ttl: honorTTLAnnotation ? annotatedTtl(ttlOf(pod), pod) : ttlOf(pod),
    reportedMs: reportedFinish(pod),
    countedMs: finishedAt(pod, facts, nowMs),
    createdAtMs: pod.createdAtMs,
  });
}

/** The annotation may shorten a ttl, never lengthen it: a pod without a ttl has an infinite one. */
function annotatedTtl(ttl: Ttl, { ttlAnnotation: value }: PodFacts): Ttl {
  if (value === undefined) return ttl;
  const ttlMs = value.length > maxDurationLength ? undefined : parseDuration(value);
  if (ttlMs === undefined || ttlMs > maxDurationMs)
    return { ...ttl, annotation: { value, effect: 'no duration' } };
  if (ttlMs >= ttl.ttlMs) return { ...ttl, annotation: { value, effect: 'longer' } };
  const field = `metadata.annotations["${TTL_ANNOTATION}"]`;
  return { field, ttlMs, rule: undefined, annotation: { value, effect: 'sets' } };
}

/** The bounds of every duration in a policy (crds/). */
const maxDurationLength = 32;
const maxDurationMs = 87_600 * 3_600_000;

function ttlMatcher({ phase, reason, messagePattern }: TtlRule): (pod: PodFacts) => boolean {
  const matchesMessage = messagePattern === undefined ? undefined : globMatcher(messagePattern);
  return (pod) =>
    (phase === undefined || pod.phase === phase) &&
    (reason === undefined || pod.reason === reason) &&
    (matchesMessage === undefined || matchesMessage(pod.message));
}

/** Items without a key are left out. */
function groupBy<T>(items: readonly T[], keyOf: (item: T) => string | undefined): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key !== undefined) listIn(groups, key).push(item);
  }
  return groups;
}
