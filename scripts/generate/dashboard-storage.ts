import { agent, controller, increase, type Panel } from './dashboard-panel.ts';

/** Signals of the nodes, and what the policy does about them. */
export const pressurePanels: readonly Panel[] = [
  {
    title: 'Available on the nodes',
    unit: 'percentunit',
    description: 'The least of the selected nodes, by signal, as the kubelet measures it.',
    queries: { '{{signal}}': `min by (signal) (dustpan_node_signal_available_ratio{${agent}})` },
  },
  {
    title: 'Time until a threshold is crossed',
    unit: 's',
    description:
      'At the present growth, until the nearer threshold of the policy or of the kubelet; the ten shortest. 0 = crossed.',
    queries: {
      '{{node}} {{signal}}': `bottomk(10, min by (node, signal) (dustpan_node_signal_threshold_seconds{${agent}}))`,
    },
  },
  {
    title: 'Pods to evict for node pressure',
    stacked: true,
    description:
      'Where removing images and containers did not free enough, and evictPods is true; mode DryRun requests no eviction.',
    queries: {
      '{{mode}} {{reason}}': `sum by (mode, reason) (dustpan_due_objects{unit="nodepressure",${agent}})`,
    },
  },
];

/** Local storage and evictions. */
export const storagePanels: readonly Panel[] = [
  {
    title: 'Local storage of pods',
    unit: 'bytes',
    description: 'On the selected nodes, by kind.',
    queries: { '{{kind}}': `sum by (kind) (dustpan_local_storage_used_bytes{${agent}})` },
  },
  {
    title: 'Pods with the highest usage',
    unit: 'bytes',
    description: 'The ten largest; only with --local-storage-pod-metrics.',
    queries: {
      '{{exported_namespace}}/{{exported_pod}}': `topk(10, max by (exported_namespace, exported_pod) (dustpan_pod_local_storage_used_bytes{${agent}}))`,
    },
  },
  {
    title: 'Limits close to being exceeded',
    description: 'Usage above the lowest level of warnAtPercent.',
    queries: {
      '{{eviction_signal}}': `sum by (eviction_signal) (dustpan_local_storage_warned_limits{${agent}})`,
    },
  },
  {
    title: 'Pods over their limits',
    stacked: true,
    description: 'As measured by the agents; mode DryRun requests no eviction.',
    queries: {
      '{{mode}} {{reason}}': `sum by (mode, reason) (dustpan_due_objects{unit="localstorage",${agent}})`,
    },
  },
  {
    title: 'Pods evicted',
    stacked: true,
    description: 'By exceeded limit.',
    queries: {
      '{{eviction_signal}}': `sum by (eviction_signal) (${increase(`dustpan_evictions_total{${controller}}`)})`,
    },
  },
  {
    title: 'Pending evictions',
    description: 'Requested by agents; blocked = by a disruption budget.',
    queries: {
      requested: `max(dustpan_eviction_pending_pods{${controller}})`,
      blocked: `max(dustpan_eviction_blocked_pods{${controller}})`,
    },
  },
  {
    title: 'Failed and refused evictions',
    description:
      'Tries that failed; pods that are kept in spite of the agent; evicted pods that did not end in time.',
    queries: {
      'failed: {{reason}}': `sum by (reason) (${increase(`dustpan_eviction_errors_total{${controller}}`)})`,
      'kept: {{reason}}': `sum by (reason) (dustpan_kept_objects{unit="eviction",${controller}})`,
      'evicted, still running after the grace period': `sum(${increase(`dustpan_evictions_exceeded_grace_period_total{${controller}}`)})`,
    },
  },
  {
    title: 'Age of the measurements, by node',
    unit: 's',
    description: 'The oldest measurement that the last plan compared with a limit.',
    queries: { '{{node}}': `max by (node) (dustpan_local_storage_usage_age_seconds{${agent}})` },
  },
];

export const diskPanels: readonly Panel[] = [
  {
    title: 'What uses the disks',
    unit: 'bytes',
    stacked: true,
    description: 'On the selected nodes; the classes add up to what df shows as used.',
    queries: { '{{class}}': `sum by (class) (dustpan_disk_used_bytes{${agent}})` },
  },
  {
    title: 'Namespaces that use most',
    unit: 'bytes',
    stacked: true,
    description: 'Writable layers, emptyDirs and logs of their pods.',
    queries: {
      '{{exported_namespace}}': `topk(10, sum by (exported_namespace) (dustpan_namespace_disk_used_bytes{${agent}}))`,
    },
  },
  {
    title: 'Time until a disk is full, after collection',
    unit: 's',
    description:
      'At the growth of the last 15 minutes, if everything collectable is removed by then; the ten nodes that are full first.',
    queries: {
      '{{node}}': `bottomk(10, min by (node) (dustpan_node_full_after_collection_seconds{${agent}}))`,
    },
  },
];
