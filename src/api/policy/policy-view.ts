import type { InvalidPolicy, Policy } from './policy.ts';

/** Highest priority first. The array changes only if a spec changes. */
export type RankedPolicies = readonly (Policy | InvalidPolicy)[];

/** The current policies. */
export interface PolicyView {
  readonly synced: boolean;
  readonly ranked: RankedPolicies;
  /** Reads the policies live and compares them with `ranked`. */
  confirm(ranked: RankedPolicies, signal: AbortSignal): Promise<Confirmation>;
}

/** The live policies compared with those of the plan, and the difference of our clock from the API server's. */
export interface Confirmation {
  /** The plan was made from the policies that the server has. */
  readonly same: boolean;
  readonly clockSkewMs: number;
}
