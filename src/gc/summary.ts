import type { InvalidPolicy, Policy } from '../api/policy/policy.ts';
import type { Reason } from '../api/reasons.ts';
import { eachInSteps } from '../runtime/scheduling/slices.ts';
import type { Decision } from './decision.ts';

/** Totals of a plan. Warnings are counted separately: a pod with a warning also has a decision. */
export interface Summary {
  readonly planned: number;
  readonly kept: number;
  /** Kept objects that become due by time alone. */
  readonly waiting: number;
  readonly warned: number;
  /** Sum of the known sizes of planned objects. */
  readonly bytes: number;
  /** Decisions per reason, without warnings. */
  readonly reasons: Readonly<Partial<Record<Reason, number>>>;
}

type Summed = Pick<Decision, 'verdict' | 'reason' | 'bytes' | 'eligibleAt'>;

export function summarize(decisions: Iterable<Summed>): Summary {
  const sums = new Sums();
  for (const decision of decisions) sums.add(decision);
  return sums;
}

/** Sums up the decisions of each policy, in steps. Policies are compared by identity, not by content. */
export function* summarizeByPolicy(
  decisions: Iterable<Summed & Pick<Decision, 'policy'>>,
): Generator<void, SumsByPolicy> {
  const byPolicy = new Map<AnyPolicy, Sums>();
  yield* eachInSteps(decisions, (decision) => {
    const sums = byPolicy.get(decision.policy) ?? new Sums();
    sums.add(decision);
    byPolicy.set(decision.policy, sums);
  });
  return byPolicy;
}

export type SumsByPolicy = ReadonlyMap<AnyPolicy, Summary>;

class Sums implements Summary {
  readonly reasons: Partial<Record<Reason, number>> = {};
  planned = 0;
  kept = 0;
  waiting = 0;
  warned = 0;
  bytes = 0;

  add({ verdict, reason, bytes = 0, eligibleAt }: Summed): void {
    if (verdict === 'Warn') {
      this.warned += 1;
      return;
    }
    this.reasons[reason] = (this.reasons[reason] ?? 0) + 1;
    if (verdict === 'Keep') {
      this.kept += 1;
      this.waiting += Number(eligibleAt !== undefined);
    } else {
      this.planned += 1;
      this.bytes += bytes;
    }
  }
}

type AnyPolicy = Policy | InvalidPolicy | undefined;

/** Counts by policy. Policies are compared by identity, not by content. */
export function countByPolicy<P extends AnyPolicy>(
  decisions: Iterable<{ readonly policy: P }>,
): ReadonlyMap<P, number> {
  const counts = new Map<P, number>();
  for (const { policy } of decisions) counts.set(policy, (counts.get(policy) ?? 0) + 1);
  return counts;
}
