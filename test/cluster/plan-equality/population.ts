import type { StoredMetadata, StoredObject } from '../servers/etcd-objects.ts';
import type { EtcdEntry } from '../servers/etcd.ts';
import { seededRandom, type Random } from '../population/random.ts';
import type { Population } from '../population/population.ts';

/** Values that no snapshot may show, where the issue of snapshots expects them. */
export const secrets = {
  env: 'hunter2-env',
  annotation: 'hunter2-annotation',
  managedFields: 'hunter2-managed',
} as const;

const apiVersion = 'gc.dustpan.dev/v1alpha1';
const created = '2026-01-01T00:00:00Z';
const owners = { jobs: 6, replicaSets: 12 };

interface Dressed {
  readonly population: Population;
  /** Jobs, ReplicaSets, reports, and a policy that the API server would reject today. */
  readonly others: readonly EtcdEntry[];
  /** To be applied as a person does. */
  readonly policies: readonly object[];
}

/** Adds everything that any rule reads, and secrets. */
export function dressed(seed: number, population: Population): Dressed {
  const random = seededRandom(seed * 7919);
  const made = ownersIn(random);
  return {
    population: {
      ...population,
      namespaces: [...population.namespaces.map(marked)],
      pods: population.pods.map((pod) => dressedPod(random, pod, made)),
    },
    others: [...made.map(({ entry }) => entry), ...reports(random), brokenPolicy],
    policies: policiesOf(random),
  };
}

/** One of them is kept out of everything. */
const marked = (namespace: StoredObject): StoredObject =>
  namespace.metadata.name === 'team-c'
    ? { ...namespace, metadata: { ...namespace.metadata, labels: { 'gc.dustpan.dev/keep': 'true' } } }
    : namespace;

interface Owner {
  readonly namespace: string;
  readonly reference: object;
  readonly entry: EtcdEntry;
}

const entryOf = (key: string, object: object): EtcdEntry => ({
  key: `/registry/${key}`,
  value: Buffer.from(JSON.stringify(object)),
});

function ownersIn(random: Random): readonly Owner[] {
  return [
    ...Array.from({ length: owners.jobs }, (_, i) => jobOwner(random, random.pick(['batch', 'team-a']), i)),
    ...Array.from({ length: owners.replicaSets }, (_, i) =>
      replicaSetOwner(random, random.pick(['team-a', 'team-b']), i),
    ),
  ];
}

function jobOwner(random: Random, namespace: string, i: number): Owner {
  const cronJob = { apiVersion: 'batch/v1', kind: 'CronJob', name: `cron-${i % 2}`, uid: `cron-${i % 2}` };
  const ownerReferences = random.chance(0.7) ? [{ ...cronJob, controller: true }] : [];
  const metadata = {
    ...{ name: `job-${i}`, namespace, uid: random.uid(), creationTimestamp: created, ownerReferences },
  };
  const type = ['Complete', 'Failed', 'Suspended'][i % 3];
  const template = { spec: { containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' } };
  const conditions = [{ type, status: i === 4 ? 'False' : 'True' }];
  return {
    namespace,
    reference: {
      apiVersion: 'batch/v1',
      kind: 'Job',
      name: metadata.name,
      uid: metadata.uid,
      controller: true,
    },
    entry: entryOf(`jobs/${namespace}/${metadata.name}`, {
      ...{ apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { template }, status: { conditions } },
    }),
  };
}

function replicaSetOwner(random: Random, namespace: string, i: number): Owner {
  const name = `rs-${i}`;
  const deployment = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name: `deploy-${i % 3}`,
    uid: `deploy-${i % 3}`,
  };
  const ownerReferences = random.chance(0.7) ? [{ ...deployment, controller: true }] : [];
  const metadata = { name, namespace, uid: random.uid(), creationTimestamp: created, ownerReferences };
  const selector = { matchLabels: { app: 'a' } };
  return {
    namespace,
    reference: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name, uid: metadata.uid, controller: true },
    entry: entryOf(`replicasets/${namespace}/${name}`, {
      ...{ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec: { selector } },
    }),
  };
}

const messages = [
  'The node was low on resource: ephemeral-storage.',
  'Pod was terminated in response to imminent node shutdown.',
  // Cut in the middle of a character, as messages are at 256.
  `${'x'.repeat(255)}😀 and more`,
] as const;

function dressedPod(random: Random, pod: StoredObject, made: readonly Owner[]): StoredObject {
  const metadata: StoredMetadata = {
    ...pod.metadata,
    ...ownedBy(random, pod.metadata, made),
    annotations: { ...pod.metadata.annotations, 'example.com/data': secrets.annotation.repeat(20) },
    labels: { ...pod.metadata.labels, ...(random.chance(0.03) && { 'gc.dustpan.dev/keep': 'true' }) },
  };
  return {
    ...pod,
    metadata: { ...metadata, ...managedFields },
    spec: { ...pod.spec, ...spec },
    status: { ...pod.status, ...endOf(random, pod) },
  };
}

const managedFields = {
  managedFields: [
    {
      ...{ manager: 'kubectl', operation: 'Update', apiVersion: 'v1', time: created },
      ...{ fieldsType: 'FieldsV1', fieldsV1: { [`f:${secrets.managedFields}`]: {} } },
    },
  ],
};
const spec = {
  containers: [{ name: 'main', image: 'example.com/a:1', env: [{ name: 'TOKEN', value: secrets.env }] }],
  initContainers: [{ name: 'init', image: 'example.com/b:1', env: [{ name: 'TOKEN', value: secrets.env }] }],
};

function ownedBy(
  random: Random,
  { namespace }: StoredMetadata,
  made: readonly Owner[],
): Partial<StoredMetadata> {
  const near = made.filter((owner) => owner.namespace === namespace);
  const owner = near[random.int(near.length)];
  return owner === undefined || random.chance(0.4) ? {} : { ownerReferences: [owner.reference] };
}

const ends: readonly [object, ...object[]] = [
  { reason: 'Completed', exitCode: 0 },
  { reason: 'Error', exitCode: 1 },
  { reason: 'OOMKilled', exitCode: 137 },
];

/** When and how its containers ended, as far as anybody knows. */
function endOf(random: Random, { metadata }: StoredObject): object {
  const at = (minutes: number): string =>
    new Date(Date.parse(metadata.creationTimestamp) + minutes * 60_000).toISOString().replace('.000', '');
  const terminated = {
    ...random.pick(ends),
    ...{ startedAt: at(0), finishedAt: random.pick([at(5), at(50_000), null]) },
  };
  const state = random.chance(0.8) ? { terminated } : {};
  const status = { name: 'main', image: 'i', imageID: '', ready: false, restartCount: 0, state };
  return {
    ...(random.chance(0.8) && { containerStatuses: [status] }),
    ...(random.chance(0.3) && { initContainerStatuses: [{ ...status, name: 'init' }] }),
    ...(random.chance(0.6) && { message: random.pick(messages) }),
  };
}

/** The reports of nodes, the first degraded. */
function reports(random: Random): readonly EtcdEntry[] {
  return ['node-0', 'node-1', 'node-2'].map((name, i) => {
    const condition = { type: 'Degraded', status: i === 0 ? 'True' : 'False', reason: 'Some', message: '' };
    const lastTransitionTime = created;
    return entryOf(`gc.dustpan.dev/nodegcreports/${name}`, {
      ...{ apiVersion, kind: 'NodeGCReport' },
      metadata: { name, uid: random.uid(), creationTimestamp: created, generation: 1 },
      status: {
        reportTime: `2026-02-0${i + 1}T00:00:00.${random.int(900) + 100}Z`,
        images: { removable: { count: random.int(20), bytes: random.int(1e9) } },
        containers: { removable: random.int(20) },
        conditions: [{ ...condition, lastTransitionTime }],
      },
    });
  });
}

/** A policy stored before validation existed; it might govern the remaining pods. */
const brokenPolicy = entryOf('gc.dustpan.dev/gcpolicies/broken', {
  ...{ apiVersion, kind: 'GCPolicy' },
  metadata: { name: 'broken', uid: 'broken', creationTimestamp: created, generation: 1 },
  spec: { mode: 'Delete', priority: -5, pods: { terminated: { threshold: 'few' } } },
});

const policyOf = (name: string, specOfIt: object): object => ({
  ...{ apiVersion, kind: 'GCPolicy', metadata: { name }, spec: specOfIt },
});

function policiesOf(random: Random): readonly object[] {
  const backends = {
    podSelector: { matchLabels: { tier: 'back' } },
    terminated: {
      threshold: 5 + random.int(10),
      ttlByReason: [
        { phase: 'Failed', reason: 'Evicted', ttl: '1h' },
        { messagePattern: '*imminent node shutdown?', ttl: '10m' },
        { messagePattern: 'x*\uFFFD', ttl: '1m' },
      ],
      keepPerOwner: 1,
      protectUnfinishedJobs: true,
    },
    safety: { holdAbove: 0 },
  };
  const teams = {
    excludeNamespaces: ['batch', 'zz'],
    terminated: {
      threshold: 20 + random.int(60),
      perNamespaceThreshold: 10 + random.int(20),
      ttlAfterFinished: random.pick(['1h', '1300h']),
      ttlByReason: [
        { reason: 'OOMKilled', ttl: '2h' },
        { exitCodes: [1, 2], ttl: '3h' },
      ],
      keepPerOwnerByPhase: { succeeded: random.int(2), failed: 2 + random.int(4) },
    },
    ...{ orphaned: {}, unscheduledTerminating: {}, outOfService: {} },
    safety: { maxDeletesPerPass: random.pick([0, 9]), maxOrphanedNodesPercent: random.pick([20, 100]) },
  };
  const batch = {
    namespaceSelector: {
      matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: ['batch'] }],
    },
    terminated: { ttlAfterFinished: '2h', protectUnfinishedJobs: true },
    ...{ orphaned: { quarantine: '0s' }, safety: { maxOrphanedNodesPercent: 100, holdAbove: 0 } },
  };
  return [
    policyOf('backends', { priority: 10, mode: 'Enforce', pods: backends }),
    policyOf('teams', { priority: 5, pods: teams }),
    policyOf('batch', { priority: 5, mode: 'Enforce', pods: batch }),
  ];
}
