import {
  exceeds,
  fullness,
  usageOfPod,
  type StoragePod,
  type StorageUsage,
} from '../../api/local-storage.ts';
import type { StorageKeepReason } from '../../api/reasons.ts';
import { isCritical } from '../../api/critical-pod.ts';
import type {
  Given,
  KeptPod,
  LimitReading,
  LimitWarning,
  LocalStorageFacts,
  LocalStoragePlan,
  PodEviction,
} from './facts.ts';
import { hasLimits, limitsOf } from './limits.ts';
import { firstExcess, readLimits } from './readings.ts';

/** Figures that are older decide nothing: nobody knows what is there now. The kubelet's are one to two minutes old. */
export const staleAfterMs = 5 * 60_000;

/** Decides which pods use more local storage than they may, and which come near it; one verdict a pod, in the order of the pods. */
export function planLocalStorage({ pods = [], usage }: LocalStorageFacts, given: Given): LocalStoragePlan {
  const looks = pods.map((pod) => lookAt(pod, usage, given));
  return {
    evictions: looks.flatMap(({ verdict }) => (verdict.verdict === 'Evict' ? [verdict] : [])),
    kept: looks.flatMap(({ verdict }) => (verdict.verdict === 'Keep' ? [verdict] : [])),
    warnings: looks.flatMap(({ pod, readings }) => warningsOf(pod, readings, given)),
    readings: looks.flatMap(({ pod, readings }) => readings.map((reading) => ({ pod, reading }))),
  };
}

/** Nothing may be touched on this node: every pod stays, for one reason. */
export function keepAllPods(pods: readonly StoragePod[], reason: StorageKeepReason): LocalStoragePlan {
  const kept = pods.map((pod) => keep(pod, reason));
  return { evictions: [], warnings: [], readings: [], kept };
}

interface Look {
  readonly pod: StoragePod;
  readonly verdict: PodEviction | KeptPod;
  /** None of a pod that is not even to be warned about. */
  readonly readings: readonly LimitReading[];
}

function lookAt(pod: StoragePod, usage: StorageUsage | undefined, given: Given): Look {
  const hold = holdOf(pod);
  if (hold !== undefined) return { pod, verdict: keep(pod, hold), readings: [] };
  const measured = measure(pod, usage, given);
  if (typeof measured === 'string')
    return { pod, verdict: keep(pod, isCritical(pod) ? 'CriticalPod' : measured), readings: [] };
  return { pod, verdict: verdictOf(pod, measured, given), readings: measured.readings };
}

/** Why no rule applies to a pod at all. */
function holdOf({ keepMarked, phase, deletionAtMs }: StoragePod): StorageKeepReason | undefined {
  if (keepMarked) return 'KeepMarked';
  if (phase === 'Succeeded' || phase === 'Failed') return 'Finished';
  return deletionAtMs === undefined ? undefined : 'Terminating';
}

interface Measured {
  readonly readings: readonly LimitReading[];
  /** Some figures are too old, so that an excess may have been missed. */
  readonly isPartly: boolean;
}

/** Or why there is nothing to compare. */
function measure(
  pod: StoragePod,
  usage: StorageUsage | undefined,
  { policy, now, staleAfterMs: maxAgeMs = Infinity }: Given,
): Measured | 'NoLimit' | 'UsageUnknown' {
  const limits = limitsOf(pod.storage, policy.defaultLimits);
  if (!hasLimits(limits)) return 'NoLimit';
  const used = usageOfPod(usage, pod);
  if (usage === undefined || used === undefined) return 'UsageUnknown';
  const all = readLimits(limits, used, usage);
  // Either way: once the clock was set back, figures of before seem to be of the future.
  const isFresh = ({ measuredAtMs }: LimitReading): boolean =>
    Math.abs(now.getTime() - measuredAtMs) <= maxAgeMs;
  const readings = all.filter(isFresh);
  return readings.length === 0 ? 'UsageUnknown' : { readings, isPartly: readings.length < all.length };
}

function verdictOf(
  pod: StoragePod,
  { readings, isPartly }: Measured,
  { policy }: Given,
): PodEviction | KeptPod {
  if (isCritical(pod)) return keep(pod, 'CriticalPod', readings);
  const excess = firstExcess(readings, policy.evictAtPercent);
  if (excess === undefined) return keep(pod, isPartly ? 'UsageUnknown' : 'UnderLimit', readings);
  return { verdict: 'Evict', pod, reason: excess.signal, excess };
}

function keep(pod: StoragePod, reason: StorageKeepReason, readings: readonly LimitReading[] = []): KeptPod {
  const [fullest] = readings.toSorted(byFullness);
  return { verdict: 'Keep', pod, reason, fullest };
}

/** The fullest first; Infinity less itself is no number. */
function byFullness(a: LimitReading, b: LimitReading): number {
  const [left, right] = [fullness(a.usedBytes, a.limit.bytes), fullness(b.usedBytes, b.limit.bytes)];
  return left === right ? 0 : right - left;
}

/** One for each limit, at the highest level that is exceeded. */
function warningsOf(
  pod: StoragePod,
  readings: readonly LimitReading[],
  { policy: { warnAtPercent } }: Given,
): LimitWarning[] {
  return readings.flatMap((reading) => {
    const percent = warnAtPercent.findLast((level) => exceeds(reading.usedBytes, reading.limit.bytes, level));
    return percent === undefined ? [] : [{ pod, reading, percent }];
  });
}
