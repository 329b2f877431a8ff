import { usageClasses } from '../../src/agent/usage/facts.ts';
import { nodeSignals } from '../../src/api/node-pressure.ts';
import { upstreamReason } from '../../src/controllers/podgc/metrics.ts';
import { stuckCauses } from '../../src/controllers/podgc/stuck.ts';
import { code, codes } from './markdown.ts';

const operations = [
  'version',
  'status',
  'list_images',
  'image_status',
  'remove_image',
  'image_fs_info',
  'list_containers',
  'container_status',
  'stop_container',
  'remove_container',
  'list_podsandbox',
  'podsandbox_status',
  'stop_podsandbox',
  'remove_podsandbox',
  'list_container_stats',
];

const methods = codes(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);

/** Labels without preset values. */
export const openLabels: Readonly<Record<string, string>> = {
  cause: codes(stuckCauses),
  class: codes(Object.values(usageClasses)),
  code: 'HTTP status, or `<error>`',
  host: 'host and port of the API server',
  loop: 'controller: `budgets`, `eviction`, `podgc`, `policystatus`; agent: `containergc`, `imagegc`, `leftovers`, `localstorage`, `nodepressure`, `report`, `runtime`, `usage`',
  method: methods,
  namespace: 'namespace of the pods',
  operation_type: codes(operations),
  pod: 'name of the pod',
  policy: 'name of the GCPolicy',
  reason: `${codes(Object.values(upstreamReason))} ([table](reasons.md#reasons-in-upstreams-words))`,
  result: codes(['success', 'waiting', 'error']),
  signal: codes(nodeSignals),
  scope: '`node`: the budget per node, `cluster`: that for all nodes of the policy',
  resource: `plural of the kind, such as ${code('pods')}`,
  status: codes(['True', 'False', 'Unknown']),
  type: codes(['Ready', 'Accepted', 'Enforcing', 'Holding', 'Degraded', 'BudgetsExceeded', 'ImagesRemoved']),
  verb: `${methods}; of a right ${codes(['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'])}`,
};

/** Labels whose only value depends on the installation. */
export const placeLabels: Readonly<Record<string, string>> = {
  name: 'name of the Lease',
  nodeversion: 'version of Node.js',
  revision: 'commit',
  version: 'version of dustpan',
};

/** Metrics of Kubernetes with the same meaning, and the same labels except as noted. */
export const upstreamMetrics: Readonly<Record<string, string>> = {
  dustpan_pod_gc_force_delete_pods_total:
    '`pod_gc_collector_force_delete_pods_total` of kube-controller-manager; `terminated-in-namespace` and `expired` are ours; after the first 1000 namespaces, all others count as `<other>`',
  dustpan_pod_gc_force_delete_pod_errors_total:
    '`pod_gc_collector_force_delete_pod_errors_total` of kube-controller-manager; `terminated-in-namespace` and `expired` are ours; after the first 1000 namespaces, all others count as `<other>`',
  dustpan_evictions_total:
    "`kubelet_evictions`, with the kubelet's signals for local storage and disks; it counts evictions that the API server accepted",
  dustpan_image_garbage_collected_total: '`kubelet_image_garbage_collected_total`',
  dustpan_runtime_operations_total: '`kubelet_runtime_operations_total`',
  dustpan_runtime_operations_errors_total: '`kubelet_runtime_operations_errors_total`',
  dustpan_runtime_operations_duration_seconds:
    '`kubelet_runtime_operations_duration_seconds`, with fewer buckets',
  dustpan_rest_client_requests_total: '`rest_client_requests_total`',
  dustpan_rest_client_request_duration_seconds: '`rest_client_request_duration_seconds`',
  dustpan_leader_election_master_status: '`leader_election_master_status`',
  dustpan_leader_election_slowpath_total: '`leader_election_slowpath_total`',
  dustpan_loop_passes_total:
    '`controller_runtime_reconcile_total` of controllers made with controller-runtime, by `controller` instead of `loop`',
  dustpan_loop_pass_duration_seconds:
    '`controller_runtime_reconcile_time_seconds` of controllers made with controller-runtime, by `controller` instead of `loop`',
  dustpan_build_info: '`kubernetes_build_info`, with other labels',
};
