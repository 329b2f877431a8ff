import { isCritical } from '../../api/critical-pod.ts';
import { isKeepMarked } from '../../api/matching.ts';
import type { EvictionKeepReason } from '../../api/reasons.ts';
import type { LivePod } from '../../kube/live-pod.ts';
import type { AskedEviction } from './facts.ts';

/** Decides by the pod as it is now whether the eviction still stands; a reason means: keep. */
export function recheckPod({ node, request }: AskedEviction, pod: LivePod): EvictionKeepReason | undefined {
  if (pod.uid !== request.pod.uid || pod.nodeName !== node) return 'PodMoved';
  if (pod.isTerminating) return 'Terminating';
  if (pod.phase === 'Succeeded' || pod.phase === 'Failed') return 'Finished';
  if (isCritical(pod)) return 'CriticalPod';
  return isKeepMarked(pod) ? 'KeepMarked' : undefined;
}
