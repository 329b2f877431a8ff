import type { Registry } from 'prom-client';
import {
  containerKeepReasons,
  containerRemoveReasons,
  containerWarnReasons,
  nodeKeepReasons,
} from '../../api/reasons.ts';
import type { UnitReasons } from '../../gc/metrics.ts';
import { metricRows } from '../../runtime/serving/metric-rows.ts';
import type { ContainerGcPlan } from './facts.ts';

export type ContainerGcMetrics = ReturnType<typeof containerGcMetrics>;

/** What containergc counts. The reason gives the kind: PodGone and DeadContainer are containers. */
export const containerGcReasons: UnitReasons = {
  due: containerRemoveReasons,
  kept: [...containerKeepReasons, ...nodeKeepReasons],
  stages: [],
};

/** The metrics of this unit alone, counted from 0. */
export function containerGcMetrics(registry: Registry) {
  const { counter, gauge } = metricRows(registry);
  const metrics = {
    warnings: counter(
      'container_gc_warnings_total',
      'Warning Events about running containers, by reason.',
      'reason',
    ),
    warned: gauge(
      'container_gc_warned_containers',
      'Running containers that the last plan warns about, by reason.',
      'reason',
    ),
    largestLog: gauge(
      'container_log_largest_bytes',
      'Size of the largest current log of a running container above warnBytesPerContainer; 0 = none is above.',
    ),
    logBytes: gauge('container_log_bytes', 'Size of all files below the log roots, as last listed.'),
  };
  for (const reason of containerWarnReasons) metrics.warnings.inc({ reason }, 0);
  showWarnings(metrics, []);
  return metrics;
}

/** Shows the warnings of a plan. */
export function showWarnings(
  { warned, largestLog }: Pick<ContainerGcMetrics, 'warned' | 'largestLog'>,
  warnings: ContainerGcPlan['warnings'],
): void {
  for (const reason of containerWarnReasons) warned.set({ reason }, 0);
  for (const { reason } of warnings) warned.inc({ reason });
  largestLog.set(warnings[0]?.bytes ?? 0);
}
