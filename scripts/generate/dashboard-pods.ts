import { agent, both, controller, increase, rate, type Panel } from './dashboard-panel.ts';

/** The overview. */
export const overviewPanels: readonly Panel[] = [
  {
    title: 'Agents',
    type: 'stat',
    description: 'Nodes whose agent Prometheus can scrape.',
    queries: { agents: `sum(up{${agent}})` },
  },
  {
    title: 'Unreachable agents',
    type: 'stat',
    description: 'Targets that Prometheus cannot scrape.',
    queries: { down: `count(up{${agent}} == 0) or vector(0)` },
  },
  {
    title: 'Leaders',
    type: 'stat',
    description: 'Leading controllers; must be 1.',
    queries: { leaders: `sum(dustpan_leader_election_master_status{${controller}})` },
  },
  {
    title: 'Invalid policies',
    type: 'stat',
    description: 'They block all deletions that they might govern.',
    queries: {
      policies: `count(dustpan_policy_condition{${controller},type="Accepted",status="False"}) or vector(0)`,
    },
  },
  {
    title: 'Pods deleted',
    type: 'stat',
    description: 'In the selected time range.',
    queries: { pods: `sum(increase(dustpan_removed_objects_total{unit="podgc",${controller}}[$__range]))` },
  },
  {
    title: 'Bytes freed by removing images',
    type: 'stat',
    unit: 'bytes',
    description: 'In the selected time range, on the selected nodes.',
    queries: { bytes: `sum(increase(dustpan_image_garbage_collected_bytes_total{${agent}}[$__range]))` },
  },
  {
    title: 'Conditions of policies',
    type: 'state-timeline',
    description:
      'Those that are True: Enforcing is absent in mode DryRun, Degraded is there when something is in the way.',
    queries: {
      '{{policy}} {{type}}': `max by (policy, type) (dustpan_policy_condition{${controller},status="True"})`,
    },
  },
  {
    title: 'Versions',
    description: 'Processes of each version.',
    queries: { '{{job}} {{version}}': `count by (job, version) (dustpan_build_info{${both}})` },
  },
];

/** podgc. */
export const podsPanels: readonly Panel[] = [
  {
    title: 'Pods deleted, by reason',
    unit: 'ops',
    stacked: true,
    description: 'Deleted pods per second.',
    queries: {
      '{{reason}}': `sum by (reason) (${rate(`dustpan_removed_objects_total{unit="podgc",${controller}}`)})`,
    },
  },
  {
    title: 'Pods deleted, by namespace',
    unit: 'ops',
    description:
      'The ten with the most, failed tries included; the first of a namespace is not seen. The label is exported_namespace, as namespace is the one that dustpan runs in; with honorLabels it is not there.',
    queries: {
      '{{exported_namespace}}': `topk(10, sum by (exported_namespace) (${rate(`dustpan_pod_gc_force_delete_pods_total{${controller}}`)}))`,
    },
  },
  {
    title: 'Failed deletions',
    unit: 'ops',
    description: 'The log of the controller has the responses of the API server.',
    queries: {
      '{{reason}}': `sum by (reason) (${rate(`dustpan_failed_objects_total{unit="podgc",${controller}}`)})`,
    },
  },
  {
    title: 'Pods that are due',
    stacked: true,
    description: 'Pods that the last plan would delete; mode DryRun keeps them.',
    queries: {
      '{{mode}} {{reason}}': `sum by (mode, reason) (dustpan_due_objects{unit="podgc",${controller}})`,
    },
  },
  {
    title: 'Kept pods, by reason',
    description: 'In the last plan; docs/reference/reasons.md explains the reasons.',
    queries: { '{{reason}}': `sum by (reason) (dustpan_kept_objects{unit="podgc",${controller}})` },
  },
  {
    title: 'Cancelled deletions',
    description: 'By the live check of pod and node right before each deletion.',
    queries: {
      '{{reason}}': `sum by (reason) (${increase(`dustpan_skipped_objects_total{unit="podgc",${controller}}`)})`,
    },
  },
  {
    title: 'Missing nodes',
    description:
      'Names that pods are bound to and that do not exist; 1 = the breaker of the policy has tripped.',
    queries: {
      'missing nodes': `max(dustpan_pod_gc_missing_nodes{${controller}})`,
      'tripped: {{policy}}': `max by (policy) (dustpan_pod_gc_tripped{${controller}})`,
    },
  },
  {
    title: 'Requests in flight',
    description: 'Requests that set a pod to Failed or delete it.',
    queries: { 'in flight': `max(dustpan_pod_gc_delete_window{${controller}})` },
  },
];
