import type { Policy } from '../../api/policy.ts';
import type { PodDeleteReason, PodKeepReason } from '../../api/reasons.ts';
import type { PodFacts } from '../../kube/objects.ts';
import {
  isFinalizerHeld,
  isTerminated,
  type Given,
  type Group,
  type PodDeletion,
  type PodGcFacts,
  type PodGcPlan,
  type PodKept,
  type PolicyVerdicts,
} from './facts.ts';
import { groupByPolicy } from './groups.ts';
import { judgeOrphans, outOfService, unscheduled, type OrphanVerdicts } from './nodes.ts';
import { byTurn } from './order.ts';
import { judgeTerminated, type TerminatedVerdicts } from './terminated.ts';

/**
 * Decides which pods go, in which order and why; and of all others, why they stay. A pod has one decision, by the first rule that hits.
 * Rules, in order: terminated (threshold, perNamespaceThreshold, ttl), outOfService, orphaned, unscheduledTerminating.
 */
export function planPodGc(facts: PodGcFacts, given: Given): PodGcPlan {
  const { groups, outside } = groupByPolicy(facts, given);
  const judged = groups.map((one) => judge(one, facts, given));
  const { deletions, over } = execute(judged);
  const due = new Set(deletions.map(({ pod }) => pod));
  return {
    deletions,
    policies: judged.map((one) => verdictsOf(one, deletions)),
    kept: function* kept() {
      yield* outside;
      for (const one of judged) yield* keptOf(one, { due, over, nowMs: given.now.getTime() });
    },
  };
}

interface Judged {
  readonly group: Group;
  readonly terminated: TerminatedVerdicts;
  readonly orphans: OrphanVerdicts;
  /** One list a rule, in the order of the rules; a pod stands in one of them at most. */
  readonly rules: readonly (readonly Candidate[])[];
}

interface Candidate {
  readonly pod: PodFacts;
  readonly reason: PodDeleteReason;
  readonly policy: Policy;
}

function judge(one: Group, facts: PodGcFacts, given: Given): Judged {
  const terminated = judgeTerminated(one, facts, given);
  const orphans = judgeOrphans(one, facts);
  const claimed = new Set<PodFacts>();
  const claim = (found: TerminatedVerdicts['due']): Candidate[] =>
    found.flatMap(({ pod, reason }) => {
      if (claimed.has(pod) || isFinalizerHeld(pod)) return [];
      claimed.add(pod);
      return [{ pod, reason, policy: one.policy }];
    });
  const because = (reason: PodDeleteReason, pods: readonly PodFacts[]): Candidate[] =>
    claim(pods.map((pod) => ({ pod, reason })));
  const finished = claim(terminated.due);
  const step = (reason: PodDeleteReason): Candidate[] => finished.filter((c) => c.reason === reason);
  const rules = [
    step('Terminated'),
    step('TerminatedInNamespace'),
    step('Expired'),
    because('OutOfService', outOfService(one, facts.nodes)),
    because('Orphaned', orphans.due),
    because('Unscheduled', unscheduled(one)),
  ];
  return { group: one, terminated, orphans, rules };
}

/** One sequence for the whole cluster, rule by rule, each policy's own limit of deletions a pass respected. */
function execute(judged: readonly Judged[]): { deletions: PodDeletion[]; over: ReadonlySet<PodFacts> } {
  const deletions: PodDeletion[] = [];
  const over = new Set<PodFacts>();
  const counts = new Map<Policy, number>();
  for (const { pod, reason, policy } of inOrder(judged)) {
    const count = (counts.get(policy) ?? 0) + 1;
    const limit = policy.pods?.safety.maxDeletesPerPass ?? 0;
    if (limit > 0 && count > limit) {
      over.add(pod);
      continue;
    }
    counts.set(policy, count);
    deletions.push({ verdict: 'Delete', pod, reason, policy, markFailed: needsMark(pod) });
  }
  return { deletions, over };
}

const needsMark = (pod: PodFacts): boolean => pod.phase !== 'Succeeded' && pod.phase !== 'Failed';

function* inOrder(judged: readonly Judged[]): Iterable<Candidate> {
  const [first] = judged;
  for (const rule of (first?.rules ?? []).keys()) {
    const lists = judged.map(({ rules }) => rules[rule] ?? []).filter((list) => list.length > 0);
    // Each list is in order by itself; only several policies need a merge.
    yield* lists.length > 1 ? lists.flat().sort((a, b) => byTurn(a.pod, b.pod)) : lists.flat();
  }
}

function verdictsOf({ group: one, orphans }: Judged, deletions: readonly PodDeletion[]): PolicyVerdicts {
  return {
    policy: one.policy,
    governed: one.pods.length,
    terminated: one.terminated.length,
    due: deletions.reduce((count, { policy }) => count + Number(policy === one.policy), 0),
    missingNodes: orphans.missingNodes,
    trippedPercent: orphans.trippedPercent,
  };
}

interface Done {
  readonly due: ReadonlySet<PodFacts>;
  readonly over: ReadonlySet<PodFacts>;
  readonly nowMs: number;
}

function* keptOf({ group: one, terminated, orphans }: Judged, { due, over, nowMs }: Done): Iterable<PodKept> {
  for (const pod of one.pods) {
    if (due.has(pod)) continue;
    const { reason, eligibleAtMs } = keptBecause(pod);
    const eligibleAt = eligibleAtMs === undefined ? undefined : new Date(eligibleAtMs);
    yield { verdict: 'Keep', pod, reason, policy: one.policy, eligibleAt };
  }

  function keptBecause(pod: PodFacts): { reason: PodKeepReason; eligibleAtMs: number | undefined } {
    if (over.has(pod)) return { reason: 'PacingLimit', eligibleAtMs: undefined };
    if (isFinalizerHeld(pod)) return { reason: 'FinalizerHeld', eligibleAtMs: undefined };
    const orphan = orphans.keepReason(pod);
    if (orphan !== undefined)
      return {
        reason: orphan.reason,
        eligibleAtMs: orphan.waitMs === undefined ? undefined : nowMs + orphan.waitMs,
      };
    if (isTerminated(pod)) return terminated.keepReason(pod);
    return { reason: 'NotTerminated', eligibleAtMs: undefined };
  }
}
