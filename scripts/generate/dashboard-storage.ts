import { agent, controller, increase, one, type Panel } from './dashboard-panel.ts';

/** Local storage, and the evictions for it. */
export const storagePanels: readonly Panel[] = [
  {
    ...{ title: 'Local storage of pods', unit: 'bytes', description: 'Of the chosen nodes, by kind.' },
    ...one(`sum by (kind) (dustpan_local_storage_used_bytes{${agent}})`, '{{kind}}'),
  },
  {
    ...{
      title: 'Pods that use most',
      unit: 'bytes',
      description: 'The ten largest; only with --local-storage-pod-metrics.',
    },
    ...one(
      `topk(10, max by (exported_namespace, exported_pod) (dustpan_pod_local_storage_used_bytes{${agent}}))`,
      '{{exported_namespace}}/{{exported_pod}}',
    ),
  },
  {
    ...{
      title: 'Limits that are nearly used up',
      description: 'More is used than the lowest level of warnAtPercent.',
    },
    ...one(`sum by (eviction_signal) (dustpan_local_storage_warned_limits{${agent}})`, '{{eviction_signal}}'),
  },
  {
    ...{
      title: 'Pods over their limits',
      stacked: true,
      description: 'As the agents find them; in mode DryRun nothing is asked for.',
    },
    ...one(
      `sum by (mode, eviction_signal) (dustpan_local_storage_due_pods{${agent}})`,
      '{{mode}} {{eviction_signal}}',
    ),
  },
  {
    ...{ title: 'Pods evicted', stacked: true, description: 'By the limit that they exceeded.' },
    ...one(
      `sum by (eviction_signal) (${increase(`dustpan_evictions_total{${controller}}`)})`,
      '{{eviction_signal}}',
    ),
  },
  {
    ...{
      title: 'Evictions that wait',
      description: 'Asked for by agents; blocked = by a disruption budget.',
    },
    queries: [
      { expr: `max(dustpan_eviction_pending_pods{${controller}})`, legend: 'asked for' },
      { expr: `max(dustpan_eviction_blocked_pods{${controller}})`, legend: 'blocked' },
    ],
  },
  {
    ...{
      title: 'Evictions that failed or were not made',
      description:
        'Tries that failed; pods that are kept in spite of the agent; evicted pods that did not end in time.',
    },
    queries: [
      {
        expr: `sum by (reason) (${increase(`dustpan_eviction_errors_total{${controller}}`)})`,
        legend: 'failed: {{reason}}',
      },
      { expr: `sum by (reason) (dustpan_eviction_kept_pods{${controller}})`, legend: 'kept: {{reason}}' },
      {
        expr: `sum(${increase(`dustpan_evictions_exceeded_grace_period_total{${controller}}`)})`,
        legend: 'evicted, not ended in time',
      },
    ],
  },
  {
    ...{
      title: 'Age of the figures, by node',
      unit: 's',
      description: 'Of the oldest that the last plan compared with a limit.',
    },
    ...one(`max by (node) (dustpan_local_storage_usage_age_seconds{${agent}})`, '{{node}}'),
  },
];
