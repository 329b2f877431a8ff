import { jobTrackingFinalizer } from '../../api/finalizers.ts';
import type { TerminatedPolicy, TtlRule } from '../../api/policy/policy.ts';
import type { OwnerRef, PodFacts } from '../../kube/cache/objects.ts';
import { TTL_ANNOTATION } from '../../api/policy/matching.ts';
import { parseDuration } from '../../runtime/text/duration.ts';
import { globMatcher } from '../../runtime/text/glob.ts';
import {
  isFinalizerHeld,
  isTerminating,
  toDelete,
  type Finish,
  type Given,
  type Group,
  type KeepWhy,
  type PodDeletion,
  type PodGcFacts,
  type PodKept,
  type PolicyVerdicts,
  type Ttl,
} from './facts.ts';
import { earliestFinish, finishedAt } from './finish.ts';
import { listIn } from './groups.ts';
import { Line } from './order.ts';

/** The verdicts of the terminated rule about the finished pods of one policy. */
export interface TerminatedVerdicts extends Pick<PolicyVerdicts, 'overall' | 'byNamespace'> {
  /** Each pod once. */
  readonly due: readonly PodDeletion[];
  /** Why a finished pod that is not due is kept. */
  keepReason(pod: PodFacts): KeepWhy;
}

const ruleOff: TerminatedVerdicts = {
  due: [],
  overall: undefined,
  byNamespace: new Map(),
  keepReason: () => ({ reason: 'RuleOff' }),
};

/**
 * Applies the rule "terminated": ttl, then perNamespaceThreshold, then threshold. Each counts the pods that the earlier ones leave, and none that
 * cannot be deleted now: neither the flood nor the stuck pods of one tenant may cause deletions of another's (ADR 56). The threshold is upstream's
 * (gcTerminated), the rest is ours.
 */
export function judgeTerminated(group: Group, facts: PodGcFacts, { now }: Given): TerminatedVerdicts {
  const rule = group.rules.terminated;
  return rule === undefined ? ruleOff : judgeFinished(group, rule, { facts, nowMs: now.getTime() });
}

interface Context {
  readonly facts: PodGcFacts;
  readonly nowMs: number;
}

/** Why the rule cannot delete a pod now, or the deletion that a step of it has decided. */
type Decided = Map<PodFacts, PodKept | PodDeletion>;

const isHeld = (one: PodKept | PodDeletion | undefined): one is PodKept =>
  one !== undefined && !('verdict' in one);

function judgeFinished(
  { policy, terminated }: Group,
  rule: TerminatedPolicy,
  context: Context,
): TerminatedVerdicts {
  const { threshold, perNamespaceThreshold } = rule;
  const newest = newestOfOwners(hasOwnSteps(rule) ? terminated : [], rule, context);
  const finishOf = finishes(rule, context);

  const decided = heldPods(terminated, rule, context.facts);
  for (const pod of hasTtl(rule) ? terminated : []) {
    if (decided.has(pod) || newest.has(pod)) continue;
    const finish = finishOf(pod);
    if (expiryMs(finish) <= context.nowMs)
      decided.set(pod, toDelete(pod, { reason: 'Expired', finish }, policy));
  }
  const byNamespace = new Map<string, Line>();
  if (perNamespaceThreshold !== undefined)
    for (const [namespace, pods] of groupBy(terminated, namespaceOf)) {
      const line = lineOf(pods, perNamespaceThreshold, { decided, spared: newest });
      byNamespace.set(namespace, line);
      for (const pod of line.surplus())
        decided.set(pod, toDelete(pod, { reason: 'TerminatedInNamespace' }, policy));
    }
  const overall = lineOf(terminated, threshold, { decided, spared: new Set() });
  for (const pod of overall.surplus()) decided.set(pod, toDelete(pod, { reason: 'Terminated' }, policy));

  return {
    due: [...decided.values()].filter((one) => 'verdict' in one),
    overall,
    byNamespace,
    keepReason: (pod) => {
      const hold = decided.get(pod);
      if (isHeld(hold)) return hold;
      if (newest.has(pod)) return { reason: 'KeptForOwner' };
      const finish = finishOf(pod);
      const eligibleAtMs = expiryMs(finish);
      return eligibleAtMs === Infinity
        ? { reason: 'UnderThreshold', finish }
        : { reason: 'TooYoung', finish, eligibleAt: new Date(eligibleAtMs) };
    },
  };
}

function heldPods(terminated: readonly PodFacts[], rule: TerminatedPolicy, facts: PodGcFacts): Decided {
  const held: Decided = new Map();
  for (const pod of terminated) {
    const hold = holdOf(pod, rule, facts);
    if (hold !== undefined) held.set(pod, hold);
  }
  return held;
}

interface Earlier {
  readonly decided: Decided;
  readonly spared: ReadonlySet<PodFacts>;
}

/** Counts the pods that the earlier steps leave; of these, only those that are not spared may be deleted. */
function lineOf(pods: readonly PodFacts[], threshold: number, { decided, spared }: Earlier): Line {
  const left = without(pods, decided);
  const held = pods.length === left.length ? [] : pods.filter((pod) => isHeld(decided.get(pod)));
  return new Line(without(left, spared), {
    threshold,
    counted: left.length,
    held: held.length,
    earlier: pods.length - left.length - held.length,
  });
}

/** No copy where nothing is taken out: there may be 100 000 pods, and in most passes nothing is due. */
const without = (
  pods: readonly PodFacts[],
  taken: ReadonlySet<PodFacts> | ReadonlyMap<PodFacts, unknown>,
): readonly PodFacts[] => (taken.size === 0 ? pods : pods.filter((pod) => !taken.has(pod)));

const namespaceOf = ({ namespace }: PodFacts): string => namespace;

/** When a finished pod's ttl ends, Unix milliseconds; Infinity = it has none. */
const expiryMs = ({ countedMs, ttl }: Finish): number => countedMs + ttl.ttlMs;

/** Whether a step of ours applies, which upstream does not have. */
const hasOwnSteps = (rule: TerminatedPolicy): boolean =>
  rule.perNamespaceThreshold !== undefined || hasTtl(rule);

const hasTtl = (rule: TerminatedPolicy): boolean =>
  rule.ttlAfterFinishedMs !== undefined || rule.ttlByReason.length > 0 || rule.honorTTLAnnotation;

/** Why the rule cannot delete this pod now, however old it is. */
function holdOf(pod: PodFacts, rule: TerminatedPolicy, facts: PodGcFacts): PodKept | undefined {
  const { controller, finalizers } = pod;
  if (isFinalizerHeld(pod)) return { reason: 'FinalizerHeld' };
  if (finalizers.includes(jobTrackingFinalizer)) return { reason: 'JobUncounted' };
  if (!rule.protectUnfinishedJobs || !isOf(controller, 'batch', 'Job')) return undefined;
  // A Job that was not observed may be younger than the list of Jobs; the garbage collector deletes the pods of one that is gone.
  const finished = facts.jobsFinished?.get(controller.uid);
  return finished === true
    ? undefined
    : { reason: 'JobUnfinished', jobExists: facts.jobsFinished && finished !== undefined };
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
    rule: undefined,
    annotation: undefined,
  };
  const rules = ttlByReason.map((rule, i) => ({
    matches: ttlMatcher(rule),
    ttl: { field: `pods.terminated.ttlByReason[${i}].ttl`, ttlMs: rule.ttlMs, rule, annotation: undefined },
  }));
  const ttlOf = (pod: PodFacts): Ttl => rules.find(({ matches }) => matches(pod))?.ttl ?? general;
  return (pod) => ({
    ttl: honorTTLAnnotation ? annotatedTtl(ttlOf(pod), pod) : ttlOf(pod),
    countedMs: finishedAt(pod, facts, nowMs),
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
