import { describe, expect, test } from 'vitest';
import { nodePodCodec } from '../../../../src/kube/cache/node-pods.ts';
import { protobufOf } from '../../../sandbox/api/format/protobuf-kinds.ts';

const metadata = {
  name: 'web',
  namespace: 'shop',
  uid: 'u1',
  resourceVersion: '7',
  deletionTimestamp: '2026-01-03T00:00:30Z',
  labels: { app: 'web', 'gc.dustpan.dev/keep': 'true' },
  annotations: { 'kubernetes.io/config.mirror': 'h1', other: 'x' },
  ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'n1', controller: true }],
};

const storage = (text: unknown): object => ({ 'ephemeral-storage': text });
const json = {
  metadata,
  spec: {
    nodeName: 'node-1',
    priority: 1000,
    initContainers: [
      { name: 'i', image: 'init:1', resources: { limits: storage('10Mi') } },
      { name: 's', restartPolicy: 'Always', resources: { limits: storage('10Mi') } },
    ],
    containers: [
      {
        name: 'c',
        image: 'main:1',
        resources: { limits: { cpu: '1', ...storage('100Mi') }, requests: storage('1Mi') },
      },
      { name: 'd', image: 'main:1', resources: { limits: storage('0') } },
      { name: 'e', resources: { limits: { memory: '1Gi', ...storage('much') } } },
    ],
    overhead: { cpu: '1m', ...storage('1500m') },
    ephemeralContainers: [{ name: 'debug', image: 'debug:1', targetContainerName: 'c' }],
    volumes: [
      { name: 'data', emptyDir: {} },
      { name: 'scratch', emptyDir: { sizeLimit: '1536Mi' } },
      { name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } },
      { name: 'model', image: { reference: 'model:1' } },
    ],
  },
  status: { phase: 'Failed', message: 'The node was low on resource', reason: 'Evicted' },
};

const mebibytes = (count: number) => ({ bytes: count * 1024 ** 2, text: `${count}Mi` });
const facts = {
  uid: 'u1',
  name: 'web',
  namespace: 'shop',
  resourceVersion: '7',
  phase: 'Failed',
  evicted: true,
  deletionAtMs: Date.parse('2026-01-03T00:00:30Z'),
  configHash: 'h1',
  workload: { kind: 'StaticPod', name: 'web' },
  priority: 1000,
  isOptedOut: true,
  doNotDisrupt: undefined,
  images: [],
  storage: {
    emptyDirs: [
      { name: 'data', isMemory: false, limit: undefined },
      { name: 'scratch', isMemory: false, limit: mebibytes(1536) },
      { name: 'shm', isMemory: true, limit: mebibytes(64) },
    ],
    containers: [
      { name: 'c', limit: mebibytes(100), request: mebibytes(1) },
      { name: 'd', limit: { bytes: 0, text: '0' }, request: undefined },
      { name: 'e', limit: undefined, request: undefined },
    ],
    initContainers: [
      { name: 'i', restartable: false, limit: mebibytes(10), request: undefined },
      { name: 's', restartable: true, limit: mebibytes(10), request: undefined },
    ],
    overheadBytes: 2,
  },
};

/** Any user may write these annotations, even on a pod that its Node owns. */
const forged = { 'kubernetes.io/config.hash': 'h1', 'kubernetes.io/config.source': 'file' };

/** Encoded with the field numbers of k8s.io/api, not with our proto, so that a wrong number there is found. */
const protobuf = (pod: object): Buffer => protobufOf('Pod', pod);

describe('a pod of the node', () => {
  const codec = nodePodCodec();

  test('has the same facts in JSON and in protobuf', () => {
    expect(codec.fromJson(json)).toEqual(facts);
    expect(codec.fromProtobuf(protobuf(json))).toEqual(facts);
  });

  test.each([
    { phase: 'Failed', reason: 'Evicted', evicted: true },
    { phase: 'Failed', reason: 'DeadlineExceeded', evicted: false },
    { phase: 'Running', reason: 'Evicted', evicted: false },
  ])('$phase with reason $reason: evicted $evicted', ({ phase, reason, evicted }) => {
    expect(codec.fromJson({ metadata, status: { phase, reason } }).evicted).toBe(evicted);
  });

  test.each([
    { name: 'mirrors no static pod by config.source or config.hash', annotations: forged },
    { name: 'mirrors no static pod of another node', spec: { nodeName: 'node-2' } },
    { name: 'mirrors no static pod without its Node as the owner', ownerReferences: [] },
  ])('$name', ({ spec = json.spec, ...over }) => {
    expect(codec.fromJson({ ...json, metadata: { ...metadata, ...over }, spec }).configHash).toBeUndefined();
  });

  describe('waits for images', () => {
    const spec = {
      initContainers: [{ name: 'i', image: 'init:1' }],
      containers: [
        { name: 'c', image: 'main:1', imagePullPolicy: 'Always' },
        { name: 'd', image: 'side:1', imagePullPolicy: 'Never' },
      ],
    };
    const waits = (name: string, reason: string) => ({ name, state: { waiting: { reason, message: 'm' } } });
    const runs = (name: string) => ({ name, state: { running: { startedAt: '2026-01-03T00:00:30Z' } } });

    test.each([
      ['before the kubelet has reported', undefined, undefined, ['init:1 ', 'main:1 ']],
      [
        'while they are pulled',
        [waits('i', 'ErrImagePull')],
        [waits('c', 'PodInitializing'), waits('d', 'PodInitializing')],
        ['init:1 ErrImagePull', 'main:1 PodInitializing'],
      ],
      [
        'in one container, beside one that runs',
        [{ name: 'i', state: { terminated: { exitCode: 0 } } }],
        [waits('c', 'ImagePullBackOff'), runs('d')],
        ['main:1 ImagePullBackOff'],
      ],
      ['not after they have started', [runs('i')], [runs('c')], undefined],
      [
        'not for other reasons',
        [waits('i', 'CrashLoopBackOff')],
        [waits('c', 'InvalidImageName')],
        undefined,
      ],
    ])('%s', (_, initContainerStatuses, containerStatuses, expected) => {
      const pod = {
        metadata,
        spec,
        status: { phase: 'Pending', initContainerStatuses, containerStatuses },
      };
      const waited = ({ awaited }: ReturnType<typeof codec.fromJson>) =>
        awaited?.map(({ image, reason }) => `${image} ${reason}`);
      expect(waited(codec.fromJson(pod))).toEqual(expected);
      expect(waited(codec.fromProtobuf(protobuf(pod)))).toEqual(expected);
    });

    test('not after it has finished', () => {
      expect(codec.fromJson({ metadata, spec, status: { phase: 'Failed' } }).awaited).toBeUndefined();
    });
  });

  test.each([
    { phase: 'Running', images: ['main:1', 'init:1', 'debug:1', 'model:1'] },
    { phase: 'Pending', images: ['main:1', 'init:1', 'debug:1', 'model:1'] },
    { phase: 'Succeeded', images: [] },
  ])('$phase refers to $images', ({ phase, images }) => {
    expect(codec.fromJson({ ...json, status: { phase } }).images).toEqual(images);
  });

  const labels = { 'pod-template-hash': '5c7d9' };
  const long = 'n'.repeat(52);
  test.each([
    [['apps/v1', 'ReplicaSet', 'web-5c7d9'], 'Deployment', 'web'],
    [['apps/v1', 'ReplicaSet', 'web-1'], 'ReplicaSet', 'web-1'],
    [['apps/v1', 'ReplicaSet', '-5c7d9'], 'ReplicaSet', '-5c7d9'],
    [['apps.example.com/v1', 'ReplicaSet', 'web-5c7d9'], 'ReplicaSet.apps.example.com', 'web-5c7d9'],
    [['argoproj.io/v1alpha1', 'Rollout', 'web'], 'Rollout.argoproj.io', 'web'],
    [['apps/v1', 'StatefulSet', 'db'], 'StatefulSet', 'db'],
    [['batch/v1', 'Job', 'backup-29400000'], 'CronJob', 'backup'],
    [['batch/v1', 'Job', `${long}-31000000`], 'CronJob', long],
    [['batch/v1', 'Job', `${long}n-31000000`], 'Job', `${long}n-31000000`],
    [['batch/v1', 'Job', 'backup-20261129'], 'Job', 'backup-20261129'],
    [['batch/v1', 'Job', 'backup-123456789'], 'Job', 'backup-123456789'],
    [['batch.example.com/v1', 'Job', 'backup-29400000'], 'Job.batch.example.com', 'backup-29400000'],
    [['v1', 'ReplicationController', 'web'], 'ReplicationController', 'web'],
  ] as const)('of %s belongs to %s %s', ([apiVersion, owner, ownerName], kind, name) => {
    const ownerReferences = [{ apiVersion, kind: owner, name: ownerName, uid: 'o', controller: true }];
    const pod = { ...json, metadata: { ...metadata, annotations: {}, labels, ownerReferences } };
    expect(codec.fromJson(pod).workload).toEqual({ kind, name });
  });

  test.each([
    { name: 'web', workload: { kind: 'StaticPod', name: 'web' } },
    { name: 'etcd-node-1', workload: { kind: 'StaticPod', name: 'etcd' } },
  ])('$name that mirrors a static pod belongs to $workload.name', ({ name, workload }) => {
    expect(codec.fromJson({ ...json, metadata: { ...metadata, name } }).workload).toEqual(workload);
  });

  test('without a controller is its own workload; without a hash nothing is derived', () => {
    const bare = { ...metadata, annotations: {}, labels: {} };
    const replicaSet = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'a-1', uid: 'o', controller: true };
    const workloadOf = (ownerReferences: readonly object[]) =>
      codec.fromJson({ ...json, metadata: { ...bare, ownerReferences } }).workload;
    expect(workloadOf([{ ...replicaSet, controller: false }])).toEqual({ kind: 'Pod', name: 'web' });
    expect(workloadOf([replicaSet])).toEqual({ kind: 'ReplicaSet', name: 'a-1' });
  });

  test('is reused in the same state', () => {
    const known = codec.fromJson(json);
    expect(codec.fromProtobuf(protobuf(json), new Map([['u1', known]]))).toBe(known);
    const older = { ...known, resourceVersion: '6' };
    expect(codec.fromProtobuf(protobuf(json), new Map([['u1', older]]))).not.toBe(older);
  });

  test('is rejected without identity', () => {
    expect(() => codec.fromJson({ metadata: { name: 'a' } })).toThrow('pod without metadata.uid');
  });
});
