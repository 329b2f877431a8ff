import type { Registry } from 'prom-client';
import type { NodeGCReportStatus } from '../../api/gen/nodegcreport.gen.ts';
import { metricRows } from '../../runtime/serving/metric-rows.ts';
import type { OrphanInventory } from '../containergc/facts.ts';

export type ReportMetrics = ReturnType<typeof reportMetrics>;

const kinds = [
  { place: 'podDirectories', kind: 'PodDirectory' },
  { place: 'logDirectories', kind: 'LogDirectory' },
  { place: 'podCgroups', kind: 'PodCgroup' },
] as const;

/** The metrics of the node's report; series of orphaned resources appear with the first search. */
export function reportMetrics(registry: Registry) {
  const { gauge } = metricRows(registry);
  return {
    orphans: gauge(
      'node_orphans',
      'Orphaned resources of pods that neither the API server nor the container runtime lists, by kind. With nodes.orphans in a policy the agent removes directories and control groups.',
      'kind',
    ),
    orphanBytes: gauge(
      'node_orphan_bytes',
      'Size of the resources that dustpan_node_orphans counts, by kind: for directories their bytes on disk, for pod control groups (PodCgroup) the memory still charged to them.',
      'kind',
    ),
    keepListAtRisk: gauge(
      'keep_list_at_risk',
      '1 while the kubelet may remove images that the policy keeps.',
    ),
    degraded: gauge('node_degraded', '1 while the agent cannot do all that the policy requires.'),
  };
}

/** Shows the conditions of a report, whether it is written or not. */
export function showReport(metrics: ReportMetrics, { conditions = [] }: NodeGCReportStatus): void {
  const holds = (name: string): number =>
    conditions.some(({ type, status }) => type === name && status === 'True') ? 1 : 0;
  metrics.keepListAtRisk.set(holds('KeepListAtRisk'));
  metrics.degraded.set(holds('Degraded'));
}

/** Shows orphaned resources; a kind that cannot be counted has no series. */
export function showOrphans(metrics: ReportMetrics, orphans: OrphanInventory | undefined): void {
  metrics.orphans.reset();
  metrics.orphanBytes.reset();
  for (const { place, kind } of kinds) {
    const found = orphans?.[place];
    if (found === undefined) continue;
    metrics.orphans.set({ kind }, found.count);
    metrics.orphanBytes.set({ kind }, found.bytes);
  }
}
