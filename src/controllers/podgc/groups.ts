import { hasKeepLabel, podMatcher, type GoverningPolicy } from '../../api/policy/matching.ts';
import { isInvalid, type Policy } from '../../api/policy/policy.ts';
import type { NodeFacts, PodFacts } from '../../kube/cache/objects.ts';
import {
  isTerminated,
  isTerminating,
  type Given,
  type Group,
  type KeptBecause,
  type PodGcFacts,
} from './facts.ts';

interface Grouped {
  /** One for each valid policy with rules for pods. */
  readonly groups: readonly Group[];
  /** The pods that no such policy governs. */
  readonly ungoverned: ReadonlyMap<GoverningPolicy, readonly PodFacts[]>;
}

/** Assigns every pod to the policy that governs it, and finds the pods that no rule applies to. */
export function groupByPolicy(facts: PodGcFacts, { policies }: Given): Grouped {
  const byPolicy = Map.groupBy(facts.pods, podMatcher(policies, facts.namespaces));
  const exclusionOf = exclusions(facts);
  const groups = policies.flatMap((policy) => {
    if (isInvalid(policy) || policy.pods === undefined) return [];
    const governed = byPolicy.get(policy) ?? [];
    byPolicy.delete(policy);
    return [groupOf(policy, policy.pods, governed, exclusionOf)];
  });
  return { groups, ungoverned: byPolicy };
}

/** Why the pods that no valid policy governs are kept. */
export function ungovernedBecause(policy: GoverningPolicy): KeptBecause {
  if (policy === 'unknown') return { reason: 'NamespaceUnknown' };
  return { reason: policy !== undefined && isInvalid(policy) ? 'InvalidPolicy' : 'NoPolicy' };
}

function groupOf(
  policy: Policy,
  rules: Group['rules'],
  governed: readonly PodFacts[],
  exclusionOf: ReturnType<typeof exclusions>,
): Group {
  const excluded = new Map<PodFacts, KeptBecause>();
  const pods: PodFacts[] = [];
  const terminated: PodFacts[] = [];
  const terminating: PodFacts[] = [];
  // One loop: there may be 100 000 pods, and each loop reads them from memory again.
  for (const pod of governed) {
    const because = exclusionOf(pod);
    if (because === undefined) pods.push(pod);
    else excluded.set(pod, because);
    if (because === undefined && isTerminated(pod)) terminated.push(pod);
    if (because === undefined && isTerminating(pod)) terminating.push(pod);
  }
  return { policy, rules, pods, terminated, terminating, excluded };
}

/** Why no rule applies to a governed pod: the pod, its namespace or its node has the keep label, or its namespace is not known yet. */
function exclusions({ namespaces, nodes }: PodGcFacts): (pod: PodFacts) => KeptBecause | undefined {
  const optedOut = (on: string): KeptBecause => ({ reason: 'KeepMarked', on });
  const keptNodes = new Set(
    [...(nodes ?? new Map<string, NodeFacts>())].flatMap(([name, node]) => (hasKeepLabel(node) ? name : [])),
  );
  const keptNamespaces = new Set(
    [...namespaces].flatMap(([name, labels]) => (hasKeepLabel({ labels }) ? name : [])),
  );
  return (pod) => {
    const { namespace, nodeName = '' } = pod;
    if (!namespaces.has(namespace)) return { reason: 'NamespaceUnknown' };
    if (hasKeepLabel(pod)) return optedOut('the pod');
    if (keptNamespaces.has(namespace)) return optedOut(`namespace ${namespace}`);
    return keptNodes.has(nodeName) ? optedOut(`node ${nodeName}`) : undefined;
  };
}
