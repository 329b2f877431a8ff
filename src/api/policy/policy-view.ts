import type { InvalidPolicy, Policy } from './policy.ts';

/** Highest priority first; another array whenever a spec changed, the same one otherwise. */
export type RankedPolicies = readonly (Policy | InvalidPolicy)[];

/** The policies as they are at each look, for whoever acts by them. */
export interface PolicyView {
  readonly synced: boolean;
  readonly ranked: RankedPolicies;
  /** Reads them live and compares. */
  confirm(ranked: RankedPolicies, signal: AbortSignal): Promise<Confirmation>;
}

/** What the API server says of the policies now, and how far our clock is from its own. */
export interface Confirmation {
  /** The policies the plan was made from are those the server has. */
  readonly same: boolean;
  readonly clockSkewMs: number;
}
