import type { NodeGovernance } from '../../../src/api/policy/node-governance.ts';
import type { NodesPolicy, Policy } from '../../../src/api/policy/policy.ts';
import { nodesRules, policy } from '../../builders.ts';

type Governed = Extract<NodeGovernance, { readonly kind: 'governed' }>;
type Kept = Extract<NodeGovernance, { readonly kind: 'keep' }>;

/** A policy with only these rules governs the node. */
export const governedNode = (rules: Partial<NodesPolicy>, over: Partial<Policy> = {}): Governed => {
  const nodes = nodesRules(rules);
  return { kind: 'governed', policy: { ...policy({ pods: undefined, nodes }), ...over }, nodes };
};

/** Everything on the node is kept for this reason. */
export const keptBy = (reason: Kept['reason']): Kept => ({ kind: 'keep', reason, policy: undefined });
