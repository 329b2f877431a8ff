import { isCritical } from '../../api/critical-pod.ts';
import { usageOfPod, type StoragePod, type StorageUsage } from '../../api/local-storage.ts';
import { isDiskSignal, isInodes, type DiskSignal, type SignalState } from '../../api/node-pressure.ts';
import { isEndingSoon, isFinished } from '../../api/pod-phase.ts';
import { nodeRule, type NodeRule } from '../../api/policy/node-governance.ts';
import {
  isInvalid,
  type NodePressurePolicy,
  type NodesPolicy,
  type Policy,
} from '../../api/policy/policy.ts';
import type { PressureKeepReason } from '../../api/reasons.ts';
import type { Decision } from '../../gc/decision.ts';
import type { Consumer, PressureEvidence, Shortage } from '../../gc/reasons/pressure.ts';
import { canBeMet, crossedDisks, demandsOf, type CrossedDisk } from './demands.ts';
import type {
  Given,
  KeptPod,
  NodePressureFacts,
  NodePressurePlan,
  NodeWarning,
  PressureEviction,
  Reclaimed,
} from './facts.ts';
import { byRank, isSmall, shareOf, type PodShare } from './rank.ts';
import { isForeseen } from './signals.ts';

/** Number of pods requested at a time: a disruption budget may protect the first. */
const requestedPods = 4;
const consumersShown = 3;

/** Decides which thresholds to warn about, what to free for them, and which pods to evict where that was not enough; one verdict for each pod. */
export function planNodePressure(facts: NodePressureFacts, given: Given): NodePressurePlan {
  const governed = nodeRule(given.governance, 'nodePressure');
  if (governed.kind === 'keep') return keepAll(facts, governed);
  const known = { ...facts, ...given, ...governed };
  const crossed = crossedDisks(facts.signals);
  return { warnings: warningsOf(known), demands: demandsOf(facts), ...judgePods(known, crossed) };
}

type Governed = Extract<NodeRule<NodePressurePolicy>, { kind: 'governed' }>;
type Known = NodePressureFacts & Given & Governed;

function keepAll(
  { pods = [] }: NodePressureFacts,
  { reason, policy }: Extract<NodeRule<NodePressurePolicy>, { kind: 'keep' }>,
): NodePressurePlan {
  const invalid = policy !== undefined && isInvalid(policy) ? policy : undefined;
  const evidence: PressureEvidence[PressureKeepReason] =
    reason === 'InvalidPolicy' ? { invalid } : reason === 'KeepMarked' ? { on: 'node' } : undefined;
  const kept = pods.map((pod) => keep(pod, { reason, evidence }, policy));
  return { warnings: [], demands: [], evictions: [], kept };
}

function warningsOf({ node, signals, rule, policy, ...known }: Known): readonly NodeWarning[] {
  return signals
    .filter((state) => isForeseen(state, rule.forecastMs))
    .map(({ reading, ours, kubelets, growthPerMinute }) => ({
      ...{ unit: 'nodepressure', verdict: 'Warn', target: { kind: 'Node', name: node } },
      ...{ reason: reading.signal, policy, eligibleAt: undefined, bytes: undefined },
      evidence: {
        ...{ signal: reading.signal, available: reading.available, capacity: reading.capacity },
        ...{ ours, kubelets, growthPerMinute },
        consumers: consumersOf(reading.signal, known),
      },
    }));
}

/** The largest users of a signal. The sizes of images and logs are bytes, so they are none for inodes and memory. */
function consumersOf(
  signal: SignalState['reading']['signal'],
  { pods = [], usage, consumers }: Pick<Known, 'pods' | 'usage' | 'consumers'>,
): readonly Consumer[] {
  const amountOfPod = (pod: StoragePod): number => {
    const used = usageOfPod(usage, pod);
    if (used === undefined || usage === undefined) return 0;
    return isDiskSignal(signal)
      ? shareOf(pod, used, { signal, layout: usage }).used
      : (used.memoryBytes ?? 0);
  };
  const others = isDiskSignal(signal) && !isInodes(signal) ? consumers.filter(isOn(signal, usage)) : [];
  return [
    ...pods.map((pod) => ({
      ...{ kind: 'pod' as const, name: `${pod.namespace}/${pod.name}`, amount: amountOfPod(pod) },
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

/** The last reclaim since the threshold was crossed. */
function reclaimedFor({ reading, crossedSinceMs }: CrossedDisk, { reclaimed }: Known): Reclaimed | undefined {
  const last = reclaimed.get(reading.signal);
  return last !== undefined && last.atMs >= crossedSinceMs ? last : undefined;
}

interface Because<R extends PressureKeepReason = PressureKeepReason> {
  readonly reason: R;
  readonly evidence: PressureEvidence[R];
  /** Unix milliseconds; set if the pod only waits for time to pass. */
  readonly eligibleAtMs?: number | undefined;
}

const because = <R extends PressureKeepReason>(
  reason: R,
  evidence: PressureEvidence[R],
  eligibleAtMs?: number,
): Because => ({ reason, evidence, eligibleAtMs });

/** Why no signal evicts pods yet; a signal that waits only for time comes first. */
function waitingBecause(known: Known, crossed: readonly CrossedDisk[]): Because {
  const canEnd = crossed.filter(canBeMet);
  const waiting = (canEnd.length > 0 ? canEnd : crossed).map((state) => waitingFor(state, known));
  return (
    waiting.find(({ eligibleAtMs }) => eligibleAtMs !== undefined) ??
    waiting[0] ??
    because('NoPressure', undefined)
  );
}

function waitingFor(crossed: CrossedDisk, known: Known): Because {
  const { evictPods, gracePeriodMs } = known.rule;
  const shortage = shortageOf(crossed);
  if (!evictPods) return because('EvictionOff', { shortage });
  if (!canBeMet(crossed)) return because('ThresholdBeyondDisk', { shortage });
  const result = reclaimedFor(crossed, known)?.result;
  if (result === 'Enough') return because('ReclaimSuffices', { shortage });
  const dueMs = result === 'MoreLeft' ? undefined : crossed.crossedSinceMs + gracePeriodMs;
  return because('Reclaiming', { shortage, gracePeriodMs }, dueMs);
}

/** A pod that is about to end may free enough. */
function endingBecause({ pods = [], now }: Known, starved: CrossedDisk): Because | undefined {
  return pods.some((pod) => isEndingSoon(pod, now))
    ? because('PodEnding', { shortage: shortageOf(starved) })
    : undefined;
}

/** Reason to keep a pod whatever it uses. */
function holdOf(
  { isOptedOut, namespace, phase, deletionAtMs, ...pod }: StoragePod,
  { excludeNamespaces }: NodesPolicy,
): Because | undefined {
  if (isOptedOut) return because('KeepMarked', { on: 'pod' });
  if (excludeNamespaces.includes(namespace)) return because('NamespaceExcluded', { namespace });
  if (isFinished({ phase })) return because('Finished', { phase });
  if (deletionAtMs !== undefined) return because('Terminating', { deletionAtMs });
  const { configHash, priority } = pod;
  return isCritical(pod)
    ? because('CriticalPod', { isMirror: configHash !== undefined, priority })
    : undefined;
}

const shortageOf = ({ reading: { signal, available, capacity }, ours }: CrossedDisk): Shortage => ({
  ...{ signal, available, capacity },
  threshold: { value: ours.value, text: ours.text },
});

/** Keeps pods whose usage is not known, which the kubelet evicts first, and pods whose eviction frees next to nothing. */
function rankPods(
  pods: readonly StoragePod[],
  starved: CrossedDisk,
  { usage, policy }: Known,
): Pick<NodePressurePlan, 'evictions' | 'kept'> {
  const { signal } = starved.reading;
  const shortage = shortageOf(starved);
  const kept: KeptPod[] = [];
  const users: { readonly pod: StoragePod; readonly share: PodShare }[] = [];
  for (const pod of pods) {
    const used = usageOfPod(usage, pod);
    const share = usage && used && shareOf(pod, used, { signal, layout: usage });
    if (share !== undefined && !isSmall(share.used, starved)) users.push({ pod, share });
    else if (share?.isComplete === true)
      kept.push(
        keep(pod, because('NoUsage', { shortage, used: share.used, missing: starved.wanted }), policy),
      );
    else kept.push(keep(pod, because('UsageUnknown', { isUsageKnown: usage !== undefined }), policy));
  }
  const evictions: PressureEviction[] = [];
  for (const [i, { pod, share }] of users.toSorted((a, b) => byRank(a.share, b.share)).entries()) {
    const { used, request, priority } = share;
    const evidence = { shortage, used, request, priority, place: i + 1 };
    if (i < requestedPods)
      evictions.push({ ...decided(pod, policy), verdict: 'Evict', reason: signal, evidence });
    else kept.push(keep(pod, because('RankedLater', evidence), policy));
  }
  return { evictions, kept };
}

const decided = (
  { namespace, name, uid }: StoragePod,
  policy: Decision['policy'],
): Pick<KeptPod, 'unit' | 'target' | 'policy' | 'eligibleAt' | 'bytes'> => ({
  ...{ unit: 'nodepressure', policy, eligibleAt: undefined, bytes: undefined },
  target: { kind: 'Pod', namespace, name, uid, node: undefined },
});

const keep = (
  pod: StoragePod,
  { reason, evidence, eligibleAtMs }: Because,
  policy: Policy | Decision['policy'],
): KeptPod => ({
  ...decided(pod, policy),
  ...{ verdict: 'Keep', reason, evidence },
  eligibleAt: eligibleAtMs === undefined ? undefined : new Date(eligibleAtMs),
});
