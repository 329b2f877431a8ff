import type { PodFacts } from '../../kube/cache/objects.ts';
import type { PodGcFacts } from './facts.ts';

/** Synchronised clocks never differ by more; without it a node half a second ahead would count as broken. */
const tolerableSkewMs = 60_000;

/** Whether the finish time of a finished pod is unknown or cannot be true, by its status and its writers; `seenAtMs`: when the controller first saw it finished. */
export const isFinishUnsure = (pod: PodFacts, seenAtMs: number): boolean =>
  pod.finishedByMs === undefined && credibleFinish(pod, seenAtMs) === undefined;

/** When a finished pod finished, Unix milliseconds: as reported; where no report can be true, when the API server recorded that it had finished; else when the controller first saw it finished. */
export function finishedAt(pod: PodFacts, facts: SeenFacts, nowMs: number): number {
  const seenAtMs = firstSeenMs(pod, facts, nowMs);
  return credibleFinish(pod, seenAtMs) ?? seenAtMs;
}

/** The earliest time at which a finished pod may have finished, Unix milliseconds: its creation, where no report can be true. */
export const earliestFinish = (pod: PodFacts, facts: SeenFacts, nowMs: number): number =>
  credibleFinish(pod, firstSeenMs(pod, facts, nowMs)) ?? pod.createdAtMs;

type SeenFacts = Pick<PodGcFacts, 'finishedForMs'>;

/** By then the pod had finished. */
const firstSeenMs = ({ uid, finishedByMs }: PodFacts, { finishedForMs }: SeenFacts, nowMs: number): number =>
  finishedByMs ?? nowMs - (finishedForMs.get(uid) ?? 0);

/** The reported finish, unless it cannot be true: no pod finishes before it was created (by the API server's clock), or after it was seen finished (by ours). */
function credibleFinish({ finishedAtMs, createdAtMs }: PodFacts, seenAtMs: number): number | undefined {
  if (finishedAtMs === undefined) return undefined;
  return finishedAtMs >= createdAtMs && finishedAtMs <= seenAtMs + tolerableSkewMs ? finishedAtMs : undefined;
}
