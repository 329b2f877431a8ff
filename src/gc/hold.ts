import { isObject } from '../api/json.ts';
import type { HoldRule, Policy } from '../api/policy/policy.ts';
import { parseRfc3339 } from '../runtime/text/rfc3339.ts';
import { reportedBy, type StoredStatuses } from './reported.ts';

/** The generation of a policy that is in force in mode Enforce. */
export interface InForce {
  readonly generation: number;
  /** Time of the first pass under it. */
  readonly since: Date;
}

/** What a pass would remove under one policy. */
interface LargeRemoval {
  readonly due: number;
  /** Objects that the policy governs there; half of them may always be removed. */
  readonly governed: number;
  /** Time since the first pass under the generation, in milliseconds; undefined = unknown, and then nothing is held. */
  readonly inForceForMs: number | undefined;
}

/** The generations in force that the stored statuses of the policies report, by name. */
export type InForceByName = ReadonlyMap<string, InForce>;

/** Reads them from the stored statuses. */
export const inForceIn = (policies: StoredStatuses): InForceByName =>
  reportedBy(policies, (status) => (isObject(status) ? parseInForce(status['hold']) : undefined));

/** Reads the record of a generation in force; undefined = none, or not readable. */
export function parseInForce(record: unknown): InForce | undefined {
  const { generation, since } = isObject(record) ? record : {};
  const sinceMs = typeof since === 'string' ? parseRfc3339(since) : undefined;
  return typeof generation !== 'number' || sinceMs === undefined
    ? undefined
    : { generation, since: new Date(sinceMs) };
}

type Held = Pick<Policy, 'mode' | 'generation' | 'skipHoldOf'>;

/**
 * Decides for how much longer, in milliseconds, no pass may remove anything; undefined = a pass may. A backlog that grows later under an unchanged
 * policy is not held, because the hold counts from the first pass under the generation (ADR 59).
 */
export function holdLeftMs(
  { mode, generation, skipHoldOf }: Held,
  { above, forMs }: HoldRule,
  { due, governed, inForceForMs = Infinity }: LargeRemoval,
): number | undefined {
  const isOff = mode === 'DryRun' || above === 0 || skipHoldOf === generation;
  const leftMs = forMs - inForceForMs;
  return isOff || due <= Math.max(above, governed / 2) || leftMs <= 0 ? undefined : leftMs;
}

/** Continues the record of an earlier pass or process; another generation is in force from now. A time in the future becomes now. */
export const inForceAt = (generation: number, known: InForce | undefined, now: Date): InForce =>
  known?.generation === generation && known.since <= now ? known : { generation, since: now };
