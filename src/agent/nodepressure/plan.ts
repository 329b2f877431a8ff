import { isCritical } from '../../api/critical-pod.ts';
import { usageOfPod, type StoragePod, type StorageUsage } from '../../api/local-storage.ts';
import { isDiskSignal, isInodes, type DiskSignal } from '../../api/node-pressure.ts';
import { isEndingSoon } from '../../api/pod-phase.ts';
import { nodeRule, type NodeRule } from '../../api/policy/node-governance.ts';
import type { NodePressurePolicy, NodesPolicy } from '../../api/policy/policy.ts';
import type { Decision } from '../../gc/decision.ts';
import { canBeMet, crossedDisks, demandsOf, type CrossedDisk } from './demands.ts';
import type {
  Consumer,
  Given,
  KeptPod,
  NodePressureFacts,
  NodePressurePlan,
  NodeWarning,
  PressureEviction,
  KeptBecause,
  Reclaimed,
  Shortage,
  UngovernedBy,
  SignalState,
} from './facts.ts';
import { byRank, isSmall, shareOf, type PodShare } from './rank.ts';
import { isForeseen } from './signals.ts';
import { refusedBecause } from '../../api/do-not-disrupt.ts';
import { protectedBecause, keptByNode, judgedPod, untimed } from '../localstorage/pods.ts';

/** Number of pods requested at a time: a disruption budget may protect the first. */
const requestedPods = 4;
const consumersShown = 3;

/** Decides which thresholds to warn about, what to free for them, and which pods to evict where that was not enough; one verdict for each pod. */
export function planNodePressure(facts: NodePressureFacts, given: Given): NodePressurePlan {
  const { pods = [], usage } = facts;
  const isUsageKnown = usage !== undefined;
  const governed = nodeRule(given.governance, 'nodePressure');
  if (governed.kind === 'keep') {
    const kept = pods.map((pod) => keep(pod, keptByNode(governed.reason), governed.policy));
    return { rule: undefined, isUsageKnown, warnings: [], demands: [], evictions: [], kept };
  }
  const known = { ...facts, ...given, ...governed };
  return {
    rule: governed.rule,
    isUsageKnown,
    warnings: warningsOf(known),
    demands: demandsOf(facts),
    ...judgePods(known, crossedDisks(facts.signals)),
  };
}

type Governed = Extract<NodeRule<NodePressurePolicy>, { kind: 'governed' }>;
type Known = NodePressureFacts & Given & Governed;

function warningsOf(known: Known): readonly NodeWarning[] {
  const { node, signals, rule, policy } = known;
  return signals
    .filter((state) => isForeseen(state, rule.forecastMs))
    .map((state) => {
      const reason = state.reading.signal;
      const consumers = consumersOf(reason, known);
      const [crossed] = crossedDisks([state]);
      const ungoverned = crossed && ungovernedBy(crossed, known);
      const target = { kind: 'Node' as const, name: node, state, consumers, ungoverned };
      return { ...untimed, unit: 'nodepressure', verdict: 'Warn', target, reason, policy };
    });
}

/** The largest users of a signal. The sizes of images and logs are bytes, so they are none for inodes and memory. */
function consumersOf(
  signal: SignalState['reading']['signal'],
  {
    pods = [],
    usage,
    consumers,
    now,
    maxAges,
  }: Pick<Known, 'pods' | 'usage' | 'consumers' | 'now' | 'maxAges'>,
): readonly Consumer[] {
  const amountOfPod = (pod: StoragePod): number => {
    const used = usageOfPod(usage, pod);
    if (used === undefined || usage === undefined) return 0;
    return isDiskSignal(signal)
      ? shareOf(pod, used, { signal, nodeUsage: usage, now, maxAges }).used
      : (used.memoryBytes ?? 0);
  };
  const others = isDiskSignal(signal) && !isInodes(signal) ? consumers.filter(isOn(signal, usage)) : [];
  return [
    ...pods.map((pod) => ({
      kind: 'pod' as const,
      name: `${pod.namespace}/${pod.name}`,
      amount: amountOfPod(pod),
    })),
    ...others,
  ]
    .filter(({ amount }) => amount > 0)
    .toSorted((a, b) => b.amount - a.amount)
    .slice(0, consumersShown);
}

/** Images use the file system of images, logs that of the kubelet; often both are one. */
const isOn =
  (signal: DiskSignal, usage: StorageUsage | undefined) =>
  ({ kind }: Consumer): boolean =>
    usage?.dedicatedImageFs !== true || (kind === 'image') === signal.startsWith('imagefs.');

/** Judges every pod by the signal that is crossed longest. */
function judgePods(
  known: Known,
  crossed: readonly CrossedDisk[],
): Pick<NodePressurePlan, 'evictions' | 'kept'> {
  const { pods = [], policy, nodes } = known;
  const [starved] = crossed.filter((state) => isDue(state, known));
  const because = starved === undefined ? waitingBecause(known, crossed) : endingBecause(known, starved);
  const held = pods.map((pod) => ({ pod, because: holdOf(pod, nodes) ?? because }));
  const kept = held.flatMap((one) => (one.because === undefined ? [] : [keep(one.pod, one.because, policy)]));
  if (starved === undefined) return { evictions: [], kept };
  const candidates = held.filter((one) => one.because === undefined).map(({ pod }) => pod);
  const ranked = rankPods(candidates, starved, known);
  return { evictions: ranked.evictions, kept: [...kept, ...ranked.kept] };
}

/** Whether pods are evicted for the signal: it was crossed for the grace period, nothing is left to reclaim, and a later measurement shows that this was not enough. */
function isDue(crossed: CrossedDisk, known: Known): boolean {
  const { rule, now } = known;
  const { reading, crossedSinceMs } = crossed;
  const reclaimed = reclaimedFor(crossed, known);
  return (
    rule.evictPods &&
    canBeMet(crossed) &&
    now.getTime() - crossedSinceMs >= rule.gracePeriodMs &&
    reclaimed?.result === 'Exhausted' &&
    reading.measuredAtMs > reclaimed.atMs
  );
}

/** Images come first: they can be pulled again, pods may lose data. */
function ungovernedBy(crossed: CrossedDisk, known: Known): UngovernedBy | undefined {
  if (!known.rule.evictPods || reclaimedFor(crossed, known)?.result !== 'Ungoverned') return undefined;
  return known.nodes.imageGC === undefined ? 'nodes.imageGC' : 'nodes.imageGC.only';
}

/** The last reclaim since the threshold was crossed. */
function reclaimedFor({ reading, crossedSinceMs }: CrossedDisk, { reclaimed }: Known): Reclaimed | undefined {
  const last = reclaimed.get(reading.signal);
  return last !== undefined && last.atMs >= crossedSinceMs ? last : undefined;
}

type Because = KeptBecause & {
  /** Unix milliseconds; set if the pod only waits for time to pass. */
  readonly eligibleAtMs?: number | undefined;
};

/** Why no signal evicts pods yet; a signal that waits only for time comes first. */
function waitingBecause(known: Known, crossed: readonly CrossedDisk[]): Because {
  const canEnd = crossed.filter(canBeMet);
  const waiting = (canEnd.length > 0 ? canEnd : crossed).map((state) => waitingFor(state, known));
  return (
    waiting.find(({ eligibleAtMs }) => eligibleAtMs !== undefined) ?? waiting[0] ?? { reason: 'NoPressure' }
  );
}

function waitingFor(crossed: CrossedDisk, known: Known): Because {
  const { evictPods, gracePeriodMs } = known.rule;
  const shortage = shortageOf(crossed);
  if (!evictPods) return { reason: 'EvictionOff', shortage };
  if (!canBeMet(crossed)) return { reason: 'ThresholdBeyondDisk', shortage };
  const result = reclaimedFor(crossed, known)?.result;
  if (result === 'Enough') return { reason: 'ReclaimSuffices', shortage };
  const field = ungovernedBy(crossed, known);
  if (field !== undefined) return { reason: 'ImagesUngoverned', shortage, field };
  const dueMs = result === 'MoreLeft' ? undefined : crossed.crossedSinceMs + gracePeriodMs;
  return { reason: 'Reclaiming', shortage, eligibleAtMs: dueMs };
}

/** A pod that is about to end may free enough. */
function endingBecause({ pods = [], now }: Known, starved: CrossedDisk): Because | undefined {
  return pods.some((pod) => isEndingSoon(pod, now))
    ? { reason: 'PodEnding', shortage: shortageOf(starved) }
    : undefined;
}

/** Why a pod is kept whatever it uses. */
const holdOf = (pod: StoragePod, nodes: NodesPolicy): Because | undefined =>
  protectedBecause(pod, nodes) ??
  (isCritical(pod) ? { reason: 'CriticalPod' } : undefined) ??
  // The kubelet evicts by its own thresholds, whatever dustpan does before.
  refusedBecause(pod, nodes);

const shortageOf = ({ reading, ours: { value, text }, wanted }: CrossedDisk): Shortage => ({
  ...reading,
  threshold: { value, text },
  wanted,
});

/** Keeps pods whose usage is not known, which the kubelet evicts first, and pods whose eviction frees next to nothing. */
function rankPods(
  pods: readonly StoragePod[],
  starved: CrossedDisk,
  { usage, policy, now, maxAges }: Known,
): Pick<NodePressurePlan, 'evictions' | 'kept'> {
  const { signal } = starved.reading;
  const shortage = shortageOf(starved);
  const kept: KeptPod[] = [];
  const users: { readonly pod: StoragePod; readonly share: PodShare }[] = [];
  for (const pod of pods) {
    const used = usageOfPod(usage, pod);
    const share = usage && used && shareOf(pod, used, { signal, nodeUsage: usage, now, maxAges });
    if (share !== undefined && !isSmall(share.used, starved)) users.push({ pod, share });
    else if (share?.unmeasured.length === 0)
      kept.push(keep(pod, { reason: 'NoUsage', shortage, used: share.used }, policy));
    else kept.push(keep(pod, { reason: 'UsageUnknown', unmeasured: share?.unmeasured ?? [] }, policy));
  }
  const evictions: PressureEviction[] = [];
  for (const [i, { pod, share }] of users.toSorted((a, b) => byRank(a.share, b.share)).entries()) {
    const { used, request, priority, largest } = share;
    const measuredAtMs = Math.min(share.measuredAtMs, shortage.measuredAtMs);
    const use = { shortage, used, request, priority, largest, measuredAtMs };
    const target = { ...judgedPod(pod), ...use };
    if (i < requestedPods)
      evictions.push({ ...untimed, unit: 'nodepressure', verdict: 'Evict', target, reason: signal, policy });
    else kept.push(keep(pod, { reason: 'RankedLater', place: i + 1, ...use }, policy));
  }
  return { evictions, kept };
}

function keep(pod: StoragePod, because: Because, policy: Decision['policy']): KeptPod {
  const { eligibleAtMs, ...why } = because;
  return {
    unit: 'nodepressure',
    verdict: 'Keep',
    target: judgedPod(pod),
    policy,
    eligibleAt: eligibleAtMs === undefined ? undefined : new Date(eligibleAtMs),
    bytes: undefined,
    ...why,
  };
}
