import { agent, controller, increase, one, type Panel } from './dashboard-panel.ts';

/** Signals of the nodes, and what the policy does about them. */
export const pressurePanels: readonly Panel[] = [
  {
    ...{
      title: 'Available on the nodes',
      unit: 'percentunit',
      description: 'The least of the selected nodes, by signal, as the kubelet measures it.',
    },
    ...one(`min by (signal) (dustpan_node_signal_available_ratio{${agent}})`, '{{signal}}'),
  },
  {
    ...{
      title: 'Time until a threshold is crossed',
      unit: 's',
      description:
        'At the present growth, until the nearer threshold of the policy or of the kubelet; the ten shortest. 0 = crossed.',
    },
    ...one(
      `bottomk(10, min by (node, signal) (dustpan_node_signal_threshold_seconds{${agent}}))`,
      '{{node}} {{signal}}',
    ),
  },
  {
    ...{
      title: 'Pods to evict for node pressure',
      stacked: true,
      description:
        'Where removing images and containers did not free enough, and evictPods is true; mode DryRun requests no eviction.',
    },
    ...one(
      `sum by (mode, reason) (dustpan_due_objects{unit="nodepressure",${agent}})`,
      '{{mode}} {{reason}}',
    ),
  },
];

/** Local storage and evictions. */
export const storagePanels: readonly Panel[] = [
  {
    ...{ title: 'Local storage of pods', unit: 'bytes', description: 'On the selected nodes, by kind.' },
    ...one(`sum by (kind) (dustpan_local_storage_used_bytes{${agent}})`, '{{kind}}'),
  },
  {
    ...{
      title: 'Pods with the highest usage',
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
      title: 'Limits close to being exceeded',
      description: 'Usage above the lowest level of warnAtPercent.',
    },
    ...one(`sum by (eviction_signal) (dustpan_local_storage_warned_limits{${agent}})`, '{{eviction_signal}}'),
  },
  {
    ...{
      title: 'Pods over their limits',
      stacked: true,
      description: 'As measured by the agents; mode DryRun requests no eviction.',
    },
    ...one(
      `sum by (mode, reason) (dustpan_due_objects{unit="localstorage",${agent}})`,
      '{{mode}} {{reason}}',
    ),
  },
  {
    ...{ title: 'Pods evicted', stacked: true, description: 'By exceeded limit.' },
    ...one(
      `sum by (eviction_signal) (${increase(`dustpan_evictions_total{${controller}}`)})`,
      '{{eviction_signal}}',
    ),
  },
  {
    ...{
      title: 'Pending evictions',
      description: 'Requested by agents; blocked = by a disruption budget.',
    },
    queries: [
      { expr: `max(dustpan_eviction_pending_pods{${controller}})`, legend: 'requested' },
      { expr: `max(dustpan_eviction_blocked_pods{${controller}})`, legend: 'blocked' },
    ],
  },
  {
    ...{
      title: 'Failed and refused evictions',
      description:
        'Tries that failed; pods that are kept in spite of the agent; evicted pods that did not end in time.',
    },
    queries: [
      {
        expr: `sum by (reason) (${increase(`dustpan_eviction_errors_total{${controller}}`)})`,
        legend: 'failed: {{reason}}',
      },
      {
        expr: `sum by (reason) (dustpan_kept_objects{unit="eviction",${controller}})`,
        legend: 'kept: {{reason}}',
      },
      {
        expr: `sum(${increase(`dustpan_evictions_exceeded_grace_period_total{${controller}}`)})`,
        legend: 'evicted, still running after the grace period',
      },
    ],
  },
  {
    ...{
      title: 'Age of the measurements, by node',
      unit: 's',
      description: 'The oldest measurement that the last plan compared with a limit.',
    },
    ...one(`max by (node) (dustpan_local_storage_usage_age_seconds{${agent}})`, '{{node}}'),
  },
];

export const diskPanels: readonly Panel[] = [
  {
    ...{
      title: 'What uses the disks',
      unit: 'bytes',
      stacked: true,
      description: 'On the selected nodes; the classes add up to what df shows as used.',
    },
    ...one(`sum by (class) (dustpan_disk_used_bytes{${agent}})`, '{{class}}'),
  },
  {
    ...{
      title: 'Namespaces that use most',
      unit: 'bytes',
      stacked: true,
      description: 'Writable layers, emptyDirs and logs of their pods.',
    },
    ...one(
      `topk(10, sum by (exported_namespace) (dustpan_namespace_disk_used_bytes{${agent}}))`,
      '{{exported_namespace}}',
    ),
  },
  {
    ...{
      title: 'Time until a disk is full, after collection',
      unit: 's',
      description:
        'At the growth of the last 15 minutes, if everything collectable is removed by then; the ten nodes that are full first.',
    },
    ...one(`bottomk(10, min by (node) (dustpan_node_full_after_collection_seconds{${agent}}))`, '{{node}}'),
  },
];
