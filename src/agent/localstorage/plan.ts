import { isFinished } from '../../api/pod-phase.ts';
import { isCritical } from '../../api/critical-pod.ts';
import {
  exceeds,
  exceedsLimit,
  usageOfPod,
  type LimitUsage,
  type StoragePod,
} from '../../api/local-storage.ts';
import { nodeRule, type NodeRule } from '../../api/policy/node-governance.ts';
import {
  isInvalid,
  type LocalStoragePolicy,
  type NodesPolicy,
  type Policy,
} from '../../api/policy/policy.ts';
import type { StorageKeepReason } from '../../api/reasons.ts';
import type { Decision, PodTarget } from '../../gc/decision.ts';
import type { StorageEvidence } from '../../gc/reasons/storage.ts';
import type {
  Given,
  KeptPod,
  LimitWarning,
  LocalStorageFacts,
  LocalStoragePlan,
  PodEviction,
} from './facts.ts';
import { hasLimits, limitsOf } from './limits.ts';
import { byFullness, readLimits } from './readings.ts';

/** Older measurements are ignored: the usage may have changed. The kubelet's are one to two minutes old. */
export const staleAfterMs = 5 * 60_000;

/** Decides which pods exceed a local storage limit, and which are near one; one verdict per pod, in the order of the pods. */
export function planLocalStorage(facts: LocalStorageFacts, given: Given): LocalStoragePlan {
  const { pods = [] } = facts;
  const governed = nodeRule(given.governance, 'localStorageEviction');
  if (governed.kind === 'keep') return keepAll(pods, governed);
  const judged = pods.map((pod) => judge(pod, { ...facts, ...given, ...governed }));
  return {
    evictions: judged.flatMap(({ eviction }) => eviction ?? []),
    kept: judged.flatMap(({ kept }) => kept ?? []),
    warnings: judged.flatMap(({ pod, readings }) => warningsOf(pod, readings, governed)),
    readings: judged.flatMap(({ pod, readings }) => readings.map((reading) => ({ pod, reading }))),
  };
}

type Governed = Extract<NodeRule<LocalStoragePolicy>, { kind: 'governed' }>;
type Known = LocalStorageFacts & Given & Governed;

interface Because {
  readonly reason: StorageKeepReason;
  readonly evidence: StorageEvidence[StorageKeepReason];
}

const because = <R extends StorageKeepReason>(reason: R, evidence: StorageEvidence[R]): Because => ({
  reason,
  evidence,
});

const decided = (
  { namespace, name, uid }: StoragePod,
  policy: Decision['policy'],
): Pick<Decision<PodTarget>, 'unit' | 'target' | 'policy' | 'eligibleAt' | 'bytes'> => ({
  ...{ unit: 'localstorage', policy, eligibleAt: undefined, bytes: undefined },
  target: { kind: 'Pod', namespace, name, uid, node: undefined },
});

const keep = (pod: StoragePod, { reason, evidence }: Because, policy: Decision['policy']): KeptPod => ({
  ...decided(pod, policy),
  ...{ verdict: 'Keep', reason, evidence },
});

/** Keeps every pod of the node, for one reason. */
function keepAll(
  pods: readonly StoragePod[],
  { reason, policy }: Extract<NodeRule<LocalStoragePolicy>, { kind: 'keep' }>,
): LocalStoragePlan {
  const invalid = policy !== undefined && isInvalid(policy) ? policy : undefined;
  const evidence: StorageEvidence[StorageKeepReason] =
    reason === 'InvalidPolicy' ? { invalid } : reason === 'KeepMarked' ? { on: 'node' } : undefined;
  const kept = pods.map((pod) => keep(pod, { reason, evidence }, policy));
  return { evictions: [], warnings: [], readings: [], kept };
}

/** A pod with its verdict: exactly one of `eviction` and `kept` is set. */
interface Judged {
  readonly pod: StoragePod;
  readonly eviction?: PodEviction;
  readonly kept?: KeptPod;
  /** Empty for a pod that gets no warnings. */
  readonly readings: readonly LimitUsage[];
}

function judge(pod: StoragePod, known: Known): Judged {
  const { policy, nodes, rule } = known;
  const kept = (why: Because, readings: readonly LimitUsage[] = []): Judged => ({
    ...{ pod, readings },
    kept: keep(pod, why, policy),
  });
  const hold = holdOf(pod, nodes);
  if (hold !== undefined) return kept(hold);
  const measured = measure(pod, known);
  if ('reason' in measured) return kept(isCritical(pod) ? critical(pod, []) : measured);
  const { readings } = measured;
  if (isCritical(pod)) return kept(critical(pod, readings), readings);
  const excess = readings.find(exceedsLimit);
  if (excess === undefined) return kept(underLimit(measured), readings);
  return { pod, readings, eviction: evict(pod, excess, { policy, rule }) };
}

const evict = (
  pod: StoragePod,
  excess: LimitUsage,
  { policy, rule }: { readonly policy: Policy; readonly rule: LocalStoragePolicy },
): PodEviction => ({
  ...decided(pod, policy),
  ...{ verdict: 'Evict', reason: excess.signal },
  evidence: { excess, respectsBudgets: rule.respectPodDisruptionBudgets },
});

/** Reason to keep a pod whatever it uses. */
function holdOf(
  { isOptedOut, namespace, phase, deletionAtMs }: StoragePod,
  { excludeNamespaces }: NodesPolicy,
): Because | undefined {
  if (isOptedOut) return because('KeepMarked', { on: 'pod' });
  if (excludeNamespaces.includes(namespace)) return because('NamespaceExcluded', { namespace });
  if (isFinished({ phase })) return because('Finished', { phase });
  return deletionAtMs === undefined ? undefined : because('Terminating', { deletionAtMs });
}

interface Measured {
  readonly readings: readonly LimitUsage[];
  /** Some measurements are too old, so that an excess may have been missed. */
  readonly isPartly: boolean;
}

/** Returns the usage of each limit, or the reason why there is none. */
function measure(
  pod: StoragePod,
  { usage, rule, now, staleAfterMs: maxAgeMs = Infinity }: Known,
): Measured | Because {
  const limits = limitsOf(pod.storage, rule);
  if (!hasLimits(limits)) return because('NoLimit', { hasDefaults: hasDefaults(rule) });
  const used = usageOfPod(usage, pod);
  if (usage === undefined || used === undefined)
    return because('UsageUnknown', { isUsageKnown: usage !== undefined });
  const all = readLimits(limits, used, usage);
  // Absolute: after the clock was set back, measurements are in the future.
  const isFresh = ({ measuredAtMs }: LimitUsage): boolean =>
    Math.abs(now.getTime() - measuredAtMs) <= maxAgeMs;
  const readings = all.filter(isFresh);
  if (readings.length === 0) return because('UsageUnknown', { isUsageKnown: true });
  return { readings, isPartly: readings.length < all.length };
}

const hasDefaults = ({ defaultLimits }: LocalStoragePolicy): boolean =>
  Object.values(defaultLimits).some((limit) => limit !== undefined);

const critical = ({ configHash, priority }: StoragePod, readings: readonly LimitUsage[]): Because =>
  because('CriticalPod', { isMirror: configHash !== undefined, priority, fullest: fullestOf(readings) });

const underLimit = ({ readings, isPartly }: Measured): Because =>
  isPartly
    ? because('UsageUnknown', { isUsageKnown: true })
    : because('UnderLimit', { fullest: fullestOf(readings) });

const fullestOf = (readings: readonly LimitUsage[]): LimitUsage | undefined =>
  readings.toSorted(byFullness)[0];

/** One warning for each limit, at the highest level that is exceeded. */
function warningsOf(
  pod: StoragePod,
  readings: readonly LimitUsage[],
  { policy, rule: { warnAtPercent } }: Governed,
): LimitWarning[] {
  return readings.flatMap((excess) => {
    const percent = warnAtPercent.findLast((level) => exceeds(excess.usedBytes, excess.limit.bytes, level));
    if (percent === undefined) return [];
    const evidence = { excess, percent, warnAtPercent };
    return [{ ...decided(pod, policy), verdict: 'Warn' as const, reason: excess.signal, evidence }];
  });
}
