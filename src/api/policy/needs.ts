import { isInvalid, type InvalidPolicy, type Policy } from './policy.ts';
import { wantedConfigMap } from '../wanted-images.ts';
import { hasNamespaceBudgets, neededOwners, needsUsageOf, pinsWanted } from './matching.ts';

/** A right in the API server, in the words of RBAC. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  /** In the namespace of the process. */
  readonly isLocal?: true;
  readonly name?: string;
  /** The values of the chart that may leave it out on purpose: then policies that need it are degraded, and the process works. */
  readonly values?: readonly string[];
}

/** `list pods`, `patch pods/status`. */
export const rightText = ({ verb, resource, subresource }: Right): string =>
  `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`;

/** The values of the chart that grant these rights, as far as values may leave them out. */
export const valuesThatGrant = (rights: readonly Right[]): readonly string[] => [
  ...new Set(rights.flatMap(({ values = [] }) => values)),
];

/** Whether the process does not work without this right. */
export const isIndispensable = ({ values }: Right): boolean => values === undefined;

const groups: Readonly<Record<string, string>> = {
  gcpolicies: 'gc.dustpan.dev',
  nodegcreports: 'gc.dustpan.dev',
  jobs: 'batch',
  cronjobs: 'batch',
  replicasets: 'apps',
  deployments: 'apps',
  statefulsets: 'apps',
  daemonsets: 'apps',
};

/** By resource; an installation may do without what they permit. */
const valuesOf: Readonly<Record<string, readonly string[]>> = {
  jobs: ['rbac.jobs'],
  replicasets: ['rbac.replicaSets'],
  'pods/eviction': ['rbac.evictions', 'admissionPolicy.enabled'],
};

function right(verb: string, resource: string, subresource?: string): Right {
  const values = valuesOf[subresource === undefined ? resource : `${resource}/${subresource}`];
  return {
    verb,
    group: groups[resource] ?? '',
    resource,
    ...(subresource !== undefined && { subresource }),
    ...(values !== undefined && { values }),
  };
}

/** The resources that the controller must list to follow the policy, by their plural. */
export function resourcesOf(policy: Policy): readonly string[] {
  const owners = neededOwners([policy]);
  const evicts = needsUsageOf([policy]);
  const needed = {
    gcpolicies: true,
    pods: policy.pods !== undefined || evicts,
    nodes: true,
    namespaces: policy.pods !== undefined || evicts || hasNamespaceBudgets([policy]),
    jobs: owners.jobs,
    replicasets: owners.replicaSets,
    nodegcreports: policy.nodes !== undefined,
  };
  return Object.entries(needed).flatMap(([resource, isNeeded]) => (isNeeded ? [resource] : []));
}

/** The rights that the controller needs to follow the policy. */
export function rightsOf(policy: Policy): readonly Right[] {
  const { mode, pods, nodes } = policy;
  const evicts = nodes?.localStorageEviction !== undefined || nodes?.nodePressure?.evictPods === true;
  return [
    ...reading(resourcesOf(policy)),
    right('patch', 'gcpolicies', 'status'),
    ...(mode === 'Enforce' && pods !== undefined ? deleting : []),
    ...(mode === 'Enforce' && evicts ? evicting : []),
    ...(pinsWanted([policy]) ? [...listingWorkloads, ...writingWanted] : []),
  ];
}

const reading = (resources: readonly string[]): readonly Right[] =>
  resources.flatMap((resource) => [right('list', resource), right('watch', resource)]);

const verifying = [right('get', 'nodes'), right('get', 'namespaces')];
const deleting = [...verifying, right('patch', 'pods', 'status'), right('delete', 'pods')];
const evicting = [...verifying, right('get', 'pods'), right('create', 'pods', 'eviction')];

/** Two of the kinds may also be needed, and granted, for the owners of pods. */
const listingWorkloads = ['daemonsets', 'cronjobs', 'jobs', 'deployments', 'statefulsets', 'replicasets'].map(
  (resource): Right => ({ ...right('list', resource), values: ['rbac.wantedImages'] }),
);

const onWantedList = (verb: string): Right => ({
  ...right(verb, 'configmaps'),
  isLocal: true,
  name: wantedConfigMap,
  values: ['rbac.wantedImages'],
});
const writingWanted = ['get', 'create', 'update'].map(onWantedList);

/** The rights that the controller needs under these policies, and without any. */
export function controllerRights(policies: readonly (Policy | InvalidPolicy)[]): readonly Right[] {
  const ofPolicies = policies.flatMap((policy) => (isInvalid(policy) ? [] : rightsOf(policy)));
  const all = [...reading(['gcpolicies', 'pods', 'nodes', 'namespaces']), ...ofPolicies];
  return [...new Map(all.map((one) => [rightText(one), one])).values()];
}

/** The rights that an agent needs; `wantsList`: the policy of its node has pinWanted. */
export const agentRights = (wantsList: boolean): readonly Right[] => [
  right('list', 'gcpolicies'),
  right('list', 'nodes'),
  ...reading(['pods']),
  right('get', 'pods'),
  right('create', 'nodegcreports'),
  right('patch', 'nodegcreports', 'status'),
  ...(wantsList ? [onWantedList('get')] : []),
];

/** The right to renew the Lease; the role names it. */
export const leaseRight = ({ namespace, name }: Required<Pick<Right, 'namespace' | 'name'>>): Right => ({
  verb: 'update',
  group: 'coordination.k8s.io',
  resource: 'leases',
  namespace,
  name,
});
