import { jobTrackingFinalizer } from '../../api/finalizers.ts';
import type { TerminatedPolicy } from '../../api/policy/policy.ts';
import type { OwnerRef, PodFacts } from '../../kube/cache/objects.ts';
import {
  isFinalizerHeld,
  isOf,
  isTerminating,
  toDelete,
  type Finish,
  type Given,
  type Group,
  type KeepWhy,
  type KeptForOwner,
  type PodDeletion,
  type PodGcFacts,
  type PodKept,
  type PolicyVerdicts,
} from './facts.ts';
import { earliestFinish, finishedAt } from './finish.ts';
import { listIn } from './groups.ts';
import { Line } from './order.ts';
import { hasTtl, ttlFinder } from './ttl.ts';

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
  const ttlOf = ttlFinder(rule);
  const finishOf = (pod: PodFacts): Finish => ({
    countedMs: finishedAt(pod, context.facts, context.nowMs),
    ttl: ttlOf(pod),
  });

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
  const overall = lineOf(terminated, threshold, { decided, spared: new Map() });
  for (const pod of overall.surplus()) decided.set(pod, toDelete(pod, { reason: 'Terminated' }, policy));

  return {
    due: [...decided.values()].filter((one) => 'verdict' in one),
    overall,
    byNamespace,
    keepReason: (pod) => {
      const hold = decided.get(pod);
      if (isHeld(hold)) return hold;
      const field = newest.get(pod);
      if (field !== undefined)
        return { reason: 'KeptForOwner', field, owner: ownerOf(pod, context.facts.owners) };
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
  // A pod of an owner that is not known would count for another owner, and other pods would be deleted for it.
  const isBlind = needsOwners(rule) && facts.owners === undefined && terminated.some(hasOwnerBehind);
  for (const pod of terminated) {
    const hold = holdOf(pod, rule, facts) ?? (isBlind ? ({ reason: 'OwnersUnknown' } as const) : undefined);
    if (hold !== undefined) held.set(pod, hold);
  }
  return held;
}

interface Earlier {
  readonly decided: Decided;
  readonly spared: Newest;
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

/** Whether a deletion by the rule depends on the owners of pods: the threshold ignores them. */
const needsOwners = (rule: TerminatedPolicy): boolean => hasOwnSteps(rule) && quotasOf(rule).length > 0;

/** Whether the owner of the pod is the controller of its controller, as far as there is one. */
const hasOwnerBehind = ({ controller }: PodFacts): boolean =>
  isOf(controller, 'apps', 'ReplicaSet') || isOf(controller, 'batch', 'Job');

/** Why the rule cannot delete this pod now, however old it is. */
function holdOf(pod: PodFacts, rule: TerminatedPolicy, facts: PodGcFacts): PodKept | undefined {
  const { controller, finalizers } = pod;
  if (isFinalizerHeld(pod)) return { reason: 'FinalizerHeld' };
  const isOfJob = isOf(controller, 'batch', 'Job');
  const finished = isOfJob ? facts.jobsFinished?.get(controller.uid) : undefined;
  // A Job that was not observed may be younger than the list of Jobs; the garbage collector deletes the pods of one that is gone.
  const jobExists = isOfJob ? facts.jobsFinished && finished !== undefined : false;
  if (finalizers.includes(jobTrackingFinalizer)) return { reason: 'JobUncounted', jobExists };
  if (!rule.protectUnfinishedJobs || !isOfJob || finished === true) return undefined;
  return { reason: 'JobUnfinished', jobExists };
}

/** The pods of an owner that are kept from ttl and perNamespaceThreshold. */
interface Quota {
  readonly field: KeptForOwner['field'];
  readonly count: number;
  readonly phase: string | undefined;
}

/** keepPerOwner is the last: it is named where two keep a pod. */
const quotasOf = ({
  keepPerOwner,
  keepPerOwnerByPhase: { succeeded, failed },
}: TerminatedPolicy): readonly Quota[] =>
  (
    [
      { field: 'keepPerOwnerByPhase.succeeded', count: succeeded, phase: 'Succeeded' },
      { field: 'keepPerOwnerByPhase.failed', count: failed, phase: 'Failed' },
      { field: 'keepPerOwner', count: keepPerOwner, phase: undefined },
    ] as const
  ).filter(({ count }) => count > 0);

/** The pods that a quota of their owner keeps, with the field of the last that does. */
type Newest = ReadonlyMap<PodFacts, Quota['field']>;

/**
 * The newest finished pods of each controller owner, which ttl and perNamespaceThreshold do not delete. Where the finish time of a pod is in doubt,
 * the newest by the latest and by the earliest time possible: a pod that was first seen after a restart must not displace its siblings.
 */
function newestOfOwners(
  terminated: readonly PodFacts[],
  rule: TerminatedPolicy,
  { facts, nowMs }: Context,
): Newest {
  const newest = new Map<PodFacts, Quota['field']>();
  const quotas = quotasOf(rule);
  if (quotas.length === 0) return newest;
  const byOwner = groupBy(terminated, (pod) =>
    isTerminating(pod) ? undefined : ownerKey(pod, ownerOf(pod, facts.owners)),
  );
  const orders: readonly FinishOf[] = [
    (pod) => finishedAt(pod, facts, nowMs),
    (pod) => earliestFinish(pod, facts, nowMs),
  ];
  for (const { field, count, phase } of quotas)
    for (const all of byOwner.values()) {
      const pods = phase === undefined ? all : all.filter((pod) => pod.phase === phase);
      const isFew = pods.length <= count;
      const kept = isFew ? pods : orders.flatMap((at) => pods.sort(byNewest(at)).slice(0, count));
      for (const pod of kept) newest.set(pod, field);
    }
  return newest;
}

/** An owner is in its pod's namespace: pods of two namespaces that name one UID have two owners. */
const ownerKey = ({ namespace }: PodFacts, owner: OwnerRef | undefined): string | undefined =>
  owner && `${namespace}/${owner.uid}`;

/** The pod's controller; for a ReplicaSet its own controller (its Deployment), for a Job its CronJob, or each rollout and each run would be an owner of its own. */
export function ownerOf(pod: PodFacts, owners: PodGcFacts['owners']): OwnerRef | undefined {
  const { controller } = pod;
  return controller !== undefined && hasOwnerBehind(pod)
    ? (owners?.get(controller.uid) ?? controller)
    : controller;
}

type FinishOf = (pod: PodFacts) => number;

/** Pods that were first seen finished in the same pass: by creation. */
const byNewest =
  (finishOf: FinishOf) =>
  (a: PodFacts, b: PodFacts): number =>
    finishOf(b) - finishOf(a) || b.createdAtMs - a.createdAtMs || (a.uid < b.uid ? -1 : 1);

/** Items without a key are left out. */
function groupBy<T>(items: readonly T[], keyOf: (item: T) => string | undefined): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    if (key !== undefined) listIn(groups, key).push(item);
  }
  return groups;
}
