import { describe, expect, test } from 'vitest';
import { jobTrackingFinalizer } from '../../../../src/api/finalizers.ts';
import { CONTAINER_ENDS, KEEP_LABEL } from '../../../../src/api/policy/matching.ts';
import { nodePodCodec } from '../../../../src/kube/cache/node-pods.ts';
import { nodeReportsResource } from '../../../../src/kube/cache/node-report-facts.ts';
import type { PodFacts } from '../../../../src/kube/cache/objects.ts';
import { jobCodec, namespaceCodec, nodeCodec, podCodec } from '../../../../src/kube/cache/resources.ts';
import { bounds } from '../../../../src/runtime/bounds.ts';
import { protobufOf } from '../../../sandbox/api/format/protobuf-kinds.ts';
import { pod, plain } from './decode.fixtures.ts';

/** Nearly what etcd takes as one object. */
const long = (end = ''): string => 'x'.repeat(1_400_000) + end;
const owner = (more: object) => ({
  ...{ apiVersion: 'batch/v1', kind: 'Job', name: 'a', uid: 'u', controller: true },
  ...more,
});
/** Metadata with one owner. */
const ownedBy = (more: object) => ({ ownerReferences: [owner(more)] });
const times = <T>(count: number, make: (i: number) => T): T[] =>
  Array.from({ length: count }, (_, i) => make(i));

/** The facts of a pod, from both wire forms. */
function forms(object: object): readonly PodFacts[] {
  const codec = podCodec(() => new Set(['app', CONTAINER_ENDS]));
  return [codec.fromProtobuf(protobufOf('Pod', object)), codec.fromJson(object)].map(plain);
}

const sizeOf = (facts: unknown): number => JSON.stringify(facts).length;

test.each([
  0,
  1,
  2 ** 28 - 1,
  2 ** 28,
  2 ** 32 - 1,
  2 ** 32,
  2 ** 35 - 1,
  2 ** 35,
  Number.MAX_SAFE_INTEGER,
  -1,
])('reads the integer %d from both forms', (deletionGracePeriodSeconds) => {
  for (const facts of forms(pod({}, { deletionGracePeriodSeconds })))
    expect(facts).toMatchObject({ deletionGracePeriodSeconds });
});

describe('a pod', () => {
  const reasons = times(300, (i) => ({
    state: { terminated: { exitCode: i, reason: `${i}`.padEnd(5_000, 'x') } },
  }));
  const identity = { name: long(), namespace: long(), uid: long(), resourceVersion: long() };
  test.each<readonly [string, object]>([
    [
      'owners and finalizers',
      pod(
        {},
        {
          ownerReferences: times(30_000, (i) => owner({ uid: `${i}`, controller: i === 9 })),
          finalizers: times(100_000, (i) => `a/${i}`),
        },
      ),
    ],
    ['texts while it runs', pod({ phase: long() }, { ...identity, finalizers: [long()] })],
    [
      'texts after its end',
      {
        ...pod(
          { phase: 'Failed', reason: long(), message: long(), containerStatuses: reasons },
          { labels: { app: long() } },
        ),
        spec: { nodeName: long() },
      },
    ],
  ])('with endless %s has small facts, the same from both forms', (_name, object) => {
    const [protobuf, json] = forms(object);
    expect(sizeOf(protobuf)).toBeLessThan(12_000);
    expect(protobuf).toEqual(json);
  });

  test.each(['name', 'uid', 'kind', 'apiVersion'])(
    'has another controller than one whose %s differs only in its last letter',
    (field) => {
      const facts = ['a', 'b', 'a'].flatMap((end) => forms(pod({}, ownedBy({ [field]: long(end) }))));
      const controllers = facts.map(({ controller }) => JSON.stringify(controller));
      for (const one of facts) expect(sizeOf(one)).toBeLessThan(6_000);
      expect(new Set(controllers).size).toBe(2);
      expect(controllers.slice(4)).toEqual(controllers.slice(0, 2));
    },
  );

  test.each([0, 8, 100])('keeps the finalizer of its Job after %i others', (before) => {
    const finalizers = [...times(before, (i) => `a/${i}`), jobTrackingFinalizer];
    for (const facts of forms(pod({}, { finalizers }))) {
      expect(facts.finalizers).toEqual([
        ...finalizers.slice(0, Math.min(before, bounds.finalizers - 1)),
        jobTrackingFinalizer,
      ]);
    }
  });
});

describe('other kinds', () => {
  const metadata = { name: 'a', namespace: 'b', uid: 'u', resourceVersion: '1' };
  const labels = Object.fromEntries(times(20_000, (i) => [`label-${i}`, 'value']));
  test.each([
    { kind: 'Node', codec: nodeCodec() },
    { kind: 'Namespace', codec: namespaceCodec() },
  ])('a $kind with more labels than are kept is opted out', ({ kind, codec }) => {
    const object = { metadata: { ...metadata, labels } };
    for (const facts of [codec.fromJson(object), codec.fromProtobuf(protobufOf(kind, object))])
      expect(facts.labels).toEqual({ [KEEP_LABEL]: 'true' });
  });

  test('keeps little of the owner of a Job', () => {
    const object = { metadata: { ...metadata, ...ownedBy({ name: long(), uid: long() }) } };
    const json = jobCodec().fromJson(object);
    expect(sizeOf(json)).toBeLessThan(1_000);
    expect(jobCodec().fromProtobuf(protobufOf('Job', object))).toEqual(json);
  });

  test('keeps little of a report', () => {
    const many = times(500, () => ({ namespace: long(), name: long(), bytes: 1 }));
    const usage = { measuredTime: '2026-01-01T00:00:00Z', namespaces: many, pods: many };
    const policy = { uid: long(), name: long() };
    const conditions = [{ type: long(), message: long() }];
    const { codec } = nodeReportsResource(() => true);
    expect(sizeOf(codec.fromJson({ metadata, status: { policy, conditions, usage } }))).toBeLessThan(20_000);
  });
});

describe('a pod of the node', () => {
  const metadata = { name: 'a', namespace: 'b', uid: 'u', resourceVersion: '1' };
  const container = (image: string, name = 'c') => ({ name, image });
  const images = (count: number): string[] => times(count, (i) => `${i}`.padEnd(bounds.text, 'x'));
  const codec = nodePodCodec();
  const nodePods = (spec: object) => [
    codec.fromJson({ metadata, spec }),
    codec.fromProtobuf(protobufOf('Pod', { metadata, spec })),
  ];

  test('with endless names has small facts, the same from both forms', () => {
    const [json, protobuf] = nodePods({ containers: [container(long()), container('b', long())] });
    expect(json?.images).toEqual(['b']);
    expect(sizeOf(json)).toBeLessThan(3_000);
    expect(protobuf).toEqual(json);
  });

  test.each([
    { name: '256 containers', count: bounds.podParts, isRead: true },
    { name: '257 containers', count: bounds.podParts + 1, isRead: false },
  ])('with $name is read: $isRead; else it is opted out', ({ count, isRead }) => {
    for (const facts of nodePods({ containers: times(count, (i) => container(`image-${i}`, `c-${i}`)) })) {
      expect(facts.images).toHaveLength(count);
      expect(facts.isOptedOut).toBe(!isRead);
      expect(facts.storage.containers).toHaveLength(isRead ? count : 0);
    }
  });

  test.each([
    { name: 'images of 16 KB together', images: images(8), kept: 8 },
    { name: 'images of 18 KB together: it may use any image', images: images(9), kept: undefined },
  ])('with $name', ({ images, kept }) => {
    for (const facts of nodePods({ containers: images.map((image, i) => container(image, `c-${i}`)) }))
      expect(facts.images?.length).toBe(kept);
  });

  test.each([
    { kind: 'initContainers', count: 256 },
    { kind: 'ephemeralContainers', count: 256 },
    { kind: 'volumes', count: 257 },
  ])('is opted out with $count $kind and a container', ({ kind, count }) => {
    const many = times(count, (i) => ({ name: `c-${i}`, emptyDir: {} }));
    for (const facts of nodePods({ containers: [container('a', 'main')], [kind]: many }))
      expect(facts).toMatchObject({ isOptedOut: true, storage: { emptyDirs: [], containers: [] } });
  });
});
