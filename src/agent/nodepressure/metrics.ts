import { Counter, Gauge, type Registry } from 'prom-client';
import { diskSignals, thresholdSignals, type SignalReading } from '../../api/node-pressure.ts';
import type { Policy } from '../../api/policy/policy.ts';
import { nodeKeepReasons, pressureKeepReasons } from '../../api/reasons.ts';
import { summarize } from '../../gc/summary.ts';
import type { NodePressurePlan } from './facts.ts';
import type { SignalState } from '../../api/node-pressure.ts';

export type NodePressureMetrics = ReturnType<typeof nodePressureMetrics>;

const keepReasons = new Set([...pressureKeepReasons, ...nodeKeepReasons]);
const modes = ['DryRun', 'Enforce'] as const;

/** The metrics of nodepressure; their number does not depend on the number of pods. */
export function nodePressureMetrics(registry: Registry) {
  const metrics = { ...signalMetrics([registry]), ...planMetrics([registry]) };
  for (const signal of thresholdSignals) metrics.raised.inc({ signal }, 0);
  clearPlan(metrics);
  return metrics;
}

function signalMetrics(registers: [Registry]) {
  return {
    available: new Gauge({
      name: 'dustpan_node_signal_available_ratio',
      help: '[ALPHA] Available part of a resource of the node, from 0 to 1, as the kubelet measures it. No series for a signal that the kubelet does not report.',
      labelNames: ['signal'],
      registers,
    }),
    secondsLeft: new Gauge({
      name: 'dustpan_node_signal_threshold_seconds',
      help: '[ALPHA] Time until the nearer threshold, of the policy or of the kubelet, is crossed at the current growth; 0 when it is crossed. No series without growth.',
      labelNames: ['signal'],
      registers,
    }),
    raised: new Counter({
      name: 'dustpan_node_pressure_warnings_total',
      help: '[ALPHA] Events NodePressureAhead, by the signal.',
      labelNames: ['signal'],
      registers,
    }),
    errors: new Counter({
      name: 'dustpan_node_pressure_errors_total',
      help: '[ALPHA] Passes that could not read the signals of the node.',
      registers,
    }),
  };
}

function planMetrics(registers: [Registry]) {
  return {
    crossed: new Gauge({
      name: 'dustpan_node_pressure_crossed',
      help: '[ALPHA] 1 while less is available than the threshold of the policy, else 0.',
      labelNames: ['signal'],
      registers,
    }),
    due: new Gauge({
      name: 'dustpan_node_pressure_due_pods',
      help: '[ALPHA] Pods whose eviction the plan requests because removing images and containers did not free enough, by the signal and the mode of the policy. In mode DryRun no eviction is requested.',
      labelNames: ['signal', 'mode'],
      registers,
    }),
    kept: new Gauge({
      name: 'dustpan_node_pressure_kept_pods',
      help: '[ALPHA] Pods that the last plan does not evict, by reason.',
      labelNames: ['reason'],
      registers,
    }),
  };
}

/** Without a plan: nothing is measured, and nothing is due. */
export function clearPlan({
  available,
  secondsLeft,
  crossed,
  due,
  kept,
}: Omit<NodePressureMetrics, 'raised' | 'errors'>): void {
  available.reset();
  secondsLeft.reset();
  for (const signal of thresholdSignals) crossed.set({ signal }, 0);
  for (const signal of diskSignals) for (const mode of modes) due.set({ signal, mode }, 0);
  for (const reason of keepReasons) kept.set({ reason }, 0);
}

export function showPlan(
  metrics: NodePressureMetrics,
  {
    plan,
    states,
    readings,
    mode,
  }: {
    readonly plan: NodePressurePlan;
    readonly states: readonly SignalState[];
    readonly readings: readonly SignalReading[];
    readonly mode: Policy['mode'];
  },
): void {
  clearPlan(metrics);
  for (const { signal, available, capacity } of readings)
    metrics.available.set({ signal }, available / capacity);
  for (const { reading, ours, kubelets, crossedSinceMs } of states) {
    const { signal } = reading;
    metrics.crossed.set({ signal }, crossedSinceMs === undefined ? 0 : 1);
    const left = [ours, kubelets].flatMap((limit) => limit?.secondsLeft ?? []);
    if (left.length > 0) metrics.secondsLeft.set({ signal }, Math.min(...left));
  }
  const { reasons } = summarize([...plan.evictions, ...plan.kept]);
  for (const signal of diskSignals) metrics.due.set({ signal, mode }, reasons[signal] ?? 0);
  for (const reason of keepReasons) metrics.kept.set({ reason }, reasons[reason] ?? 0);
}
