import { jobTrackingFinalizer } from '../../api/finalizers.ts';
import type { TerminatedPolicy, TtlRule } from '../../api/policy.ts';
import type { PodKeepReason } from '../../api/reasons.ts';
import type { OwnerRef, PodFacts } from '../../kube/objects.ts';
import { globMatcher } from '../../runtime/glob.ts';
import {
  isFinalizerHeld,
  isTerminating,
  keptBecause,
  type FinishedCount,
  type FinishedPods,
  type KeptVerdict,
  type Given,
  type Group,
  type PodGcFacts,
  type RuleHits,
  type Ttl,
} from './facts.ts';
import { earliestFinish, finishedAt } from './finish.ts';
import { byTurn, firstInTurn, inTurn } from './order.ts';

/** What the terminated rule says of the finished pods of one policy. */
export interface TerminatedVerdicts {
  /** One list a step, each in the order they go; no pod stands in two. */
  readonly due: readonly RuleHits[];
  /** Why each finished pod that is not due stays, and when its time is up. */
  keepReason(pod: PodFacts): KeptVerdict;
  /** undefined = there is no rule for finished pods. */
  readonly finished: FinishedPods | undefined;
}

/**
 * Applies the rule "terminated": threshold, then perNamespaceThreshold, then ttl. A pod that cannot be deleted now counts for no threshold:
 * one tenant's stuck pods must not push out another's. The threshold is upstream's (upstream.md 1.3), the rest is ours.
 */
export function judgeTerminated(group: Group, facts: PodGcFacts, given: Given): TerminatedVerdicts {
  const rule = group.policy.pods?.terminated;
  if (rule === undefined) return { due: [], keepReason: () => keptBecause.RuleOff, finished: undefined };

  const held = (pod: PodFacts): PodKeepReason | undefined => holdOf(pod, rule, facts);
  const nowMs = given.now.getTime();
  const finishOf = (pod: PodFacts): number => finishedAt(pod, facts, nowMs);
  const ttlOf = ttls(rule);
  const expiryOf = expiry(ttlOf, finishOf);

  const counted = group.terminated.filter((pod) => held(pod) === undefined);
  const overall = overThreshold(counted, rule.threshold);
  const needsMore = needsRest(rule, counted.length);
  // The newest of the pods that the threshold leaves, held ones included: an owner whose newest pod it takes keeps the next.
  const newest = newestOfOwners(needsMore ? without(group.terminated, overall) : [], rule, {
    facts,
    orders: [finishOf, (pod) => earliestFinish(pod, facts, nowMs)],
  });
  const mayExpire = (pod: PodFacts): boolean => !newest.has(pod);
  const afterOverall = needsMore ? without(counted, overall) : [];
  // Each step sorts only the pods that it may take: most pods stay, and comparing the names of all takes as long as the rest of the plan.
  const inNamespace = overNamespaceThreshold(afterOverall, rule, mayExpire);
  const expired = without(afterOverall, inNamespace).filter(
    (pod) => expiryOf(pod) <= nowMs && mayExpire(pod),
  );
  return {
    due: [
      { reason: 'Terminated', pods: overall },
      { reason: 'TerminatedInNamespace', pods: inNamespace },
      { reason: 'Expired', pods: inTurn(expired) },
    ],
    keepReason: (pod) =>
      keepReason(held(pod) ?? (newest.has(pod) ? 'KeptForOwner' : undefined), expiryOf(pod)),
    finished: {
      ttlOf,
      finishedAt: finishOf,
      all: { counted: counted.length, held: group.terminated.length - counted.length },
      turnOf: (pod) => (held(pod) === undefined ? turnAmong(counted, pod) : undefined),
      inNamespace: countedLater(afterOverall, () =>
        group.terminated.filter((pod) => held(pod) !== undefined),
      ),
      turnInNamespaceOf: (pod) =>
        held(pod) === undefined && mayExpire(pod)
          ? turnAmong(inNamespaceOf(pod, afterOverall).filter(mayExpire), pod)
          : undefined,
    },
  };
}

/** Counts by namespace, at the first call. */
function countedLater(
  counted: readonly PodFacts[],
  held: () => readonly PodFacts[],
): (namespace: string) => FinishedCount {
  let counts: { readonly counted: Counts; readonly held: Counts } | undefined;
  return (name) => {
    counts ??= { counted: countByNamespace(counted), held: countByNamespace(held()) };
    return { counted: counts.counted.get(name) ?? 0, held: counts.held.get(name) ?? 0 };
  };
}

type Counts = ReadonlyMap<string, number>;

function countByNamespace(pods: readonly PodFacts[]): Counts {
  const counts = new Map<string, number>();
  for (const { namespace } of pods) counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  return counts;
}

const inNamespaceOf = ({ namespace }: PodFacts, pods: readonly PodFacts[]): readonly PodFacts[] =>
  pods.filter((other) => other.namespace === namespace);

const turnAmong = (pods: readonly PodFacts[], pod: PodFacts): number =>
  1 + pods.filter((other) => byTurn(other, pod) < 0).length;

function without(pods: readonly PodFacts[], gone: readonly PodFacts[]): readonly PodFacts[] {
  if (gone.length === 0) return pods;
  const left = new Set(gone);
  return pods.filter((pod) => !left.has(pod));
}

/** Whether any other step can find something, or has something to say of what the threshold leaves. */
const needsRest = (rule: TerminatedPolicy, count: number): boolean =>
  rule.perNamespaceThreshold !== undefined ||
  rule.ttlAfterFinishedMs !== undefined ||
  rule.ttlByReason.length > 0 ||
  (rule.keepPerOwner > 0 && rule.threshold > 0 && count > rule.threshold);

function keepReason(hold: PodKeepReason | undefined, expiresAtMs: number): KeptVerdict {
  if (hold !== undefined) return keptBecause[hold];
  return expiresAtMs === Infinity
    ? keptBecause.UnderThreshold
    : { reason: 'TooYoung', eligibleAtMs: expiresAtMs };
}

/** Why this pod cannot go by this rule, however old it is. */
function holdOf(pod: PodFacts, rule: TerminatedPolicy, facts: PodGcFacts): PodKeepReason | undefined {
  // Hardly any pod has one: what is not asked of the others is a twentieth of a plan.
  if (pod.finalizers.length > 0) {
    if (isFinalizerHeld(pod)) return 'FinalizerHeld';
    if (pod.finalizers.includes(jobTrackingFinalizer)) return 'JobUncounted';
  }
  if (!rule.protectUnfinishedJobs || !isOf(pod.controller, 'batch', 'Job')) return undefined;
  // A Job that was not observed, or not yet, may still be running: keep.
  return facts.jobsFinished?.get(pod.controller.uid) === true ? undefined : 'JobUnfinished';
}

/** Whether the owner is of this API group and kind: anybody may define a kind of the same name in another group. */
const isOf = (owner: OwnerRef | undefined, group: string, kind: string): owner is OwnerRef =>
  owner?.kind === kind && owner.apiVersion.startsWith(`${group}/`);

function overThreshold(counted: readonly PodFacts[], threshold: number): PodFacts[] {
  const surplus = threshold > 0 ? counted.length - threshold : 0;
  return surplus > 0 ? firstInTurn(counted, surplus) : [];
}

function overNamespaceThreshold(
  counted: readonly PodFacts[],
  { perNamespaceThreshold: threshold = 0 }: TerminatedPolicy,
  mayGo: (pod: PodFacts) => boolean,
): PodFacts[] {
  if (threshold <= 0) return [];
  const surplus = new Map<string, number>();
  for (const { namespace } of counted) surplus.set(namespace, (surplus.get(namespace) ?? -threshold) + 1);
  const over = ({ namespace }: PodFacts): number | undefined => surplus.get(namespace);
  return inTurn(counted.filter((pod) => isAbove0(over(pod)) && mayGo(pod))).filter((pod) => {
    const left = over(pod);
    if (!isAbove0(left)) return false;
    surplus.set(pod.namespace, left - 1);
    return true;
  });
}

const isAbove0 = (count: number | undefined): count is number => count !== undefined && count > 0;

/**
 * The newest finished pods of each controller owner, which ttl and perNamespaceThreshold leave alone. Where the finish time of a pod is in doubt,
 * the newest by the latest and by the earliest time possible: a pod that was first seen after a restart must not push out its siblings.
 */
function newestOfOwners(
  terminated: readonly PodFacts[],
  { keepPerOwner }: TerminatedPolicy,
  { facts, orders }: { readonly facts: PodGcFacts; readonly orders: readonly FinishOf[] },
): ReadonlySet<PodFacts> {
  if (keepPerOwner <= 0) return new Set();
  const byOwner = groupBy(terminated, (pod) =>
    isTerminating(pod) ? undefined : ownerKey(pod, ownerOf(pod, facts.replicaSetOwners)),
  );
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

/** The pod's controller; a ReplicaSet's own controller (its Deployment) stands for it, or each rollout would be an owner of its own. */
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

/** Those that were first seen finished in one pass: by creation. */
const byNewest =
  (finishOf: FinishOf) =>
  (a: PodFacts, b: PodFacts): number =>
    finishOf(b) - finishOf(a) || b.createdAtMs - a.createdAtMs || (a.uid < b.uid ? -1 : 1);

/** The ttl of a finished pod. The first rule that matches wins over ttlAfterFinished. */
function ttls(rule: TerminatedPolicy): (pod: PodFacts) => Ttl | undefined {
  const { ttlAfterFinishedMs } = rule;
  const general: Ttl | undefined =
    ttlAfterFinishedMs === undefined
      ? undefined
      : { field: 'pods.terminated.ttlAfterFinished', ttlMs: ttlAfterFinishedMs, rule: undefined };
  const rules = rule.ttlByReason.map((one, i) => ({
    matches: ttlMatcher(one),
    ttl: { field: `pods.terminated.ttlByReason[${i}].ttl`, ttlMs: one.ttlMs, rule: one },
  }));
  return (pod) => {
    for (const { matches, ttl } of rules) if (matches(pod)) return ttl;
    return general;
  };
}

/** When a finished pod's ttl is up, Unix milliseconds; Infinity = never. */
const expiry =
  (ttlOf: (pod: PodFacts) => Ttl | undefined, finishOf: FinishOf) =>
  (pod: PodFacts): number => {
    const ttl = ttlOf(pod);
    return ttl === undefined ? Infinity : finishOf(pod) + ttl.ttlMs;
  };

function ttlMatcher({ phase, reason, messagePattern }: TtlRule): (pod: PodFacts) => boolean {
  const matchesMessage = messagePattern === undefined ? undefined : remembered(globMatcher(messagePattern));
  return (pod) =>
    (phase === undefined || pod.phase === phase) &&
    (reason === undefined || pod.reason === reason) &&
    (matchesMessage === undefined || matchesMessage(pod.message));
}

/** Thousands of pods die with one message: it is matched once a pass. */
function remembered(matches: (text: string) => boolean): (text: string) => boolean {
  const answers = new Map<string, boolean>();
  return (text) => {
    const known = answers.get(text);
    if (known !== undefined) return known;
    const answer = matches(text);
    answers.set(text, answer);
    return answer;
  };
}

/** Without those that have no key. */
function groupBy<T>(items: readonly T[], keyOf: (item: T) => string | undefined): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key === undefined) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
