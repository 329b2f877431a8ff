import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { describe, expect, test } from 'vitest';
import { jobTrackingFinalizer } from '../../../../src/api/finalizers.ts';
import { decodeWhole } from '../../../../src/kube/codec/reader.ts';
import { Pod } from '../../../../src/kube/gen/core.ts';
import type { LabelKeys } from '../../../../src/kube/cache/objects.ts';
import { podCodec } from '../../../../src/kube/cache/resources.ts';
import { seededRandom, type Random } from '../../../cluster/population/random.ts';
import { protobufOf } from '../../../sandbox/api/format/protobuf-kinds.ts';
import { pod, plain } from './decode.fixtures.ts';

const protobuf = (object: object): Buffer => protobufOf('Pod', object);

type Lengths = readonly [number, ...number[]];

/** Lengths on both sides of every bound. */
const hostileLengths: Lengths = [1, 62, 64, 127, 129, 250, 254, 316, 318, 700, 2_047, 2_049, 9_000];

/** One to four bytes a character. */
const textOf = (random: Random, lengths: Lengths): string => {
  const length = random.pick(lengths);
  return random.pick(['x', 'ä', '€', '🙂', '\u0000', '…']).repeat(length) + random.pick(['', 'y']);
};

const times: readonly [string | undefined, ...string[]] = [
  undefined,
  ...['0001-01-01T00:00:00Z', '1969-12-31T23:59:59Z', '1970-01-01T00:00:00Z', '2026-01-02T03:04:05Z'],
  ...['2026-02-03T00:00:00Z', '2106-02-08T00:00:00Z', '9999-12-31T23:59:59Z'],
];

/** A pod in some state, with and without the fields that a real one may have. */
function anyPod(random: Random, lengths = hostileLengths): object {
  const hostile = (random: Random): string => textOf(random, lengths);
  const some = <T>(make: () => T): T[] => Array.from({ length: random.int(4) }, make);
  const time = () => random.pick(times);
  const status = () => ({
    image: random.pick([undefined, 'nginx', hostile(random)]),
    state: random.pick<object>([
      {},
      { running: {} },
      { terminated: { finishedAt: time() } },
      { waiting: { reason: random.pick(['ContainerCreating', hostile(random)]), message: hostile(random) } },
    ]),
  });
  return {
    metadata: {
      name: random.pick(['a', 'ünïcode', 'x'.repeat(200), hostile(random)]),
      namespace: random.pick(['', 'shop']),
      uid: random.uid(),
      resourceVersion: random.pick(['1', '90071992547409921']),
      creationTimestamp: time(),
      deletionTimestamp: time(),
      deletionGracePeriodSeconds: random.pick([undefined, 0, 30, 3600]),
      labels: Object.fromEntries(
        some(() => [random.pick(['app', 'tier', 'ap', 'ä']), random.pick(['', 'web', hostile(random)])]),
      ),
      ownerReferences: some(() => ({
        ...{
          apiVersion: random.pick(['batch/v1', hostile(random)]),
          kind: random.pick(['Job', 'Node', hostile(random)]),
          name: random.pick(['a', 'b', hostile(random)]),
          uid: random.pick([random.uid(), hostile(random)]),
        },
        controller: random.pick([true, false, undefined]),
      })),
      finalizers: Array.from({ length: random.pick([0, 1, 2, 20]) }, () =>
        random.pick(['a/b', 'c/d', jobTrackingFinalizer, hostile(random)]),
      ),
    },
    spec: random.pick<object | undefined>([undefined, {}, { nodeName: 'node-a' }]),
    status: {
      phase: random.pick([undefined, 'Pending', 'Running', 'Succeeded', 'Failed', 'Unknown']),
      reason: random.pick([undefined, 'Evicted', hostile(random)]),
      startTime: time(),
      message: random.pick([undefined, 'short', 'ä'.repeat(300), hostile(random)]),
      conditions: some(() => ({
        type: random.pick(['PodScheduled', 'PodReadyToStartContainers', 'Ready']),
        status: random.pick(['False', 'True']),
        ...{ lastTransitionTime: time(), reason: hostile(random), message: hostile(random) },
      })),
      containerStatuses: some(status),
      initContainerStatuses: some(status),
      ephemeralContainerStatuses: some(status),
    },
  };
}

/** Where metadata, spec and status of an encoded pod end. */
function topFieldEnds(bytes: Buffer): readonly number[] {
  const reader = new BinaryReader(bytes);
  const ends: number[] = [];
  while (reader.pos < reader.len) {
    reader.tag();
    reader.skip(WireType.LengthDelimited);
    ends.push(reader.pos);
  }
  return ends;
}

describe('a pod in protobuf', () => {
  test.each<LabelKeys>(['all', new Set(['app']), new Set(['tier', 'ä']), new Set<string>()])(
    'has the same facts as in JSON, labels %s',
    (keys) => {
      const codec = podCodec(() => keys);
      const random = seededRandom(16);
      for (let i = 0; i < 400; i += 1) {
        const object = anyPod(random);
        expect(plain(codec.fromProtobuf(protobuf(object)))).toEqual(plain(codec.fromJson(object)));
      }
    },
  );

  test("is decoded as by the library's own reader, if no text is too long", () => {
    const random = seededRandom(17);
    for (let i = 0; i < 400; i += 1) {
      const bytes = protobuf(anyPod(random, [1, 62, 64, 65, 250, 500]));
      expect(decodeWhole(Pod, bytes)).toEqual(Pod.decode(bytes));
    }
  });

  test('is rejected if it is cut off in metadata, spec or status', () => {
    const object = { ...pod({ phase: 'Succeeded' }, { labels: {} }), spec: { nodeName: 'node-a' } };
    const bytes = protobuf(object);
    const codec = podCodec(() => new Set());
    const isRead = (end: number): boolean => {
      try {
        return codec.fromProtobuf(bytes.subarray(0, end)).uid === 'u';
      } catch {
        return false;
      }
    };
    const [metadataEnd, specEnd] = topFieldEnds(bytes);
    const read = Array.from(bytes, (_, end) => end).filter(isRead);
    expect(read).toEqual([metadataEnd, specEnd]);
  });

  test('is not mixed up with one whose node name differs in one byte', () => {
    const name = 'nodes-of-the-first-region-and-zone-0000';
    const codec = podCodec(() => new Set());
    const names = [name, ...Array.from(name, (_, i) => `${name.slice(0, i)}~${name.slice(i + 1)}`)];
    for (const nodeName of [...names, ...names, ...names]) {
      const object = { ...pod({}), spec: { nodeName } };
      expect(codec.fromProtobuf(protobuf(object)).nodeName).toBe(nodeName);
    }
  });

  test.each([
    { name: 'a field that ends after the pod', hex: '1a0b0a095375636365656465' },
    { name: 'an absurd length', hex: '0affffffff0f' },
    { name: 'an unknown wire type', hex: '0e00' },
  ])('is rejected with $name', ({ hex }) => {
    const bytes = Buffer.concat([protobuf(pod({ phase: 'Running' })), Buffer.from(hex, 'hex')]);
    expect(() => podCodec(() => new Set()).fromProtobuf(bytes)).toThrow();
  });
});
