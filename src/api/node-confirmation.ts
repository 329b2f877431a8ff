import type { NodeGovernance } from './policy/node-governance.ts';
import type { NodePod } from './report/node-pass.ts';

/** What the API server itself, not a cache, says of a node right before something is removed from it. */
export interface NodeConfirmation {
  readonly governance: NodeGovernance;
  /** All that are bound to the node. */
  readonly pods: readonly NodePod[];
  /** By how much our clock is ahead of the server's; 0 where the server does not say. */
  readonly clockSkewMs: number;
}

/** Rejects when any of it cannot be read. */
export type ConfirmNode = (signal: AbortSignal) => Promise<NodeConfirmation>;

/** The pods that a cache or the API server itself has: what only one of them knows is protected as well. undefined = the cache does not know them. */
export const podsOfBoth = <T>(
  cached: readonly T[] | undefined,
  live: readonly T[],
): readonly T[] | undefined => cached && [...cached, ...live];
