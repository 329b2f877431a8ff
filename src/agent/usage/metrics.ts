import type { Registry } from 'prom-client';
import { metricRows } from '../../runtime/serving/metric-rows.ts';
import { sum } from '../../runtime/sum.ts';
import { usageClasses, type MeasuredUsage, type UsageClass } from './facts.ts';
import { maxNamespaces } from './forecast.ts';
import type { UsagePlan } from './plan.ts';

export type UsageMetrics = ReturnType<typeof usageMetrics>;

/** The metrics of the usage of a node; what is unknown has no series. */
export function usageMetrics(registry: Registry) {
  const { gauge } = metricRows(registry);
  const metrics = {
    disk: gauge(
      'disk_used_bytes',
      'Used bytes of the file systems of the kubelet and of images, by what uses them; the classes add up to what df shows as used.',
      'class',
    ),
    namespaces: gauge(
      'namespace_disk_used_bytes',
      'Writable layers, emptyDirs and logs of the pods on this node, by namespace; the 64 largest.',
      'namespace',
    ),
    fullAfterCollection: gauge(
      'node_full_after_collection_seconds',
      'Time until a disk of the node has no available byte, at the growth of the last 15 minutes, if everything collectable is removed by then. No series if unknown, or if nothing grows.',
    ),
  };
  // A gauge without labels begins with 0: before the first measurement that would be a full disk.
  metrics.fullAfterCollection.remove();
  return metrics;
}

export function showUsage(
  metrics: UsageMetrics,
  shown: { readonly measured: MeasuredUsage; readonly plan: UsagePlan },
): void {
  const { measured, plan } = shown;
  metrics.disk.reset();
  for (const [field, label] of Object.entries(usageClasses) as [UsageClass, string][]) {
    const known = measured.disks.flatMap(({ classes }) => classes[field] ?? []);
    if (known.length > 0) metrics.disk.set({ class: label }, sum(known));
  }
  metrics.namespaces.reset();
  for (const { name, bytes } of measured.namespaces.slice(0, maxNamespaces))
    metrics.namespaces.set({ namespace: name }, bytes);
  if (plan.fullFirst === undefined) metrics.fullAfterCollection.remove();
  else metrics.fullAfterCollection.set(plan.fullFirst.seconds);
}
