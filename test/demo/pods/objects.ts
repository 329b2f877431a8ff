import { policyManifest } from '../../manifests.ts';

/** Pods that are made alike and have the same outcome. */
export interface PodGroup {
  readonly name: string;
  /** The label `app` of its pods. */
  readonly app: string;
  readonly count: number;
  readonly namespace: string;
  readonly phase: string;
  readonly reason?: string;
  readonly message?: string;
  /** By default one of five ready nodes. */
  readonly node?: string;
  readonly owner?: (index: number) => Owner;
  readonly labels?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  /** Deleted after its creation: it stays while a finalizer, or a node that does not respond, holds it. */
  readonly isDeleted?: boolean;
  /** So many must be there in the end: all that are in use, and of the others those that the policy keeps. */
  readonly left: number;
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

const job =
  (name: string, size: number) =>
  (index: number): Owner => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    name: `${name}-${Math.floor(index / size)}`,
  });
const replicaSet = (name: string) => (): Owner => ({ apiVersion: 'apps/v1', kind: 'ReplicaSet', name });
const finished = (namespace: string) => ({ namespace, phase: 'Succeeded' });
const webPods = { namespace: 'web', phase: 'Running' };

/** The pods of a cluster after a day. node-7 does not exist any more. */
export const groups: readonly PodGroup[] = [
  {
    ...{ name: 'finished Job pods', app: 'report', count: 60, left: 25, ...finished('batch') },
    owner: job('report', 10),
  },
  {
    ...{ name: 'pods their Job has not counted', app: 'import', count: 2, left: 2, ...finished('batch') },
    owner: job('import', 2),
    finalizers: ['batch.kubernetes.io/job-tracking'],
  },
  { name: 'finished CI runners', app: 'ci-runner', count: 40, left: 25, ...finished('ci') },
  {
    ...{ name: 'a runner with the keep label', app: 'ci-runner', count: 1, left: 1 },
    ...{ namespace: 'ci', phase: 'Failed' },
    labels: { 'gc.dustpan.dev/keep': 'true' },
  },
  {
    ...{ name: 'evicted web pods', app: 'web', count: 24, left: 1 },
    ...{ namespace: 'web', phase: 'Failed', reason: 'Evicted' },
    ...{ message: 'The node was low on resource: memory.', owner: replicaSet('web-7d9f') },
  },
  { name: 'running web pods', app: 'web', count: 12, left: 12, ...webPods, owner: replicaSet('web-7d9f') },
  {
    ...{ name: 'pods on the node that vanished', app: 'api', count: 3, left: 0, ...webPods, node: 'node-7' },
    owner: replicaSet('api-5c4b'),
  },
  {
    ...{ name: 'stuck on the node out of service', app: 'db', count: 2, left: 0, ...webPods, node: 'node-6' },
    ...{ owner: replicaSet('db-66f8'), isDeleted: true },
  },
  {
    ...{ name: 'a pod stuck on its finalizer', app: 'backup', count: 1, left: 1, ...finished('batch') },
    ...{ finalizers: ['example.com/backup'], isDeleted: true },
  },
  { name: 'pods of a namespace with the label', app: 'audit', count: 5, left: 5, ...finished('audit') },
];

/** The policy of the demo. Its quarantine is short, so that you need not wait for it. */
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
      safety: { holdAbove: 0 },
    },
  });

/** A pod's name contains that of its group. */
export const podName = ({ name }: PodGroup, index: number): string =>
  `${name.replaceAll(/\W+/g, '-').toLowerCase().slice(0, 40)}-${String(index).padStart(2, '0')}`;
