import { isKeepMarked, podMatcher } from '../../api/matching.ts';
import type { InvalidPolicy, Policy } from '../../api/policy.ts';
import type { PodKeepReason } from '../../api/reasons.ts';
import type { NodeFacts, PodFacts } from '../../kube/objects.ts';
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
  const sorter = new PodSorter(facts, policies);
  facts.pods.forEach((pod) => {
    sorter.add(pod);
  });
  return { groups: [...sorter.groups.values()], outside: sorter.outside };
}

/** Where pods with the same namespace and labels belong, whatever their node is: under a policy, or outside. */
type Place =
  | { readonly group: GrowingGroup; readonly outside: undefined }
  | { readonly group: undefined; readonly outside: PodFacts[] };

/** What was found out last in a namespace: of the labels that count most of its pods have the same, and only the first is asked all. */
interface Found {
  readonly namespace: string;
  readonly labels: PodFacts['labels'];
  readonly place: Place;
}

class PodSorter {
  readonly groups: ReadonlyMap<Governor, GrowingGroup>;
  /** Few kinds, perhaps with most of the pods of the cluster. */
  readonly outside: { reason: PodKeepReason; policy: Policy | undefined; pods: PodFacts[] }[] = [];
  readonly #governorOf: (pod: PodFacts) => Governor;
  readonly #namespaces: PodGcFacts['namespaces'];
  readonly #markedNodes: ReadonlySet<string>;
  readonly #byNamespace = new Map<string, Found>();
  #last: Found | undefined;

  constructor({ namespaces, nodes }: PodGcFacts, policies: Given['policies']) {
    const speaking = policies.filter((policy) => isPolicy(policy)).filter(({ pods }) => pods !== undefined);
    this.groups = new Map(speaking.map((policy) => [policy, emptyGroup(policy)]));
    this.#governorOf = podMatcher(policies, namespaces);
    this.#namespaces = namespaces;
    this.#markedNodes = namesOf(nodes ?? new Map<string, NodeFacts>(), isKeepMarked);
  }

  add(pod: PodFacts): void {
    const { group, outside } = this.#placeOf(pod);
    if (group === undefined) outside.push(pod);
    else if (this.#isOnMarkedNode(pod)) this.#outside('KeepMarked', group.policy).push(pod);
    else addTo(group, pod);
  }

  #isOnMarkedNode({ nodeName }: PodFacts): boolean {
    return this.#markedNodes.size > 0 && nodeName !== undefined && this.#markedNodes.has(nodeName);
  }

  #placeOf(pod: PodFacts): Place {
    const { namespace, labels } = pod;
    let found = this.#last?.namespace === namespace ? this.#last : this.#byNamespace.get(namespace);
    if (found?.labels !== labels) {
      found = { namespace, labels, place: this.#findPlace(pod) };
      this.#byNamespace.set(namespace, found);
    }
    this.#last = found;
    return found.place;
  }

  #findPlace(pod: PodFacts): Place {
    const governor = this.#governorOf(pod);
    const group = this.groups.get(governor);
    if (group === undefined) return { group, outside: this.#outside(ungoverned(governor), undefined) };
    const reason = this.#shield(pod);
    if (reason === undefined) return { group, outside: undefined };
    return { group: undefined, outside: this.#outside(reason, group.policy) };
  }

  /** Why no rule may touch a governed pod: the keep label on it or its namespace; or its namespace, and so that label, is not known yet. */
  #shield(pod: PodFacts): PodKeepReason | undefined {
    const labels = this.#namespaces.get(pod.namespace);
    if (labels === undefined) return 'NamespaceUnknown';
    return isKeepMarked({ labels }) || isKeepMarked(pod) ? 'KeepMarked' : undefined;
  }

  #outside(reason: PodKeepReason, policy: Policy | undefined): PodFacts[] {
    const known = this.outside.find((kind) => kind.reason === reason && kind.policy === policy);
    if (known !== undefined) return known.pods;
    const pods: PodFacts[] = [];
    this.outside.push({ reason, policy, pods });
    return pods;
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

function addTo({ pods, terminated, terminating }: GrowingGroup, pod: PodFacts): void {
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

const namesOf = <T>(objects: ReadonlyMap<string, T>, isOne: (object: T) => boolean): ReadonlySet<string> =>
  new Set([...objects].flatMap(([name, object]) => (isOne(object) ? [name] : [])));
