import { createHash } from 'node:crypto';
import { version } from '../../runtime/version.ts';
import { isInvalid, type InvalidPolicy, type Policy } from './policy.ts';

/**
 * Sets the `rulesId` of each valid policy: it changes with the policy (deleted and created again too), with what the policies above it select, and
 * with the version of dustpan. So it changes whenever a pass could select other objects, except by the objects' own labels.
 */
export function withRulesIds(
  ranked: readonly (Policy | InvalidPolicy)[],
): readonly (Policy | InvalidPolicy)[] {
  let above = fingerprint(version);
  return ranked.map((policy) => {
    const before = above;
    above = fingerprint([above, selectionOf(policy)]);
    if (isInvalid(policy)) return policy;
    const rulesId = fingerprint([before, { ...policy, rulesId: '', skipHoldOf: undefined }]);
    return policy.rulesId === rulesId ? policy : { ...policy, rulesId };
  });
}

/** Twelve digits: short enough to copy, and too many for two sets of rules to meet. */
const fingerprint = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value, plain)).digest('hex').slice(0, 12);

/** JSON has neither maps nor sets. */
const plain = (_key: string, value: unknown): unknown =>
  value instanceof Map || value instanceof Set ? [...(value as Iterable<unknown>)] : value;

/** The selectors of a policy, by which it governs objects before the policies below it. */
function selectionOf({ pods, nodes }: Policy | InvalidPolicy): unknown {
  return {
    pods: pods && [pods.namespaceSelector, pods.excludeNamespaces, pods.podSelector],
    nodes: nodes && [nodes.nodeSelector],
  };
}
