import type { Registry } from 'prom-client';
import { leftoverKeepReasons, leftoverRemoveReasons, nodeKeepReasons } from '../../api/reasons.ts';
import type { UnitReasons } from '../../gc/metrics.ts';
import { metricRows } from '../../runtime/serving/metric-rows.ts';
import { sum } from '../../runtime/sum.ts';
import { leftoverKinds } from '../../api/leftovers.ts';
import type { LeftoverInventory, UnknownLeftovers } from './facts.ts';

export type LeftoverMetrics = ReturnType<typeof leftoverMetrics>;

export const leftoverUnitReasons: UnitReasons = {
  due: leftoverRemoveReasons,
  kept: [...leftoverKeepReasons, ...nodeKeepReasons],
  stages: [],
};

/** The metrics of this unit alone; what is unknown has no series. */
export function leftoverMetrics(registry: Registry) {
  const { gauge } = metricRows(registry);
  return {
    count: gauge(
      'node_leftovers',
      'What containerd keeps for no image, container or sandbox, by kind: interrupted downloads, leases of nobody, writable snapshots without a container, content that only another client has labelled or that nothing refers to, and directories of snapshots that containerd does not know (a lower bound).',
      'kind',
    ),
    bytes: gauge(
      'node_leftover_bytes',
      'Bytes that the removal of the leftovers frees, by kind; a lower bound if the size of one is unknown. No series for directories.',
      'kind',
    ),
  };
}

export function showLeftovers(
  { count, bytes }: Readonly<Record<'count' | 'bytes', ReturnType<ReturnType<typeof metricRows>['gauge']>>>,
  inventory: Pick<LeftoverInventory, 'leftovers' | 'directories'> | UnknownLeftovers,
): void {
  count.reset();
  bytes.reset();
  if ('unknown' in inventory) return;
  for (const kind of leftoverKinds) {
    const found = inventory.leftovers.filter((one) => one.kind === kind);
    count.set({ kind }, found.length);
    bytes.set({ kind }, sum(found.map((one) => one.bytes)));
  }
  if (inventory.directories !== undefined)
    count.set({ kind: 'Directory' }, inventory.directories.withoutSnapshot);
}
