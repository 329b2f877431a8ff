import type { Policy } from '../../api/policy/policy.ts';
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
  type PodGcFacts,
  type PodGcPlan,
  type PolicyVerdicts,
} from './facts.ts';
import { toKeep, type Deletion } from './decide.ts';
import { groupByPolicy, ungovernedBecause } from './groups.ts';
import { missingNodes, judgeOrphans, outOfService, unscheduled, type OrphanVerdicts } from './nodes.ts';
import { byTurn } from './order.ts';
import { judgeTerminated, type TerminatedVerdicts } from './terminated.ts';

/**
 * Decides which pods are deleted, in which order and why; and of all others, why they stay. A pod has one decision, by the first rule that hits.
 * Rules, in order: terminated (threshold, perNamespaceThreshold, ttl), outOfService, orphaned, unscheduledTerminating.
 */
export function planPodGc(facts: PodGcFacts, given: Given): PodGcPlan {
  const { groups, ungoverned } = groupByPolicy(facts, given);
  const missing = missingNodes(groups, facts);
  const judged = groups.map((group) => judge(group, { ...facts, missing }, given));
  const { deletions, over } = sequence(judged);
  const isDue = new Set(deletions.map(({ pod }) => pod));

  function* kept(): Generator<PodDecision> {
    for (const [governor, pods] of ungoverned) {
      const policy = typeof governor === 'object' ? governor : undefined;
      for (const pod of pods) yield toKeep(pod, ungovernedBecause(governor, pod), policy);
    }
    for (const one of judged) {
      const { policy, shielded, pods } = one.group;
      for (const { pod, because } of shielded) yield toKeep(pod, because, policy);
      for (const pod of pods)
        if (!isDue.has(pod)) yield toKeep(pod, keptBecause(pod, one, { over, facts }), policy);
    }
  }
  return { deletions, kept: { [Symbol.iterator]: kept }, policies: judged.map(verdictsOf) };
}

interface Judged {
  readonly group: Group;
  readonly terminated: TerminatedVerdicts;
  readonly orphans: OrphanVerdicts;
  /** In no order; each pod once. */
  readonly due: readonly Deletion[];
}

function judge(group: Group, facts: PodGcFacts & { readonly missing: number }, given: Given): Judged {
  const terminated = judgeTerminated(group, facts, given);
  const orphans = judgeOrphans(group, facts, given);
  const byNode = [...outOfService(group, facts.nodes), ...orphans.due, ...unscheduled(group)];
  return { group, terminated, orphans, due: firstRuleWins(terminated.due, byNode) };
}

/** A pod that waits for its finalizers alone is never deleted again, by whatever rule. */
function firstRuleWins(terminated: readonly Deletion[], byNode: readonly Deletion[]): readonly Deletion[] {
  if (byNode.length === 0) return terminated;
  const taken = new Set(terminated.map(({ pod }) => pod));
  const rest = byNode.filter(({ pod }) => {
    if (taken.has(pod) || isFinalizerHeld(pod)) return false;
    taken.add(pod);
    return true;
  });
  return [...terminated, ...rest];
}

/** In the order in which the rules apply. */
const ruleOrder: readonly PodDeleteReason[] = podDeleteReasons;

interface Sequence {
  readonly deletions: readonly Deletion[];
  /** Pods that a policy's own limit of deletions a pass leaves for the next one. */
  readonly over: ReadonlySet<PodFacts>;
}

/** One sequence for the whole cluster, rule by rule; within a rule in one order, whatever the policy. */
function sequence(judged: readonly Judged[]): Sequence {
  const due = judged.flatMap((one) => one.due);
  const deletions: Deletion[] = [];
  const over = new Set<PodFacts>();
  const counts = new Map<Policy, number>();
  for (const deletion of ruleOrder.flatMap((reason) => inOrder(due, reason))) {
    const { policy } = deletion;
    const count = counts.get(policy) ?? 0;
    if (isAtLimit(policy, count)) over.add(deletion.pod);
    else {
      counts.set(policy, count + 1);
      deletions.push(deletion);
    }
  }
  return { deletions, over };
}

const inOrder = (due: readonly Deletion[], reason: PodDeleteReason): readonly Deletion[] =>
  due.filter((deletion) => deletion.reason === reason).sort((a, b) => byTurn(a.pod, b.pod));

function isAtLimit({ pods }: Policy, count: number): boolean {
  const limit = pods?.safety.maxDeletesPerPass;
  return limit !== undefined && limit > 0 && count >= limit;
}

const verdictsOf = ({ group, orphans }: Judged): PolicyVerdicts => ({
  policy: group.policy,
  governed: group.pods.length,
  terminated: group.terminated.length,
  missingNodes: orphans.missingNodes,
  trippedPercent: orphans.trippedPercent,
});

interface Known {
  readonly over: ReadonlySet<PodFacts>;
  readonly facts: PodGcFacts;
}

/** Why a pod that a rule may touch stays all the same. */
function keptBecause(
  pod: PodFacts,
  { group: { rules }, terminated, orphans }: Judged,
  { over, facts }: Known,
): Because {
  const { maxDeletesPerPass } = rules.safety;
  if (over.has(pod)) return { reason: 'PacingLimit', evidence: { maxDeletesPerPass } };
  if (isFinalizerHeld(pod)) return finalizerHeld(pod);
  const orphan = orphans.keepReason(pod);
  if (orphan !== undefined) return orphan;
  if (isTerminated(pod)) return terminated.keepReason(pod);
  const isNodeKnown = facts.nodes !== undefined && rules.orphaned !== undefined;
  const existingNode = isNodeKnown ? pod.nodeName : undefined;
  return {
    reason: 'NotTerminated',
    evidence: { phase: pod.phase, isTerminating: isTerminating(pod), existingNode },
  };
}
