import { describe, expect, test } from 'vitest';
import { decodeList } from '../../../src/kube/decode.ts';
import { NodePod } from '../../../src/kube/gen/node_pod.ts';
import { nodePodCodec, nodePodsResource, podLookup } from '../../../src/kube/node-pods.ts';
import { ApiError } from '../../../src/kube/transport.ts';
import { FakeTransport } from '../../fakes/transport.ts';

const never = new AbortController().signal;

const metadata = {
  name: 'web',
  namespace: 'shop',
  uid: 'u1',
  resourceVersion: '7',
  deletionTimestamp: '2026-01-03T00:00:30Z',
  annotations: { 'kubernetes.io/config.hash': 'h1', 'kubernetes.io/config.source': 'file', other: 'x' },
};

const json = {
  metadata,
  spec: {
    priority: 1000,
    initContainers: [{ name: 'i', image: 'init:1' }],
    containers: [{ name: 'c', image: 'main:1' }, { name: 'd', image: 'main:1' }, { name: 'e' }],
    ephemeralContainers: [{ name: 'debug', image: 'debug:1', targetContainerName: 'c' }],
    volumes: [
      { name: 'data', emptyDir: {} },
      { name: 'model', image: { reference: 'model:1' } },
    ],
  },
  status: { phase: 'Running' },
};

const facts = {
  uid: 'u1',
  name: 'web',
  namespace: 'shop',
  resourceVersion: '7',
  phase: 'Running',
  deletionAtMs: Date.parse('2026-01-03T00:00:30Z'),
  configHash: 'h1',
  configSource: 'file',
  priority: 1000,
  images: ['main:1', 'init:1', 'debug:1', 'model:1'],
};

/** As k8s.io/api numbers its fields, written by hand: a wrong number in our proto must not go unseen. */
function protobuf(): Buffer {
  const field = (number: number, content: string | Buffer): Buffer => {
    const bytes = Buffer.from(content);
    return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
  };
  const container = (image: string): Buffer => Buffer.concat([field(1, 'name'), field(2, image)]);
  const time = Buffer.concat([varint(8), varint(Date.parse('2026-01-03T00:00:30Z') / 1000)]);
  const annotations = Object.entries(metadata.annotations).map(([key, value]) =>
    field(12, Buffer.concat([field(1, key), field(2, value)])),
  );
  const meta = [
    field(1, 'web'),
    field(3, 'shop'),
    field(5, 'u1'),
    field(6, '7'),
    field(9, time),
    ...annotations,
  ];
  const volume = (source: Buffer): Buffer => field(1, Buffer.concat([field(1, 'v'), field(2, source)]));
  const spec = [
    ...[volume(field(2, '')), volume(field(30, field(1, 'model:1')))],
    ...[field(2, container('main:1')), field(2, container('main:1')), field(2, field(1, 'e'))],
    ...[field(3, 'Always'), field(10, 'node-1'), field(20, container('init:1'))],
    ...[varint(25 << 3), varint(1000), field(34, field(1, container('debug:1')))],
  ];
  return Buffer.concat([
    field(1, Buffer.concat(meta)),
    field(2, Buffer.concat(spec)),
    field(3, field(1, 'Running')),
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

  test('in JSON and in protobuf', () => {
    expect(codec.fromJson(json)).toEqual(facts);
    expect(codec.fromProtobuf(protobuf())).toEqual(facts);
  });

  test('with nothing but its identity', () => {
    const bare = { metadata: { name: 'a', namespace: 'b', uid: 'u', resourceVersion: '1' } };
    const expected = {
      ...{ uid: 'u', name: 'a', namespace: 'b', resourceVersion: '1', phase: '', images: [] },
      ...{ deletionAtMs: undefined, configHash: undefined, configSource: undefined, priority: undefined },
    };
    expect(codec.fromJson(bare)).toEqual(expected);
    expect(codec.fromProtobuf(Buffer.from(NodePod.encode(NodePod.fromPartial(bare)).finish()))).toEqual(
      expected,
    );
  });

  test('is not made anew in the same state', () => {
    const known = codec.fromJson(json);
    expect(codec.fromProtobuf(protobuf(), new Map([['u1', known]]))).toBe(known);
    const older = { ...known, resourceVersion: '6' };
    expect(codec.fromProtobuf(protobuf(), new Map([['u1', older]]))).not.toBe(older);
  });

  test('without identity is refused', () => {
    expect(() => codec.fromJson({ metadata: { name: 'a' } })).toThrow('pod without metadata.uid');
  });

  test('is asked for by its node', async () => {
    const resource = nodePodsResource('node-1');
    expect(resource.query).toEqual({ fieldSelector: 'spec.nodeName=node-1' });
    const list = { kind: 'PodList', metadata: { resourceVersion: '9' }, items: [json] };
    const body = (async function* () {
      yield await Promise.resolve(Buffer.from(JSON.stringify(list)));
    })();
    expect((await decodeList(body, resource.codec)).items).toEqual([facts]);
  });
});

describe('whether a pod is still there', () => {
  const pod = { namespace: 'shop', name: 'web', uid: 'u1' };
  const refused =
    (status: number, reason: string): (() => never) =>
    () => {
      throw new ApiError('no', { status, reason });
    };

  test.each([
    { name: 'the same one', send: () => ({ metadata: { uid: 'u1' } }), expected: 'exists' },
    { name: 'a namesake', send: () => ({ metadata: { uid: 'u2' } }), expected: 'gone' },
    {
      name: 'the mirror of a static pod',
      send: () => ({ metadata: { uid: 'u2', annotations: { 'kubernetes.io/config.hash': 'u1' } } }),
      expected: 'exists',
    },
    { name: 'no pod', send: refused(404, 'NotFound'), expected: 'gone' },
    { name: 'a 404 of a proxy', send: refused(404, ''), expected: 'unknown' },
    { name: 'no right to know', send: refused(403, 'Forbidden'), expected: 'unknown' },
    { name: 'a server in trouble', send: refused(500, ''), expected: 'unknown' },
    { name: 'an answer that is none', send: () => ({}), expected: 'unknown' },
    { name: 'an answer that is no JSON', send: () => Buffer.from('<html>'), expected: 'unknown' },
  ])('$name: $expected', async ({ send, expected }) => {
    const transport = new FakeTransport({ send });
    expect(await podLookup(transport)(pod, never)).toBe(expected);
    expect(transport.requests[0]?.path).toBe('/api/v1/namespaces/shop/pods/web');
  });

  test('a stop is not an answer', async () => {
    const stopped = AbortSignal.abort(new Error('stopping'));
    await expect(podLookup(new FakeTransport({}))(pod, stopped)).rejects.toThrow('stopping');
  });
});
