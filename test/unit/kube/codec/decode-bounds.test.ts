import { describe, expect, test } from 'vitest';
import { jobTrackingFinalizer } from '../../../../src/api/finalizers.ts';
import { KEEP_LABEL } from '../../../../src/api/policy/matching.ts';
import {
  jobFromJson,
  namespaceFromJson,
  nodeFromJson,
  podFromJson,
  replicaSetFromJson,
} from '../../../../src/kube/codec/json.ts';
import type { Codec } from '../../../../src/kube/codec/list.ts';
import { ReplicaSet } from '../../../../src/kube/gen/apps.ts';
import { Job } from '../../../../src/kube/gen/batch.ts';
import { Namespace, Node, Pod } from '../../../../src/kube/gen/core.ts';
import { NodePod } from '../../../../src/kube/gen/node_pod.ts';
import { LiveReads } from '../../../../src/kube/actions/live-reads.ts';
import { nodePodCodec } from '../../../../src/kube/cache/node-pods.ts';
import { nodeReportsResource } from '../../../../src/kube/cache/node-report-facts.ts';
import type { PodFacts } from '../../../../src/kube/cache/objects.ts';
import {
  jobCodec,
  jsonResource,
  namespaceCodec,
  nodeCodec,
  podCodec,
  replicaSetCodec,
} from '../../../../src/kube/cache/resources.ts';
import { bounds, isCut } from '../../../../src/runtime/bounds.ts';
import { systemClock } from '../../../../src/runtime/scheduling/clock.ts';
import { FakeTransport } from '../../../fakes/transport.ts';
import { pod, plain } from './decode.fixtures.ts';

const never = new AbortController().signal;
/** Nearly what etcd takes as one object. */
const large = 1_400_000;
const long = (end = ''): string => 'x'.repeat(large) + end;
const owner = (more: object) => ({
  ...{ apiVersion: 'batch/v1', kind: 'Job', name: 'a', uid: 'u', controller: true },
  ...more,
});

/** The facts of a pod, from both wire forms. */
function forms(object: object): readonly PodFacts[] {
  const bytes = Buffer.from(Pod.encode(podFromJson(object)).finish());
  const codec = podCodec(() => new Set(['app']));
  return [codec.fromProtobuf(bytes), codec.fromJson(object)].map(plain);
}

const sizeOf = (facts: unknown): number => JSON.stringify(facts).length;

describe('a pod', () => {
  test.each([
    { name: 'the name of its controller', metadata: { ownerReferences: [owner({ name: long() })] } },
    { name: 'the UID of its controller', metadata: { ownerReferences: [owner({ uid: long() })] } },
    { name: 'the kind of its controller', metadata: { ownerReferences: [owner({ kind: long() })] } },
    {
      name: 'the apiVersion of its controller',
      metadata: { ownerReferences: [owner({ apiVersion: long() })] },
    },
    {
      name: 'the names of 30 000 owners',
      metadata: {
        ownerReferences: Array.from({ length: 30_000 }, (_, i) =>
          owner({ uid: `${i}`, controller: i === 9 }),
        ),
      },
    },
    {
      name: '100 000 finalizers',
      metadata: { finalizers: Array.from({ length: 100_000 }, (_, i) => `a/${i}`) },
    },
    { name: 'a finalizer', metadata: { finalizers: [long()] } },
    { name: 'the value of a label', metadata: { labels: { app: long() } } },
    { name: 'its name and namespace', metadata: { name: long(), namespace: long() } },
    { name: 'its UID and version', metadata: { uid: long(), resourceVersion: long() } },
    { name: 'its phase', status: { phase: long() } },
    { name: 'its reason', status: { phase: 'Failed', reason: long() } },
    { name: 'its message', status: { phase: 'Failed', message: long() } },
  ])('with $name of 1.4 MB has small facts, the same from both forms', ({ metadata = {}, status = {} }) => {
    const object = pod(status, { labels: { app: 'web' }, ...metadata });
    const [protobuf, json] = forms({ ...object, spec: { nodeName: 'n' } });
    expect(sizeOf(protobuf)).toBeLessThan(6_000);
    expect(protobuf).toEqual(json);
  });

  test('on a node with a name of 1.4 MB has small facts', () => {
    for (const facts of forms({ ...pod({ phase: 'Running' }), spec: { nodeName: long() } }))
      expect(sizeOf(facts)).toBeLessThan(6_000);
  });

  test.each(['name', 'uid', 'kind', 'apiVersion'])(
    'has another controller than one whose %s differs only in its last letter',
    (field) => {
      const controllers = ['a', 'b', 'a'].flatMap((end) =>
        forms(pod({}, { ownerReferences: [owner({ [field]: long(end) })] })).map(({ controller }) =>
          JSON.stringify(controller),
        ),
      );
      expect(new Set(controllers).size).toBe(2);
      expect(controllers.slice(4)).toEqual(controllers.slice(0, 2));
    },
  );

  test.each([0, 5, 7, 8, 100])('keeps the finalizer of its Job after %i others', (before) => {
    const finalizers = [...Array.from({ length: before }, (_, i) => `a/${i}`), jobTrackingFinalizer];
    for (const facts of forms(pod({}, { finalizers }))) {
      expect(facts.finalizers).toEqual([
        ...finalizers.slice(0, Math.min(before, bounds.finalizers - 1)),
        jobTrackingFinalizer,
      ]);
    }
  });
});

/** The facts of any other kind, from both wire forms. */
function both<M, T>(
  codec: () => Codec<T>,
  message: (json: unknown) => M,
  encode: (message: M) => Uint8Array,
) {
  return (object: object): readonly T[] => [
    codec().fromJson(object),
    codec().fromProtobuf(Buffer.from(encode(message(object)))),
  ];
}

const nodes = both(nodeCodec, nodeFromJson, (it: Node) => Node.encode(it).finish());
const namespaces = both(namespaceCodec, namespaceFromJson, (it: Namespace) => Namespace.encode(it).finish());
const jobs = both(jobCodec, jobFromJson, (it: Job) => Job.encode(it).finish());
const replicaSets = both(replicaSetCodec, replicaSetFromJson, (it: ReplicaSet) =>
  ReplicaSet.encode(it).finish(),
);
const metadata = { name: 'a', namespace: 'b', uid: 'u', resourceVersion: '1' };
const manyLabels = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`label-${i}`, 'value']));

describe('other kinds', () => {
  test.each([
    { name: 'a label of a node', facts: nodes({ metadata: { ...metadata, labels: { a: long() } } }) },
    {
      name: 'taints of a node',
      facts: nodes({
        metadata,
        spec: { taints: [{ key: long() }, ...Array.from({ length: 50_000 }, (_, i) => ({ key: `${i}` }))] },
      }),
    },
    {
      name: 'a label of a namespace',
      facts: namespaces({ metadata: { ...metadata, labels: { a: long() } } }),
    },
    {
      name: 'the name of a Job',
      facts: jobs({ metadata: { ...metadata, name: long(), namespace: long() } }),
    },
    {
      name: 'the owner of a ReplicaSet',
      facts: replicaSets({
        metadata: { ...metadata, ownerReferences: [owner({ name: long(), uid: long() })] },
      }),
    },
  ])('with $name of 1.4 MB have small facts, the same from both forms', ({ facts: [json, protobuf] }) => {
    expect(sizeOf(json)).toBeLessThan(10_000);
    expect(protobuf).toEqual(json);
  });

  test.each([
    { kind: 'node', facts: nodes({ metadata: { ...metadata, labels: manyLabels } }) },
    { kind: 'namespace', facts: namespaces({ metadata: { ...metadata, labels: manyLabels } }) },
  ])('opts out a $kind with more labels than are kept', ({ facts }) => {
    for (const { labels } of facts) expect(labels).toEqual({ [KEEP_LABEL]: 'true' });
  });

  test('keeps only the required metadata of a policy, and the annotation that ends a hold', () => {
    const { codec } = jsonResource({ name: 'gcpolicies', path: '/p' });
    const object = {
      apiVersion: 'gc.dustpan.dev/v1alpha1',
      kind: 'GCPolicy',
      metadata: {
        ...{ ...metadata, generation: 3, creationTimestamp: '2026-01-01T00:00:00Z' },
        annotations: { a: long(), 'gc.dustpan.dev/skip-hold': '3' },
        labels: { a: long() },
        ownerReferences: [owner({ name: long() })],
        managedFields: [{ manager: long() }],
      },
      spec: { mode: 'Enforce' },
    };
    expect(codec.fromJson(object).object).toEqual({
      ...{ apiVersion: object.apiVersion, kind: object.kind, spec: object.spec },
      metadata: {
        ...{ ...metadata, generation: 3, creationTimestamp: '2026-01-01T00:00:00Z' },
        annotations: { 'gc.dustpan.dev/skip-hold': '3' },
      },
    });
  });

  test('keeps little of a report of 1.4 MB', () => {
    const policy = { uid: long(), name: long() };
    const status = { policy, runtime: { name: long() }, conditions: [{ type: long(), message: long() }] };
    expect(sizeOf(nodeReportsResource().codec.fromJson({ metadata, status }))).toBeLessThan(1_000);
  });

  test('keeps little of the usage in a report of 1.4 MB', () => {
    const many = Array.from({ length: 500 }, () => ({ namespace: long(), name: long(), bytes: 1 }));
    const usage = { measuredTime: '2026-01-01T00:00:00Z', namespaces: many, pods: many };
    const { codec } = nodeReportsResource(() => true);
    expect(sizeOf(codec.fromJson({ metadata, status: { usage } }))).toBeLessThan(20_000);
  });

  test('keeps little of a live pod', async () => {
    const body = pod({}, { ownerReferences: [owner({ name: long() })], labels: { app: long() } });
    const transport = new FakeTransport({ send: () => body });
    const live = await new LiveReads(transport, systemClock).pod({ namespace: 'a', name: 'p' }, never);
    expect(live?.controller?.name).toSatisfy(isCut);
    expect(sizeOf(live)).toBeLessThan(6_000);
  });
});

describe('a pod of the node', () => {
  const container = (image: string, name = 'c') => ({ name, image });
  const images = (count: number): string[] =>
    Array.from({ length: count }, (_, i) => `${i}`.padEnd(bounds.text, 'x'));
  const codec = nodePodCodec();
  const protobuf = (spec: object) =>
    codec.fromProtobuf(Buffer.from(NodePod.encode(NodePod.fromPartial({ metadata, spec })).finish()));

  test.each([
    { name: 'an image', spec: { containers: [container(long()), container('b', 'd')] } },
    { name: 'the name of a container', spec: { containers: [container('b', long())] } },
  ])('with $name of 1.4 MB has small facts, the same from both forms', ({ spec }) => {
    const json = codec.fromJson({ metadata, spec });
    expect(json.images).toEqual(['b']);
    expect(sizeOf(json)).toBeLessThan(3_000);
    expect(protobuf(spec)).toEqual(json);
  });

  test.each([
    { name: '256 containers', count: bounds.podParts, isRead: true },
    { name: '257 containers', count: bounds.podParts + 1, isRead: false },
  ])('with $name is read: $isRead; else it is opted out', ({ count, isRead }) => {
    const containers = Array.from({ length: count }, (_, i) => container(`image-${i}`, `c-${i}`));
    for (const facts of [codec.fromJson({ metadata, spec: { containers } }), protobuf({ containers })]) {
      expect(facts.images).toHaveLength(count);
      expect(facts.isOptedOut).toBe(!isRead);
      expect(facts.storage.containers).toHaveLength(isRead ? count : 0);
    }
  });

  test.each([
    { name: 'one image of 1.4 MB', images: [long()], kept: 0 },
    { name: 'images of 16 KB together', images: images(8), kept: 8 },
    { name: 'images of 18 KB together: it may use any image', images: images(9), kept: undefined },
  ])('with $name', ({ images, kept }) => {
    const containers = images.map((image, i) => container(image, `c-${i}`));
    for (const facts of [codec.fromJson({ metadata, spec: { containers } }), protobuf({ containers })])
      expect(facts.images?.length).toBe(kept);
  });

  test.each(['initContainers', 'ephemeralContainers'])('is opted out with 256 %s and a container', (kind) => {
    const many = Array.from({ length: 256 }, (_, i) => ({ name: `c-${i}`, image: 'a' }));
    const spec = { containers: [{ name: 'main', image: 'a' }], [kind]: many };
    expect(codec.fromJson({ metadata, spec }).isOptedOut).toBe(true);
  });

  test('is opted out with 257 volumes', () => {
    const volumes = Array.from({ length: 257 }, (_, i) => ({ name: `v-${i}`, emptyDir: {} }));
    expect(codec.fromJson({ metadata, spec: { volumes } })).toMatchObject({
      isOptedOut: true,
      images: [],
      storage: { emptyDirs: [] },
    });
  });
});
