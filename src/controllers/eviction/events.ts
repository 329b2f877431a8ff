import { nodeRef, ownerRef, podRef } from '../../api/event-refs.ts';
import type { LivePod } from '../../kube/actions/live-reads.ts';
import type { NodeFacts } from '../../kube/cache/objects.ts';
import type { EventSpec } from '../../kube/events/recorder.ts';
import { formatDuration } from '../../runtime/text/duration.ts';
import type { PodEviction } from './facts.ts';
import type { OverduePod } from './overdue.ts';
import { allowanceOf, pauseMsOf } from './pace.ts';
import type { SlowedOwner } from './slowed.ts';
import { causeOf, causeText } from './words.ts';
import { shortageText } from '../../agent/nodepressure/words.ts';
import type { PressureUse } from '../../agent/nodepressure/facts.ts';

/** The identity of a pod. */
type EvictedPod = Pick<LivePod, 'namespace' | 'name' | 'uid'>;

/** A pod that was evicted, as it was read right before. */
type OwnedPod = EvictedPod & Pick<LivePod, 'controller' | 'priority'>;

/** One Event about the pod, as the kubelet's, and one about its controlling owner, which outlives the pod. */
export function evicted(
  { target: { request }, policy }: Pick<PodEviction, 'target' | 'policy'>,
  pod: OwnedPod,
): EventSpec[] {
  const cause = causeOf(request, policy);
  // Caches do not have the priority.
  const known = 'shortage' in cause ? { ...cause, priority: pod.priority ?? 0 } : cause;
  const note = causeText(known, policy);
  const event = { type: 'Warning', reason: 'Evicted', action: 'EvictPod' } as const;
  const onPod = { ...event, regarding: podRef(pod), note };
  const regarding = ownerRef(pod.controller, pod.namespace);
  if (regarding === undefined) return [onPod];
  // The next pod of the owner that is evicted has its own measurement.
  return [onPod, { ...event, regarding, note: `Evicted pod ${pod.name}. ${note}`, occasion: pod.uid }];
}

/** A disruption budget, several budgets for one pod, or a missing right block an eviction; recorded once until the eviction succeeds or is not requested any more. */
export function evictionBlocked(
  { target, policy }: Pick<PodEviction, 'target' | 'policy'>,
  message: string,
): EventSpec {
  const cause = causeOf(target.request, policy);
  const blocked =
    'shortage' in cause
      ? `${shortageText(cause.shortage)} The pod is the next to be evicted, but the controller cannot evict it`
      : 'The pod uses more local storage than the policy allows, but the controller cannot evict it';
  return {
    regarding: podRef(target),
    type: 'Warning',
    reason: 'EvictionBlocked',
    action: 'EvictPod',
    note: `${blocked}; the controller tries again. ${message}`,
  };
}

/** A pod was evicted and has not ended in time; recorded once. */
export function exceededGracePeriod({ pod, graceSeconds, elapsedMs }: OverduePod): EventSpec {
  const { namespace, name, nodeName = '', finalizers } = pod;
  const held = finalizers.length === 0 ? '' : ` Its finalizers: ${finalizers.join(', ')}.`;
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

/** The pods of an owner wait for the pace of evictions; recorded when the pace begins to slow them, and again each time that the pause doubles. */
export function evictionsSlowed({ pod, waiting, replicas, pace, owner }: SlowedOwner): EventSpec {
  const more = waiting === 1 ? '1 pod is' : `${waiting} pods are`;
  const most = allowanceOf(replicas);
  const again =
    pace.strikes === 0
      ? ''
      : ` Replacements of evicted pods are due again: dustpan waits ${formatDuration(pauseMsOf(pace))} after the last eviction.`;
  return {
    regarding: ownerRef(pod.controller, pod.namespace) ?? podRef(pod),
    type: 'Warning',
    reason: 'EvictionsSlowed',
    action: 'EvictPod',
    note:
      `${more} due for eviction and ${waiting === 1 ? 'waits' : 'wait'}: dustpan evicts at most ${most} of the pods of this owner a minute (ready: ${replicas.ready}).${again} ` +
      'Raise the limit or write less: dustpan why pod shows the limit of a pod.',
    occasion: `${owner} ${pace.strikes}`,
  };
}

/** Three evictions for the pressure of a node freed nothing; recorded once until more is available. */
export function evictionsInVain(
  node: Pick<NodeFacts, 'name' | 'uid'>,
  shortage: PressureUse['shortage'],
): EventSpec {
  return {
    regarding: nodeRef(node),
    type: 'Warning',
    reason: 'EvictionsStopped',
    action: 'EvictPod',
    note:
      `${shortageText(shortage)} Three evictions freed nothing, so dustpan evicts no more pods for it until more is available. ` +
      'Check what fills the disk: often the replacement of an evicted pod.',
  };
}
