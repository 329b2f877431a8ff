import type { LeftoverKeepReason, LeftoverRemoveReason, Reason } from '../../api/reasons.ts';
import type { Leftover } from '../../api/leftovers.ts';
import type { Decision, LeftoverTarget } from '../../gc/decision.ts';
import type { FailedBefore } from '../../gc/failures.ts';
import type { Jump } from '../../runtime/scheduling/jump.ts';

/** Input of a plan. undefined = unknown: nothing is removed because of it. */
export interface LeftoverFacts {
  readonly leftovers: readonly Leftover[] | undefined;
  /** The progress of each in the last pass, by id. */
  readonly before: ReadonlyMap<string, string | undefined>;
  /** Whose removal has failed, by id. */
  readonly failedBefore?: ReadonlyMap<string, FailedBefore>;
  /** The wall clock jumped since the last pass: ages are unknown. */
  readonly clockUnsure?: boolean;
  /** Jumps forward, oldest first: what was made before one looks older than it is. */
  readonly jumps?: readonly Jump[];
}

/** A leftover as the target of a decision. */
export interface JudgedLeftover extends LeftoverTarget {
  readonly leftover: Leftover;
}

export type LeftoverRemoval = Decision<JudgedLeftover, LeftoverRemoveReason> & { readonly verdict: 'Remove' };
export type KeptLeftover = Decision<JudgedLeftover, LeftoverKeepReason> & {
  readonly verdict: 'Keep';
  /** Failed removals in a row. */
  readonly times?: number;
};

export interface LeftoversPlan {
  readonly removals: readonly LeftoverRemoval[];
  readonly kept: readonly KeptLeftover[];
}

/** What another client of containerd keeps; blobs that the kubelet's namespace has too do not count. */
export interface NamespaceBytes {
  readonly name: string;
  readonly bytes: number;
  /** The sizes of writable layers are unknown. */
  readonly isLowerBound: boolean;
}

/** Directories of snapshots compared with snapshots; both are lower bounds. */
export interface DirectoryCounts {
  readonly withoutSnapshot: number;
  readonly missing: number;
}

/** Why the leftovers are not known. */
export interface UnknownLeftovers {
  readonly unknown: string;
}

/** As in the report. */
interface ListedLeftover extends Omit<Leftover, 'progress' | 'obstacle'> {
  /** Why it is kept or removed. */
  readonly reason?: Reason | undefined;
}

export interface LeftoverInventory {
  readonly at: Date;
  readonly leftovers: readonly ListedLeftover[];
  /** Of those that the policy removes and this pass has not removed; also of those that wait for a second pass. */
  readonly removableBytes: number;
  readonly namespaces: readonly NamespaceBytes[];
  /** undefined = not counted in two passes, or not readable. */
  readonly directories: DirectoryCounts | undefined;
}
