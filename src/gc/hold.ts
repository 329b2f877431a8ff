import { isObject } from '../api/json.ts';
import type { HoldRule, Policy } from '../api/policy/policy.ts';
import { parseRfc3339 } from '../runtime/text/rfc3339.ts';
import { reportedBy, type StoredStatuses } from './reported.ts';

/** The rules of a policy that are in force in mode Enforce. */
export interface InForce {
  /** `Policy.rulesId`. */
  readonly rulesId: string;
  /** Time of the first pass under them. */
  readonly since: Date;
}

/** Numbers of objects, pods of the cluster or images of a node. */
export interface HoldCounts {
  /** Objects that the policy governs there. */
  readonly governed: number;
  /** Those of them that its rules could ever remove: finished pods and pods without a node or kubelet, unused images. */
  readonly removable: number;
}

/** A large removal of images by new rules that waits. */
export interface HeldImages {
  readonly due: number;
  /** Images that nothing but the disk usage, their age or a limit keeps. */
  readonly unused: number;
  readonly until: Date;
}

/** What a pass would remove under one policy. */
interface LargeRemoval extends HoldCounts {
  readonly due: number;
  /** Time since the first pass under the rules, in milliseconds; undefined = unknown, and then nothing is held. */
  readonly inForceForMs: number | undefined;
}

/** The rules in force that the stored statuses of the policies report, by name. */
export type InForceByName = ReadonlyMap<string, InForce>;

export const inForceIn = (policies: StoredStatuses): InForceByName =>
  reportedBy(policies, (status) => (isObject(status) ? parseInForce(status['hold']) : undefined));

/** Reads the record of the rules in force; undefined = none, or not readable. */
export function parseInForce(record: unknown): InForce | undefined {
  const { rulesId, since } = isObject(record) ? record : {};
  const sinceMs = typeof since === 'string' ? parseRfc3339(since) : undefined;
  return typeof rulesId !== 'string' || sinceMs === undefined
    ? undefined
    : { rulesId, since: new Date(sinceMs) };
}

/** The largest number of objects that new rules may remove without a hold, where the policy sets none. */
export const defaultAbove = 10;
/** The same as a share of the objects that the rules could ever remove. */
const defaultShare = 0.1;

/** The largest number of objects that a pass under new rules may remove. */
export const removableAtOnce = ({ above }: Pick<HoldRule, 'above'>, counts: HoldCounts): number =>
  above === undefined
    ? Math.max(defaultAbove, counts.removable * defaultShare)
    : Math.max(above, counts.governed / 2);

type Held = Pick<Policy, 'mode' | 'rulesId' | 'skipHoldOf'>;

/**
 * Decides for how much longer, in milliseconds, no pass may remove anything; undefined = a pass may. A backlog that grows later under unchanged
 * rules is not held, because the hold counts from the first pass under them (ADR 91).
 */
export function holdLeftMs(
  { mode, rulesId, skipHoldOf }: Held,
  { above, forMs }: HoldRule,
  { due, inForceForMs = Infinity, ...counts }: LargeRemoval,
): number | undefined {
  const isOff = mode === 'DryRun' || above === 0 || skipHoldOf === rulesId;
  const leftMs = forMs - inForceForMs;
  return isOff || due <= removableAtOnce({ above }, counts) || leftMs <= 0 ? undefined : leftMs;
}

/** Time since the first pass under these rules, in milliseconds; a recorded time in the future counts as now. undefined = the record is of other rules. */
export const inForceForMs = (
  { rulesId }: Pick<Policy, 'rulesId'>,
  known: InForce | undefined,
  now: Date,
): number | undefined =>
  known?.rulesId === rulesId ? Math.max(0, now.getTime() - known.since.getTime()) : undefined;

/** Continues the record of an earlier pass or process; other rules are in force from now. */
export const inForceAt = (
  policy: Pick<Policy, 'rulesId'>,
  known: InForce | undefined,
  now: Date,
): InForce => ({
  rulesId: policy.rulesId,
  since: new Date(now.getTime() - (inForceForMs(policy, known, now) ?? 0)),
});
