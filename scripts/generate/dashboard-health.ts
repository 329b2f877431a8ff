import { agent, both, controller, increase, one, p99, rate, type Panel } from './dashboard-panel.ts';

/** The health of the processes. */
export const healthPanels: readonly Panel[] = [
  {
    ...{
      title: 'Since the last good pass',
      unit: 's',
      description: 'The longest time of each loop; years = no successful pass yet.',
    },
    ...one(
      `max by (job, loop) (time() - dustpan_loop_last_success_timestamp_seconds{${both}})`,
      '{{job}} {{loop}}',
    ),
  },
  {
    ...{ title: 'Failed passes', description: 'By loop.' },
    ...one(
      `sum by (job, loop) (${increase(`dustpan_loop_passes_total{${both},result="error"}`)})`,
      '{{job}} {{loop}}',
    ),
  },
  {
    ...{ title: 'Duration of passes, 99th percentile', unit: 's', description: 'By loop.' },
    ...one(p99('job, loop', `dustpan_loop_pass_duration_seconds_bucket{${both}}`), '{{job}} {{loop}}'),
  },
  {
    ...{
      title: 'Duration of plans over pods, 99th percentile',
      unit: 's',
      description: 'A plan blocks the event loop.',
    },
    ...one(
      `histogram_quantile(0.99, sum by (le) (${rate(`dustpan_pod_gc_plan_duration_seconds_bucket{${controller}}`)}))`,
      'podgc',
    ),
  },
  {
    ...{ title: 'Requests to the API server', unit: 'reqps', stacked: true, description: 'By status.' },
    ...one(`sum by (job, code) (${rate(`dustpan_rest_client_requests_total{${both}}`)})`, '{{job}} {{code}}'),
  },
  {
    ...{
      title: 'Latency of the API server, 99th percentile',
      unit: 's',
      description: 'Until the response begins.',
    },
    ...one(
      p99('job, verb', `dustpan_rest_client_request_duration_seconds_bucket{${both}}`),
      '{{job}} {{verb}}',
    ),
  },
  {
    ...{
      title: 'Calls of the container runtime, 99th percentile',
      unit: 's',
      description: 'By operation, on the chosen nodes.',
    },
    ...one(
      p99('operation_type', `dustpan_runtime_operations_duration_seconds_bucket{${agent}}`),
      '{{operation_type}}',
    ),
  },
  {
    ...{
      title: 'Failed calls of the container runtime',
      description: 'By operation, on the chosen nodes.',
    },
    ...one(
      `sum by (operation_type) (${increase(`dustpan_runtime_operations_errors_total{${agent}}`)})`,
      '{{operation_type}}',
    ),
  },
  {
    ...{
      title: 'Watches',
      description: 'Failed lists and watches; complete lists, of which there should be few.',
    },
    queries: [
      {
        expr: `sum by (job, resource) (${increase(`dustpan_reflector_failures_total{${both}}`)})`,
        legend: 'failed: {{job}} {{resource}}',
      },
      {
        expr: `sum by (job, resource) (${increase(`dustpan_reflector_lists_total{${both}}`)})`,
        legend: 'lists: {{job}} {{resource}}',
      },
    ],
  },
  {
    ...{ title: 'Events', description: 'Written, and dropped by cause.' },
    queries: [
      {
        expr: `sum by (job) (${increase(`dustpan_events_sent_total{${both}}`)})`,
        legend: 'written: {{job}}',
      },
      {
        expr: `sum by (job, cause) (${increase(`dustpan_events_dropped_total{${both}}`)})`,
        legend: 'dropped: {{job}} {{cause}}',
      },
    ],
  },
  {
    ...{
      title: 'Memory',
      unit: 'bytes',
      description: 'Resident memory; the largest process of each component.',
    },
    ...one(`max by (job) (process_resident_memory_bytes{${both}})`, '{{job}}'),
  },
  {
    ...{
      title: 'Processor and event loop',
      description: 'Used cores, and the lag of the event loop in seconds; the highest of each component.',
    },
    queries: [
      { expr: `max by (job) (${rate(`process_cpu_seconds_total{${both}}`)})`, legend: 'cores: {{job}}' },
      { expr: `max by (job) (nodejs_eventloop_lag_p99_seconds{${both}})`, legend: 'lag: {{job}}' },
    ],
  },
];
