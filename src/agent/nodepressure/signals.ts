import {
  amountOf,
  thresholdSignals,
  type Amount,
  type Limit,
  type SignalReading,
  type SignalState,
  type SignalThresholds,
  type ThresholdSignal,
} from '../../api/node-pressure.ts';
import type { NodePressurePolicy } from '../../api/policy/policy.ts';
import { observeTrend, secondsUntil, steadyGrowthPerMinute, type Trend } from '../../gc/growth.ts';
import { isFresh, type MaxAges } from '../../gc/pod-evictions.ts';

/** Remembered about one signal. */
interface SignalMemory {
  readonly capacity: number;
  /** Growth of the usage. */
  readonly trend: Trend;
  /** When the threshold was crossed; undefined = it is not. */
  readonly crossedSinceMs: number | undefined;
  /** The last time it was crossed; undefined = never, or longer ago than the transition period. */
  readonly lastCrossedMs: number | undefined;
}

export type SignalHistory = ReadonlyMap<ThresholdSignal, SignalMemory>;

interface SignalsGiven {
  readonly rule: NodePressurePolicy;
  /** The kubelet's own thresholds. */
  readonly kubelet: SignalThresholds;
  readonly now: Date;
  /** Older readings decide nothing. */
  readonly maxAges: MaxAges;
}

interface Observed {
  readonly history: SignalHistory;
  /** Only signals that were measured lately and have a threshold, ours or the kubelet's. */
  readonly states: readonly SignalState[];
}

/** Compares the readings of one pass with the thresholds, as the kubelet does (pkg/kubelet/eviction/helpers.go, thresholdsMet), and computes when they will be crossed. */
export function observeSignals(
  before: SignalHistory,
  readings: readonly SignalReading[],
  given: SignalsGiven,
): Observed {
  const history = new Map<ThresholdSignal, SignalMemory>();
  const states: SignalState[] = [];
  for (const signal of thresholdSignals) {
    const found = readings.find((one) => one.signal === signal);
    if (found === undefined || !isFresh(found.measuredAtMs, given.now, given.maxAges.signalMs)) continue;
    const reading = { ...found, signal };
    const memory = rememberedOf(before.get(signal), reading, given);
    history.set(signal, memory);
    const state = stateOf(reading, memory, given);
    if (state.ours !== undefined || state.kubelets !== undefined) states.push(state);
  }
  return { history, states };
}

type Measured = SignalState['reading'];

function rememberedOf(
  known: SignalMemory | undefined,
  reading: Measured,
  { rule, now }: SignalsGiven,
): SignalMemory {
  const { available, capacity, measuredAtMs } = reading;
  // A file system that has another size is another one: a volume was mounted over it.
  const before = known?.capacity === capacity ? known : undefined;
  const trend = observeTrend(before?.trend, { atMs: measuredAtMs, bytes: capacity - available });
  const { threshold, relief } = limitsOf(reading, rule);
  const since = before?.crossedSinceMs;
  if (available >= (since === undefined ? threshold : relief))
    return { capacity, trend, crossedSinceMs: undefined, lastCrossedMs: before?.lastCrossedMs };
  const nowMs = now.getTime();
  return { capacity, trend, crossedSinceMs: since ?? nowMs, lastCrossedMs: nowMs };
}

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
  { trend, crossedSinceMs, lastCrossedMs }: SignalMemory,
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
