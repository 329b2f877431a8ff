import { hasKeepLabel, podMatcher } from '../../api/policy/matching.ts';
import { isInvalid, type InvalidPolicy, type PodsPolicy, type Policy } from '../../api/policy/policy.ts';
import type { NodeFacts, PodFacts } from '../../kube/cache/objects.ts';
import {
  isTerminated,
  isTerminating,
  type Given,
  type Group,
  type Excluded,
  type PodGcFacts,
  type PodKept,
} from './facts.ts';

/** The policy that governs a pod; undefined = none, `unknown` = the labels of the pod's namespace are not known. */
type Governor = Policy | InvalidPolicy | 'unknown' | undefined;

interface Grouped {
  /** One for each valid policy with rules for pods. */
  readonly groups: readonly Group[];
  /** The pods that no such policy governs. */
  readonly ungoverned: ReadonlyMap<Governor, readonly PodFacts[]>;
}

/** Assigns every pod to the policy that governs it, and finds the pods that no rule applies to. */
export function groupByPolicy(facts: PodGcFacts, { policies }: Given): Grouped {
  const governorOf = podMatcher(policies, facts.namespaces);
  const exclusionOf = exclusions(facts);
  const groups = new Map<Governor, GrowingGroup>(
    policies.flatMap((policy) =>
      isInvalid(policy) || policy.pods === undefined ? [] : [[policy, newGroup(policy, policy.pods)]],
    ),
  );
  const ungoverned = new Map<Governor, PodFacts[]>();
  for (const pod of facts.pods) {
    const governor = governorOf(pod);
    const group = groups.get(governor);
    if (group !== undefined) add(pod, group, exclusionOf(pod));
    else listIn(ungoverned, governor).push(pod);
  }
  return { groups: [...groups.values()], ungoverned };
}

/** Why the pods that no valid policy governs are kept. */
export function ungovernedBecause(governor: Governor): PodKept {
  if (governor === 'unknown') return { reason: 'NamespaceUnknown' };
  return { reason: governor !== undefined && isInvalid(governor) ? 'InvalidPolicy' : 'NoPolicy' };
}

interface GrowingGroup extends Group {
  readonly pods: PodFacts[];
  readonly terminated: PodFacts[];
  readonly terminating: PodFacts[];
  readonly excluded: Excluded[];
}

const newGroup = (policy: Policy, rules: PodsPolicy): GrowingGroup => ({
  policy,
  rules,
  pods: [],
  terminated: [],
  terminating: [],
  excluded: [],
});

function add(pod: PodFacts, group: GrowingGroup, because: PodKept | undefined): void {
  if (because !== undefined) {
    group.excluded.push({ pod, because });
    return;
  }
  group.pods.push(pod);
  if (isTerminated(pod)) group.terminated.push(pod);
  if (isTerminating(pod)) group.terminating.push(pod);
}

/** Returns the list of a key, new if there is none. */
export function listIn<K, T>(lists: Map<K, T[]>, key: K): T[] {
  const list = lists.get(key) ?? [];
  if (list.length === 0) lists.set(key, list);
  return list;
}

/** Why no rule applies to a governed pod: the pod, its namespace or its node has the keep label, or its namespace is not known yet. */
function exclusions({ namespaces, nodes }: PodGcFacts): (pod: PodFacts) => PodKept | undefined {
  const optedOut = (on: string): PodKept => ({ reason: 'KeepMarked', on });
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
