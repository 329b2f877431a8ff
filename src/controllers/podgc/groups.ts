import { isKeepMarked, podMatcher } from '../../api/matching.ts';
import type { InvalidPolicy, Policy } from '../../api/policy.ts';
import type { PodKeepReason } from '../../api/reasons.ts';
import type { NodeFacts, PodFacts } from '../../kube/objects.ts';
import { isTerminated, type Given, type Group, type PodGcFacts, type PodKept } from './facts.ts';

export interface Grouped {
  readonly groups: readonly Group[];
  readonly outside: readonly PodKept[];
}

/** Sorts every pod to the policy that governs it; what no rule may touch is decided here. */
export function groupByPolicy(facts: PodGcFacts, { policies }: Given): Grouped {
  const governorOf = podMatcher(policies, facts.namespaces);
  const shieldOf = shields(facts);
  const speaking = policies.filter((policy) => isPolicy(policy)).filter(({ pods }) => pods !== undefined);
  const groups = new Map(speaking.map((policy) => [policy, emptyGroup(policy)]));
  const outside: PodKept[] = [];
  for (const pod of facts.pods) {
    const governor = governorOf(pod);
    const mine = isPolicy(governor) ? groups.get(governor) : undefined;
    const reason = mine === undefined ? ungoverned(governor) : shieldOf(pod);
    if (mine !== undefined && reason === undefined) add(pod, mine);
    else
      outside.push({
        verdict: 'Keep',
        pod,
        reason: reason ?? 'NoPolicy',
        policy: mine?.policy,
        eligibleAt: undefined,
      });
  }
  return { groups: [...groups.values()], outside };
}

interface GrowingGroup {
  readonly policy: Policy;
  readonly pods: PodFacts[];
  readonly terminated: PodFacts[];
}

const emptyGroup = (policy: Policy): GrowingGroup => ({ policy, pods: [], terminated: [] });

function add(pod: PodFacts, { pods, terminated }: GrowingGroup): void {
  pods.push(pod);
  if (isTerminated(pod)) terminated.push(pod);
}

type Governor = ReturnType<ReturnType<typeof podMatcher>>;

function ungoverned(governor: Governor): PodKeepReason {
  if (governor === undefined) return 'NoPolicy';
  return governor === 'unknown' ? 'NamespaceUnknown' : 'InvalidPolicy';
}

const isPolicy = (governor: Governor): governor is Policy =>
  governor !== undefined && governor !== 'unknown' && !isInvalid(governor);
const isInvalid = (policy: Policy | InvalidPolicy): policy is InvalidPolicy => 'problems' in policy;

/** Why no rule may touch a governed pod: the keep label on it, its namespace or its node; or its namespace, and so that label, is not known yet. */
function shields({ namespaces, nodes }: PodGcFacts): (pod: PodFacts) => PodKeepReason | undefined {
  const markedNamespaces = namesOf(namespaces, (labels) => isKeepMarked({ labels }));
  const markedNodes = namesOf(nodes ?? new Map<string, NodeFacts>(), isKeepMarked);
  return (pod) => {
    const { namespace, nodeName = '' } = pod;
    if (!namespaces.has(namespace)) return 'NamespaceUnknown';
    const isMarked = isKeepMarked(pod) || markedNamespaces.has(namespace) || markedNodes.has(nodeName);
    return isMarked ? 'KeepMarked' : undefined;
  };
}

const namesOf = <T>(objects: ReadonlyMap<string, T>, isOne: (object: T) => boolean): ReadonlySet<string> =>
  new Set([...objects].flatMap(([name, object]) => (isOne(object) ? [name] : [])));
