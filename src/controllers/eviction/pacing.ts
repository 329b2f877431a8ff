import { isPressureRequest, type PressureRequest } from '../../api/local-storage.ts';
import { isFinished } from '../../api/pod-phase.ts';
import type { EvictionFacts, EvictionMemory, Given, PodEviction } from './facts.ts';

/**
 * Returns the evictions for node pressure that have to wait, so that each node loses one pod at a time: the next is evicted when the pause of the
 * node is over, no pod of the node is ending, and a measurement after the last eviction still shows the shortage. Evictions for a limit never
 * wait; they free disk space too, so the others of the node wait for them.
 */
export function waitingEvictions(
  evictions: readonly PodEviction[],
  facts: Pick<EvictionFacts, 'pods' | 'memory'>,
  given: Pick<Given, 'now' | 'monotonicMs'>,
): ReadonlySet<PodEviction> {
  const waiting = new Set<PodEviction>();
  if (!evictions.some(({ target }) => isPressureRequest(target.request))) return waiting;
  const busy = nodesWithEndingPods(facts, given.now);
  for (const eviction of evictions) {
    const { node, request } = eviction.target;
    if (
      isPressureRequest(request) &&
      (busy.has(node) || isPaused(request, pauseOf(facts.memory, node), given))
    )
      waiting.add(eviction);
    busy.add(node);
  }
  return waiting;
}

/** Nodes with a pod whose grace period has not ended. A pod without a finish after that is stuck: it frees nothing soon. */
function nodesWithEndingPods(
  { pods, memory }: Pick<EvictionFacts, 'pods' | 'memory'>,
  now: Date,
): Set<string> {
  const nodes = new Set<string>();
  for (const pod of pods.values()) {
    const { uid, nodeName, deletionAtMs } = pod;
    // The cache may not show an eviction yet.
    const isEnding = deletionAtMs === undefined ? memory.evicted.has(uid) : deletionAtMs > now.getTime();
    if (isEnding && nodeName !== undefined && !isFinished(pod)) nodes.add(nodeName);
  }
  return nodes;
}

const pauseOf = ({ pauses, firstPause }: EvictionMemory, node: string): EvictionMemory['firstPause'] =>
  pauses.get(node) ?? firstPause;

const isPaused = (
  { observedAtMs }: PressureRequest,
  { untilMs, measuredAfterMs }: EvictionMemory['firstPause'],
  { monotonicMs }: Pick<Given, 'monotonicMs'>,
): boolean => monotonicMs < untilMs || observedAtMs <= measuredAfterMs;
