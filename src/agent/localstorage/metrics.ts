import type { Registry } from 'prom-client';
import {
  evictionSignals,
  usageOfPod,
  type StorageMeasurement,
  type StoragePod,
  type StorageUsage,
} from '../../api/local-storage.ts';
import { nodeKeepReasons, storageKeepReasons } from '../../api/reasons.ts';
import { modes, type UnitReasons } from '../../gc/metrics.ts';
import { metricRows } from '../../runtime/serving/metric-rows.ts';
import type { LocalStoragePlan } from './facts.ts';

export type LocalStorageMetrics = ReturnType<typeof localStorageMetrics>;
export type PodStorageMetrics = ReturnType<typeof podStorageMetrics>;

export const localStorageReasons: UnitReasons = {
  due: evictionSignals,
  kept: [...storageKeepReasons, ...nodeKeepReasons],
  stages: ['usage'],
  removesNothing: true,
};

/** Kinds of local storage. EmptyDirs in memory use no disk and do not count in the total. */
const usageKinds = ['layers', 'logs', 'emptydir', 'emptydir-memory', 'total'] as const;
type UsageKind = (typeof usageKinds)[number];

/** The metrics of this unit alone, preset to 0; their number does not depend on the number of pods. */
export function localStorageMetrics(registry: Registry) {
  const { counter, gauge } = metricRows(registry);
  const metrics = {
    requested: counter(
      'local_storage_eviction_requests_total',
      'Pods found above the usage at which the policy evicts, by the limit and the mode of the policy. In mode DryRun no eviction is requested.',
      'eviction_signal',
      'mode',
    ),
    warned: gauge(
      'local_storage_warned_limits',
      'Limits whose usage exceeds the lowest percentage of warnAtPercent, by kind of limit.',
      'eviction_signal',
    ),
    usedBytes: gauge(
      'local_storage_used_bytes',
      'Local storage usage of all pods of the node: writable layers, logs and emptyDirs; total is the value that limits of pods are compared with.',
      'kind',
    ),
    usageAge: gauge(
      'local_storage_usage_age_seconds',
      'Age of the oldest measurement that the last plan compared with a limit.',
    ),
  };
  for (const signal of evictionSignals)
    for (const mode of modes) metrics.requested.inc({ eviction_signal: signal, mode }, 0);
  showUsage(metrics, undefined);
  return metrics;
}

/** One series for each pod; off by default. */
export const podStorageMetrics = (registry: Registry) => ({
  used: metricRows(registry).gauge(
    'pod_local_storage_used_bytes',
    'Local storage usage of a pod. Only the 256 pods of the node with the highest usage, and only with --local-storage-pod-metrics.',
    'namespace',
    'pod',
  ),
});

interface Shown {
  readonly plan: Pick<LocalStoragePlan, 'warnings' | 'readings'>;
  readonly pods: readonly StoragePod[];
  readonly usage: StorageUsage | undefined;
  readonly now: Date;
}

const nothing: Shown = {
  plan: { warnings: [], readings: [] },
  pods: [],
  usage: undefined,
  now: new Date(0),
};

/** Shows what a plan measured; undefined = there is no plan. */
export function showUsage(
  { warned, usedBytes, usageAge }: Pick<LocalStorageMetrics, 'warned' | 'usedBytes' | 'usageAge'>,
  { plan, pods, usage, now }: Shown = nothing,
): void {
  for (const signal of evictionSignals) warned.set({ eviction_signal: signal }, 0);
  for (const { reason } of plan.warnings) warned.inc({ eviction_signal: reason });
  const used = usageByKind(pods, usage);
  for (const kind of usageKinds) usedBytes.set({ kind }, used[kind]);
  const ages = plan.readings.map(({ reading }) => (now.getTime() - reading.measuredAtMs) / 1000);
  usageAge.set(Math.max(0, ...ages));
}

/** Usage of all pods of the node together; a size that is not measured counts as 0. */
function usageByKind(
  pods: readonly StoragePod[],
  usage: StorageUsage | undefined,
): Readonly<Record<UsageKind, number>> {
  const sums: Record<UsageKind, number> = { layers: 0, logs: 0, emptydir: 0, 'emptydir-memory': 0, total: 0 };
  for (const pod of pods) {
    const { total, containers = [], volumes } = usageOfPod(usage, pod) ?? {};
    sums.total += bytesOf(total);
    for (const { layer, logs } of containers) {
      sums.layers += bytesOf(layer);
      sums.logs += bytesOf(logs);
    }
    for (const { name, isMemory } of pod.storage.emptyDirs)
      sums[isMemory ? 'emptydir-memory' : 'emptydir'] += bytesOf(volumes?.get(name));
  }
  return sums;
}

const bytesOf = (measured: StorageMeasurement | undefined): number => measured?.bytes ?? 0;

const maxPods = 256;

export function showPods({ used }: PodStorageMetrics, { pods, usage }: Pick<Shown, 'pods' | 'usage'>): void {
  used.reset();
  const known = pods.flatMap((pod) => {
    const bytes = usageOfPod(usage, pod)?.total?.bytes;
    return bytes === undefined ? [] : [{ pod, bytes }];
  });
  for (const { pod, bytes } of known.toSorted((a, b) => b.bytes - a.bytes).slice(0, maxPods))
    used.set({ namespace: pod.namespace, pod: pod.name }, bytes);
}
