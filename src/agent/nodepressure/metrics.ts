import type { Registry } from 'prom-client';
import { diskSignals, thresholdSignals, type SignalReading } from '../../api/node-pressure.ts';
import { nodeKeepReasons, pressureKeepReasons } from '../../api/reasons.ts';
import type { UnitReasons } from '../../gc/metrics.ts';
import { metricRows } from '../../runtime/serving/metric-rows.ts';
import type { SignalState } from './facts.ts';

export type NodePressureMetrics = ReturnType<typeof nodePressureMetrics>;

export const nodePressureReasons: UnitReasons = {
  due: diskSignals,
  kept: [...pressureKeepReasons, ...nodeKeepReasons],
  stages: ['signals'],
  removesNothing: true,
};

/** The metrics of this unit alone; their number does not depend on the number of pods. */
export function nodePressureMetrics(registry: Registry) {
  const { gauge } = metricRows(registry);
  const metrics = {
    available: gauge(
      'node_signal_available_ratio',
      'Available part of a resource of the node, from 0 to 1, as the kubelet measures it. No series for a signal that the kubelet does not report.',
      'signal',
    ),
    secondsLeft: gauge(
      'node_signal_threshold_seconds',
      'Time until the nearer threshold, of the policy or of the kubelet, is crossed at the current growth; 0 when it is crossed. No series without growth.',
      'signal',
    ),
    crossed: gauge(
      'node_pressure_crossed',
      '1 while less is available than the threshold of the policy, else 0.',
      'signal',
    ),
  };
  showSignals(metrics, undefined);
  return metrics;
}

interface Signals {
  readonly states: readonly SignalState[];
  readonly readings: readonly SignalReading[];
}

/** Shows the signals of a pass; undefined = nothing was measured. */
export function showSignals(
  { available: ratio, secondsLeft, crossed }: NodePressureMetrics,
  { states, readings }: Signals = { states: [], readings: [] },
): void {
  ratio.reset();
  secondsLeft.reset();
  for (const signal of thresholdSignals) crossed.set({ signal }, 0);
  for (const { signal, available, capacity } of readings) ratio.set({ signal }, available / capacity);
  for (const { reading, ours, kubelets, crossedSinceMs } of states) {
    const { signal } = reading;
    crossed.set({ signal }, crossedSinceMs === undefined ? 0 : 1);
    const left = [ours, kubelets].flatMap((limit) => limit?.secondsLeft ?? []);
    if (left.length > 0) secondsLeft.set({ signal }, Math.min(...left));
  }
}
