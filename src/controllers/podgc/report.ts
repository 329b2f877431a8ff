import type { PolicyPassReport, ReportedHold } from '../../api/report/pass-report.ts';
import { isFinished } from '../../api/pod-phase.ts';
import { neededOwners } from '../../api/policy/matching.ts';
import type { Policy } from '../../api/policy/policy.ts';
import type { Reason } from '../../api/reasons.ts';
import type { Outcome } from '../../gc/decision.ts';
import { countByPolicy, type SumsByPolicy } from '../../gc/summary.ts';
import type { PodDeletion, PodGcFacts, PodGcPlan, PolicyVerdicts } from './facts.ts';
import type { InForceByPolicy } from './observe.ts';

interface PassResults {
  readonly facts: Pick<PodGcFacts, 'jobsFinished' | 'owners'>;
  readonly outcomes: readonly PodOutcome[];
  readonly inForce: InForceByPolicy;
  readonly at: Date;
}

type PodOutcome = Outcome<Pick<PodDeletion, 'policy' | 'target'>>;

/** The report of a pass for each valid policy with rules for pods, by UID of the policy. A pod that the pass removed is counted as deleted, and nowhere else. */
export function passReports(
  plan: PodGcPlan,
  byPolicy: SumsByPolicy,
  { facts, outcomes, inForce, at }: PassResults,
): ReadonlyMap<string, PolicyPassReport> {
  const countWhere = (isOne: (outcome: PodOutcome) => boolean) => {
    const counts = countByPolicy(outcomes.filter(isOne).map(({ decision }) => decision));
    return (policy: Policy): number => counts.get(policy) ?? 0;
  };
  const isRemoved = ({ kind }: PodOutcome): boolean => kind === 'done' || kind === 'gone';
  const deleted = countWhere(({ kind }) => kind === 'done');
  const removed = countWhere(isRemoved);
  const removedFinished = countWhere((one) => isRemoved(one) && isFinished(one.decision.target.pod));
  const failed = countWhere(({ kind }) => kind === 'failed');
  const clockUnsure = countWhere((one) => one.kind === 'kept' && one.reason === 'ClockUnsure');
  const unverified = countWhere((one) => one.kind === 'kept' && isUnverified(one.reason));
  return new Map(
    plan.policies.map((verdicts) => {
      const { policy, governed, terminated, missingNodes, trippedPercent } = verdicts;
      const { planned = 0, waiting = 0, reasons = {} } = byPolicy.get(policy) ?? {};
      const report: PolicyPassReport = {
        at,
        generation: policy.generation,
        governed: governed - removed(policy),
        terminated: terminated - removedFinished(policy),
        due: planned - removed(policy),
        waiting,
        held: reasons.FinalizerHeld ?? 0,
        deleted: deleted(policy),
        failed: failed(policy) + (reasons.DeletionFailed ?? 0),
        clockUnsure: clockUnsure(policy),
        unverified: unverified(policy),
        unknownOwners: unknownOwners(policy, facts),
        missingNodes,
        trippedPercent,
        hold: reportedHold(verdicts, inForce),
      };
      return [policy.uid, report];
    }),
  );
}

/** Whether the live read of a namespace or a node has prevented the deletion. */
const isUnverified = (reason: Reason): boolean => reason === 'NamespaceUnknown' || reason === 'NodeUnknown';

/** Jobs may be known where the owners are not: these need both lists. */
function unknownOwners(policy: Policy, { jobsFinished, owners }: PassResults['facts']): readonly string[] {
  const needed = neededOwners([policy]);
  return [
    ...(needed.jobs && jobsFinished === undefined ? ['jobs'] : []),
    ...(needed.replicaSets && jobsFinished !== undefined && owners === undefined ? ['replicasets'] : []),
  ];
}

function reportedHold(
  { policy: { uid, pods }, selected, holdLeftMs }: PolicyVerdicts,
  inForce: InForceByPolicy,
): ReportedHold | undefined {
  const found = inForce.get(uid);
  if (found === undefined || pods === undefined) return undefined;
  const { rulesId, since } = found;
  const until = new Date(since.getTime() + pods.hold.forMs);
  return { rulesId, since, held: holdLeftMs === undefined ? undefined : { due: selected, until } };
}
