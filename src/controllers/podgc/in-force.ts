import { isInvalid, type InvalidPolicy, type Policy } from '../../api/policy/policy.ts';
import { inForceAt, type InForce, type InForceByName } from '../../gc/hold.ts';
import type { PassTime } from './nodes.ts';

/** Rules that are in force, with the same time on the monotonic clock. */
interface InForceHere extends InForce {
  readonly sinceMs: number;
}

/** By UID of the policy. */
export type InForceByPolicy = ReadonlyMap<string, InForceHere>;

interface ObservedAt extends Pick<PassTime, 'monotonicMs'> {
  readonly now: Date;
}

/** Adds the rules of a pass to those of earlier passes, and of an earlier controller: a restart neither ends nor begins a hold. */
export function observeInForce(
  before: InForceByPolicy,
  policies: readonly (Policy | InvalidPolicy)[],
  stored: InForceByName,
  { monotonicMs, now }: ObservedAt,
): InForceByPolicy {
  const inForce = new Map<string, InForceHere>();
  for (const policy of policies) {
    if (isInvalid(policy) || policy.mode === 'DryRun' || policy.pods === undefined) continue;
    const { uid, name, rulesId } = policy;
    const known = before.get(uid);
    if (known?.rulesId === rulesId) inForce.set(uid, known);
    else {
      const found = inForceAt(policy, stored.get(name), now);
      inForce.set(uid, { ...found, sinceMs: monotonicMs - (now.getTime() - found.since.getTime()) });
    }
  }
  return inForce;
}
