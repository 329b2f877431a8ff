import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import {
  podDeleteReasons,
  podKeepReasons,
  type PodDeleteReason,
  type PodKeepReason,
} from '../../api/reasons.ts';
import type { PodGcPlan } from './facts.ts';
import { countOf, type PlanCounts } from './report.ts';

export type PodGcMetrics = ReturnType<typeof podGcMetrics>;

type Registers = [Registry];

/** Our reasons as label values of upstream's pod_gc_collector metrics; in the same style where upstream has none. */
export const upstreamReason: Readonly<Record<PodDeleteReason, string>> = {
  Terminated: 'terminated',
  TerminatedInNamespace: 'terminated-in-namespace',
  Expired: 'expired',
  OutOfService: 'out-of-service',
  Orphaned: 'orphaned',
  Unscheduled: 'unscheduled',
};

/** The metrics of podgc, counted from 0. */
export function podGcMetrics(registry: Registry) {
  const metrics = { ...deletionMetrics([registry]), ...planMetrics([registry]) };
  for (const reason of podKeepReasons) metrics.kept.set({ reason }, 0);
  // Upstream's counters have the label namespace, so they have no series before the first deletion: a series that begins with 1 never increased.
  for (const reason of podDeleteReasons)
    for (const counter of [metrics.deleted, metrics.failed]) counter.inc({ reason }, 0);
  for (const reason of [
    'NodeExists',
    'NodeUnknown',
    'NodeRecovered',
    'NamespaceUnknown',
    'KeepMarked',
    'ClockUnsure',
  ] satisfies PodKeepReason[])
    metrics.skipped.inc({ reason }, 0);
  return metrics;
}

function deletionMetrics(registers: Registers) {
  return {
    deletes: new Counter({
      name: 'dustpan_pod_gc_force_delete_pods_total',
      help: '[ALPHA] Attempts to delete a pod, including failed ones (as pod_gc_collector_force_delete_pods_total).',
      labelNames: ['namespace', 'reason'],
      registers,
    }),
    deleteErrors: new Counter({
      name: 'dustpan_pod_gc_force_delete_pod_errors_total',
      help: '[ALPHA] Failed attempts to delete a pod (as pod_gc_collector_force_delete_pod_errors_total).',
      labelNames: ['namespace', 'reason'],
      registers,
    }),
    deleted: new Counter({
      name: 'dustpan_pod_gc_deleted_pods_total',
      help: '[ALPHA] Pods deleted, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    failed: new Counter({
      name: 'dustpan_pod_gc_delete_errors_total',
      help: '[ALPHA] Failed attempts to delete a pod, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    skipped: new Counter({
      name: 'dustpan_pod_gc_skipped_pods_total',
      help: '[ALPHA] Planned deletions that a live re-check right before the request prevented, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    window: new Gauge({
      name: 'dustpan_pod_gc_delete_window',
      help: '[ALPHA] Requests to mark a pod as Failed or to delete it that are in flight.',
      registers,
    }),
  };
}

function planMetrics(registers: Registers) {
  return {
    due: new Gauge({
      name: 'dustpan_pod_gc_due_pods',
      help: '[ALPHA] Pods that the last plan would delete, by reason and the mode of their policy.',
      labelNames: ['reason', 'mode'],
      registers,
    }),
    kept: new Gauge({
      name: 'dustpan_pod_gc_kept_pods',
      help: '[ALPHA] Pods that the last plan keeps, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    missingNodes: new Gauge({
      name: 'dustpan_pod_gc_missing_nodes',
      help: '[ALPHA] Names of nodes to which pods are bound and that do not exist, including names that never existed.',
      registers,
    }),
    tripped: new Gauge({
      name: 'dustpan_pod_gc_tripped',
      help: '[ALPHA] 1 while the circuit breaker of the policy is open: more nodes are missing than it allows, and dustpan deletes no orphaned pod.',
      labelNames: ['policy'],
      registers,
    }),
    planSeconds: new Histogram({
      name: 'dustpan_pod_gc_plan_duration_seconds',
      help: '[ALPHA] Time that planning a pass took.',
      buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1],
      registers,
    }),
  };
}

/** Sets the gauges of one plan: due and kept pods by reason. */
export function showPlan(metrics: PodGcMetrics, { policies }: PodGcPlan, { byPolicy }: PlanCounts): void {
  for (const mode of ['DryRun', 'Enforce'] as const) {
    const ofMode = policies.filter(({ policy }) => policy.mode === mode);
    const summaries = ofMode.flatMap(({ policy }) => byPolicy.get(policy) ?? []);
    for (const reason of podDeleteReasons) metrics.due.set({ reason, mode }, countOf(summaries, reason));
  }
  for (const reason of podKeepReasons) metrics.kept.set({ reason }, countOf(byPolicy.values(), reason));
  metrics.tripped.reset();
  for (const { policy, trippedPercent } of policies)
    metrics.tripped.set({ policy: policy.name }, trippedPercent === undefined ? 0 : 1);
}
