import { describe, expect, test } from 'vitest';
import { jobTrackingFinalizer } from '../../../../src/api/finalizers.ts';
import { CONTAINER_ENDS, KEEP_LABEL } from '../../../../src/api/policy/matching.ts';
import type { Codec } from '../../../../src/kube/codec/list.ts';
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
import { protobufOf } from '../../../sandbox/api/protobuf-kinds.ts';
import { pod, plain } from './decode.fixtures.ts';

const never = new AbortController().signal;
/** Nearly what etcd takes as one object. */
const large = 1_400_000;
const long = (end = ''): string => 'x'.repeat(large) + end;
const job = { apiVersion: 'batch/v1', kind: 'Job', name: 'a', uid: 'u', controller: true };
const owner = (more: object) => ({ ...job, ...more });
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

describe('a pod', () => {
  const labelled = (metadata: object, status: object = {}): object =>
    pod(status, { labels: { app: 'web' }, ...metadata });
  test.each<readonly [string, object]>([
    [
      'the names of 30 000 owners',
      labelled({ ownerReferences: times(30_000, (i) => owner({ uid: `${i}`, controller: i === 9 })) }),
    ],
    ['100 000 finalizers', labelled({ finalizers: times(100_000, (i) => `a/${i}`) })],
    ['a finalizer', labelled({ finalizers: [long()] })],
    ['the value of a label', labelled({ labels: { app: long() } })],
    ['its name and namespace', labelled({ name: long(), namespace: long() })],
    ['its UID and version', labelled({ uid: long(), resourceVersion: long() })],
    ['its phase', labelled({}, { phase: long() })],
    ['its reason', labelled({}, { phase: 'Failed', reason: long() })],
    [
      'the reasons of 300 containers',
      labelled(
        {},
        {
          phase: 'Failed',
          containerStatuses: times(300, (i) => ({
            state: { terminated: { exitCode: i, reason: `${i}`.padEnd(5_000, 'x') } },
          })),
        },
      ),
    ],
    ['its message', labelled({}, { phase: 'Failed', message: long() })],
    ['its node', { ...labelled({}), spec: { nodeName: long() } }],
  ])('with %s of 1.4 MB has small facts, the same from both forms', (_name, object) => {
    const [protobuf, json] = forms({ spec: { nodeName: 'n' }, ...object });
    expect(sizeOf(protobuf)).toBeLessThan(6_000);
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

  test.each([0, 5, 7, 8, 100])('keeps the finalizer of its Job after %i others', (before) => {
    const finalizers = [...times(before, (i) => `a/${i}`), jobTrackingFinalizer];
    for (const facts of forms(pod({}, { finalizers }))) {
      expect(facts.finalizers).toEqual([
        ...finalizers.slice(0, Math.min(before, bounds.finalizers - 1)),
        jobTrackingFinalizer,
      ]);
    }
  });
});

/** The facts of any other kind, from both wire forms. */
const both =
  <T>(kind: string, codec: Codec<T>) =>
  (object: object): readonly T[] => [codec.fromJson(object), codec.fromProtobuf(protobufOf(kind, object))];

const nodes = both('Node', nodeCodec());
const namespaces = both('Namespace', namespaceCodec());
const jobs = both('Job', jobCodec());
const replicaSets = both('ReplicaSet', replicaSetCodec());
const metadata = { name: 'a', namespace: 'b', uid: 'u', resourceVersion: '1' };
const manyLabels = Object.fromEntries(times(20_000, (i) => [`label-${i}`, 'value']));

describe('other kinds', () => {
  test.each<readonly [string, readonly unknown[]]>([
    ['a label of a node', nodes({ metadata: { ...metadata, labels: { a: long() } } })],
    [
      'taints of a node',
      nodes({ metadata, spec: { taints: [{ key: long() }, ...times(50_000, (i) => ({ key: `${i}` }))] } }),
    ],
    ['a label of a namespace', namespaces({ metadata: { ...metadata, labels: { a: long() } } })],
    [
      'the name of a Job and of its CronJob',
      jobs({ metadata: { ...metadata, name: long(), namespace: long(), ...ownedBy({ name: long() }) } }),
    ],
    [
      'the owner of a ReplicaSet',
      replicaSets({ metadata: { ...metadata, ...ownedBy({ name: long(), uid: long() }) } }),
    ],
  ])('with %s of 1.4 MB have small facts, the same from both forms', (_name, [json, protobuf]) => {
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
    const policy = { apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'GCPolicy', spec: { mode: 'Enforce' } };
    const required = { ...metadata, generation: 3, creationTimestamp: '2026-01-01T00:00:00Z' };
    const annotations = { 'gc.dustpan.dev/skip-hold': '3' };
    const others = {
      labels: { a: long() },
      ...ownedBy({ name: long() }),
      managedFields: [{ manager: long() }],
    };
    const object = {
      ...policy,
      metadata: { ...required, ...others, annotations: { ...annotations, a: long() } },
    };
    expect(codec.fromJson(object).object).toEqual({ ...policy, metadata: { ...required, annotations } });
  });

  test('keeps little of a report of 1.4 MB', () => {
    const policy = { uid: long(), name: long() };
    const status = { policy, runtime: { name: long() }, conditions: [{ type: long(), message: long() }] };
    expect(sizeOf(nodeReportsResource().codec.fromJson({ metadata, status }))).toBeLessThan(1_000);
  });

  test('keeps little of the usage in a report of 1.4 MB', () => {
    const many = times(500, () => ({ namespace: long(), name: long(), bytes: 1 }));
    const usage = { measuredTime: '2026-01-01T00:00:00Z', namespaces: many, pods: many };
    const { codec } = nodeReportsResource(() => true);
    expect(sizeOf(codec.fromJson({ metadata, status: { usage } }))).toBeLessThan(20_000);
  });

  test('keeps little of a live pod', async () => {
    const body = pod({}, { ...ownedBy({ name: long() }), labels: { app: long() } });
    const transport = new FakeTransport({ send: () => body });
    const live = await new LiveReads(transport, systemClock).pod({ namespace: 'a', name: 'p' }, never);
    expect(live?.controller?.name).toSatisfy(isCut);
    expect(sizeOf(live)).toBeLessThan(6_000);
  });
});

describe('a pod of the node', () => {
  const container = (image: string, name = 'c') => ({ name, image });
  const images = (count: number): string[] => times(count, (i) => `${i}`.padEnd(bounds.text, 'x'));
  const codec = nodePodCodec();
  const protobuf = (spec: object) => codec.fromProtobuf(protobufOf('Pod', { metadata, spec }));

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
    const containers = times(count, (i) => container(`image-${i}`, `c-${i}`));
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
    const many = times(256, (i) => container('a', `c-${i}`));
    const spec = { containers: [container('a', 'main')], [kind]: many };
    expect(codec.fromJson({ metadata, spec }).isOptedOut).toBe(true);
  });

  test('is opted out with 257 volumes', () => {
    const volumes = times(257, (i) => ({ name: `v-${i}`, emptyDir: {} }));
    expect(codec.fromJson({ metadata, spec: { volumes } })).toMatchObject({
      isOptedOut: true,
      images: [],
      storage: { emptyDirs: [] },
    });
  });
});
