import { openBreakersIn } from '../../../../src/gc/open-breaker.ts';
import { describe, expect, test } from 'vitest';
import { snapshotObject } from '../../../../src/commands/snapshot/objects.ts';
import { nodePodCodec } from '../../../../src/kube/cache/node-pods.ts';
import {
  jobCodec,
  namespaceCodec,
  nodeCodec,
  podCodec,
  replicaSetCodec,
} from '../../../../src/kube/cache/resources.ts';

type Json = Record<string, unknown>;

const secret = 'hunter2';
const podKind = { apiVersion: 'v1', kind: 'Pod' } as const;

const metadata = (over: Json = {}): Json => ({
  name: 'one',
  namespace: 'web',
  uid: 'uid-1',
  resourceVersion: '17',
  generation: 3,
  creationTimestamp: '2026-01-15T07:00:00Z',
  labels: { app: 'one', 'gc.dustpan.dev/keep': 'true' },
  annotations: {
    'kubectl.kubernetes.io/last-applied-configuration': `{"env":"${secret}"}`,
    'example.com/token': secret,
    'kubernetes.io/config.source': 'api',
    'gc.dustpan.dev/ttl-after-finished': '10m',
  },
  finalizers: ['batch.kubernetes.io/job-tracking'],
  managedFields: [{ manager: secret, fieldsV1: { 'f:spec': {} } }],
  ownerReferences: [
    { apiVersion: 'batch/v1', kind: 'Job', name: 'job', uid: 'uid-job', controller: true },
    { apiVersion: 'v1', kind: 'Thing', name: 'thing', uid: 'uid-thing' },
  ],
  ...over,
});

const container = (name: string): Json => ({
  name,
  image: `registry.example.com/${name}:v1`,
  command: ['sh', '-c', `login --password=${secret}`],
  args: [secret],
  env: [{ name: 'PASSWORD', value: secret }],
  envFrom: [{ secretRef: { name: secret } }],
  lifecycle: { preStop: { exec: { command: [secret] } } },
  livenessProbe: { httpGet: { httpHeaders: [{ name: 'Authorization', value: secret }] } },
  resources: { limits: { 'ephemeral-storage': '1Gi', cpu: '1' }, requests: { memory: '1Gi' } },
});

const ended = (name: string, finishedAt: string): Json => ({
  name,
  image: 'x',
  containerID: 'containerd://1',
  lastState: { terminated: { message: secret } },
  state: { terminated: { exitCode: 1, reason: 'Error', message: secret, finishedAt } },
});

const pod = (over: { metadata?: Json; spec?: Json; status?: Json } = {}): Json => ({
  metadata: metadata(over.metadata),
  spec: {
    nodeName: 'node-1',
    priority: 7,
    containers: [container('main'), container('side')],
    initContainers: [container('init')],
    ephemeralContainers: [container('debug')],
    volumes: [
      { name: 'tmp', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } },
      { name: 'model', image: { reference: 'registry.example.com/model:v2', pullPolicy: 'Always' } },
      { name: 'share', csi: { volumeAttributes: { password: secret } } },
    ],
    ...over.spec,
  },
  status: {
    phase: 'Failed',
    reason: 'Evicted',
    startTime: '2026-01-15T07:00:02Z',
    // Whole: policies match its end, too.
    message: `The node was low on resource: memory. ${'y'.repeat(300)}`,
    conditions: [
      { type: 'Ready', status: 'False', lastTransitionTime: '2026-01-15T11:00:00Z', message: secret },
    ],
    containerStatuses: [ended('main', '2026-01-15T10:00:00Z'), ended('side', '2026-01-15T10:30:00Z')],
    initContainerStatuses: [ended('init', '2026-01-15T09:00:00Z')],
    ...over.status,
  },
});

const written = (kind: Parameters<typeof snapshotObject>[0], object: unknown): unknown =>
  JSON.parse(JSON.stringify(snapshotObject(kind, object)));

describe('a pod in a snapshot', () => {
  const statuses = { containerStatuses: [{}, ended('a', '2026-01-15T10:00:00Z')] };
  const starting = {
    ...{ phase: 'Pending', initContainerStatuses: [], message: undefined },
    conditions: [
      { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-01-15T11:00:00Z', message: 'm' },
    ],
    containerStatuses: [
      { name: 'a', image: 'i', state: { waiting: { reason: 'ErrImagePull', message: 'x'.repeat(300) } } },
    ],
  };
  const mirror = { 'kubernetes.io/config.mirror': 'abc', 'kubernetes.io/config.source': 'file' };
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'n', controller: true }];
  const terminating = { deletionTimestamp: '2026-01-15T11:00:00Z', deletionGracePeriodSeconds: 30 };

  test.each([
    ['failed', pod()],
    [
      'failed at a time that only its managedFields have',
      pod({
        metadata: {
          managedFields: [
            {
              ...{ manager: secret, time: '2026-01-15T11:00:00Z' },
              fieldsV1: { 'f:status': { 'f:phase': {}, [`f:${secret}`]: {} } },
            },
          ],
        },
        status: { phase: 'Failed', reason: 'OutOfcpu' },
      }),
    ],
    ['waiting for an image', pod({ status: starting })],
    ['without a phase', pod({ status: { phase: undefined } })],
    ['with a container that still runs', pod({ status: statuses })],
    ['terminating, not bound', pod({ metadata: terminating, spec: { nodeName: undefined } })],
    ['mirror of a static pod', pod({ metadata: { annotations: mirror, ownerReferences } })],
    ['without most fields', { metadata: { name: 'a', namespace: 'b', uid: 'c' } }],
  ])('leads to the same facts in controller and agent: %s', (_, value) => {
    const copy = written(podKind, value);
    const whole = podCodec(() => 'all');
    expect({ ...whole.fromJson(copy) }).toEqual({ ...whole.fromJson(value) });
    const ofAgent = nodePodCodec();
    expect(ofAgent.fromJson(copy)).toEqual(ofAgent.fromJson(value));
  });

  test('contains nothing that could be a secret', () => {
    const annotations = { 'kubernetes.io/config.mirror': `${secret}${'x'.repeat(256)}`, token: secret };
    const text = [pod(), pod({ metadata: { annotations } })]
      .map((value) => JSON.stringify(snapshotObject(podKind, value)))
      .join('\n');
    expect(text).not.toContain(secret);
    expect(text).not.toMatch(/"(env|envFrom|command|args|managedFields|lastState)"/);
    expect(text).not.toContain('last-applied');
  });
});

const node = {
  metadata: metadata({ namespace: undefined }),
  spec: { taints: [{ key: 'out-of-service', value: 'x', effect: 'NoExecute' }], providerID: secret },
  status: {
    conditions: [{ type: 'Ready', status: 'True', message: secret }],
    images: [{ names: [secret], sizeBytes: 1 }],
    nodeInfo: { machineID: secret },
  },
};
const namespace = { metadata: metadata(), status: { phase: 'Active' } };
const replicaSet = { metadata: metadata(), spec: { template: pod() }, status: { replicas: 3 } };
const job = {
  metadata: metadata(),
  spec: { template: pod() },
  status: { conditions: [{ type: 'Complete', status: 'True', message: secret }] },
};

describe('other objects lead to the same facts, without secrets', () => {
  test.each([
    { kind: 'Node', apiVersion: 'v1', value: node, codec: nodeCodec() },
    { kind: 'Namespace', apiVersion: 'v1', value: namespace, codec: namespaceCodec() },
    { kind: 'Job', apiVersion: 'batch/v1', value: job, codec: jobCodec() },
    { kind: 'ReplicaSet', apiVersion: 'apps/v1', value: replicaSet, codec: replicaSetCodec() },
  ] as const)('$kind', ({ kind, apiVersion, value, codec }) => {
    const copy = written({ kind, apiVersion }, value);
    expect(copy).toMatchObject({ kind, apiVersion });
    expect(codec.fromJson(copy)).toEqual(codec.fromJson(value));
    expect(JSON.stringify(copy)).not.toContain(secret);
  });

  test('a policy has its open circuit breaker', () => {
    const degraded = {
      type: 'Degraded',
      status: 'True',
      reason: 'Tripped',
      lastTransitionTime: '2026-01-15T12:00:00Z',
    };
    const status = {
      conditions: [{ ...degraded, message: secret }],
      pods: { missingNodes: 20, deletedTotal: 7 },
    };
    const kept = written(
      { apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'GCPolicy' },
      { metadata: metadata(), spec: {}, status },
    );
    const open = openBreakersIn([{ name: 'one', status: undefined, ...(kept as object) }]);
    expect([...open]).toEqual([['one', 20]]);
    expect(JSON.stringify(kept)).not.toContain(secret);
  });

  test('a policy has its spec and its rules in force, a report its status', () => {
    const spec = { mode: 'Enforce', nodes: { imageGC: { keep: ['a/*'] } } };
    const ours = { apiVersion: 'gc.dustpan.dev/v1alpha1' };
    const hold = { rulesId: '0123456789ab', since: '2026-01-15T12:00:00Z' };
    const stored = { metadata: metadata(), spec, status: { a: secret, hold } };
    const policy = written({ ...ours, kind: 'GCPolicy' }, stored);
    expect(policy).toMatchObject({ metadata: { name: 'one', uid: 'uid-1', generation: 3 }, spec });
    expect(policy).toHaveProperty('status', { hold });
    expect(JSON.stringify(policy)).not.toContain(secret);
    const status = { images: { removable: { count: 1 } } };
    const report = written({ ...ours, kind: 'NodeGCReport' }, { metadata: metadata(), status });
    expect(report).toMatchObject({ status });
  });
});
