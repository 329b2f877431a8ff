import { Counter, Histogram, type Registry } from 'prom-client';
import { componentMetrics, type ComponentMetrics } from '../cli/process-metrics.ts';
import type { RuntimeCall } from './runtime-calls.ts';

export interface AgentMetrics extends ComponentMetrics {
  readonly runtimeCall: (call: RuntimeCall) => void;
}

/** Metrics of the agent process: those of every component, and calls of the container runtime. */
export function agentMetrics(registry: Registry): AgentMetrics {
  return { ...componentMetrics(registry), runtimeCall: runtimeMetrics([registry]) };
}

/** From a fast list to the deadline of a removal; few, because each bucket is a series on every node. */
const seconds = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 30, 120];

function runtimeMetrics(registers: [Registry]): AgentMetrics['runtimeCall'] {
  const labelNames = ['operation_type'] as const;
  const calls = new Counter({
    name: 'dustpan_runtime_operations_total',
    help: "[ALPHA] Calls of the container runtime, with the kubelet's names for them.",
    labelNames,
    registers,
  });
  const errors = new Counter({
    name: 'dustpan_runtime_operations_errors_total',
    help: '[ALPHA] Calls of the container runtime that failed.',
    labelNames,
    registers,
  });
  const durations = new Histogram({
    name: 'dustpan_runtime_operations_duration_seconds',
    help: '[ALPHA] Time a call of the container runtime took.',
    labelNames,
    buckets: seconds,
    registers,
  });
  return ({ operation, ok, seconds: took }) => {
    calls.inc({ operation_type: operation });
    errors.inc({ operation_type: operation }, ok ? 0 : 1);
    durations.observe({ operation_type: operation }, took);
  };
}
