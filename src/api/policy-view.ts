import type { Confirmation } from '../runtime/act-gate.ts';
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
