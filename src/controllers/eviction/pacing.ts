import { isPressureRequest, type PressureRequest } from '../../api/local-storage.ts';
import { isEndingSoon, isFinished } from '../../api/pod-phase.ts';
import type { EvictionDecision, EvictionFacts, EvictionMemory, Given, PodEviction } from './facts.ts';

/**
 * Returns the evictions for node pressure that have to wait, so that each node loses one pod at a time: the next is evicted when the pause of the
 * node is over, no pod of the node is ending, and a measurement after the last eviction still shows the shortage. Evictions for a limit never
 * wait; they free disk space too, so the others of the node wait for them, and for a new report if a pod of this one has ended.
 */
export function waitingEvictions(
  decisions: readonly EvictionDecision[],
  facts: Pick<EvictionFacts, 'pods' | 'memory'>,
  given: Pick<Given, 'now' | 'monotonicMs'>,
): ReadonlySet<PodEviction> {
  const waiting = new Set<PodEviction>();
  const evictions = decisions.filter((one) => one.verdict === 'Evict');
  if (!evictions.some(({ target }) => isPressureRequest(target.request))) return waiting;
  const busy = new Set([...nodesWithEndingPods(facts, given.now), ...nodesWithEndedPods(decisions)]);
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

/** Nodes with a pod that is about to end, by the agent's bound: one with a long grace period, or stuck after it, frees nothing soon. */
function nodesWithEndingPods(
  { pods, memory }: Pick<EvictionFacts, 'pods' | 'memory'>,
  now: Date,
): Set<string> {
  const nodes = new Set<string>();
  for (const pod of pods.values()) {
    const { uid, nodeName, deletionAtMs } = pod;
    // The cache may not show an eviction yet.
    const isEvicted = deletionAtMs === undefined && memory.evicted.has(uid) && !isFinished(pod);
    if (nodeName !== undefined && (isEvicted || isEndingSoon(pod, now))) nodes.add(nodeName);
  }
  return nodes;
}

/** Nodes whose report is from before the end of a pod that it requests: what the pod freed is not measured yet. */
const nodesWithEndedPods = (decisions: readonly EvictionDecision[]): readonly string[] =>
  decisions.flatMap(({ reason, target }) =>
    reason === 'PodGone' || reason === 'Finished' ? [target.node] : [],
  );

const pauseOf = ({ pauses, firstPause }: EvictionMemory, node: string): EvictionMemory['firstPause'] =>
  pauses.get(node) ?? firstPause;

const isPaused = (
  { observedAtMs }: PressureRequest,
  { untilMs, measuredAfterMs }: EvictionMemory['firstPause'],
  { monotonicMs }: Pick<Given, 'monotonicMs'>,
): boolean => monotonicMs < untilMs || observedAtMs <= measuredAfterMs;
