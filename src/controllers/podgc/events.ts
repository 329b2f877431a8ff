import type { EventSpec, ObjectRef } from '../../kube/recorder.ts';
import type { OwnerRef, PodFacts } from '../../kube/objects.ts';
import type { Policy } from '../../api/policy.ts';
import type { PodDeletion, PolicyVerdicts } from './facts.ts';
import { isCut } from '../../runtime/bounds.ts';
import { ownerOf } from './terminated.ts';

/** How many pod names a note spells out; the rest is a count. */
const namesShown = 5;

/** Pods of one owner that went for one reason. */
interface Collected {
  readonly regarding: ObjectRef;
  readonly first: PodDeletion;
  /** Of all of them. */
  readonly names: string[];
}

/** The recorder takes 200 new Events at once, and other passes may have used up some of them. */
const fewGroups = 100;

/** What a pass deleted, by owner and reason. Filled one by one, as there may be tens of thousands. */
export class CollectedByOwner {
  readonly #replicaSetOwners: ReadonlyMap<string, OwnerRef>;
  readonly #groups = new Map<string, Collected>();

  constructor(replicaSetOwners: ReadonlyMap<string, OwnerRef>) {
    this.#replicaSetOwners = replicaSetOwners;
  }

  add(deletion: PodDeletion): void {
    const { pod, reason } = deletion;
    const regarding = regardingOf(pod, this.#replicaSetOwners);
    // Owners of two namespaces may claim one UID.
    const key = `${regarding.namespace ?? ''}/${regarding.uid} ${reason}`;
    const known = this.#groups.get(key);
    if (known === undefined) this.#groups.set(key, { regarding, first: deletion, names: [pod.name] });
    else known.names.push(pod.name);
  }

  /** So many groups that not all may be told of. */
  get isBacklog(): boolean {
    return this.#groups.size > fewGroups;
  }

  groups(): Iterable<Collected> {
    return this.#groups.values();
  }
}

/** One Event for each owner and reason of a pass, however many pods went: on the owner, which outlives them; on the pod itself when it has none. */
export function podsCollected(collected: Collected): EventSpec {
  return {
    regarding: collected.regarding,
    type: 'Normal',
    reason: 'PodCollected',
    action: 'Collect',
    note: collectedNote(collected),
  };
}

/** A pass that deleted the pods of many owners, whose Events are limited: this one comes first, and says where each pod is named. One series a policy. */
export const backlogCollected = (policy: Policy, pods: number): EventSpec => ({
  regarding: policyRef(policy),
  type: 'Normal',
  reason: 'BacklogCollected',
  action: 'Collect',
  note: `Deleted ${podCount(pods)} in one pass; Events of single owners may be missing, the controller's log has a line for each pod`,
});

function regardingOf(pod: PodFacts, replicaSetOwners: ReadonlyMap<string, OwnerRef>): ObjectRef {
  const owner = ownerOf(pod, replicaSetOwners);
  // What is named so cannot exist.
  if (owner !== undefined && isCut(owner.name)) return podRef(pod);
  // A Node owns its static pods' mirrors; being cluster-scoped, its Events live elsewhere.
  if (owner?.kind === 'Node' && owner.apiVersion === 'v1') return { ...owner, namespace: undefined };
  if (owner !== undefined) return { ...owner, namespace: pod.namespace };
  return podRef(pod);
}

const podRef = (pod: PodFacts): ObjectRef => ({
  apiVersion: 'v1',
  kind: 'Pod',
  namespace: pod.namespace,
  name: pod.name,
  uid: pod.uid,
});

const podCount = (count: number): string => `${count} ${count === 1 ? 'pod' : 'pods'}`;

function collectedNote({ first: { reason, policy }, names }: Collected): string {
  const shown = names.slice(0, namesShown).join(', ');
  const more = names.length > namesShown ? ` and ${names.length - namesShown} more` : '';
  return `Deleted ${podCount(names.length)} (${reason}, policy ${policy.name}): ${shown}${more}`;
}

const policyRef = (policy: Pick<Policy, 'name' | 'uid'>): ObjectRef => ({
  apiVersion: 'gc.dustpan.dev/v1alpha1',
  kind: 'GCPolicy',
  name: policy.name,
  uid: policy.uid,
});

interface Tripped extends Pick<PolicyVerdicts, 'policy' | 'missingNodes'> {
  /** Of the nodes are missing. */
  readonly percent: number;
}

/** The breaker for orphans is open: nothing is deleted by that rule until fewer nodes are missing. */
export function tripped({ policy, missingNodes, percent }: Tripped): EventSpec {
  const limit = String(policy.pods?.safety.maxOrphanedNodesPercent);
  return {
    regarding: policyRef(policy),
    type: 'Warning',
    reason: 'Tripped',
    action: 'KeepOrphans',
    note: `Nodes missing: ${missingNodes}, ${Math.round(percent)} % of all; over ${limit} % (safety.maxOrphanedNodesPercent) no orphan is deleted`,
  };
}

/** A pod that would be due, were it not waiting for its finalizers; said once. */
export const finalizerHeld = (pod: PodFacts): EventSpec => ({
  regarding: podRef(pod),
  type: 'Warning',
  reason: 'FinalizerHeld',
  action: 'Keep',
  note: `The pod was deleted but waits for its finalizers: ${pod.finalizers.join(', ')}`,
});
