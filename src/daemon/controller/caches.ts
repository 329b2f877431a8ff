import { hasNamespaceBudgets, podLabelKeys } from '../../api/policy/matching.ts';
import type { Right } from '../../api/policy/needs.ts';
import type { PolicySet } from '../../api/policy/policy-set.ts';
import type { PodStore } from '../../controllers/podgc/controller.ts';
import type {
  Identified,
  JobFacts,
  NamespaceFacts,
  NodeFacts,
  RawFacts,
  ReplicaSetFacts,
} from '../../kube/cache/objects.ts';
import { nodeReportsResource, type NodeReportFacts } from '../../kube/cache/node-report-facts.ts';
import { PolicyOperator, type PolicyEvent } from '../../kube/actions/operator.ts';
import { Reflector, type ReflectorDeps, type Store } from '../../kube/cache/reflector.ts';
import {
  jobsResource,
  namespacesResource,
  nodesResource,
  podsResource,
  policiesResource,
  replicaSetsResource,
  type Resource,
} from '../../kube/cache/resources.ts';
import { OnDemand, PodCache, ReportCache } from '../../kube/cache/on-demand.ts';
import type { Cache } from '../../kube/cache/staleness.ts';
import { Edge } from '../../runtime/scheduling/edge.ts';
import type { Check } from '../../runtime/serving/health.ts';

export interface Caches {
  readonly pods: PodStore;
  readonly nodes: Store<NodeFacts>;
  readonly namespaces: Store<NamespaceFacts>;
  readonly policies: Store<RawFacts>;
  /** The reports of the agents; nothing waits for them, as their kind may not be installed. */
  readonly nodeReports: ReportCache;
  readonly jobs: () => Store<JobFacts>;
  readonly replicaSets: () => Store<ReplicaSetFacts>;
  /** Replaces the status of a policy; does nothing if the policy is gone. */
  readonly writePolicyStatus: PolicyOperator['writeStatus'];
  /** All of them, for metrics and status. */
  readonly all: readonly Cache[];
  /** One readiness check per cache. */
  readonly checks: readonly Check[];
  /** Tries the failed lists and watches again at once that none of these missing rights prevents. */
  retryExcept(missing: readonly Right[]): void;
  /** Keeps all of them current until the signal aborts. */
  run(signal: AbortSignal): Promise<void>;
}

interface CacheDeps extends Omit<ReflectorDeps<Identified>, 'resource' | 'onChange'> {
  readonly policySet: PolicySet;
  /** Called when all caches are complete: at the start, and again after a cache was listed anew, or for the first time on request. */
  readonly onReady: () => void;
  /** Called when a policy was added, changed or deleted. */
  readonly onPolicy: (event: PolicyEvent) => void;
  /** Called when a report changed, if any report requests an eviction. */
  readonly onEvictionRequests: () => void;
  /** Called when the reports are complete, at the start and after each new list that `keepUsage` requires. */
  readonly onReports: () => void;
}

/** The watches of the controller. Pods and reports are listed when the policies are known, which determine what to keep of them. */
export function controllerCaches(deps: CacheDeps): Caches {
  const reflect = reflecting(deps);
  const ready: Edge = new Edge(
    () => [policies, nodes, namespaces].every(({ isComplete }) => isComplete) && pods.synced,
    deps.onReady,
  );
  const checkReady = (): void => ready.check();
  const { policies, operator } = watchedPolicies(deps, (resource, onChange) =>
    reflect(resource, () => {
      onChange();
      checkReady();
    }),
  );
  const pods: PodCache = new PodCache(
    (labelKeys) => reflect(podsResource({ labelKeys }), checkReady, { pageSize: podsPageSize }),
    checkReady,
  );
  const nodes = reflect(nodesResource(), checkReady);
  const namespaces = reflect(namespacesResource(), checkReady);
  const nodeReports = reportCache(reflect, deps);
  const { jobs, replicaSets } = ownerCaches(reflect, deps.onReady);
  const all = [policies, pods.reflector, nodes, namespaces, nodeReports, jobs, replicaSets];
  return {
    pods,
    nodes,
    namespaces,
    policies,
    writePolicyStatus: (...status) => operator.writeStatus(...status),
    nodeReports,
    jobs: () => jobs.store(),
    replicaSets: () => replicaSets.store(),
    all,
    checks: [
      policies.check('gcpolicies'),
      pods.reflector.check('pods'),
      nodes.check('nodes'),
      namespaces.check('namespaces'),
      nodeReports.reflector.laterCheck('nodegcreports'),
    ],
    retryExcept: (missing) => {
      for (const one of all) if (!missing.some(({ resource }) => resource === one.resource)) one.retry();
    },
    run: async (signal) => {
      const always = [operator, nodes, namespaces].map((one) => one.run(signal));
      const byPolicies = runByPolicies({ policies, pods, nodeReports }, deps, signal);
      const later = [jobs.run(signal), replicaSets.run(signal), byPolicies];
      await Promise.all([...always, ...later]);
    },
  };
}

function reportCache(
  reflect: Reflect,
  { onReports, onEvictionRequests }: Pick<CacheDeps, 'onReports' | 'onEvictionRequests'>,
): ReportCache {
  const reported: Edge = new Edge(() => nodeReports.synced, onReports);
  const nodeReports: ReportCache = new ReportCache(
    (keepsUsage) =>
      reflect(nodeReportsResource(keepsUsage), () => {
        reported.check();
        if (requestsEviction(nodeReports.items.values())) onEvictionRequests();
      }),
    () => reported.check(),
  );
  return nodeReports;
}

/** The owners of pods; the first pass that needs them waits for their first list, unless it fails. */
function ownerCaches(reflect: Reflect, onReady: () => void) {
  const check = (): void => {
    for (const edge of edges) edge.check();
  };
  const jobs = new OnDemand('jobs', () => reflect(jobsResource(), check), check);
  const replicaSets = new OnDemand('replicasets', () => reflect(replicaSetsResource(), check), check);
  const owners = [jobs, replicaSets];
  const edges = [
    new Edge(() => !owners.some(({ isStarting }) => isStarting), onReady),
    new Edge(() => owners.every(({ stale }) => stale === undefined), onReady),
  ];
  return { jobs, replicaSets };
}

/** Twice the usual size: half as many requests (ADR 16). */
const podsPageSize = 1000;

type Reflect = <T extends Identified>(
  resource: Resource<T>,
  onChange: () => void,
  options?: Pick<ReflectorDeps<T>, 'pageSize'>,
) => Reflector<T>;

const reflecting =
  (deps: CacheDeps): Reflect =>
  (resource, onChange, options) =>
    new Reflector({ ...deps, resource, onChange, ...options });

function requestsEviction(reports: Iterable<NodeReportFacts>): boolean {
  for (const { requests } of reports) if (requests.length > 0) return true;
  return false;
}

/** The watch of the policies and the operator, which handles their changes one by one. */
function watchedPolicies(
  { policySet, onPolicy, transport, log }: CacheDeps,
  reflect: Reflect,
): { readonly policies: Reflector<RawFacts>; readonly operator: PolicyOperator } {
  let notify: () => void = () => undefined;
  const policies = reflect(policiesResource(), () => notify());
  const operator = new PolicyOperator({
    watch: (_path, onChange) => {
      notify = onChange;
      return policies;
    },
    onEvent: (event) => {
      const changed = policySet.update(objectsOf(policies));
      if (changed || event.type !== 'MODIFIED') onPolicy(event);
      return Promise.resolve();
    },
    transport,
    log: log.named('policies'),
  });
  return { policies, operator };
}

const objectsOf = (policies: Store<RawFacts>): RawFacts['object'][] =>
  [...policies.items.values()].map(({ object }) => object);

async function runByPolicies(
  {
    policies,
    pods,
    nodeReports,
  }: Pick<Caches, 'nodeReports'> & { readonly policies: Reflector<RawFacts>; readonly pods: PodCache },
  { policySet, log }: CacheDeps,
  signal: AbortSignal,
): Promise<void> {
  await policies.whenComplete(signal).catch(() => undefined);
  if (signal.aborted) return;
  if (policies.items.size === 0) log.info({}, 'no GCPolicy exists, nothing is collected');
  policySet.update(objectsOf(policies));
  pods.covers(podLabelKeys(policySet.ranked));
  nodeReports.keepUsage(hasNamespaceBudgets(policySet.ranked));
  await Promise.all([pods.reflector.run(signal), nodeReports.reflector.run(signal)]);
}
