import { evictionMessage } from '../../gc/reasons/storage-words.ts';
import type { LivePod } from '../../kube/actions/live-pod.ts';
import type { OwnerRef } from '../../kube/cache/objects.ts';
import { isCut } from '../../runtime/bounds.ts';
import type { EventSpec, ObjectRef } from '../../kube/events/recorder.ts';
import type { PodEviction } from './facts.ts';
import type { OverduePod } from './overdue.ts';

/** The identity of a pod. */
type EvictedPod = Pick<LivePod, 'namespace' | 'name' | 'uid'>;

/** A pod that was evicted, with its owner. */
export type OwnedPod = EvictedPod & Pick<LivePod, 'controller'>;

/** One Event about the pod, as the kubelet's, and one about its controlling owner, which outlives the pod. */
export function evicted({ evidence }: PodEviction, pod: OwnedPod): EventSpec[] {
  const { excess, evictAtPercent } = evidence;
  const note = evictionMessage(excess, evictAtPercent);
  const event = { type: 'Warning', reason: 'Evicted', action: 'EvictPod' } as const;
  const onPod = { ...event, regarding: podRef(pod), note };
  // An owner with a name that had to be cut cannot exist.
  if (pod.controller === undefined || isCut(pod.controller.name)) return [onPod];
  const regarding = ownerRef(pod.controller, pod.namespace);
  // The next pod of the owner that is evicted has its own measurement.
  return [onPod, { ...event, regarding, note: `Evicted pod ${pod.name}. ${note}`, occasion: pod.uid }];
}

/** A disruption budget, several budgets for one pod, or a missing right block an eviction; recorded once until the eviction succeeds or is not requested any more. */
export const evictionBlocked = (pod: EvictedPod, message: string): EventSpec => ({
  regarding: podRef(pod),
  type: 'Warning',
  reason: 'EvictionBlocked',
  action: 'EvictPod',
  note: `The pod uses more local storage than the policy allows, but cannot be evicted; it is tried again. ${message}`,
});

/** A pod was evicted and has not ended in time; recorded once. */
export function exceededGracePeriod({ pod, graceSeconds, elapsedMs }: OverduePod): EventSpec {
  const { namespace, name, nodeName = '', finalizers } = pod;
  const held = finalizers.length === 0 ? '' : ` Finalizers that hold it: ${finalizers.join(', ')}.`;
  return {
    regarding: podRef(pod),
    type: 'Warning',
    reason: 'ExceededGracePeriod',
    action: 'EvictPod',
    note:
      `Pod ${namespace}/${name} was evicted ${Math.floor(elapsedMs / 1000)} s ago and has not ended; its grace period is ${graceSeconds} s. ` +
      `dustpan does not force the deletion. Check the kubelet on node ${nodeName} and the pod's volumes.${held}`,
  };
}

const podRef = ({ namespace, name, uid }: EvictedPod): ObjectRef => ({
  apiVersion: 'v1',
  kind: 'Pod',
  ...{ namespace, name, uid },
});

/** A Node is cluster-scoped, so its Events are in another namespace. */
const ownerRef = (owner: OwnerRef, namespace: string): ObjectRef => ({
  ...owner,
  namespace: owner.apiVersion === 'v1' && owner.kind === 'Node' ? undefined : namespace,
});
