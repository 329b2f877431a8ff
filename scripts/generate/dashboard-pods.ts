import { agent, both, controller, increase, one, rate, type Panel } from './dashboard-panel.ts';

/** The state of things at a glance. */
export const overviewPanels: readonly Panel[] = [
  {
    ...{ title: 'Agents', type: 'stat', description: 'Nodes whose agent Prometheus reaches.' },
    ...one(`sum(up{${agent}})`, 'agents'),
  },
  {
    ...{
      title: 'Agents that do not answer',
      type: 'stat',
      description: 'Targets that Prometheus does not reach.',
    },
    ...one(`count(up{${agent}} == 0) or vector(0)`, 'down'),
  },
  {
    ...{ title: 'Leaders', type: 'stat', description: 'Controllers that work: 1 when all is well.' },
    ...one(`sum(dustpan_leader_election_master_status{${controller}})`, 'leaders'),
  },
  {
    ...{
      title: 'Policies that cannot be followed',
      type: 'stat',
      description: 'Where they may govern nothing is collected.',
    },
    ...one(
      `count(dustpan_policy_condition{${controller},type="Accepted",status="False"}) or vector(0)`,
      'policies',
    ),
  },
  {
    ...{
      title: 'Pods deleted',
      type: 'stat',
      description: 'In the time that is shown.',
    },
    ...one(`sum(increase(dustpan_pod_gc_deleted_pods_total{${controller}}[$__range]))`, 'pods'),
  },
  {
    ...{
      title: 'Bytes freed of images',
      type: 'stat',
      unit: 'bytes',
      description: 'In the time that is shown, on the chosen nodes.',
    },
    ...one(`sum(increase(dustpan_image_garbage_collected_bytes_total{${agent}}[$__range]))`, 'bytes'),
  },
  {
    ...{
      title: 'Conditions of policies',
      type: 'state-timeline',
      description:
        'Those that are True: Enforcing is absent in mode DryRun, Degraded is there when something is in the way.',
    },
    ...one(
      `max by (policy, type) (dustpan_policy_condition{${controller},status="True"})`,
      '{{policy}} {{type}}',
    ),
  },
  {
    ...{ title: 'Versions', description: 'Processes of each version.' },
    ...one(`count by (job, version) (dustpan_build_info{${both}})`, '{{job}} {{version}}'),
  },
];

/** What podgc does. */
export const podsPanels: readonly Panel[] = [
  {
    ...{
      title: 'Pods deleted, by reason',
      unit: 'ops',
      stacked: true,
      description: 'Pods that are gone by it, per second.',
    },
    ...one(`sum by (reason) (${rate(`dustpan_pod_gc_deleted_pods_total{${controller}}`)})`, '{{reason}}'),
  },
  {
    ...{
      title: 'Pods deleted, by namespace',
      unit: 'ops',
      description:
        'The ten with the most, failed tries included; the first of a namespace is not seen. The label is exported_namespace, as namespace is the one that dustpan runs in; with honorLabels it is not there.',
    },
    ...one(
      `topk(10, sum by (exported_namespace) (${rate(`dustpan_pod_gc_force_delete_pods_total{${controller}}`)}))`,
      '{{exported_namespace}}',
    ),
  },
  {
    ...{
      title: 'Deletes that failed',
      unit: 'ops',
      description: 'The log of the controller has the answers of the API server.',
    },
    ...one(`sum by (reason) (${rate(`dustpan_pod_gc_delete_errors_total{${controller}}`)})`, '{{reason}}'),
  },
  {
    ...{
      title: 'Pods that are due',
      stacked: true,
      description: 'What the last plan would delete; in mode DryRun they stay.',
    },
    ...one(`sum by (mode, reason) (dustpan_pod_gc_due_pods{${controller}})`, '{{mode}} {{reason}}'),
  },
  {
    ...{
      title: 'Pods that are kept, by reason',
      description: 'Of the last plan; docs/reference/reasons.md says what each means.',
    },
    ...one(`sum by (reason) (dustpan_pod_gc_kept_pods{${controller}})`, '{{reason}}'),
  },
  {
    ...{
      title: 'Deletes called off',
      description: 'By the look at the live pod and node right before each.',
    },
    ...one(`sum by (reason) (${increase(`dustpan_pod_gc_skipped_pods_total{${controller}}`)})`, '{{reason}}'),
  },
  {
    ...{
      title: 'Missing nodes',
      description:
        'Names that pods are bound to and that do not exist; 1 = the breaker of the policy has tripped.',
    },
    queries: [
      { expr: `max(dustpan_pod_gc_missing_nodes{${controller}})`, legend: 'missing nodes' },
      { expr: `max by (policy) (dustpan_pod_gc_tripped{${controller}})`, legend: 'tripped: {{policy}}' },
    ],
  },
  {
    ...{
      title: 'Pace',
      description: 'Requests to mark a pod as Failed or to delete it that are in flight.',
    },
    ...one(`max(dustpan_pod_gc_delete_window{${controller}})`, 'in flight'),
  },
];
