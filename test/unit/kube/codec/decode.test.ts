import { describe, expect, test } from 'vitest';
import { MalformedError } from '../../../../src/kube/codec/frames.ts';
import type { LabelKeys, PodFacts } from '../../../../src/kube/cache/objects.ts';
import { jobCodec, jsonResource, nodeCodec, podCodec } from '../../../../src/kube/cache/resources.ts';
import { podBytes } from '../../../fakes/api-wire.ts';
import { evicted, evictedFacts, plain, pod } from './decode.fixtures.ts';

const labelKeys = new Set(['app']);
const codec = podCodec(() => labelKeys);

const facts = (object: object, keys: LabelKeys = 'all'): PodFacts => podCodec(() => keys).fromJson(object);

const protobuf = podBytes;
/** A container that ended at this time. */
const ended = (finishedAt: string): object => ({ state: { terminated: { finishedAt } } });

describe('the ttl annotation', () => {
  const key = 'gc.dustpan.dev/ttl-after-finished';
  const finished = (annotations: object, phase = 'Failed'): object => pod({ phase }, { annotations });
  const read = (object: object, keys: LabelKeys = new Set([key])): unknown[] => {
    const reader = podCodec(() => keys);
    return [reader.fromJson(object), reader.fromProtobuf(protobuf(object))].map((one) => one.ttlAnnotation);
  };
  const both = (value: unknown): unknown[] => [value, value];

  test.each<readonly [string, object, string | undefined]>([
    ['is read', finished({ [key]: '10m', other: 'x' }), '10m'],
    ['may be empty', finished({ [key]: '' }), ''],
    ['is absent', finished({ other: 'x' }), undefined],
    ['is not read without annotations', pod({ phase: 'Failed' }), undefined],
    ['is not read while the pod runs', finished({ [key]: '10m' }, 'Running'), undefined],
    ['is not a label', pod({ phase: 'Failed' }, { labels: { [key]: '10m' } }), undefined],
  ])('%s', (_name, object, expected) => {
    expect(read(object)).toEqual(both(expected));
  });

  test('is not read if no policy reads it', () => {
    expect(read(finished({ [key]: '10m' }), labelKeys)).toEqual(both(undefined));
    // Bytes that are no annotations: they are not even decoded.
    const broken = Buffer.from([0x0a, 0x03, 0x62, 0x01, 0xff]);
    const bytes = protobuf(evicted);
    expect(() => podCodec(() => new Set([key])).fromProtobuf(Buffer.concat([broken, bytes]))).toThrow();
    expect(plain(codec.fromProtobuf(Buffer.concat([broken, bytes])))).toEqual(evictedFacts);
  });

  test('is cut, so that it is no duration', () => {
    const [json, binary] = read(finished({ [key]: '1h'.repeat(100_000) }));
    expect(json).toMatch(/^(1h)+1?…[0-9a-f]{32}$/);
    expect(String(binary)).toMatch(/^(1h)+1?…[0-9a-f]{32}$/);
    expect(Buffer.byteLength(String(json))).toBeLessThanOrEqual(63);
  });

  test('is ignored if it is no text', () => {
    expect(podCodec(() => 'all').fromJson(finished({ [key]: 10 })).ttlAnnotation).toBeUndefined();
    expect(podCodec(() => 'all').fromJson(finished(['10m'])).ttlAnnotation).toBeUndefined();
  });

  test('is read anew of a pod that is known without it', () => {
    let keys: LabelKeys = new Set();
    const reader = podCodec(() => keys);
    const object = finished({ [key]: '10m' });
    const known = reader.fromJson(object);
    keys = new Set([key]);
    const again = reader.fromJson(object, new Map([[known.uid, known]]));
    expect([known.ttlAnnotation, again.ttlAnnotation]).toEqual([undefined, '10m']);
    expect(reader.fromJson(object, new Map([[known.uid, again]]))).toBe(again);
  });
});

describe('pods', () => {
  test('JSON and protobuf give the same facts', () => {
    expect(plain(codec.fromJson(evicted))).toEqual(evictedFacts);
    expect(plain(codec.fromProtobuf(protobuf(evicted)))).toEqual(evictedFacts);
  });

  test.each([
    {
      name: 'a running pod has neither message nor end',
      status: { phase: 'Running', message: 'x', containerStatuses: [ended('2026-01-02T00:00:00Z')] },
      expected: { phase: 'Running', message: '', finishedAtMs: undefined },
    },
    ...[
      { name: 'no container status', status: {} },
      {
        name: 'a container that the kubelet lost',
        status: { containerStatuses: [ended('2026-01-02T00:00:00Z'), ended('1970-01-01T00:00:00Z')] },
      },
      {
        name: 'an ended init container alone',
        status: { initContainerStatuses: [ended('2026-01-02T00:00:00Z')] },
      },
      {
        name: 'a container that waits',
        status: { containerStatuses: [ended('2026-01-02T00:00:00Z'), { state: { waiting: {} } }] },
      },
      { name: 'a start alone', status: { startTime: '2026-01-02T00:00:00Z' } },
    ].flatMap(({ name, status }) => [
      {
        name: `the finish is unknown with ${name}: no other condition has it`,
        status: {
          ...{ phase: 'Failed', ...status },
          conditions: [
            { type: 'Ready', status: 'False', lastTransitionTime: '2026-01-04T00:00:00Z' },
            { type: 'DisruptionTarget', status: 'False', lastTransitionTime: '2026-01-04T00:00:00Z' },
          ],
        },
        expected: { finishedAtMs: undefined },
      },
      {
        name: `the disruption is the finish with ${name}`,
        status: {
          ...{ phase: 'Failed', ...status },
          conditions: [
            { type: 'DisruptionTarget', status: 'True', lastTransitionTime: '2026-01-03T00:00:00Z' },
            { type: 'Ready', status: 'True', lastTransitionTime: '2026-01-04T00:00:00Z' },
          ],
        },
        expected: { finishedAtMs: Date.parse('2026-01-03T00:00:00Z') },
      },
    ]),
    {
      name: 'the end of a container after the disruption is later',
      status: {
        phase: 'Failed',
        conditions: [
          { type: 'DisruptionTarget', status: 'True', lastTransitionTime: '2026-01-03T00:00:00Z' },
        ],
        containerStatuses: [ended('2026-01-04T00:00:00Z'), ended('1970-01-01T00:00:00Z')],
      },
      expected: { finishedAtMs: Date.parse('2026-01-04T00:00:00Z') },
    },
    {
      name: 'a later condition does not move the end of the last container',
      status: {
        phase: 'Succeeded',
        conditions: [
          { type: 'DisruptionTarget', status: 'True', lastTransitionTime: '2026-01-04T00:00:00Z' },
        ],
        containerStatuses: [ended('2026-01-02T00:00:00Z')],
      },
      expected: { finishedAtMs: Date.parse('2026-01-02T00:00:00Z') },
    },
    {
      name: 'an init container may end last',
      status: {
        phase: 'Succeeded',
        containerStatuses: [ended('2026-01-02T00:00:00Z')],
        initContainerStatuses: [ended('2026-01-03T00:00:00Z')],
      },
      expected: { finishedAtMs: Date.parse('2026-01-03T00:00:00Z') },
    },
    {
      name: 'an ephemeral container may end last',
      status: {
        phase: 'Succeeded',
        containerStatuses: [ended('2026-01-02T00:00:00Z')],
        ephemeralContainerStatuses: [ended('2026-01-03T00:00:00Z')],
      },
      expected: { finishedAtMs: Date.parse('2026-01-03T00:00:00Z') },
    },
    {
      name: 'a pod in phase Unknown has not ended',
      status: { phase: 'Unknown', message: 'x', containerStatuses: [ended('2026-01-02T00:00:00Z')] },
      expected: { phase: 'Unknown', message: '', finishedAtMs: undefined },
    },
    {
      name: 'a container that ended before the creation shows that the clock was behind: no later time counts',
      status: {
        phase: 'Failed',
        containerStatuses: [ended('2026-01-02T00:00:00Z'), ended('2025-12-31T23:00:00Z')],
      },
      expected: { finishedAtMs: Date.parse('2025-12-31T23:00:00Z') },
    },
    {
      name: 'so does the disruption, without the end of a container',
      status: {
        phase: 'Failed',
        conditions: [
          { type: 'DisruptionTarget', status: 'True', lastTransitionTime: '2025-12-31T23:00:00Z' },
        ],
      },
      expected: { finishedAtMs: Date.parse('2025-12-31T23:00:00Z') },
    },
    {
      name: 'so does a start before the creation, however long the pod ran',
      status: {
        phase: 'Succeeded',
        startTime: '2025-12-31T22:00:00Z',
        containerStatuses: [ended('2026-01-01T01:00:00Z')],
      },
      expected: { finishedAtMs: Date.parse('2025-12-31T22:00:00Z') },
    },
    {
      name: 'a synchronised clock may start a pod some seconds before the creation',
      status: {
        phase: 'Succeeded',
        startTime: '2025-12-31T23:59:55Z',
        containerStatuses: [ended('2026-01-01T01:00:00Z')],
      },
      expected: { finishedAtMs: Date.parse('2026-01-01T01:00:00Z') },
    },
    {
      name: 'a clock that counts from 1970 is behind',
      status: { phase: 'Failed', containerStatuses: [ended('1970-01-01T00:02:03Z')] },
      expected: { finishedAtMs: 123_000 },
    },
    {
      name: 'a pod with an empty phase has no finish time; it is terminated, as upstream',
      status: { message: 'x', containerStatuses: [ended('2026-01-02T00:00:00Z')] },
      expected: { phase: '', message: 'x', finishedAtMs: undefined },
    },
    {
      name: 'a new pod has no node and was on none',
      status: { phase: 'Pending' },
      expected: { nodeName: undefined, nodeExisted: false },
    },
    {
      name: 'a startTime of zero is none',
      status: { phase: 'Pending', startTime: '0001-01-01T00:00:00Z' },
      expected: { nodeExisted: false },
    },
    {
      name: 'a pod that a kubelet has accepted was on a node',
      status: { phase: 'Pending', startTime: '2026-01-01T00:00:10Z' },
      expected: { nodeExisted: true },
    },
    {
      name: 'a pod that a scheduler has bound was on a node',
      status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'True' }] },
      expected: { nodeExisted: true },
    },
    {
      name: 'a pod that no scheduler could bind was on none',
      status: { phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False' }] },
      expected: { nodeExisted: false },
    },
    { name: 'a pod may have no status', status: undefined, expected: { phase: '', reason: '' } },
  ])('$name', ({ status, expected }) => {
    const object = { ...pod({}), status };
    expect(facts(object)).toMatchObject(expected);
    expect(codec.fromProtobuf(protobuf(object))).toMatchObject(expected);
  });

  test('skips unknown fields of all wire types', () => {
    const unknown = Buffer.from(
      'f80196feffffff01f9010000000000000009fd0100000005fa0103616263fb010805fc01',
      'hex',
    );
    const bytes = Buffer.concat([unknown, protobuf(evicted), unknown]);
    expect(plain(codec.fromProtobuf(bytes))).toEqual(evictedFacts);
  });

  test('an owner that is not a controller is ignored', () => {
    expect(
      facts(pod({}, { ownerReferences: [{ kind: 'Node', name: 'n', uid: '1' }] })).controller,
    ).toBeUndefined();
  });

  test('values of another type in JSON are missing', () => {
    const metadata = {
      generation: '2',
      deletionGracePeriodSeconds: '30',
      labels: { app: 1, tier: 'x' },
      finalizers: [1, 'a/b'],
    };
    const read = podCodec(() => 'all').fromJson(pod({ phase: 'Failed' }, metadata));
    expect(plain(read)).toMatchObject({ generation: 0, deletionGracePeriodSeconds: undefined });
    expect({ labels: read.labels, finalizers: read.finalizers }).toEqual({
      labels: { tier: 'x' },
      finalizers: ['a/b'],
    });
  });

  test('a known object in the same state is reused', () => {
    const known = codec.fromJson(evicted);
    const byUid = new Map([[known.uid, known]]);
    expect(codec.fromJson(evicted, byUid)).toBe(known);
    const changed = { ...evicted, metadata: { ...evicted.metadata, resourceVersion: '218' } };
    expect(plain(codec.fromJson(changed, byUid))).toEqual({ ...plain(known), resourceVersion: '218' });
  });

  test('a known pod gets the labels that are required now', () => {
    const known = codec.fromJson(evicted);
    const other = podCodec(() => new Set(['pod-template-hash']));
    const again = other.fromJson(evicted, new Map([[known.uid, known]]));
    expect(plain(again)).toEqual({ ...plain(known), labels: { 'pod-template-hash': '7d5f' } });
    expect(plain(other.fromProtobuf(protobuf(evicted), new Map([[known.uid, known]])))).toEqual(plain(again));
  });

  test.each([{ metadata: { name: 'p' } }, { metadata: { uid: 'u' } }, {}, null, 'x', []])(
    'an object without identity is rejected: %j',
    (object) => {
      expect(() => codec.fromJson(object)).toThrow(MalformedError);
    },
  );
});

describe('other kinds', () => {
  const metadata = { name: 'n', namespace: 'a', uid: 'u', resourceVersion: '1', labels: { a: 'b' } };

  test.each([
    { name: 'a ready node', conditions: [{ type: 'Ready', status: 'True' }], ready: true },
    { name: 'a node that is not ready', conditions: [{ type: 'Ready', status: 'False' }], ready: false },
    { name: 'a node of unknown state', conditions: [{ type: 'Ready', status: 'Unknown' }], ready: false },
    { name: 'a node without conditions', conditions: [], ready: false },
    { name: 'another condition', conditions: [{ type: 'MemoryPressure', status: 'True' }], ready: false },
  ])('$name', ({ conditions, ready }) => {
    expect(nodeCodec().fromJson({ metadata, status: { conditions } })).toMatchObject({
      ready,
      labels: { a: 'b' },
    });
  });

  test.each([
    { conditions: [{ type: 'Complete', status: 'True' }], finished: true },
    { conditions: [{ type: 'Failed', status: 'True' }], finished: true },
    { conditions: [{ type: 'Complete', status: 'False' }], finished: false },
    { conditions: [{ type: 'SuccessCriteriaMet', status: 'True' }], finished: false },
  ])('a job with $conditions is finished: $finished', ({ conditions, finished }) => {
    expect(jobCodec().fromJson({ metadata, status: { conditions } })).toMatchObject({
      namespace: 'a',
      finished,
    });
  });

  test('a custom resource is rejected in protobuf and without identity', () => {
    const { codec: raw } = jsonResource({ name: 'gcpolicies', path: '/x' });
    expect(() => raw.fromProtobuf(Buffer.alloc(0))).toThrow(MalformedError);
    expect(() => raw.fromJson({ metadata: { name: 'p' } })).toThrow(MalformedError);
  });
});
