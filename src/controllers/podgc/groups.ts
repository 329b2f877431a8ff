import { hasKeepLabel, podMatcher, type GoverningPolicy } from '../../api/policy/matching.ts';
import { isInvalid, type Policy } from '../../api/policy/policy.ts';
import type { NodeFacts, PodFacts } from '../../kube/cache/objects.ts';
import { eachInSteps } from '../../runtime/scheduling/slices.ts';
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
export function* groupByPolicy(facts: PodGcFacts, { policies }: Given): Generator<void, Grouped> {
  const governorOf = podMatcher(policies, facts.namespaces);
  const exclusionOf = exclusions(facts);
  const groups = new Map<GoverningPolicy, ReturnType<typeof emptyGroup>>();
  for (const policy of policies)
    if (!isInvalid(policy) && policy.pods !== undefined) groups.set(policy, emptyGroup(policy, policy.pods));
  const ungoverned = new Map<GoverningPolicy, PodFacts[]>();
  // One loop: there may be 100 000 pods, and each loop reads them from memory again.
  yield* eachInSteps(facts.pods, (pod) => {
    const governor = governorOf(pod);
    const group = groups.get(governor);
    if (group !== undefined) {
      add(group, pod, exclusionOf(pod));
      return;
    }
    const pods = ungoverned.get(governor);
    if (pods === undefined) ungoverned.set(governor, [pod]);
    else pods.push(pod);
  });
  return { groups: [...groups.values()], ungoverned };
}

/** Why the pods that no valid policy governs are kept. */
export function ungovernedBecause(policy: GoverningPolicy): KeptBecause {
  if (policy === 'unknown') return { reason: 'NamespaceUnknown' };
  return { reason: policy !== undefined && isInvalid(policy) ? 'InvalidPolicy' : 'NoPolicy' };
}

function emptyGroup(policy: Policy, rules: Group['rules']) {
  return {
    policy,
    rules,
    pods: new Array<PodFacts>(),
    terminated: new Array<PodFacts>(),
    terminating: new Array<PodFacts>(),
    excluded: new Map<PodFacts, KeptBecause>(),
  };
}

function add(group: ReturnType<typeof emptyGroup>, pod: PodFacts, because: KeptBecause | undefined): void {
  if (because !== undefined) {
    group.excluded.set(pod, because);
    return;
  }
  group.pods.push(pod);
  if (isTerminated(pod)) group.terminated.push(pod);
  if (isTerminating(pod)) group.terminating.push(pod);
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
