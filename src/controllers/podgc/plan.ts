import type { Policy } from '../../api/policy/policy.ts';
import { failedLast } from '../../gc/failures.ts';
import { holdLeftMs } from '../../gc/hold.ts';
import { podDeleteReasons, type PodDeleteReason } from '../../api/reasons.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import {
  isAlreadyDeleted,
  isTerminated,
  toKeep,
  type Given,
  type Group,
  type KeptBecause,
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
  const steps = planInSteps(facts, given);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

/** The same in steps, between which other work may run: all pods at once would delay it for half a second where there are 100 000. */
export function* planInSteps(facts: PodGcFacts, given: Given): Generator<void, PodGcPlan> {
  const { groups, ungoverned } = yield* groupByPolicy(facts, given);
  yield;
  const missing = missingNodes(groups, facts);
  const judged: Judged[] = [];
  for (const group of groups) {
    yield;
    judged.push(yield* judge(group, { ...facts, missing }, given));
  }
  yield;
  const { deletions, waiting } = sequence(judged, facts, given);
  const isDue = new Set(deletions.map(({ target }) => target.pod));

  function* kept(): Generator<KeptPod> {
    for (const [governing, pods] of ungoverned) {
      const policy = typeof governing === 'object' ? governing : undefined;
      const because = ungovernedBecause(governing);
      for (const pod of pods) yield toKeep(pod, because, policy);
    }
    for (const verdicts of judged) {
      const { policy, excluded, pods } = verdicts.group;
      for (const [pod, because] of excluded) yield toKeep(pod, because, policy);
      for (const pod of pods)
        if (!isDue.has(pod))
          yield toKeep(pod, waiting.get(pod) ?? unselectedBecause(pod, verdicts, facts.nodes), policy);
    }
  }
  return { deletions, kept: { [Symbol.iterator]: kept }, policies: judged };
}

interface Judged extends PolicyVerdicts {
  readonly group: Group;
  readonly finished: TerminatedVerdicts;
  readonly orphans: OrphanVerdicts;
  /** What the rules select. Unordered; each pod once. */
  readonly due: readonly PodDeletion[];
}

function* judge(
  group: Group,
  facts: PodGcFacts & { readonly missing: number },
  given: Given,
): Generator<void, Judged> {
  const { policy, rules, pods } = group;
  const finished = yield* judgeTerminated(group, facts, given);
  const orphans = judgeOrphans(group, facts, given);
  const byNode = [...outOfService(group, facts.nodes), ...orphans.due, ...unscheduled(group)];
  const due = firstRuleWins(finished.due, byNode);
  const counts = { governed: pods.length, removable: removableBy(group, due) };
  const inForceForMs = facts.inForceForMs.get(policy.name);
  return {
    policy,
    group,
    finished,
    orphans,
    due,
    governed: counts.governed,
    removable: counts.removable,
    selected: due.length,
    terminated: group.terminated.length,
    missingNodes: orphans.missingNodes,
    trippedPercent: orphans.trippedPercent,
    isLeftOpen: orphans.isLeftOpen,
    overall: finished.overall,
    byNamespace: finished.byNamespace,
    holdLeftMs: holdLeftMs(policy, rules.hold, { ...counts, due: due.length, inForceForMs }),
  };
}

/** Counts the pods that the rules could ever delete: the finished ones, and those that a rule selects now. Other pods first have to finish or to lose their node. */
function removableBy({ rules, terminated }: Group, selected: readonly PodDeletion[]): number {
  if (rules.terminated === undefined) return selected.length;
  return terminated.length + selected.filter(({ target }) => !isTerminated(target.pod)).length;
}

/** No rule deletes a pod again that waits only for its finalizers. */
function firstRuleWins(
  terminated: readonly PodDeletion[],
  byNode: readonly PodDeletion[],
): readonly PodDeletion[] {
  if (byNode.length === 0) return terminated;
  const taken = new Set(terminated.map(({ target }) => target.pod));
  const rest = byNode.filter(({ target: { pod } }) => {
    if (taken.has(pod) || isAlreadyDeleted(pod)) return false;
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
  /** Why pods that are due are not deleted in this pass. */
  readonly waiting: ReadonlyMap<PodFacts, KeptBecause>;
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
  const deletions: PodDeletion[] = [];
  const waiting = new Map<PodFacts, KeptBecause>();
  const inMs = (ms: number): Date => new Date(given.now.getTime() + ms);
  for (const { due, holdLeftMs: leftMs } of judged) {
    if (leftMs === undefined) continue;
    const because = { reason: 'Holding', eligibleAt: inMs(leftMs) } as const;
    for (const { target } of due) waiting.set(target.pod, because);
  }
  const counts = new Map<Policy, number>();
  const allowed = judged.flatMap(({ due, holdLeftMs: leftMs }) => (leftMs === undefined ? due : []));
  const inTurn = ruleOrder(judged, given).flatMap((reason) => inOrder(allowed, reason));
  const hasFailed = ({ target }: PodDeletion): boolean => failedBefore.has(target.uid);
  for (const deletion of failedLast(inTurn, hasFailed)) {
    const { policy, target } = deletion;
    const count = counts.get(policy) ?? 0;
    const { times = 0, retryInMs = 0 } = failedBefore.get(target.uid) ?? {};
    if (retryInMs > 0)
      waiting.set(target.pod, { reason: 'DeletionFailed', times, eligibleAt: inMs(retryInMs) });
    else if (isAtLimit(policy, count)) waiting.set(target.pod, { reason: 'PacingLimit' });
    else {
      counts.set(policy, count + 1);
      deletions.push(deletion);
    }
  }
  return { deletions, waiting };
}

const inOrder = (due: readonly PodDeletion[], reason: PodDeleteReason): readonly PodDeletion[] =>
  due
    .filter((deletion) => deletion.reason === reason)
    .sort((a, b) => byDeletionOrder(a.target.pod, b.target.pod));

/** A limit of 0 is none. */
const isAtLimit = ({ pods }: Policy, count: number): boolean =>
  pods !== undefined && pods.safety.maxDeletesPerPass > 0 && count >= pods.safety.maxDeletesPerPass;

/** Why no rule selects a pod that the rules apply to. */
function unselectedBecause(
  pod: PodFacts,
  { finished, orphans }: Judged,
  nodes: PodGcFacts['nodes'],
): KeptBecause {
  if (isAlreadyDeleted(pod)) return { reason: 'FinalizerHeld' };
  return (
    earliest(orphans.keptBecause(pod), isTerminated(pod) ? finished.keptBecause(pod) : undefined) ?? {
      reason: 'NotTerminated',
      node: nodes?.get(pod.nodeName ?? ''),
    }
  );
}

/** Of two rules that do not delete a pod yet, the one that will delete it first; the former, if neither will by time alone. */
function earliest(a: KeptBecause | undefined, b: KeptBecause | undefined): KeptBecause | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return (b.eligibleAt?.getTime() ?? Infinity) < (a.eligibleAt?.getTime() ?? Infinity) ? b : a;
}
