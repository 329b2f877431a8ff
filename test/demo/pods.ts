import type { V1Pod } from '@kubernetes/client-node';
import { podReasons } from '../../src/controllers/podgc/words.ts';
import { policyManifest } from '../manifests.ts';
import { policiesPath, type Context } from './context.ts';
import { showPart, type Group } from './part.ts';
import type { Program } from './program.ts';
import { print } from './screen.ts';

/** Pods that are made alike. */
interface PodGroup {
  readonly name: string;
  /** The label `app` of its pods. */
  readonly app: string;
  readonly count: number;
  readonly namespace: string;
  readonly phase: string;
  readonly status?: object;
  /** By default one of five ready nodes. */
  readonly node?: string;
  readonly owner?: (index: number) => Owner;
  readonly labels?: Readonly<Record<string, string>>;
  readonly finalizers?: readonly string[];
  /** Deleted after its creation: it stays while a finalizer, or a node that does not respond, holds it. */
  readonly isDeleted?: boolean;
  readonly left: number;
}

interface Owner {
  readonly apiVersion: string;
  readonly kind: 'Job' | 'ReplicaSet';
  readonly name: string;
}

const keep = { 'gc.dustpan.dev/keep': 'true' };
const outOfService = { key: 'node.kubernetes.io/out-of-service', value: 'nodeshutdown', effect: 'NoExecute' };

const job =
  (name: string, size: number) =>
  (index: number): Owner => ({
    ...{ apiVersion: 'batch/v1', kind: 'Job', name: `${name}-${Math.floor(index / size)}` },
  });
const replicaSet = (name: string) => (): Owner => ({ apiVersion: 'apps/v1', kind: 'ReplicaSet', name });
const finished = (namespace: string) => ({ namespace, phase: 'Succeeded' });
const web = { namespace: 'web', phase: 'Running' };

/** The pods of a cluster after a day. node-7 does not exist any more. */
const podGroups: readonly PodGroup[] = [
  {
    ...{ name: 'finished Job pods', app: 'report', count: 60, left: 25, ...finished('batch') },
    owner: job('report', 10),
  },
  {
    ...{ name: 'pods their Job has not counted', app: 'import', count: 2, left: 2, ...finished('batch') },
    ...{ owner: job('import', 2), finalizers: ['batch.kubernetes.io/job-tracking'] },
  },
  { name: 'finished CI runners', app: 'ci-runner', count: 40, left: 25, ...finished('ci') },
  {
    ...{ name: 'a runner with the keep label', app: 'ci-runner', count: 1, left: 1 },
    ...{ namespace: 'ci', phase: 'Failed', labels: keep },
  },
  {
    ...{ name: 'evicted web pods', app: 'web', count: 24, left: 1, namespace: 'web', phase: 'Failed' },
    status: { reason: 'Evicted', message: 'The node was low on resource: memory.' },
    owner: replicaSet('web-7d9f'),
  },
  { name: 'running web pods', app: 'web', count: 12, left: 12, ...web, owner: replicaSet('web-7d9f') },
  {
    ...{ name: 'pods on the node that vanished', app: 'api', count: 3, left: 0, ...web, node: 'node-7' },
    owner: replicaSet('api-5c4b'),
  },
  {
    ...{ name: 'stuck on the node out of service', app: 'db', count: 2, left: 0, ...web, node: 'node-6' },
    ...{ owner: replicaSet('db-66f8'), isDeleted: true },
  },
  {
    ...{ name: 'a pod stuck on its finalizer', app: 'backup', count: 1, left: 1, ...finished('batch') },
    ...{ finalizers: ['example.com/backup'], isDeleted: true },
  },
  { name: 'pods of a namespace with the label', app: 'audit', count: 5, left: 5, ...finished('audit') },
];

/** The policy of the demo. Its quarantine is short, so that you need not wait for it. */
const policy = policyManifest('default', {
  mode: 'DryRun',
  pods: {
    terminated: {
      threshold: 120,
      perNamespaceThreshold: 25,
      ttlByReason: [{ phase: 'Failed', reason: 'Evicted', ttl: '0s' }],
      keepPerOwner: 1,
    },
    ...{ orphaned: { quarantine: '5s' }, unscheduledTerminating: {}, outOfService: {} },
    safety: { holdAbove: 0 },
  },
});

/** Shows how the controller deletes finished, orphaned and stuck pods. */
export async function podPart(context: Context): Promise<boolean> {
  const program = await startPods(context);
  return await showPart(context, {
    ...{ policy: 'default', what: 'pods', gone: 'deleted', program, env: context.env, groups },
    meanings: podReasons,
    headline: (left) => `  ${left} pods`,
    present: async () => {
      const { items } = await context.send('GET', '/api/v1/pods');
      return new Set((items as readonly V1Pod[]).map(({ metadata }) => metadata?.name ?? ''));
    },
  });
}

/** Creates the pods, their policy in DryRun, and everything that they refer to; starts the controller. */
export async function startPods({ send, start, env }: Context): Promise<Program> {
  await send('POST', policiesPath, policy);
  await createPlaces(send);
  for (const group of podGroups)
    for (let index = 0; index < group.count; index++) await createPod(send, group, index);
  print(
    `made ${groups.flatMap(({ ids }) => ids).length} pods; node-7 vanished under three of them, node-6 is out of service`,
  );
  print();
  return start(['controller', '--leader-elect=false', '--pod-gc-period=1s', '--v=4'], env);
}

async function createPlaces(send: Context['send']): Promise<void> {
  for (const name of ['batch', 'web', 'ci', 'audit'])
    await send('POST', '/api/v1/namespaces', {
      metadata: { name, ...(name === 'audit' && { labels: keep }) },
    });
  for (const number of [1, 2, 3, 4, 5, 6]) {
    const [name, isReady] = [`node-${number}`, number < 6];
    await send('POST', '/api/v1/nodes', {
      metadata: { name },
      spec: { taints: isReady ? [] : [outOfService] },
    });
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
    await send('PATCH', `/api/v1/nodes/${name}/status`, { status: { conditions } });
  }
}

/** A pod's name contains that of its group. */
const podName = ({ name }: PodGroup, index: number): string =>
  `${name.replaceAll(/\W+/g, '-').toLowerCase().slice(0, 40)}-${String(index).padStart(2, '0')}`;

const groups: readonly Group[] = podGroups.map((group) => ({
  ...{ name: group.name, left: group.left },
  ids: Array.from({ length: group.count }, (_, index) => podName(group, index)),
}));

const containers = [{ name: 'main', image: 'registry.example.com/app:v1' }];

async function createPod(send: Context['send'], group: PodGroup, index: number): Promise<void> {
  const { namespace, phase, status, app, labels, finalizers } = group;
  const name = podName(group, index);
  const owner = group.owner?.(index);
  const ownerReferences = owner && [{ ...owner, uid: `uid-${owner.name}`, controller: true }];
  const path = `/api/v1/namespaces/${namespace}/pods`;
  await send('POST', path, {
    metadata: { name, labels: { app, ...labels }, finalizers, ownerReferences },
    spec: { nodeName: group.node ?? `node-${1 + (index % 5)}`, containers },
  });
  await send('PATCH', `${path}/${name}/status`, { status: { phase, ...status } });
  if (group.isDeleted === true) await send('DELETE', `${path}/${name}`, { gracePeriodSeconds: 30 });
}
