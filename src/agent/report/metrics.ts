import { Gauge, type Registry } from 'prom-client';
import type { NodeGCReportStatus } from '../../api/gen/nodegcreport.gen.ts';
import { orphanPlaces, type OrphanPlace } from '../../api/report/node-pass.ts';
import type { ReportFacts } from './facts.ts';

export type ReportMetrics = ReturnType<typeof reportMetrics>;

const kindOf: Readonly<Record<OrphanPlace, string>> = {
  podDirectories: 'PodDirectory',
  logDirectories: 'LogDirectory',
  podCgroups: 'PodCgroup',
};

/** The metrics of the node's report; series of orphaned resources appear with the first search. */
export function reportMetrics(registry: Registry) {
  const registers = [registry];
  return {
    orphans: new Gauge({
      name: 'dustpan_node_orphans',
      help: '[ALPHA] Orphaned resources, by kind: of pods that neither the API server nor the container runtime lists, and snapshots without an owner. With nodes.orphans in a policy the agent removes directories and control groups.',
      labelNames: ['kind'],
      registers,
    }),
    orphanBytes: new Gauge({
      name: 'dustpan_node_orphan_bytes',
      help: '[ALPHA] Size of the resources that dustpan_node_orphans counts, by kind: for directories their bytes on disk, for pod control groups (PodCgroup) the memory still charged to them. No series for snapshots, whose size is unknown.',
      labelNames: ['kind'],
      registers,
    }),
    keepListAtRisk: new Gauge({
      name: 'dustpan_keep_list_at_risk',
      help: '[ALPHA] 1 while the kubelet may remove images that the policy keeps.',
      registers,
    }),
    degraded: new Gauge({
      name: 'dustpan_node_degraded',
      help: '[ALPHA] 1 while the agent cannot do all that the policy requires.',
      registers,
    }),
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
export function showOrphans(
  metrics: ReportMetrics,
  { orphans, snapshots }: Pick<ReportFacts, 'orphans' | 'snapshots'>,
): void {
  metrics.orphans.reset();
  metrics.orphanBytes.reset();
  if (snapshots !== undefined) metrics.orphans.set({ kind: 'Snapshot' }, snapshots.count);
  for (const place of orphanPlaces) {
    const found = orphans?.[place];
    if (found === undefined) continue;
    metrics.orphans.set({ kind: kindOf[place] }, found.count);
    metrics.orphanBytes.set({ kind: kindOf[place] }, found.bytes);
  }
}
