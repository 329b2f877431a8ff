import type { V1Lease, V1ObjectMeta } from '@kubernetes/client-node';
import { microTime, type OnWire } from '../codec/wire.ts';

/** coordination.k8s.io/v1 Lease; what leader election does not read is carried through untouched. */
export type Lease = OnWire<V1Lease> & { readonly metadata: OnWire<V1ObjectMeta> };

/** The lease as last read or written, and when (monotonic) it was last seen to change. */
export interface Observation {
  readonly lease: Lease;
  readonly changedAtMs: number;
}

interface Claim {
  readonly identity: string;
  readonly leaseDurationMs: number;
  readonly now: Date;
}

/** Lists what is wrong with the three durations, one line each; empty when they are usable. */
export function leaseProblems(times: {
  readonly leaseDurationMs: number;
  readonly renewDeadlineMs: number;
  readonly retryPeriodMs: number;
}): string[] {
  const { leaseDurationMs, renewDeadlineMs, retryPeriodMs } = times;
  const problems: string[] = [];
  if (retryPeriodMs <= 0) problems.push(`retry period must be above 0, is ${retryPeriodMs} ms`);
  if (leaseDurationMs < 1000) problems.push(`lease duration must be at least 1 s, is ${leaseDurationMs} ms`);
  if (leaseDurationMs <= renewDeadlineMs)
    problems.push(
      `lease duration (${leaseDurationMs} ms) must be above the renew deadline (${renewDeadlineMs} ms)`,
    );
  if (renewDeadlineMs <= retryPeriodMs * jitterFactor)
    problems.push(
      `renew deadline (${renewDeadlineMs} ms) must be above ${jitterFactor} times the retry period (${retryPeriodMs} ms)`,
    );
  return problems;
}

/** Upstream's: candidates spread their tries over one to 2.2 retry periods, and the deadline must leave room for more than one. */
export const jitterFactor = 1.2;

export const holderOf = (lease: Lease): string => lease.spec?.holderIdentity ?? '';

/** Folds a lease just read into what is known: only a change of its spec starts the local expiry anew. */
export function observe(known: Observation | undefined, lease: Lease, nowMs: number): Observation {
  const changed = known === undefined || JSON.stringify(known.lease.spec) !== JSON.stringify(lease.spec);
  return { lease, changedAtMs: changed ? nowMs : known.changedAtMs };
}

/** True while the holder's term runs on our own clock; a record without a duration counts as ours. */
export function isHeld({ lease, changedAtMs }: Observation, leaseDurationMs: number, nowMs: number): boolean {
  if (holderOf(lease) === '') return false;
  const termMs = (lease.spec?.leaseDurationSeconds ?? leaseDurationMs / 1000) * 1000;
  return nowMs < changedAtMs + termMs;
}

/** The lease with `identity` as its holder: a renewal when it already is, else a take-over. */
export function claimed(lease: Lease, { identity, leaseDurationMs, now }: Claim): Lease {
  const renewTime = microTime(now);
  const spec = { ...lease.spec, leaseDurationSeconds: Math.ceil(leaseDurationMs / 1000), renewTime };
  if (holderOf(lease) === identity) return { ...lease, spec };
  const leaseTransitions = lease.spec === undefined ? 0 : (lease.spec.leaseTransitions ?? 0) + 1;
  return { ...lease, spec: { ...spec, holderIdentity: identity, acquireTime: renewTime, leaseTransitions } };
}

/** The lease given up: free at once, and with a term of a second should a reader look at nothing but the times. */
export function released(lease: Lease, now: Date): Lease {
  const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime(now) };
  return { ...lease, spec };
}

/** A first lease, before anyone claims it. */
export function emptyLease(namespace: string, name: string): Lease {
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name } };
}
