import type { Registry } from 'prom-client';
import { containerKeepReasons, containerRemoveReasons, nodeKeepReasons } from '../../api/reasons.ts';
import type { UnitReasons } from '../../gc/metrics.ts';
import { metricRows } from '../../runtime/serving/metric-rows.ts';

export type ContainerGcMetrics = ReturnType<typeof containerGcMetrics>;

/** What containergc counts. The reason gives the kind: PodGone and DeadContainer are containers. */
export const containerGcReasons: UnitReasons = {
  due: containerRemoveReasons,
  kept: [...containerKeepReasons, ...nodeKeepReasons],
  stages: [],
};

export function containerGcMetrics(registry: Registry) {
  const { gauge } = metricRows(registry);
  return {
    largestLog: gauge(
      'container_log_largest_bytes',
      'Size of the largest current log of a running container above warnBytesPerContainer; 0 = none is above.',
    ),
    logBytes: gauge('container_log_bytes', 'Size of all files below the log roots, as last listed.'),
  };
}
