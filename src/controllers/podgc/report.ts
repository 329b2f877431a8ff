import type { PolicyPassReport } from '../../api/report/pass-report.ts';
import type { RankedPolicies } from '../../api/policy/policy-view.ts';
import type { InvalidPolicy, Policy } from '../../api/policy/policy.ts';
import type { Reason } from '../../api/reasons.ts';
import type { Outcome } from '../../gc/decision.ts';
import type { OpenBreakers } from '../../gc/open-breaker.ts';
import { countByPolicy, summarizeByPolicy, type Summary } from '../../gc/summary.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import type { EventSpec } from '../../kube/events/recorder.ts';
import { finalizerHeld, tripped } from './events.ts';
import type { PodDeletion, PodGcPlan } from './facts.ts';

/** The counts of one plan. */
export interface PlanCounts {
  readonly byPolicy: ReadonlyMap<Policy | InvalidPolicy | undefined, Summary>;
  /** Pods that wait for their finalizers. */
  readonly heldPods: readonly PodFacts[];
}

/** Sums up a plan. */
export function countPlan(plan: PodGcPlan): PlanCounts {
  const byPolicy = summarizeByPolicy(plan.deletions, plan.kept);
  const heldPods = countOf(byPolicy.values(), 'FinalizerHeld') === 0 ? [] : heldPodsOf(plan);
  return { byPolicy, heldPods };
}

function heldPodsOf({ kept }: PodGcPlan): readonly PodFacts[] {
  const pods: PodFacts[] = [];
  for (const { reason, target } of kept) if (reason === 'FinalizerHeld') pods.push(target.pod);
  return pods;
}

/** How many decisions have this reason. */
export function countOf(summaries: Iterable<Summary>, reason: Reason): number {
  let count = 0;
  for (const { reasons } of summaries) count += reasons[reason] ?? 0;
  return count;
}

type PodOutcome = Outcome<Pick<PodDeletion, 'policy'>>;

/** The report of a pass for each valid policy with rules for pods, by UID of the policy. */
export function passReports(
  plan: PodGcPlan,
  { byPolicy }: PlanCounts,
  { outcomes, at }: { readonly outcomes: readonly PodOutcome[]; readonly at: Date },
): ReadonlyMap<string, PolicyPassReport> {
  const countWhere = (isOne: (outcome: PodOutcome) => boolean) => {
    const counts = countByPolicy(outcomes.filter(isOne).map(({ decision }) => decision));
    return (policy: Policy): number => counts.get(policy) ?? 0;
  };
  const deleted = countWhere(({ kind }) => kind === 'done');
  const failed = countWhere(({ kind }) => kind === 'failed');
  const clockUnsure = countWhere((one) => one.kind === 'kept' && one.reason === 'ClockUnsure');
  return new Map(
    plan.policies.map(({ policy, governed, terminated, missingNodes, trippedPercent }) => {
      const { planned = 0, waiting = 0, reasons = {} } = byPolicy.get(policy) ?? {};
      const report = {
        ...{ at, governed, terminated, due: planned, waiting, held: reasons.FinalizerHeld ?? 0 },
        ...{ missingNodes, trippedPercent },
        ...{ deleted: deleted(policy), clockUnsure: clockUnsure(policy) },
        failed: failed(policy) + (reasons.DeletionFailed ?? 0),
      };
      return [policy.uid, report];
    }),
  );
}

/** Conditions that have been recorded already, so that it is not recorded again. */
export interface Noticed {
  /** Pods that waited for their finalizers in the last pass; reported if they still do in the next one. */
  readonly heldOnce: ReadonlySet<string>;
  readonly heldReported: ReadonlySet<string>;
  readonly tripped: ReadonlySet<string>;
}

/** What an earlier controller has recorded: the circuit breakers that it left open. */
export const noticedBefore = (policies: RankedPolicies, open: OpenBreakers): Noticed => ({
  heldOnce: new Set(),
  heldReported: new Set(),
  tripped: new Set(policies.filter(({ name }) => open.has(name)).map(({ uid }) => uid)),
});

/** The Events of a pass besides those of its deletions: circuit breakers that opened, pods that wait for their finalizers. Each is recorded once, when it begins. */
export function notices(
  noticed: Noticed,
  plan: PodGcPlan,
  { heldPods }: PlanCounts,
): { readonly events: readonly EventSpec[]; readonly noticed: Noticed } {
  const stuck = heldPods.filter(({ uid }) => noticed.heldOnce.has(uid) && !noticed.heldReported.has(uid));
  const open = plan.policies.flatMap(({ policy, missingNodes, trippedPercent: percent }) =>
    percent === undefined ? [] : [{ policy, missingNodes, percent }],
  );
  const held = new Set(heldPods.map(({ uid }) => uid));
  const reported = [...noticed.heldReported, ...stuck.map(({ uid }) => uid)].filter((uid) => held.has(uid));
  return {
    events: [
      ...open.filter(({ policy }) => !noticed.tripped.has(policy.uid)).map(tripped),
      ...stuck.map(finalizerHeld),
    ],
    noticed: {
      heldOnce: held,
      heldReported: new Set(reported),
      tripped: new Set(open.map(({ policy }) => policy.uid)),
    },
  };
}
