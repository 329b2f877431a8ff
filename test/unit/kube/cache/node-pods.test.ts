import { describe, expect, test } from 'vitest';
import { NodePod } from '../../../../src/kube/gen/node_pod.ts';
import { nodePodCodec } from '../../../../src/kube/cache/node-pods.ts';

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
      { name: 'e', resources: { limits: { memory: '1Gi' } } },
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
  priority: 1000,
  isOptedOut: true,
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

/** Written by hand with the field numbers of k8s.io/api, to detect a wrong number in our proto. */
function protobuf(): Buffer {
  const field = (number: number, content: string | Buffer): Buffer => {
    const bytes = Buffer.from(content);
    return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
  };
  const quantity = (number: number, name: string, text: string): Buffer =>
    field(number, Buffer.concat([field(1, name), field(2, field(1, text))]));
  const limit = (text: string): Buffer => field(8, quantity(1, 'ephemeral-storage', text));
  const container = (name: string, ...fields: readonly Buffer[]): Buffer =>
    Buffer.concat([field(1, name), ...fields]);
  const time = Buffer.concat([varint(8), varint(Date.parse('2026-01-03T00:00:30Z') / 1000)]);
  const entries = (number: number, map: Readonly<Record<string, string>>): readonly Buffer[] =>
    Object.entries(map).map(([key, value]) => field(number, Buffer.concat([field(1, key), field(2, value)])));
  const controller = Buffer.concat([varint(6 << 3), varint(1)]);
  const owner = Buffer.concat([
    field(1, 'Node'),
    field(3, 'node-1'),
    field(4, 'n1'),
    field(5, 'v1'),
    controller,
  ]);
  const meta = [
    field(1, 'web'),
    field(3, 'shop'),
    field(5, 'u1'),
    field(6, '7'),
    field(9, time),
    ...entries(11, metadata.labels),
    ...entries(12, metadata.annotations),
    field(13, owner),
  ];
  const volume = (name: string, source: Buffer): Buffer =>
    field(1, Buffer.concat([field(1, name), field(2, source)]));
  const emptyDir = (...fields: readonly Buffer[]): Buffer => field(2, Buffer.concat(fields));
  const limits = Buffer.concat([quantity(1, 'cpu', '1'), quantity(1, 'ephemeral-storage', '100Mi')]);
  const requests = quantity(2, 'ephemeral-storage', '1Mi');
  const spec = [
    volume('data', emptyDir()),
    volume('scratch', emptyDir(field(2, field(1, '1536Mi')))),
    volume('shm', emptyDir(field(1, 'Memory'), field(2, field(1, '64Mi')))),
    volume('model', field(30, field(1, 'model:1'))),
    field(2, container('c', field(2, 'main:1'), field(8, Buffer.concat([limits, requests])))),
    field(2, container('d', field(2, 'main:1'), limit('0'))),
    field(2, container('e', field(8, quantity(1, 'memory', '1Gi')))),
    ...[field(3, 'Always'), field(10, 'node-1')],
    field(20, container('i', field(2, 'init:1'), limit('10Mi'))),
    field(20, container('s', limit('10Mi'), field(24, 'Always'))),
    ...[varint(25 << 3), varint(1000), quantity(32, 'cpu', '1m'), quantity(32, 'ephemeral-storage', '1500m')],
    field(34, field(1, container('debug', field(2, 'debug:1')))),
  ];
  return Buffer.concat([
    field(1, Buffer.concat(meta)),
    field(2, Buffer.concat(spec)),
    field(3, Buffer.concat([field(1, 'Failed'), field(3, 'The node was low'), field(4, 'Evicted')])),
  ]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128);
  return Buffer.from([...bytes, rest]);
}

describe('a pod of the node', () => {
  const codec = nodePodCodec();

  test('has the same facts in JSON and in protobuf', () => {
    expect(codec.fromJson(json)).toEqual(facts);
    expect(codec.fromProtobuf(protobuf())).toEqual(facts);
  });

  test('may have only its identity', () => {
    const bare = { metadata: { name: 'a', namespace: 'b', uid: 'u', resourceVersion: '1' } };
    const expected = {
      ...{ uid: 'u', name: 'a', namespace: 'b', resourceVersion: '1', phase: '', images: [] },
      ...{ deletionAtMs: undefined, configHash: undefined, priority: undefined },
      ...{ isOptedOut: false, evicted: false },
      storage: { emptyDirs: [], containers: [], initContainers: [], overheadBytes: undefined },
    };
    expect(codec.fromJson(bare)).toEqual(expected);
    const bytes = Buffer.from(NodePod.encode(NodePod.fromPartial(bare)).finish());
    expect(codec.fromProtobuf(bytes)).toEqual(expected);
  });

  test.each([
    { phase: 'Failed', reason: 'Evicted', evicted: true },
    { phase: 'Failed', reason: 'DeadlineExceeded', evicted: false },
    { phase: 'Failed', reason: undefined, evicted: false },
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

  test.each([
    { phase: 'Running', images: ['main:1', 'init:1', 'debug:1', 'model:1'] },
    { phase: 'Pending', images: ['main:1', 'init:1', 'debug:1', 'model:1'] },
    { phase: 'Succeeded', images: [] },
  ])('$phase refers to $images', ({ phase, images }) => {
    expect(codec.fromJson({ ...json, status: { phase } }).images).toEqual(images);
  });

  test('is reused in the same state', () => {
    const known = codec.fromJson(json);
    expect(codec.fromProtobuf(protobuf(), new Map([['u1', known]]))).toBe(known);
    const older = { ...known, resourceVersion: '6' };
    expect(codec.fromProtobuf(protobuf(), new Map([['u1', older]]))).not.toBe(older);
  });

  test.each([
    { name: 'an invalid limit', limit: 'much', expected: undefined },
    { name: 'a limit that is a number', limit: 1024, expected: { bytes: 1024, text: '1024' } },
    { name: 'a null', limit: null, expected: undefined },
  ])('may have in JSON $name', ({ limit, expected }) => {
    const containers = [{ name: 'c', resources: { limits: storage(limit) } }];
    const pod = codec.fromJson({
      metadata,
      spec: { containers, volumes: [{ name: 'none', emptyDir: null }] },
    });
    expect(pod.storage.containers).toEqual([{ name: 'c', limit: expected }]);
    expect(pod.storage.emptyDirs).toEqual([]);
  });

  test('shares values with other pods', () => {
    const [one, other] = [codec.fromJson(json), codec.fromJson(json)].map(({ storage }) => storage);
    expect(one?.containers[0]?.limit).toBe(other?.containers[0]?.limit);
    expect(one?.containers[2]).toBe(other?.containers[2]);
  });

  test('is rejected without identity', () => {
    expect(() => codec.fromJson({ metadata: { name: 'a' } })).toThrow('pod without metadata.uid');
  });
});
