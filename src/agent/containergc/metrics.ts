import { Counter, Gauge, type Registry } from 'prom-client';
import {
  containerKeepReasons,
  containerRemoveReasons,
  containerWarnReasons,
  nodeKeepReasons,
} from '../../api/reasons.ts';
import type { ContainerGcPlan } from './facts.ts';

export type ContainerGcMetrics = ReturnType<typeof containerGcMetrics>;

const keepReasons = [...containerKeepReasons, ...nodeKeepReasons];
const modes = ['DryRun', 'Enforce'] as const;

/** The metrics of containergc, counted from 0. The reason gives the kind: PodGone and DeadContainer are containers. */
export function containerGcMetrics(registry: Registry) {
  const metrics = { ...removalMetrics([registry]), ...planMetrics([registry]) };
  for (const reason of containerRemoveReasons) {
    metrics.collected.inc({ reason }, 0);
    metrics.errors.inc({ reason }, 0);
  }
  for (const reason of containerKeepReasons) metrics.skipped.inc({ reason }, 0);
  for (const reason of containerWarnReasons) metrics.warnings.inc({ reason }, 0);
  clearPlan(metrics);
  return metrics;
}

function removalMetrics(registers: [Registry]) {
  return {
    collected: new Counter({
      name: 'dustpan_container_garbage_collected_total',
      help: '[ALPHA] Containers, sandboxes, log directories, log links, rotated logs and orphaned resources removed, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    errors: new Counter({
      name: 'dustpan_container_gc_errors_total',
      help: '[ALPHA] Removals of containers, sandboxes, logs and orphaned resources that failed, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    skipped: new Counter({
      name: 'dustpan_container_gc_skipped_total',
      help: '[ALPHA] Planned removals that the live re-check right before them called off, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    warnings: new Counter({
      name: 'dustpan_container_gc_warnings_total',
      help: '[ALPHA] Warning Events about running containers, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    freedLogBytes: new Counter({
      name: 'dustpan_container_gc_log_freed_bytes_total',
      help: '[ALPHA] Size of the log files removed, those of removed containers included.',
      registers,
    }),
  };
}

function planMetrics(registers: [Registry]) {
  return {
    due: new Gauge({
      name: 'dustpan_container_gc_due_objects',
      help: '[ALPHA] Containers, sandboxes, logs and orphaned resources that the last plan would remove, by reason and mode of the policy.',
      labelNames: ['reason', 'mode'],
      registers,
    }),
    kept: new Gauge({
      name: 'dustpan_container_gc_kept_objects',
      help: '[ALPHA] Containers, sandboxes, logs and orphaned resources that the last plan keeps, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    warned: new Gauge({
      name: 'dustpan_container_gc_warned_containers',
      help: '[ALPHA] Running containers that the last plan warns about, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    largestLog: new Gauge({
      name: 'dustpan_container_log_largest_bytes',
      help: '[ALPHA] Size of the largest current log of a running container above warnBytesPerContainer; 0 = none is above.',
      registers,
    }),
    logBytes: new Gauge({
      name: 'dustpan_container_log_bytes',
      help: '[ALPHA] Size of all files below the log roots, as last listed.',
      registers,
    }),
  };
}

type PlanMetrics = Omit<ReturnType<typeof planMetrics>, 'logBytes'>;

/** Resets the metrics of the plan: there is no policy, or the node could not be observed. */
export function clearPlan({ due, kept, warned, largestLog }: PlanMetrics): void {
  for (const reason of containerRemoveReasons) for (const mode of modes) due.set({ reason, mode }, 0);
  for (const reason of keepReasons) kept.set({ reason }, 0);
  for (const reason of containerWarnReasons) warned.set({ reason }, 0);
  largestLog.set(0);
}

/** Shows a plan: due and kept objects by reason. */
export function showPlan(metrics: PlanMetrics, plan: ContainerGcPlan, mode: (typeof modes)[number]): void {
  clearPlan(metrics);
  for (const { reason } of plan.removals) metrics.due.inc({ reason, mode });
  for (const { reason } of plan.kept) metrics.kept.inc({ reason });
  for (const { reason } of plan.warnings) metrics.warned.inc({ reason });
  metrics.largestLog.set(plan.warnings[0]?.bytes ?? 0);
}
