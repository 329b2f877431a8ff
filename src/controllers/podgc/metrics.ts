import type { Registry } from 'prom-client';
import { podDeleteReasons, podKeepReasons, type PodDeleteReason } from '../../api/reasons.ts';
import type { UnitReasons } from '../../gc/metrics.ts';
import { metricRows } from '../../runtime/serving/metric-rows.ts';
import type { PolicyVerdicts } from './facts.ts';
import { stuckCauses, type StuckCause } from './stuck.ts';

export type PodGcMetrics = ReturnType<typeof podGcMetrics>;

/** What podgc counts. */
export const podGcReasons: UnitReasons = {
  due: podDeleteReasons,
  kept: podKeepReasons,
  skipped: ['NodeExists', 'NodeUnknown', 'NodeRecovered', 'NamespaceUnknown', 'KeepMarked', 'ClockUnsure'],
  stages: [],
};

/** Our reasons as label values of upstream's pod_gc_collector metrics; in the same style where upstream has none. */
export const upstreamReason: Readonly<Record<PodDeleteReason, string>> = {
  Terminated: 'terminated',
  TerminatedInNamespace: 'terminated-in-namespace',
  Expired: 'expired',
  OutOfService: 'out-of-service',
  Orphaned: 'orphaned',
  Unscheduled: 'unscheduled',
};

/** Number of namespaces with series of their own: 100 000 take 36 MB, and their number grows for as long as the process runs. */
const maxNamespaces = 1_000;
/** The label of all other namespaces: no namespace can have this name. */
const otherNamespaces = '<other>';

/** Returns the label value of a namespace: the first thousand have their own. */
function namespaceLabels(): (namespace: string) => string {
  const known = new Set<string>();
  return (namespace) => {
    if (known.size < maxNamespaces) known.add(namespace);
    return known.has(namespace) ? namespace : otherNamespaces;
  };
}

/** The metrics of this unit alone. Upstream's counters have the label namespace, so they have no series before the first deletion. */
export function podGcMetrics(registry: Registry) {
  const { counter, gauge, histogram } = metricRows(registry);
  return {
    /** The value of the label namespace. */
    labelOf: namespaceLabels(),
    deletes: counter(
      'pod_gc_force_delete_pods_total',
      'Attempts to delete a pod, including failed ones (as pod_gc_collector_force_delete_pods_total).',
      'namespace',
      'reason',
    ),
    deleteErrors: counter(
      'pod_gc_force_delete_pod_errors_total',
      'Failed attempts to delete a pod (as pod_gc_collector_force_delete_pod_errors_total).',
      'namespace',
      'reason',
    ),
    window: gauge(
      'pod_gc_delete_window',
      'Requests to mark a pod as Failed or to delete it that are in flight.',
    ),
    missingNodes: gauge(
      'pod_gc_missing_nodes',
      'Names of nodes to which pods are bound and that do not exist, including names that never existed.',
    ),
    tripped: gauge(
      'pod_gc_tripped',
      '1 while the circuit breaker of the policy is open: more nodes are missing than it allows, and dustpan deletes no orphaned pod.',
      'policy',
    ),
    stuck: gauge(
      'stuck_pods',
      'Pods that have been terminating for ten minutes after their grace period, or Pending or Unknown for an hour, by cause. dustpan does not delete a pod because it is stuck.',
      'cause',
    ),
    planSeconds: histogram(
      'pod_gc_plan_duration_seconds',
      'Time that planning a pass took, without the other work between its steps.',
      [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1],
    ),
  };
}

/** Shows the circuit breaker of each policy. */
export function showBreakers({ tripped }: PodGcMetrics, policies: readonly PolicyVerdicts[]): void {
  tripped.reset();
  for (const { policy, trippedPercent } of policies)
    tripped.set({ policy: policy.name }, trippedPercent === undefined ? 0 : 1);
}

/** Shows the number of stuck pods by cause. */
export function showStuck(
  { stuck }: PodGcMetrics,
  counts: Readonly<Partial<Record<StuckCause, number>>>,
): void {
  for (const cause of stuckCauses) stuck.set({ cause }, counts[cause] ?? 0);
}
