import type { FileSystemFacts } from '../../api/file-system.ts';
import type { StorageUsage } from '../../api/local-storage.ts';
import {
  amountOf,
  diskOf,
  diskSignals,
  isInodes,
  thresholdSignals,
  type Amount,
  type DiskName,
  type DiskSignal,
  type SignalReading,
  type SignalThresholds,
  type ThresholdSignal,
} from '../../api/node-pressure.ts';
import type { NodePressurePolicy } from '../../api/policy/policy.ts';
import { observeTrend, secondsUntil, steadyGrowthPerMinute, type Trend } from '../growth.ts';
import { isFresh, type MaxAges } from '../localstorage/pods.ts';
import type { Limit, SignalState } from './facts.ts';

interface SignalMemory {
  /** The last that was known. */
  readonly device: number | undefined;
  readonly largestCapacity: number;
  /** Of what is available, negative. What is used would not show that a total shrinks: inodes of XFS, bytes of ZFS. */
  readonly trend: Trend;
  /** When the threshold was crossed; undefined = it is not. */
  readonly crossedSinceMs: number | undefined;
  /** The last time it was crossed; undefined = never, or longer ago than the transition period. */
  readonly lastCrossedMs: number | undefined;
}

export type SignalHistory = ReadonlyMap<ThresholdSignal, SignalMemory>;

export interface SignalsGiven {
  readonly rule: NodePressurePolicy;
  readonly kubelet: SignalThresholds;
  readonly now: Date;
  /** Older readings decide nothing. */
  readonly maxAges: MaxAges;
}

interface Observed {
  readonly history: SignalHistory;
  /** Only signals that were measured lately and have a threshold, ours or the kubelet's. */
  readonly states: readonly SignalState[];
  /** Signals that have a threshold of ours, and no current reading. */
  readonly unknown: readonly ThresholdSignal[];
}

export type DiskReading = Pick<FileSystemFacts, 'device' | 'inodes' | 'inodesFree'> & {
  readonly capacityBytes: number;
  readonly availableBytes: number;
};

export type NodeReadings = Pick<StorageUsage, 'signals' | 'uncounted'>;

/** The file systems whose thresholds have no current reading of the kubelet. */
export function unreadDisks(
  { signals, uncounted = [] }: NodeReadings,
  given: SignalsGiven,
): readonly DiskName[] {
  const current = currentOf(signals, given).map(({ signal }) => signal);
  const unread = diskSignals.filter(
    (signal) => given.rule.thresholds.has(signal) && !current.includes(signal) && !uncounted.includes(signal),
  );
  return [...new Set(unread.map(diskOf))];
}

/** Keeps the current readings, and adds those of disks that were read in place of the kubelet's, which has measured them long ago. */
export function completed(
  { signals, uncounted = [] }: NodeReadings,
  disks: ReadonlyMap<DiskName, DiskReading>,
  given: Pick<SignalsGiven, 'now' | 'maxAges'>,
): Required<NodeReadings> {
  const current = currentOf(signals, given);
  const isMissing = (signal: DiskSignal): boolean =>
    !uncounted.includes(signal) && !current.some((one) => one.signal === signal);
  const found = diskSignals.filter(isMissing).flatMap((signal) => {
    const disk = disks.get(diskOf(signal));
    return disk === undefined ? [] : [{ signal, ...amountsOf(signal, disk), device: disk.device }];
  });
  const measuredAtMs = given.now.getTime();
  return {
    signals: [
      ...current,
      ...found.flatMap(({ signal, available, capacity, device }): SignalReading[] =>
        available === undefined || capacity === undefined
          ? []
          : [{ signal, available, capacity, device, measuredAtMs }],
      ),
    ],
    uncounted: [
      ...uncounted,
      ...found.flatMap(({ signal, capacity }) => (capacity === undefined ? [signal] : [])),
    ],
  };
}

const currentOf = (
  readings: readonly SignalReading[],
  { now, maxAges }: Pick<SignalsGiven, 'now' | 'maxAges'>,
): readonly SignalReading[] =>
  readings.filter(({ measuredAtMs }) => isFresh(measuredAtMs, now, maxAges.signalMs));

const amountsOf = (
  signal: DiskSignal,
  { capacityBytes, availableBytes, inodes, inodesFree }: DiskReading,
): { readonly available: number | undefined; readonly capacity: number | undefined } =>
  isInodes(signal)
    ? { available: inodesFree, capacity: inodes }
    : { available: availableBytes, capacity: capacityBytes };

/** Compares the readings of one pass with the thresholds, as the kubelet does (pkg/kubelet/eviction/helpers.go, thresholdsMet), and computes when they will be crossed. */
export function observeSignals(
  before: SignalHistory,
  { signals, uncounted = [] }: NodeReadings,
  given: SignalsGiven,
): Observed {
  const readings = currentOf(signals, given);
  const history = new Map<ThresholdSignal, SignalMemory>();
  const states: SignalState[] = [];
  const unknown: ThresholdSignal[] = [];
  for (const signal of thresholdSignals) {
    const found = readings.find((one) => one.signal === signal);
    if (found === undefined) {
      if (given.rule.thresholds.has(signal) && !uncounted.includes(signal)) unknown.push(signal);
      continue;
    }
    const reading = { ...found, signal };
    const memory = rememberedOf(before.get(signal), reading, given);
    history.set(signal, memory);
    const state = stateOf(reading, memory, given);
    if (state.ours !== undefined || state.kubelets !== undefined) states.push(state);
  }
  return { history, states, unknown };
}

type Measured = SignalState['reading'];

function rememberedOf(
  known: SignalMemory | undefined,
  reading: Measured,
  { rule, now }: SignalsGiven,
): SignalMemory {
  const { available } = reading;
  const before = known !== undefined && isOneDevice(known.device, reading.device) ? known : undefined;
  const disk = diskMemoryOf(before, reading);
  const { threshold, relief } = limitsOf(reading, rule);
  const since = before?.crossedSinceMs;
  if (available >= (since === undefined ? threshold : relief))
    return { ...disk, crossedSinceMs: undefined, lastCrossedMs: before?.lastCrossedMs };
  const nowMs = now.getTime();
  return { ...disk, crossedSinceMs: since ?? nowMs, lastCrossedMs: nowMs };
}

const diskMemoryOf = (
  before: SignalMemory | undefined,
  { device, available, capacity, measuredAtMs }: Measured,
): Pick<SignalMemory, 'device' | 'largestCapacity' | 'trend'> => ({
  device: device ?? before?.device,
  largestCapacity: Math.max(capacity, before?.largestCapacity ?? 0),
  trend: observeTrend(before?.trend, { atMs: measuredAtMs, bytes: -available }),
});

/** A volume that is mounted over a file system has another device. The size proves nothing: the inodes of XFS and the bytes of ZFS change with what is free. */
const isOneDevice = (a: number | undefined, b: number | undefined): boolean =>
  a === undefined || b === undefined || a === b;

/** Bytes or inodes that must be available: the threshold, plus the minimum reclaim once it is crossed; 0 = no threshold. */
function limitsOf(
  { signal, capacity }: Measured,
  { thresholds, minimumReclaim }: NodePressurePolicy,
): { readonly threshold: number; readonly relief: number } {
  const amount = thresholds.get(signal);
  if (amount === undefined) return { threshold: 0, relief: 0 };
  const threshold = amountOf(amount, capacity);
  const reclaim = minimumReclaim.get(signal);
  return { threshold, relief: threshold + (reclaim === undefined ? 0 : amountOf(reclaim, capacity)) };
}

function stateOf(
  reading: Measured,
  { largestCapacity, trend, crossedSinceMs, lastCrossedMs }: SignalMemory,
  { rule, kubelet, now }: SignalsGiven,
): SignalState {
  const { signal, available } = reading;
  const growthPerMinute = steadyGrowthPerMinute(trend);
  const limit = (amount: Amount | undefined): Limit | undefined =>
    amount && limitOf(reading, amount, growthPerMinute);
  const isCrossed = crossedSinceMs !== undefined;
  return {
    reading,
    growthPerMinute,
    largestCapacity,
    crossedSinceMs,
    ours: limit(rule.thresholds.get(signal)),
    kubelets: limit(kubelet.get(signal)),
    isUnderPressure:
      isCrossed || (lastCrossedMs !== undefined && now.getTime() - lastCrossedMs < rule.transitionPeriodMs),
    wanted: isCrossed ? limitsOf(reading, rule).relief - available : 0,
  };
}

function limitOf({ available, capacity }: Measured, amount: Amount, growth: number | undefined): Limit {
  const value = amountOf(amount, capacity);
  const left = available - value;
  return { value, text: amount.text, secondsLeft: left < 0 ? 0 : secondsUntil(left, growth) };
}

/** Whether a threshold, ours or the kubelet's, is crossed or will be within the time of the forecast. */
export function isForeseen(
  { ours, kubelets, crossedSinceMs }: SignalState,
  forecastMs: number | undefined,
): boolean {
  if (crossedSinceMs !== undefined || kubelets?.secondsLeft === 0) return true;
  if (forecastMs === undefined) return false;
  return [ours, kubelets].some(
    (limit) => limit?.secondsLeft !== undefined && limit.secondsLeft * 1000 <= forecastMs,
  );
}
