import { Counter, Gauge, type Registry } from 'prom-client';
import {
  evictionSignals,
  usageOfPod,
  type StorageMeasurement,
  type StoragePod,
  type StorageUsage,
} from '../../api/local-storage.ts';
import type { Policy } from '../../api/policy/policy.ts';
import { nodeKeepReasons, storageKeepReasons } from '../../api/reasons.ts';
import { summarize } from '../../gc/summary.ts';
import type { LocalStoragePlan } from './facts.ts';

export type LocalStorageMetrics = ReturnType<typeof localStorageMetrics>;
export type PodStorageMetrics = ReturnType<typeof podStorageMetrics>;

const keepReasons = new Set([...storageKeepReasons, ...nodeKeepReasons]);
const modes = ['DryRun', 'Enforce'] as const;

/** Kinds of local storage. EmptyDirs in memory use no disk and do not count in the total. */
const usageKinds = ['layers', 'logs', 'emptydir', 'emptydir-memory', 'total'] as const;
type UsageKind = (typeof usageKinds)[number];

/** The metrics of localstorage, preset to 0; their number does not depend on the number of pods. */
export function localStorageMetrics(registry: Registry) {
  const metrics = { ...requestMetrics([registry]), ...planMetrics([registry]) };
  for (const signal of evictionSignals) {
    metrics.raised.inc({ eviction_signal: signal }, 0);
    for (const mode of modes) metrics.requested.inc({ eviction_signal: signal, mode }, 0);
  }
  clearPlan(metrics);
  return metrics;
}

/** One series for each pod; off by default. */
export function podStorageMetrics(registry: Registry) {
  return {
    used: new Gauge({
      name: 'dustpan_pod_local_storage_used_bytes',
      help: '[ALPHA] Local storage usage of a pod. Only the 256 pods of the node with the highest usage, and only with --local-storage-pod-metrics.',
      labelNames: ['namespace', 'pod'],
      registers: [registry],
    }),
  };
}

function requestMetrics(registers: [Registry]) {
  return {
    requested: new Counter({
      name: 'dustpan_local_storage_eviction_requests_total',
      help: '[ALPHA] Pods found above the usage at which the policy evicts, by the limit and the mode of the policy. In mode DryRun no eviction is requested.',
      labelNames: ['eviction_signal', 'mode'],
      registers,
    }),
    raised: new Counter({
      name: 'dustpan_local_storage_warnings_total',
      help: '[ALPHA] Events LocalStorageHigh, by the limit.',
      labelNames: ['eviction_signal'],
      registers,
    }),
    errors: new Counter({
      name: 'dustpan_local_storage_usage_errors_total',
      help: '[ALPHA] Passes that could not read the usage of the pods.',
      registers,
    }),
  };
}

function planMetrics(registers: [Registry]) {
  return {
    due: new Gauge({
      name: 'dustpan_local_storage_due_pods',
      help: '[ALPHA] Pods above the usage at which the policy evicts, by the first limit that they exceed and the mode of the policy.',
      labelNames: ['eviction_signal', 'mode'],
      registers,
    }),
    kept: new Gauge({
      name: 'dustpan_local_storage_kept_pods',
      help: '[ALPHA] Pods that the last plan does not evict, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    warned: new Gauge({
      name: 'dustpan_local_storage_warned_limits',
      help: '[ALPHA] Limits whose usage exceeds the lowest percentage of warnAtPercent, by kind of limit.',
      labelNames: ['eviction_signal'],
      registers,
    }),
    usedBytes: new Gauge({
      name: 'dustpan_local_storage_used_bytes',
      help: '[ALPHA] Local storage usage of all pods of the node: writable layers, logs and emptyDirs; total is the value that limits of pods are compared with.',
      labelNames: ['kind'],
      registers,
    }),
    usageAge: new Gauge({
      name: 'dustpan_local_storage_usage_age_seconds',
      help: '[ALPHA] Age of the oldest measurement that the last plan compared with a limit.',
      registers,
    }),
  };
}

type PlanMetrics = ReturnType<typeof planMetrics>;

/** One plan, and what it was made from. */
interface Shown {
  readonly plan: LocalStoragePlan;
  readonly pods: readonly StoragePod[];
  readonly usage: StorageUsage | undefined;
  readonly mode: Policy['mode'];
  readonly now: Date;
}

/** Sets the metrics of the plan to 0: there is none. */
export function clearPlan({ due, kept, warned, usedBytes: used, usageAge }: PlanMetrics): void {
  for (const signal of evictionSignals) {
    warned.set({ eviction_signal: signal }, 0);
    for (const mode of modes) due.set({ eviction_signal: signal, mode }, 0);
  }
  for (const reason of keepReasons) kept.set({ reason }, 0);
  for (const kind of usageKinds) used.set({ kind }, 0);
  usageAge.set(0);
}

export function showPlan(metrics: PlanMetrics, { plan, pods, usage, mode, now }: Shown): void {
  clearPlan(metrics);
  const { reasons } = summarize([...plan.evictions, ...plan.kept]);
  for (const signal of evictionSignals)
    metrics.due.set({ eviction_signal: signal, mode }, reasons[signal] ?? 0);
  for (const reason of keepReasons) metrics.kept.set({ reason }, reasons[reason] ?? 0);
  for (const { reason } of plan.warnings) metrics.warned.inc({ eviction_signal: reason });
  const used = usedBytes(pods, usage);
  for (const kind of usageKinds) metrics.usedBytes.set({ kind }, used[kind]);
  const ages = plan.readings.map(({ reading }) => (now.getTime() - reading.measuredAtMs) / 1000);
  metrics.usageAge.set(Math.max(0, ...ages));
}

/** Usage of all pods of the node together; a size that is not measured counts as 0. */
function usedBytes(
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

/** Shows the usage of the pods that use most. */
export function showPods({ used }: PodStorageMetrics, { pods, usage }: Pick<Shown, 'pods' | 'usage'>): void {
  used.reset();
  const known = pods.flatMap((pod) => {
    const bytes = usageOfPod(usage, pod)?.total?.bytes;
    return bytes === undefined ? [] : [{ pod, bytes }];
  });
  for (const { pod, bytes } of known.toSorted((a, b) => b.bytes - a.bytes).slice(0, maxPods))
    used.set({ namespace: pod.namespace, pod: pod.name }, bytes);
}
