import { isPressureRequest, type PressureRequest } from '../../api/local-storage.ts';
import { isEndingSoon, isFinished } from '../../api/pod-phase.ts';
import type {
  EvictionDecision,
  EvictionFacts,
  KeptBecause,
  EvictionMemory,
  Given,
  NodeRelief,
  PodEviction,
} from './facts.ts';
import { rememberedMs, vainEvictions } from './memory.ts';

/**
 * Returns the evictions for node pressure that have to wait, so that each node loses one pod at a time: the next is evicted when the pause of the
 * node is over, no pod of the node is ending, and a measurement after the last eviction still shows the shortage. One that waits for the pace of
 * its owner keeps its place: no other pod is evicted instead, unless it is the last ready one, which may wait for ever. Evictions for a limit never wait for the node; they free disk space too, so the
 * others of the node wait for them, and for a new report if a pod of this one has ended. After three evictions that freed nothing all wait.
 */
export function waitingEvictions(
  decisions: readonly EvictionDecision[],
  facts: Pick<EvictionFacts, 'pods' | 'memory'>,
  given: Pick<Given, 'now' | 'monotonicMs'>,
): ReadonlyMap<PodEviction, KeptBecause> {
  const waiting = new Map<PodEviction, KeptBecause>();
  if (!decisions.some(({ verdict, target }) => verdict === 'Evict' && isPressureRequest(target.request)))
    return waiting;
  const busy = new Set([...nodesWithEndingPods(facts, given.now), ...nodesWithEndedPods(decisions)]);
  for (const one of decisions) {
    const { node, request } = one.target;
    const isForPressure = isPressureRequest(request);
    if (one.verdict === 'Keep') {
      if (isForPressure && one.reason === 'PacingLimit' && one.pace !== 'ready') busy.add(node);
      continue;
    }
    if (isForPressure && (busy.has(node) || isPaused(request, pauseOf(facts.memory, node), given)))
      waiting.set(one, { reason: 'PacingLimit', pace: 'node' });
    else if (isForPressure && isInVain(request, facts.memory.relief.get(node)))
      waiting.set(one, { reason: 'NothingFreed' });
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

/** Ten minutes later no measurement is from before the pause; a clock that was ahead then would make every one look so. */
const isPaused = (
  { observedAtMs }: PressureRequest,
  { untilMs, measuredAfterMs }: EvictionMemory['firstPause'],
  { monotonicMs }: Pick<Given, 'monotonicMs'>,
): boolean =>
  monotonicMs < untilMs || (observedAtMs <= measuredAfterMs && monotonicMs - untilMs < rememberedMs);

/** Less than this part of what the evicted pods used counts as nothing: a disk is never still. */
const noticeablePart = 0.1;

/** Whether the last three evictions for the same shortage have freed nothing, by a measurement after the last one. */
function isInVain({ signal, shortage }: PressureRequest, relief: NodeRelief | undefined): boolean {
  const evictions = relief?.evictions.filter((one) => one.signal === signal) ?? [];
  const [first] = evictions;
  if (first === undefined || evictions.length < vainEvictions) return false;
  const used = evictions.reduce((sum, one) => sum + one.used, 0);
  return shortage.available - first.available < used * noticeablePart;
}
