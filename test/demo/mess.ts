import { policyManifest } from '../manifests.ts';

/** One kind of leftover: how many pods, how they are made, what a reader should expect of them. */
export interface Leftover {
  readonly group: string;
  readonly count: number;
  readonly namespace: string;
  readonly phase: string;
  readonly reason?: string;
  readonly message?: string;
  readonly node: (index: number) => string;
  readonly owner?: (index: number) => Owner;
  readonly labels?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  /** Deleted after it was made: stays as long as a finalizer, or a node that does not answer, holds it. */
  readonly deleted?: boolean;
}

export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

export const namespaces = [
  { name: 'batch' },
  { name: 'web' },
  { name: 'ci' },
  { name: 'audit', labels: { 'gc.dustpan.dev/keep': 'true' } },
] as const;

const outOfService = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };

export const nodes = [
  ...['node-1', 'node-2', 'node-3', 'node-4', 'node-5'].map((name) => ({ name, ready: true, taints: [] })),
  { name: 'node-6', ready: false, taints: [outOfService] },
] as const;

const aNode = (index: number): string => `node-${1 + (index % 5)}`;
const job =
  (name: string, size: number) =>
  (index: number): Owner => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    name: `${name}-${Math.floor(index / size)}`,
  });
const replicaSet = (name: string) => (): Owner => ({ apiVersion: 'apps/v1', kind: 'ReplicaSet', name });

/** What a day leaves behind: node-7 was taken away under its pods, node-6 is marked out of service. */
export const mess: readonly Leftover[] = [
  {
    ...{ group: 'finished Job pods', count: 60, namespace: 'batch', phase: 'Succeeded' },
    ...{ node: aNode, owner: job('report', 10) },
  },
  {
    ...{
      group: 'pods their Job has not counted',
      count: 2,
      namespace: 'batch',
      phase: 'Succeeded',
      node: aNode,
    },
    ...{ owner: job('import', 2), finalizers: ['batch.kubernetes.io/job-tracking'] },
  },
  {
    ...{ group: 'finished CI runners', count: 40, namespace: 'ci', phase: 'Succeeded', node: aNode },
  },
  {
    ...{ group: 'a runner somebody still looks at', count: 1, namespace: 'ci', phase: 'Failed', node: aNode },
    labels: { 'gc.dustpan.dev/keep': 'true' },
  },
  {
    ...{
      group: 'evicted web pods',
      count: 24,
      namespace: 'web',
      phase: 'Failed',
      reason: 'Evicted',
      node: aNode,
    },
    ...{ message: 'The node was low on resource: memory.', owner: replicaSet('web-7d9f') },
  },
  {
    ...{ group: 'running web pods', count: 12, namespace: 'web', phase: 'Running', node: aNode },
    owner: replicaSet('web-7d9f'),
  },
  {
    ...{ group: 'pods on the node that vanished', count: 3, namespace: 'web', phase: 'Running' },
    ...{ node: () => 'node-7', owner: replicaSet('api-5c4b') },
  },
  {
    ...{ group: 'stuck on the node out of service', count: 2, namespace: 'web', phase: 'Running' },
    ...{ node: () => 'node-6', owner: replicaSet('db-66f8'), deleted: true },
  },
  {
    ...{
      group: 'a pod stuck on its finalizer',
      count: 1,
      namespace: 'batch',
      phase: 'Succeeded',
      node: aNode,
    },
    ...{ finalizers: ['example.com/backup'], deleted: true },
  },
  {
    ...{
      group: 'pods of a namespace to keep',
      count: 5,
      namespace: 'audit',
      phase: 'Succeeded',
      node: aNode,
    },
  },
];

/** What the demo applies first, and then again with mode Enforce. The quarantine is short so that you need not wait for it. */
export const policy = (mode: 'DryRun' | 'Enforce'): Record<string, unknown> =>
  policyManifest('default', {
    mode,
    pods: {
      terminated: {
        threshold: 120,
        perNamespaceThreshold: 25,
        ttlByReason: [{ phase: 'Failed', reason: 'Evicted', ttl: '0s' }],
        keepPerOwner: 1,
      },
      orphaned: { quarantine: '5s' },
      unscheduledTerminating: {},
      outOfService: {},
    },
  });

/** The pods' names carry their group, so that a person finds them again. */
export const podName = ({ group }: Leftover, index: number): string =>
  `${group.replaceAll(/\W+/g, '-').toLowerCase().slice(0, 40)}-${String(index).padStart(2, '0')}`;
