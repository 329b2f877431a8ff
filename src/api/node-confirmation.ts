import type { NodePod } from './node-pod.ts';
import type { NodeGovernance } from './policy/node-governance.ts';

/** The state of a node right before a removal, read live from the API server, not from a cache. */
export interface NodeConfirmation {
  readonly governance: NodeGovernance;
  /** Those of the node; undefined = it does not exist. */
  readonly labels: Readonly<Record<string, string>> | undefined;
  /** All pods that are bound to the node. */
  readonly pods: readonly NodePod[];
  /** How far our clock is ahead of the server's; 0 if the server sends no date. */
  readonly clockSkewMs: number;
}
