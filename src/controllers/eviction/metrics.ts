import type { Registry } from 'prom-client';
import { requestSignals } from '../../api/local-storage.ts';
import { evictionKeepReasons } from '../../api/reasons.ts';
import { showPlan, type UnitMetrics, type UnitReasons } from '../../gc/metrics.ts';
import { metricRows } from '../../runtime/serving/metric-rows.ts';
import { evictionPaces, type EvictionDecision } from './facts.ts';

export type EvictionMetrics = ReturnType<typeof evictionMetrics>;

/** What eviction counts with all units; its evictions and their failures have rows of their own. */
export const evictionUnitReasons: UnitReasons = { due: [], kept: evictionKeepReasons, stages: [] };

/** Why a try failed: `error` is every failure without a name of its own. */
const failures = ['misconfigured', 'forbidden', 'denied', 'throttled', 'error'] as const;
export type Failure = (typeof failures)[number];

/** The metrics of this unit alone, counted from 0. */
export function evictionMetrics(registry: Registry) {
  const { counter, gauge } = metricRows(registry);
  const metrics = {
    evictions: counter(
      'evictions_total',
      'Pods evicted for their local storage or for node pressure, by the exceeded limit or the signal (as kubelet_evictions).',
      'eviction_signal',
    ),
    errors: counter(
      'eviction_errors_total',
      'Failed attempts to evict a pod, except those that a disruption budget blocked.',
      'eviction_signal',
      'reason',
    ),
    exceeded: counter(
      'evictions_exceeded_grace_period_total',
      'Evicted pods that had not ended after 1.5 times their grace period, and at least 10 s.',
    ),
    pending: gauge(
      'eviction_pending_pods',
      'Pods whose eviction agents request and that are not evicted yet.',
    ),
    paced: gauge(
      'eviction_paced_pods',
      'Pods due for eviction that wait, by what paces them: their owner, the cluster, their node or a new leader.',
      'pace',
    ),
    blocked: gauge('eviction_blocked_pods', 'Pods whose eviction a disruption budget does not allow.'),
  };
  for (const signal of requestSignals) {
    metrics.evictions.inc({ eviction_signal: signal }, 0);
    for (const reason of failures) metrics.errors.inc({ eviction_signal: signal, reason }, 0);
  }
  for (const pace of evictionPaces) metrics.paced.set({ pace }, 0);
  return metrics;
}

/** Sets the gauges of requested and kept pods. */
export function showDecisions(
  { metrics, own }: { readonly metrics: UnitMetrics; readonly own: EvictionMetrics },
  decisions: readonly EvictionDecision[],
): void {
  const kept = decisions.filter((one) => one.verdict === 'Keep');
  showPlan(metrics, 'eviction', evictionUnitReasons, { due: [], kept });
  const ended = kept.filter(({ reason }) => reason === 'PodGone' || reason === 'Terminating');
  own.pending.set(decisions.length - ended.length);
  for (const pace of evictionPaces)
    own.paced.set({ pace }, kept.filter((one) => one.reason === 'PacingLimit' && one.pace === pace).length);
}
