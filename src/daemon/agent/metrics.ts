import type { Registry } from 'prom-client';
import { containerGcReasons } from '../../agent/containergc/metrics.ts';
import { imageGcReasons } from '../../agent/imagegc/metrics.ts';
import { leftoverUnitReasons } from '../../agent/leftovers/metrics.ts';
import { localStorageReasons } from '../../agent/localstorage/metrics.ts';
import { nodePressureReasons } from '../../agent/nodepressure/metrics.ts';
import type { OnCall } from '../../cri/connection.ts';
import { startMetrics, unitMetrics } from '../../gc/metrics.ts';
import { metricRows } from '../../runtime/serving/metric-rows.ts';
import { componentMetrics } from '../metrics.ts';

export type AgentMetrics = ReturnType<typeof agentMetrics>;

/** Metrics of the agent process: those of every component, of all units, and calls of the container runtime. */
export function agentMetrics(registry: Registry) {
  const units = unitMetrics(registry);
  startMetrics(units, 'imagegc', imageGcReasons);
  startMetrics(units, 'containergc', containerGcReasons);
  startMetrics(units, 'localstorage', localStorageReasons);
  startMetrics(units, 'nodepressure', nodePressureReasons);
  startMetrics(units, 'leftovers', leftoverUnitReasons);
  return { ...componentMetrics(registry), units, runtimeCall: runtimeMetrics(registry) };
}

/** From a fast list to the deadline of a removal; few, because each bucket is a series on every node. */
const seconds = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 30, 120];

function runtimeMetrics(registry: Registry): OnCall {
  const { counter, histogram } = metricRows(registry);
  const calls = counter(
    'runtime_operations_total',
    "Calls of the container runtime, with the kubelet's names for them.",
    'operation_type',
  );
  const errors = counter(
    'runtime_operations_errors_total',
    'Calls of the container runtime that failed.',
    'operation_type',
  );
  const durations = histogram(
    'runtime_operations_duration_seconds',
    'Time a call of the container runtime took.',
    seconds,
    'operation_type',
  );
  return ({ operation, ok, seconds: took }) => {
    calls.inc({ operation_type: operation });
    errors.inc({ operation_type: operation }, ok ? 0 : 1);
    durations.observe({ operation_type: operation }, took);
  };
}
