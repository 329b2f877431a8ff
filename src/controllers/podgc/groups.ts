import { isKeepMarked, podMatcher } from '../../api/policy/matching.ts';
import { isInvalid, type InvalidPolicy, type PodsPolicy, type Policy } from '../../api/policy/policy.ts';
import type { NodeFacts, PodFacts } from '../../kube/cache/objects.ts';
import {
  isTerminated,
  isTerminating,
  type Because,
  type Given,
  type Group,
  type PodGcFacts,
  type Shielded,
} from './facts.ts';

/** What governs a pod: a policy, none, or `unknown` while the labels of the pod's namespace are. */
type Governor = Policy | InvalidPolicy | 'unknown' | undefined;

interface Grouped {
  /** One for each valid policy with rules for pods. */
  readonly groups: readonly Group[];
  /** The pods that no such policy governs. */
  readonly ungoverned: ReadonlyMap<Governor, readonly PodFacts[]>;
}

/** Sorts every pod to the policy that governs it, and finds the pods that no rule may touch. */
export function groupByPolicy(facts: PodGcFacts, { policies }: Given): Grouped {
  const governorOf = podMatcher(policies, facts.namespaces);
  const shieldOf = shields(facts);
  const groups = new Map<Governor, GrowingGroup>(
    policies.flatMap((policy) =>
      isInvalid(policy) || policy.pods === undefined ? [] : [[policy, newGroup(policy, policy.pods)]],
    ),
  );
  const ungoverned = new Map<Governor, PodFacts[]>();
  for (const pod of facts.pods) {
    const governor = governorOf(pod);
    const group = groups.get(governor);
    if (group !== undefined) add(pod, group, shieldOf(pod));
    else listIn(ungoverned, governor).push(pod);
  }
  return { groups: [...groups.values()], ungoverned };
}

/** Why a pod that no valid policy governs stays. */
export function ungovernedBecause(governor: Governor, { namespace }: PodFacts): Because {
  if (governor === 'unknown') return { reason: 'NamespaceUnknown', evidence: { namespace } };
  return governor !== undefined && isInvalid(governor)
    ? { reason: 'InvalidPolicy', evidence: { invalid: governor } }
    : { reason: 'NoPolicy', evidence: undefined };
}

interface GrowingGroup extends Group {
  readonly pods: PodFacts[];
  readonly terminated: PodFacts[];
  readonly terminating: PodFacts[];
  readonly shielded: Shielded[];
}

const newGroup = (policy: Policy, rules: PodsPolicy): GrowingGroup => ({
  ...{ policy, rules, pods: [], terminated: [], terminating: [], shielded: [] },
});

function add(pod: PodFacts, group: GrowingGroup, because: Because | undefined): void {
  if (because !== undefined) {
    group.shielded.push({ pod, because });
    return;
  }
  group.pods.push(pod);
  if (isTerminated(pod)) group.terminated.push(pod);
  if (isTerminating(pod)) group.terminating.push(pod);
}

/** The list of a key, made when it is asked for first. */
export function listIn<K, T>(lists: Map<K, T[]>, key: K): T[] {
  const list = lists.get(key) ?? [];
  if (list.length === 0) lists.set(key, list);
  return list;
}

/** Why no rule may touch a governed pod: the keep label on it, its namespace or its node; or its namespace, and so that label, is not known yet. */
function shields({ namespaces, nodes }: PodGcFacts): (pod: PodFacts) => Because | undefined {
  const marked = (on: string): Because => ({ reason: 'KeepMarked', evidence: { on } });
  const markedNodes = new Set(
    [...(nodes ?? new Map<string, NodeFacts>())].flatMap(([name, node]) => (isKeepMarked(node) ? name : [])),
  );
  const markedNamespaces = new Set(
    [...namespaces].flatMap(([name, labels]) => (isKeepMarked({ labels }) ? name : [])),
  );
  return (pod) => {
    const { namespace, nodeName = '' } = pod;
    if (!namespaces.has(namespace)) return { reason: 'NamespaceUnknown', evidence: { namespace } };
    if (isKeepMarked(pod)) return marked('the pod');
    if (markedNamespaces.has(namespace)) return marked(`namespace ${namespace}`);
    return markedNodes.has(nodeName) ? marked(`node ${nodeName}`) : undefined;
  };
}
