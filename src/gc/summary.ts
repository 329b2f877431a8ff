import type { InvalidPolicy, Policy } from '../api/policy.ts';
import type { Reason } from '../api/reasons.ts';
import type { Decision } from './decision.ts';

/** What a plan comes to. Warnings are counted apart: whoever is warned about also has a decision of its own. */
export interface Summary {
  readonly planned: number;
  readonly kept: number;
  /** Of those kept: how many wait for time alone. */
  readonly waiting: number;
  readonly warned: number;
  /** Of what is planned, as far as sizes are known. */
  readonly bytes: number;
  /** How many decisions have each reason, warnings left out. */
  readonly reasons: Readonly<Partial<Record<Reason, number>>>;
}

/** Sums up decisions. */
export function summarize(
  decisions: Iterable<Pick<Decision, 'verdict' | 'reason' | 'bytes' | 'eligibleAt'>>,
): Summary {
  const reasons: Partial<Record<Reason, number>> = {};
  const sums = { planned: 0, kept: 0, waiting: 0, warned: 0, bytes: 0 };
  for (const { verdict, reason, bytes = 0, eligibleAt } of decisions) {
    if (verdict === 'Warn') {
      sums.warned += 1;
      continue;
    }
    reasons[reason] = (reasons[reason] ?? 0) + 1;
    if (verdict === 'Keep') {
      sums.kept += 1;
      sums.waiting += Number(eligibleAt !== undefined);
    } else {
      sums.planned += 1;
      sums.bytes += bytes;
    }
  }
  return { ...sums, reasons };
}

type AnyPolicy = Policy | InvalidPolicy | undefined;

/** Counts by policy: by the very policies of the plan, not by what is equal. */
export function countByPolicy(decisions: Iterable<Pick<Decision, 'policy'>>): ReadonlyMap<AnyPolicy, number> {
  const counts = new Map<AnyPolicy, number>();
  for (const { policy } of decisions) counts.set(policy, (counts.get(policy) ?? 0) + 1);
  return counts;
}
