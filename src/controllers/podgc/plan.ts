import type { Policy } from '../../api/policy/policy.ts';
import { failedLast } from '../../gc/failures.ts';
import { holdLeftMs } from '../../gc/hold.ts';
import { podDeleteReasons, type PodDeleteReason } from '../../api/reasons.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import {
  finalizerHeld,
  isFinalizerHeld,
  isTerminated,
  isTerminating,
  type Because,
  type Given,
  type Group,
  type PodDecision,
  type PodDeletion,
  type PodGcFacts,
  type PodGcPlan,
  type PolicyVerdicts,
} from './facts.ts';
import { toKeep } from './decide.ts';
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

  function* kept(): Generator<PodDecision> {
    for (const [governor, pods] of ungoverned) {
      const policy = typeof governor === 'object' ? governor : undefined;
      for (const pod of pods) yield toKeep(pod, ungovernedBecause(governor, pod), policy);
    }
    for (const one of judged) {
      const { policy, excluded, pods } = one.group;
      for (const { pod, because } of excluded) yield toKeep(pod, because, policy);
      for (const pod of pods)
        if (!isDue.has(pod))
          yield toKeep(
            pod,
            postponed.get(pod) ?? keptBecause(pod, one, { ...given, overLimit, facts }),
            policy,
          );
    }
  }
  return { deletions, kept: { [Symbol.iterator]: kept }, policies: judged.map(verdictsOf) };
}

interface Judged {
  readonly group: Group;
  readonly terminated: TerminatedVerdicts;
  readonly orphans: OrphanVerdicts;
  /** Unordered; each pod once. */
  readonly selected: readonly PodDeletion[];
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
  return { group, terminated, orphans, selected, hold: holdOf(group, selected, facts) };
}

function holdOf(
  { policy, rules, pods }: Group,
  selected: readonly PodDeletion[],
  { inForceForMs }: PodGcFacts,
): Hold | undefined {
  const removal = {
    due: selected.length,
    governed: pods.length,
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

/** Ordered as the rules apply. */
const ruleOrder: readonly PodDeleteReason[] = podDeleteReasons;

interface Sequence {
  readonly deletions: readonly PodDeletion[];
  /** Pods that their policy's limit of deletions per pass leaves for the next pass. */
  readonly overLimit: ReadonlySet<PodFacts>;
  /** Pods whose deletion has failed, and is not tried again yet. */
  readonly postponed: ReadonlyMap<PodFacts, Because>;
}

/**
 * One sequence for the whole cluster, rule by rule; within a rule in one order, whatever the policy. Pods whose deletion has failed are last, and
 * count for no limit while they wait: some that cannot be deleted must not stop the deletion of all others.
 */
function sequence(
  judged: readonly Judged[],
  { failedBefore }: Pick<PodGcFacts, 'failedBefore'>,
  { now }: Pick<Given, 'now'>,
): Sequence {
  const due = judged.flatMap(({ hold, selected }) => (hold === undefined ? selected : []));
  const deletions: PodDeletion[] = [];
  const overLimit = new Set<PodFacts>();
  const postponed = new Map<PodFacts, Because>();
  const counts = new Map<Policy, number>();
  const inTurn = ruleOrder.flatMap((reason) => inOrder(due, reason));
  const hasFailed = ({ target }: PodDeletion): boolean => failedBefore.has(target.uid);
  for (const deletion of failedLast(inTurn, hasFailed)) {
    const { policy, target } = deletion;
    const count = counts.get(policy) ?? 0;
    const { times = 0, retryInMs = 0 } = failedBefore.get(target.uid) ?? {};
    if (retryInMs > 0) {
      const eligibleAtMs = now.getTime() + retryInMs;
      postponed.set(target.pod, { reason: 'DeletionFailed', evidence: { times }, eligibleAtMs });
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

function isAtLimit({ pods }: Policy, count: number): boolean {
  const limit = pods?.safety.maxDeletesPerPass;
  return limit !== undefined && limit > 0 && count >= limit;
}

const verdictsOf = ({ group, orphans, selected, hold }: Judged): PolicyVerdicts => ({
  policy: group.policy,
  governed: group.pods.length,
  terminated: group.terminated.length,
  missingNodes: orphans.missingNodes,
  trippedPercent: orphans.trippedPercent,
  selected: selected.length,
  holdLeftMs: hold?.leftMs,
  holdForMs: group.rules.hold.forMs,
});

interface Known extends Given, Pick<Sequence, 'overLimit'> {
  readonly facts: PodGcFacts;
}

/** Why a pod that the rules apply to is not due. */
function keptBecause(
  pod: PodFacts,
  { group, terminated, orphans, hold }: Judged,
  { overLimit, facts, now }: Known,
): Because {
  const { rules, policy, pods } = group;
  if (hold?.pods.has(pod) === true) {
    const { generation } = policy;
    const evidence = { ...rules.hold, due: hold.pods.size, governed: pods.length, generation };
    return { reason: 'Holding', evidence, eligibleAtMs: now.getTime() + hold.leftMs };
  }
  const { maxDeletesPerPass } = rules.safety;
  if (overLimit.has(pod)) return { reason: 'PacingLimit', evidence: { maxDeletesPerPass } };
  if (isFinalizerHeld(pod)) return finalizerHeld(pod);
  const orphan = orphans.keepReason(pod);
  const finished = isTerminated(pod) ? terminated.keepReason(pod) : undefined;
  const first = earliest(orphan, finished);
  if (first !== undefined) return first;
  const isNodeKnown = facts.nodes !== undefined && rules.orphaned !== undefined;
  const existingNode = isNodeKnown ? pod.nodeName : undefined;
  return {
    reason: 'NotTerminated',
    evidence: { phase: pod.phase, isTerminating: isTerminating(pod), existingNode },
  };
}

/** Of two rules that do not delete a pod yet, the one that will delete it first; the former, if neither will by time alone. */
function earliest(a: Because | undefined, b: Because | undefined): Because | undefined {
  if (a === undefined || b === undefined) return a ?? b;
  return (b.eligibleAtMs ?? Infinity) < (a.eligibleAtMs ?? Infinity) ? b : a;
}
