import type { Policy } from '../../api/policy/policy.ts';
import { failedLast } from '../../gc/failures.ts';
import { holdLeftMs } from '../../gc/hold.ts';
import { podDeleteReasons, type PodDeleteReason } from '../../api/reasons.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import {
  isFinalizerHeld,
  isTerminated,
  toKeep,
  type Given,
  type Group,
  type KeepWhy,
  type KeptPod,
  type PodDeletion,
  type PodGcFacts,
  type PodGcPlan,
  type PolicyVerdicts,
} from './facts.ts';
import { groupByPolicy, ungovernedBecause } from './groups.ts';
import { missingNodes, judgeOrphans, outOfService, unscheduled, type OrphanVerdicts } from './nodes.ts';
import { byDeletionOrder } from './order.ts';
import { judgeTerminated, type TerminatedVerdicts } from './terminated.ts';

/**
 * Decides which pods are deleted, in which order and why, and why all others are kept. The first rule that applies to a pod decides.
 * Rules, in order: terminated (ttl, perNamespaceThreshold, threshold), outOfService, orphaned, unscheduledTerminating.
 */
export function planPodGc(facts: PodGcFacts, given: Given): PodGcPlan {
  const { groups, ungoverned } = groupByPolicy(facts, given);
  const missing = missingNodes(groups, facts);
  const judged = groups.map((group) => judge(group, { ...facts, missing }, given));
  const { deletions, overLimit, postponed } = sequence(judged, facts, given);
  const isDue = new Set(deletions.map(({ target }) => target.pod));
  const context = { now: given.now, nodes: facts.nodes, overLimit };

  function* kept(): Generator<KeptPod> {
    for (const [governor, pods] of ungoverned) {
      const policy = typeof governor === 'object' ? governor : undefined;
      const because = ungovernedBecause(governor);
      for (const pod of pods) yield toKeep(pod, because, policy);
    }
    for (const one of judged) {
      const { policy, excluded, pods } = one.group;
      for (const { pod, because } of excluded) yield toKeep(pod, because, policy);
      for (const pod of pods)
        if (!isDue.has(pod)) yield toKeep(pod, postponed.get(pod) ?? keptBecause(pod, one, context), policy);
    }
  }
  return {
    deletions,
    kept: { [Symbol.iterator]: kept },
    policies: judged.map(verdictsOf),
  };
}

interface Judged {
  readonly group: Group;
  readonly terminated: TerminatedVerdicts;
  readonly orphans: OrphanVerdicts;
  /** Unordered; each pod once. */
  readonly selected: readonly PodDeletion[];
  readonly removable: number;
  /** Set while all of them wait. */
  readonly hold: Hold | undefined;
}

interface Hold {
  readonly pods: ReadonlySet<PodFacts>;
  readonly leftMs: number;
}

function judge(group: Group, facts: PodGcFacts & { readonly missing: number }, given: Given): Judged {
  const terminated = judgeTerminated(group, facts, given);
  const orphans = judgeOrphans(group, facts, given);
  const byNode = [...outOfService(group, facts.nodes), ...orphans.due, ...unscheduled(group)];
  const selected = firstRuleWins(terminated.due, byNode);
  const removable = removableBy(group, selected);
  return {
    group,
    terminated,
    orphans,
    selected,
    removable,
    hold: holdOf(group, { selected, removable }, facts),
  };
}

/** Counts the pods that the rules could ever delete: the finished ones, and those that a rule selects now. Other pods first have to finish or to lose their node. */
function removableBy({ rules, terminated }: Group, selected: readonly PodDeletion[]): number {
  if (rules.terminated === undefined) return selected.length;
  return terminated.length + selected.filter(({ target }) => !isTerminated(target.pod)).length;
}

function holdOf(
  { policy, rules, pods }: Group,
  { selected, removable }: Pick<Judged, 'selected' | 'removable'>,
  { inForceForMs }: PodGcFacts,
): Hold | undefined {
  const removal = {
    due: selected.length,
    governed: pods.length,
    removable,
    inForceForMs: inForceForMs.get(policy.name),
  };
  const leftMs = holdLeftMs(policy, rules.hold, removal);
  return leftMs === undefined
    ? undefined
    : { leftMs, pods: new Set(selected.map(({ target }) => target.pod)) };
}

/** No rule deletes a pod again that waits only for its finalizers. */
function firstRuleWins(
  terminated: readonly PodDeletion[],
  byNode: readonly PodDeletion[],
): readonly PodDeletion[] {
  if (byNode.length === 0) return terminated;
  const taken = new Set(terminated.map(({ target }) => target.pod));
  const rest = byNode.filter(({ target: { pod } }) => {
    if (taken.has(pod) || isFinalizerHeld(pod)) return false;
    taken.add(pod);
    return true;
  });
  return [...terminated, ...rest];
}

/** Reasons of pods whose replacements may wait until they are deleted: the pods of a StatefulSet, for example. */
const restoring: readonly PodDeleteReason[] = ['OutOfService', 'Orphaned', 'Unscheduled'];
const restoringFirst: readonly PodDeleteReason[] = [
  ...restoring,
  ...podDeleteReasons.filter((reason) => !restoring.includes(reason)),
];

/** As the rules apply, like upstream; where a pass may end before all is deleted, those that restore service first: else they might never be reached. */
const ruleOrder = (judged: readonly Judged[], { isLimited = false }: Given): readonly PodDeleteReason[] =>
  isLimited || judged.some(({ group: { rules } }) => rules.safety.maxDeletesPerPass > 0)
    ? restoringFirst
    : podDeleteReasons;

interface Sequence {
  readonly deletions: readonly PodDeletion[];
  /** Pods that their policy's limit of deletions per pass leaves for the next pass. */
  readonly overLimit: ReadonlySet<PodFacts>;
  /** Pods whose deletion has failed, and is not tried again yet. */
  readonly postponed: ReadonlyMap<PodFacts, KeepWhy>;
}

/**
 * One sequence for the whole cluster, rule by rule; within a rule in one order, whatever the policy. Pods whose deletion has failed are last, and
 * count for no limit while they wait: some that cannot be deleted must not stop the deletion of all others.
 */
function sequence(
  judged: readonly Judged[],
  { failedBefore }: Pick<PodGcFacts, 'failedBefore'>,
  given: Given,
): Sequence {
  const due = judged.flatMap(({ hold, selected }) => (hold === undefined ? selected : []));
  const deletions: PodDeletion[] = [];
  const overLimit = new Set<PodFacts>();
  const postponed = new Map<PodFacts, KeepWhy>();
  const counts = new Map<Policy, number>();
  const inTurn = ruleOrder(judged, given).flatMap((reason) => inOrder(due, reason));
  const hasFailed = ({ target }: PodDeletion): boolean => failedBefore.has(target.uid);
  for (const deletion of failedLast(inTurn, hasFailed)) {
    const { policy, target } = deletion;
    const count = counts.get(policy) ?? 0;
    const { times = 0, retryInMs = 0 } = failedBefore.get(target.uid) ?? {};
    if (retryInMs > 0) {
      const eligibleAt = new Date(given.now.getTime() + retryInMs);
      postponed.set(target.pod, { reason: 'DeletionFailed', times, eligibleAt });
    } else if (isAtLimit(policy, count)) overLimit.add(target.pod);
    else {
      counts.set(policy, count + 1);
      deletions.push(deletion);
    }
  }
  return { deletions, overLimit, postponed };
}

const inOrder = (due: readonly PodDeletion[], reason: PodDeleteReason): readonly PodDeletion[] =>
  due
    .filter((deletion) => deletion.reason === reason)
    .sort((a, b) => byDeletionOrder(a.target.pod, b.target.pod));

/** A limit of 0 is none. */
const isAtLimit = ({ pods }: Policy, count: number): boolean =>
  pods !== undefined && pods.safety.maxDeletesPerPass > 0 && count >= pods.safety.maxDeletesPerPass;

const verdictsOf = ({ group, terminated, orphans, selected, removable, hold }: Judged): PolicyVerdicts => ({
  policy: group.policy,
  governed: group.pods.length,
  terminated: group.terminated.length,
  missingNodes: orphans.missingNodes,
  trippedPercent: orphans.trippedPercent,
  isLeftOpen: orphans.isLeftOpen,
  overall: terminated.overall,
  byNamespace: terminated.byNamespace,
  selected: selected.length,
  removable,
  holdLeftMs: hold?.leftMs,
  holdForMs: group.rules.hold.forMs,
});

/** Why a pod that the rules apply to is not due. */
function keptBecause(
  pod: PodFacts,
  { terminated, orphans, hold }: Judged,
  { overLimit, now, nodes }: Pick<Given, 'now'> & Pick<Sequence, 'overLimit'> & Pick<PodGcFacts, 'nodes'>,
): KeepWhy {
  if (hold?.pods.has(pod) === true)
    return { reason: 'Holding', eligibleAt: new Date(now.getTime() + hold.leftMs) };
  if (overLimit.has(pod)) return { reason: 'PacingLimit' };
  if (isFinalizerHeld(pod)) return { reason: 'FinalizerHeld' };
  const orphan = orphans.keepReason(pod);
  const finished = isTerminated(pod) ? terminated.keepReason(pod) : undefined;
  return earliest(orphan, finished) ?? { reason: 'NotTerminated', node: nodes?.get(pod.nodeName ?? '') };
}

/** Of two rules that do not delete a pod yet, the one that will delete it first; the former, if neither will by time alone. */
function earliest(a: KeepWhy | undefined, b: KeepWhy | undefined): KeepWhy | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return (b.eligibleAt?.getTime() ?? Infinity) < (a.eligibleAt?.getTime() ?? Infinity) ? b : a;
}
