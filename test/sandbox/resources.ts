import type { Rules } from './rules.ts';
import { customRules } from './rules-custom.ts';
import { eventRules } from './rules-events.ts';
import { leaseRules } from './rules-leases.ts';
import { namespaceRules } from './rules-namespaces.ts';
import { nodeRules } from './rules-nodes.ts';
import { podRules } from './rules-pods.ts';
import { plainRules } from './rules-plain.ts';
import { binaryKinds } from './protobuf-kinds.ts';
import type { MessageFields } from './protobuf.ts';
import { isObject, type JsonObject } from './json.ts';

/** One kind that the server serves. */
export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly subresources: readonly string[];
  /** Custom resources have no protobuf form, take no strategic merge patch and keep apiVersion and kind in lists. */
  readonly custom: boolean;
  readonly rules: Rules;
  /** How the kind is written as protobuf; undefined: JSON only. */
  readonly binary: MessageFields | undefined;
}

export const apiVersionOf = ({ group, version }: Pick<Resource, 'group' | 'version'>): string =>
  group === '' ? version : `${group}/${version}`;

type Row = readonly [
  groupVersion: string,
  kind: string,
  plural: string,
  traits?: { clusterScoped?: true; rules?: Rules; subresources?: readonly string[] },
];

const withStatus = { subresources: ['status'] };

const rows: readonly Row[] = [
  ['v1', 'Pod', 'pods', { rules: podRules, subresources: ['status', 'eviction'] }],
  ['v1', 'Node', 'nodes', { clusterScoped: true, rules: nodeRules, ...withStatus }],
  ['v1', 'Namespace', 'namespaces', { clusterScoped: true, rules: namespaceRules, ...withStatus }],
  ['v1', 'ServiceAccount', 'serviceaccounts'],
  ['batch/v1', 'Job', 'jobs', { rules: plainRules({ generation: true }), ...withStatus }],
  ['apps/v1', 'ReplicaSet', 'replicasets', { rules: plainRules({ generation: true }), ...withStatus }],
  ['apps/v1', 'Deployment', 'deployments', { rules: plainRules({ generation: true }), ...withStatus }],
  ['apps/v1', 'StatefulSet', 'statefulsets', { rules: plainRules({ generation: true }), ...withStatus }],
  ['apps/v1', 'DaemonSet', 'daemonsets', { rules: plainRules({ generation: true }), ...withStatus }],
  ['coordination.k8s.io/v1', 'Lease', 'leases', { rules: leaseRules }],
  ['events.k8s.io/v1', 'Event', 'events', { rules: eventRules }],
  [
    'policy/v1',
    'PodDisruptionBudget',
    'poddisruptionbudgets',
    { rules: plainRules({ generation: true }), ...withStatus },
  ],
];

export const builtInResources: readonly Resource[] = rows.map(([groupVersion, kind, plural, traits = {}]) => {
  const [version = '', group = ''] = groupVersion.split('/').toReversed();
  return {
    group,
    version,
    plural,
    kind,
    namespaced: traits.clusterScoped !== true,
    subresources: traits.subresources ?? [],
    custom: false,
    rules: traits.rules ?? plainRules({ generation: false }),
    binary: binaryKinds[kind],
  };
});

/** The resource of the storage version that a CustomResourceDefinition describes. */
export function customResource(crd: JsonObject): Resource {
  const { group, scope, names, versions } = crd['spec'] as CrdSpec;
  const version = versions.find(({ storage }) => storage) ?? versions[0];
  if (version === undefined) throw new Error('custom resource definition without a version');
  return {
    group,
    version: version.name,
    plural: names.plural,
    kind: names.kind,
    namespaced: scope === 'Namespaced',
    subresources: isObject(version.subresources) && 'status' in version.subresources ? ['status'] : [],
    custom: true,
    rules: customRules(crd),
    binary: undefined,
  };
}

interface CrdSpec {
  readonly group: string;
  readonly scope: string;
  readonly names: { readonly plural: string; readonly kind: string };
  readonly versions: readonly {
    readonly name: string;
    readonly storage: boolean;
    readonly subresources?: unknown;
  }[];
}
