import { isFinished } from '../../api/pod-phase.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import type { EvictionMemory } from './facts.ts';

/** An evicted pod that has not ended in time. */
export interface OverduePod {
  readonly pod: PodFacts;
  readonly graceSeconds: number;
  /** Time since the API server accepted the eviction. */
  readonly elapsedMs: number;
}

/** Even a pod without grace needs time to end, and the cache time to show it. */
const leastMs = 10_000;
const graceFactor = 1.5;
/** The API server's default; used only until the cache shows the grace of the pod. */
const defaultGraceSeconds = 30;

/** Returns the evicted pods that have not ended after 1.5 times their grace, at least 10 s. */
export function planOverdue(
  evicted: EvictionMemory['evicted'],
  pods: ReadonlyMap<string, PodFacts>,
  monotonicMs: number,
): readonly OverduePod[] {
  return [...evicted].flatMap(([uid, { atMs, requestedGraceSeconds }]) => {
    const pod = pods.get(uid);
    if (pod === undefined || isFinished(pod)) return [];
    const graceSeconds = pod.deletionGracePeriodSeconds ?? requestedGraceSeconds ?? defaultGraceSeconds;
    const elapsedMs = monotonicMs - atMs;
    const isOverdue = elapsedMs > Math.max(leastMs, graceSeconds * 1000 * graceFactor);
    return isOverdue ? [{ pod, graceSeconds, elapsedMs }] : [];
  });
}
