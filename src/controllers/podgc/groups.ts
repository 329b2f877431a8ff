import { isKeepMarked, podMatcher } from '../../api/matching.ts';
import type { InvalidPolicy, Policy } from '../../api/policy.ts';
import type { PodKeepReason } from '../../api/reasons.ts';
import type { NodeFacts, PodFacts } from '../../kube/objects.ts';
import { repeated } from '../../runtime/repeated.ts';
import { isTerminated, isTerminating, type Given, type Group, type PodGcFacts } from './facts.ts';

interface Grouped {
  readonly groups: readonly Group[];
  readonly outside: readonly Outside[];
}

/** Pods that no rule may touch, all for one reason. */
interface Outside {
  readonly reason: PodKeepReason;
  /** undefined: no policy governs them, or an invalid one does. */
  readonly policy: Policy | undefined;
  readonly pods: readonly PodFacts[];
}

/** Sorts every pod to the policy that governs it; what no rule may touch is decided here. */
export function groupByPolicy(facts: PodGcFacts, { policies }: Given): Grouped {
  const governorOf = podMatcher(policies, facts.namespaces);
  const shieldOf = shields(facts);
  const speaking = policies.filter((policy) => isPolicy(policy)).filter(({ pods }) => pods !== undefined);
  const groups = new Map(speaking.map((policy) => [policy, emptyGroup(policy)]));
  const groupOf = repeated((governor: Governor) => (isPolicy(governor) ? groups.get(governor) : undefined));
  const outside = new OutsidePods();
  facts.pods.forEach((pod) => {
    const governor = governorOf(pod);
    const mine = groupOf(governor);
    if (mine === undefined) {
      outside.add(pod, ungoverned(governor), undefined);
      return;
    }
    const reason = shieldOf(pod);
    if (reason === undefined) add(pod, mine);
    else outside.add(pod, reason, mine.policy);
  });
  return { groups: [...groups.values()], outside: outside.all };
}

/** Perhaps most of the pods of the cluster; of few reasons, but of any number of policies. */
class OutsidePods {
  readonly all: Outside[] = [];
  readonly #byPolicy = new Map<Policy | undefined, Map<PodKeepReason, PodFacts[]>>();
  readonly #reasonsOf = repeated((policy: Policy | undefined) => {
    const known = this.#byPolicy.get(policy);
    if (known !== undefined) return known;
    const made = new Map<PodKeepReason, PodFacts[]>();
    this.#byPolicy.set(policy, made);
    return made;
  });

  add(pod: PodFacts, reason: PodKeepReason, policy: Policy | undefined): void {
    const reasons = this.#reasonsOf(policy);
    const known = reasons.get(reason);
    if (known !== undefined) {
      known.push(pod);
      return;
    }
    const pods = [pod];
    reasons.set(reason, pods);
    this.all.push({ reason, policy, pods });
  }
}

interface GrowingGroup {
  readonly policy: Policy;
  readonly pods: PodFacts[];
  readonly terminated: PodFacts[];
  readonly terminating: PodFacts[];
}

const emptyGroup = (policy: Policy): GrowingGroup => ({
  policy,
  pods: [],
  terminated: [],
  terminating: [],
});

function add(pod: PodFacts, { pods, terminated, terminating }: GrowingGroup): void {
  pods.push(pod);
  if (isTerminated(pod)) terminated.push(pod);
  if (isTerminating(pod)) terminating.push(pod);
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
  const markedNodes = namesOf(nodes ?? new Map<string, NodeFacts>(), isKeepMarked);
  const ofNamespace = repeated((name: string): PodKeepReason | undefined => {
    const labels = namespaces.get(name);
    if (labels === undefined) return 'NamespaceUnknown';
    return isKeepMarked({ labels }) ? 'KeepMarked' : undefined;
  });
  return (pod) => {
    const { namespace, nodeName = '' } = pod;
    const isMarked = isKeepMarked(pod) || markedNodes.has(nodeName);
    return ofNamespace(namespace) ?? (isMarked ? 'KeepMarked' : undefined);
  };
}

const namesOf = <T>(objects: ReadonlyMap<string, T>, isOne: (object: T) => boolean): ReadonlySet<string> =>
  new Set([...objects].flatMap(([name, object]) => (isOne(object) ? [name] : [])));
