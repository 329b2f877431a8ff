import type { EventSpec, ObjectRef } from '../../kube/recorder.ts';
import type { OwnerRef, PodFacts } from '../../kube/objects.ts';
import type { Policy } from '../../api/policy.ts';
import type { PodDeletion, PolicyVerdicts } from './facts.ts';
import { ownerOf } from './terminated.ts';

/** How many pod names a note spells out; the rest is a count. */
const namesShown = 5;

/** One Event for each owner and reason of a pass, however many pods went: on the owner, which outlives them; on the pod itself when it has none. */
export function podsCollected(
  deleted: readonly PodDeletion[],
  replicaSetOwners: ReadonlyMap<string, OwnerRef>,
): EventSpec[] {
  const groups = new Map<string, { readonly regarding: ObjectRef; readonly deletions: PodDeletion[] }>();
  for (const deletion of deleted) {
    const regarding = regardingOf(deletion.pod, replicaSetOwners);
    const key = `${regarding.uid} ${deletion.reason}`;
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { regarding, deletions: [deletion] });
    else known.deletions.push(deletion);
  }
  return [...groups.values()].map(({ regarding, deletions }) => ({
    regarding,
    type: 'Normal',
    reason: 'PodCollected',
    action: 'Collect',
    note: collectedNote(deletions),
  }));
}

function regardingOf(pod: PodFacts, replicaSetOwners: ReadonlyMap<string, OwnerRef>): ObjectRef {
  const owner = ownerOf(pod, replicaSetOwners);
  // A Node owns its static pods' mirrors; being cluster-scoped, its Events live elsewhere.
  if (owner?.kind === 'Node') return { ...owner, namespace: undefined };
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

function collectedNote(deletions: readonly PodDeletion[]): string {
  const names = deletions.slice(0, namesShown).map(({ pod }) => pod.name);
  const more = deletions.length > namesShown ? ` and ${deletions.length - namesShown} more` : '';
  const [first] = deletions;
  return `Deleted ${deletions.length} ${deletions.length === 1 ? 'pod' : 'pods'} (${first?.reason ?? ''}, policy ${first?.policy.name ?? ''}): ${names.join(', ')}${more}`;
}

const policyRef = (policy: Pick<Policy, 'name' | 'uid'>): ObjectRef => ({
  apiVersion: 'gc.dustpan.dev/v1alpha1',
  kind: 'GCPolicy',
  name: policy.name,
  uid: policy.uid,
});

/** The breaker for orphans is open: nothing is deleted by that rule until fewer nodes are missing. */
export function tripped({ policy, missingNodes, trippedPercent }: PolicyVerdicts): EventSpec {
  const limit = policy.pods?.safety.maxOrphanedNodesPercent ?? 0;
  return {
    regarding: policyRef(policy),
    type: 'Warning',
    reason: 'Tripped',
    action: 'KeepOrphans',
    note: `Nodes missing: ${missingNodes}, ${Math.round(trippedPercent ?? 0)} % of all; over ${limit} % (safety.maxOrphanedNodesPercent) no orphan is deleted`,
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
