import type { Registry } from 'prom-client';
import { podGcReasons } from '../../controllers/podgc/metrics.ts';
import { evictionUnitReasons } from '../../controllers/eviction/metrics.ts';
import { startMetrics, unitMetrics } from '../../gc/metrics.ts';
import { metricRows } from '../../runtime/serving/metric-rows.ts';
import { componentMetrics } from '../metrics.ts';

export type ControllerMetrics = ReturnType<typeof controllerMetrics>;

/** The metrics of the process, of all units, and of the lease named `lease`. */
export function controllerMetrics(registry: Registry, lease: string) {
  const units = unitMetrics(registry);
  startMetrics(units, 'podgc', podGcReasons);
  startMetrics(units, 'eviction', evictionUnitReasons);
  const { counter, gauge } = metricRows(registry);
  const leading = gauge(
    'leader_election_master_status',
    '1 while this process holds the Lease, or needs none.',
    'name',
  );
  const slow = counter(
    'leader_election_slowpath_total',
    'Renewals of the Lease that had to read it first.',
    'name',
  );
  leading.set({ name: lease }, 0);
  slow.inc({ name: lease }, 0);
  return {
    ...componentMetrics(registry),
    units,
    leading: (leads: boolean): void => leading.set({ name: lease }, leads ? 1 : 0),
    slowRenewal: (): void => slow.inc({ name: lease }),
  };
}
