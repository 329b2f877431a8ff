import { Counter, Gauge, type Registry } from 'prom-client';
import { requestSignals } from '../../api/local-storage.ts';
import { evictionKeepReasons } from '../../api/reasons.ts';
import { evictionPaces } from '../../gc/reasons/evictions.ts';
import { summarize } from '../../gc/summary.ts';
import type { EvictionDecision } from './facts.ts';

export type EvictionMetrics = ReturnType<typeof evictionMetrics>;

/** Why a try failed: `error` is every failure without a name of its own. */
const failures = ['misconfigured', 'forbidden', 'denied', 'throttled', 'error'] as const;
export type Failure = (typeof failures)[number];

/** The metrics of eviction, counted from 0. */
export function evictionMetrics(registry: Registry) {
  const metrics = { ...evictionCounters([registry]), ...planMetrics([registry]) };
  for (const signal of requestSignals) {
    metrics.evictions.inc({ eviction_signal: signal }, 0);
    for (const reason of failures) metrics.errors.inc({ eviction_signal: signal, reason }, 0);
  }
  for (const reason of evictionKeepReasons) metrics.skipped.inc({ reason }, 0);
  showDecisions(metrics, []);
  return metrics;
}

function evictionCounters(registers: [Registry]) {
  return {
    evictions: new Counter({
      name: 'dustpan_evictions_total',
      help: '[ALPHA] Pods evicted for their local storage or for node pressure, by the exceeded limit or the signal (as kubelet_evictions).',
      labelNames: ['eviction_signal'],
      registers,
    }),
    errors: new Counter({
      name: 'dustpan_eviction_errors_total',
      help: '[ALPHA] Failed attempts to evict a pod, except those that a disruption budget blocked.',
      labelNames: ['eviction_signal', 'reason'],
      registers,
    }),
    skipped: new Counter({
      name: 'dustpan_eviction_skipped_pods_total',
      help: '[ALPHA] Planned evictions that a live re-check right before the request prevented, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    exceeded: new Counter({
      name: 'dustpan_evictions_exceeded_grace_period_total',
      help: '[ALPHA] Evicted pods that had not ended after 1.5 times their grace period, and at least 10 s.',
      registers,
    }),
  };
}

function planMetrics(registers: [Registry]) {
  return {
    pending: new Gauge({
      name: 'dustpan_eviction_pending_pods',
      help: '[ALPHA] Pods whose eviction agents request and that are not evicted yet.',
      registers,
    }),
    kept: new Gauge({
      name: 'dustpan_eviction_kept_pods',
      help: '[ALPHA] Pods whose eviction agents request and that the last plan keeps, by reason.',
      labelNames: ['reason'],
      registers,
    }),
    paced: new Gauge({
      name: 'dustpan_eviction_paced_pods',
      help: '[ALPHA] Pods due for eviction that wait, by what paces them: their owner, the cluster, their node or a new leader.',
      labelNames: ['pace'],
      registers,
    }),
    blocked: new Gauge({
      name: 'dustpan_eviction_blocked_pods',
      help: '[ALPHA] Pods whose eviction a disruption budget does not allow.',
      registers,
    }),
  };
}

/** Sets the gauges of requested and kept pods. */
export function showDecisions(
  { pending, kept, paced }: Pick<EvictionMetrics, 'pending' | 'kept' | 'paced'>,
  decisions: readonly EvictionDecision[],
): void {
  const { reasons } = summarize(decisions);
  const { PodGone = 0, Terminating = 0 } = reasons;
  pending.set(decisions.length - PodGone - Terminating);
  for (const reason of evictionKeepReasons) kept.set({ reason }, reasons[reason] ?? 0);
  for (const pace of evictionPaces)
    paced.set(
      { pace },
      decisions.filter(({ evidence }) => 'pace' in evidence && evidence.pace === pace).length,
    );
}
