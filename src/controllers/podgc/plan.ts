import type { Policy } from '../../api/policy.ts';
import { podDeleteReasons, type PodDeleteReason } from '../../api/reasons.ts';
import type { PodFacts } from '../../kube/objects.ts';
import {
  isFinalizerHeld,
  isTerminated,
  keptBecause,
  type Given,
  type Group,
  type PodDeletion,
  type PodGcFacts,
  type PodGcPlan,
  type KeptVerdict,
  type KeptVisitor,
  type PodKept,
  type PolicyVerdicts,
  type RuleHits,
} from './facts.ts';
import { groupByPolicy } from './groups.ts';
import { missingNodes, judgeOrphans, outOfService, unscheduled, type OrphanVerdicts } from './nodes.ts';
import { byTurn } from './order.ts';
import { judgeTerminated, type TerminatedVerdicts } from './terminated.ts';

/**
 * Decides which pods go, in which order and why; and of all others, why they stay. A pod has one decision, by the first rule that hits.
 * Rules, in order: terminated (threshold, perNamespaceThreshold, ttl), outOfService, orphaned, unscheduledTerminating.
 */
export function planPodGc(facts: PodGcFacts, given: Given): PodGcPlan {
  const { groups, outside } = groupByPolicy(facts, given);
  const missing = missingNodes(groups, facts);
  const judged = groups.map((one) => judge(one, { ...facts, missing }, given));
  const byPolicy = new Map(judged.map((one) => [one.group.policy, one]));
  const { deletions, over, due } = sequence(judged);
  return {
    deletions,
    policies: judged.map((one) => verdictsOf(one, due)),
    eachKept,
    kept: () => {
      const all: PodKept[] = [];
      eachKept((pod, { reason, eligibleAtMs }, policy) => {
        const eligibleAt = eligibleAtMs === undefined ? undefined : new Date(eligibleAtMs);
        all.push({ verdict: 'Keep', pod, reason, policy, eligibleAt });
      });
      return all;
    },
    finished: (policy) => byPolicy.get(policy)?.terminated.finished,
  };

  function eachKept(visit: KeptVisitor): void {
    for (const { reason, policy, pods } of outside)
      for (const pod of pods) visit(pod, keptBecause[reason], policy);
    const going = new Set(deletions.map(({ pod }) => pod));
    for (const one of judged) walkKept(one, { going, over, nowMs: given.now.getTime() }, visit);
  }
}

interface Judged {
  readonly group: Group;
  readonly terminated: TerminatedVerdicts;
  readonly orphans: OrphanVerdicts;
  readonly hits: readonly RuleHits[];
}

/** In the order in which the rules apply; a pod goes by the first that hits. */
const ruleOrder: readonly PodDeleteReason[] = podDeleteReasons;

function judge(group: Group, facts: PodGcFacts & { readonly missing: number }, given: Given): Judged {
  const terminated = judgeTerminated(group, facts, given);
  const orphans = judgeOrphans(group, facts, facts.missing);
  const hits = firstHitWins([
    ...terminated.due,
    { reason: 'OutOfService', pods: outOfService(group, facts.nodes) },
    { reason: 'Orphaned', pods: orphans.due },
    { reason: 'Unscheduled', pods: unscheduled(group) },
  ]);
  return { group, terminated, orphans, hits };
}

/** What waits for its finalizers alone is never deleted again, by whatever rule. */
function firstHitWins(hits: readonly RuleHits[]): RuleHits[] {
  const filled = hits.filter(({ pods }) => pods.length > 0);
  if (filled.length <= 1)
    return filled.map(({ reason, pods }) => ({ reason, pods: pods.filter((pod) => !isFinalizerHeld(pod)) }));
  const taken = new Set<PodFacts>();
  return filled.map(({ reason, pods }) => {
    const mine = pods.filter((pod) => !taken.has(pod) && !isFinalizerHeld(pod));
    for (const pod of mine) taken.add(pod);
    return { reason, pods: mine };
  });
}

interface Sequence {
  readonly deletions: readonly PodDeletion[];
  /** Pods that a policy's own limit of deletions a pass leaves for the next one. */
  readonly over: ReadonlySet<PodFacts>;
  /** How many go, by policy. */
  readonly due: ReadonlyMap<Policy, number>;
}

/** One sequence for the whole cluster, rule by rule; within a rule in one order, whatever the policy. */
function sequence(judged: readonly Judged[]): Sequence {
  const deletions: PodDeletion[] = [];
  const over = new Set<PodFacts>();
  const due = new Map<Policy, number>();
  for (const reason of ruleOrder) {
    for (const deletion of inOrder(judged, reason)) {
      const count = due.get(deletion.policy) ?? 0;
      if (isAtLimit(deletion.policy, count)) over.add(deletion.pod);
      else {
        due.set(deletion.policy, count + 1);
        deletions.push(deletion);
      }
    }
  }
  return { deletions, over, due };
}

function isAtLimit(policy: Policy, count: number): boolean {
  const limit = policy.pods?.safety.maxDeletesPerPass;
  return limit !== undefined && limit > 0 && count >= limit;
}

function inOrder(judged: readonly Judged[], reason: PodDeleteReason): readonly PodDeletion[] {
  const lists = judged.flatMap(({ group: { policy }, hits }) =>
    hits
      .filter((hit) => hit.reason === reason)
      .map(({ pods }) => pods.map((pod) => deletionOf(pod, reason, policy))),
  );
  // Each list is in order by itself; only several policies need a merge.
  return lists.length > 1 ? lists.flat().sort((a, b) => byTurn(a.pod, b.pod)) : (lists[0] ?? []);
}

const deletionOf = (pod: PodFacts, reason: PodDeleteReason, policy: Policy): PodDeletion => ({
  verdict: 'Delete',
  pod,
  reason,
  policy,
  markFailed: pod.phase !== 'Succeeded' && pod.phase !== 'Failed',
});

function verdictsOf({ group, orphans }: Judged, due: ReadonlyMap<Policy, number>): PolicyVerdicts {
  return {
    policy: group.policy,
    governed: group.pods.length,
    terminated: group.terminated.length,
    due: due.get(group.policy) ?? 0,
    missingNodes: orphans.missingNodes,
    trippedPercent: orphans.trippedPercent,
  };
}

interface Going {
  readonly going: ReadonlySet<PodFacts>;
  readonly over: ReadonlySet<PodFacts>;
  readonly nowMs: number;
}

function walkKept(
  { group, terminated, orphans }: Judged,
  { going, over, nowMs }: Going,
  visit: KeptVisitor,
): void {
  group.pods.forEach((pod) => {
    if (!going.has(pod)) visit(pod, verdictOf(pod), group.policy);
  });

  function verdictOf(pod: PodFacts): KeptVerdict {
    if (over.size > 0 && over.has(pod)) return keptBecause.PacingLimit;
    if (isFinalizerHeld(pod)) return keptBecause.FinalizerHeld;
    const orphan = orphans.keepReason(pod);
    if (orphan !== undefined) {
      const eligibleAtMs = orphan.waitMs === undefined ? undefined : nowMs + orphan.waitMs;
      return { reason: orphan.reason, eligibleAtMs };
    }
    return isTerminated(pod) ? terminated.keepReason(pod) : keptBecause.NotTerminated;
  }
}
