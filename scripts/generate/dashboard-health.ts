import { agent, both, controller, increase, p99, rate, type Panel } from './dashboard-panel.ts';

/** The health of the processes. */
export const healthPanels: readonly Panel[] = [
  {
    title: 'Since the last good pass',
    unit: 's',
    description: 'The longest time of each loop; years = no successful pass yet.',
    queries: {
      '{{job}} {{loop}}': `max by (job, loop) (time() - dustpan_loop_last_success_timestamp_seconds{${both}})`,
    },
  },
  {
    title: 'Failed passes',
    description: 'By loop.',
    queries: {
      '{{job}} {{loop}}': `sum by (job, loop) (${increase(`dustpan_loop_passes_total{${both},result="error"}`)})`,
    },
  },
  {
    title: 'Duration of passes, 99th percentile',
    unit: 's',
    description: 'By loop.',
    queries: { '{{job}} {{loop}}': p99('job, loop', `dustpan_loop_pass_duration_seconds_bucket{${both}}`) },
  },
  {
    title: 'Duration of plans over pods, 99th percentile',
    unit: 's',
    description: 'A plan blocks the event loop.',
    queries: {
      podgc: `histogram_quantile(0.99, sum by (le) (${rate(`dustpan_pod_gc_plan_duration_seconds_bucket{${controller}}`)}))`,
    },
  },
  {
    title: 'Requests to the API server',
    unit: 'reqps',
    stacked: true,
    description: 'By status.',
    queries: {
      '{{job}} {{code}}': `sum by (job, code) (${rate(`dustpan_rest_client_requests_total{${both}}`)})`,
    },
  },
  {
    title: 'Latency of the API server, 99th percentile',
    unit: 's',
    description: 'Until the response begins.',
    queries: {
      '{{job}} {{verb}}': p99('job, verb', `dustpan_rest_client_request_duration_seconds_bucket{${both}}`),
    },
  },
  {
    title: 'Calls of the container runtime, 99th percentile',
    unit: 's',
    description: 'By operation, on the chosen nodes.',
    queries: {
      '{{operation_type}}': p99(
        'operation_type',
        `dustpan_runtime_operations_duration_seconds_bucket{${agent}}`,
      ),
    },
  },
  {
    title: 'Failed calls of the container runtime',
    description: 'By operation, on the chosen nodes.',
    queries: {
      '{{operation_type}}': `sum by (operation_type) (${increase(`dustpan_runtime_operations_errors_total{${agent}}`)})`,
    },
  },
  {
    title: 'Watches',
    description: 'Failed lists and watches; complete lists, of which there should be few.',
    queries: {
      'failed: {{job}} {{resource}}': `sum by (job, resource) (${increase(`dustpan_reflector_failures_total{${both}}`)})`,
      'lists: {{job}} {{resource}}': `sum by (job, resource) (${increase(`dustpan_reflector_lists_total{${both}}`)})`,
    },
  },
  {
    title: 'Events',
    description: 'Written, and dropped by cause.',
    queries: {
      'written: {{job}}': `sum by (job) (${increase(`dustpan_events_sent_total{${both}}`)})`,
      'dropped: {{job}} {{cause}}': `sum by (job, cause) (${increase(`dustpan_events_dropped_total{${both}}`)})`,
    },
  },
  {
    title: 'Memory',
    unit: 'bytes',
    description: 'Resident memory; the largest process of each component.',
    queries: { '{{job}}': `max by (job) (process_resident_memory_bytes{${both}})` },
  },
  {
    title: 'Processor and event loop',
    description: 'Used cores, and the lag of the event loop in seconds; the highest of each component.',
    queries: {
      'cores: {{job}}': `max by (job) (${rate(`process_cpu_seconds_total{${both}}`)})`,
      'lag: {{job}}': `max by (job) (nodejs_eventloop_lag_p99_seconds{${both}})`,
    },
  },
];
