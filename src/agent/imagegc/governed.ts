import { isSamePolicy, type NodeGovernance } from '../../api/node-governance.ts';
import type { ImageGcPolicy, Policy } from '../../api/policy.ts';
import type { NodeKeepReason } from '../../api/reasons.ts';

/** The policy that says what happens to the images of the node. */
export interface Enforced {
  readonly kind: 'governed';
  readonly policy: Policy;
  readonly imageGC: ImageGcPolicy;
}

export type ImageRule = Enforced | { readonly kind: 'keep'; readonly reason: NodeKeepReason };

/** What the policies say of the images of this node. */
export function ruleOf(governance: NodeGovernance): ImageRule {
  if (governance.kind === 'keep') return { kind: 'keep', reason: governance.reason };
  const { policy, nodes } = governance;
  if (nodes.imageGC === undefined) return { kind: 'keep', reason: 'RuleOff' };
  return { kind: 'governed', policy, imageGC: nodes.imageGC };
}

/** Whether what holds now is what the plan was made from. */
export const isSameRule = (rule: Enforced, now: ImageRule): boolean =>
  now.kind === 'governed' && isSamePolicy(now.policy, rule.policy);
