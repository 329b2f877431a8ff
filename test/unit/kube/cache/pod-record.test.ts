import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PodFacts } from '../../../../src/kube/cache/objects.ts';
import { PodRecord, type PodTraits } from '../../../../src/kube/cache/pod-record.ts';
import { SharedValues } from '../../../../src/kube/codec/shared-values.ts';
import { plain } from '../codec/decode.fixtures.ts';

/** Up to the year 9999, as metav1.Time. */
const ms = fc.oneof(
  fc.integer({ min: 1, max: 253_402_300_799 }).map((seconds) => seconds * 1000),
  fc.constantFrom(0, 1_577_836_800_000, 4_102_444_800_000),
);
const version = fc.oneof(
  fc.nat().map(String),
  fc.maxSafeNat().map(String),
  fc.constantFrom('', '0', '007', '-1', '1e3', ' 1', '9007199254740993', '18446744073709551615', 'abc'),
);
const text = fc.constantFrom('', 'a', 'a-b', 'a-b-x7k2p', 'b');
const few = fc.constantFrom<readonly string[]>([], ['x'], ['x', 'y']);
const owner = fc.record({ apiVersion: text, kind: text, name: text, uid: text });
const orUndefined = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });

const pods: fc.Arbitrary<PodFacts> = fc.record({
  uid: text,
  name: text,
  namespace: text,
  resourceVersion: version,
  generation: fc.constantFrom(0, 1, 2, 2 ** 40),
  createdAtMs: ms,
  deletionAtMs: orUndefined(ms),
  deletionGracePeriodSeconds: orUndefined(fc.constantFrom(0, 30)),
  labels: fc.constantFrom({}, { app: 'a' }),
  ttlAnnotation: orUndefined(fc.constantFrom('', '1h')),
  controller: orUndefined(owner),
  finalizers: few,
  nodeName: orUndefined(text),
  nodeExisted: fc.boolean(),
  ready: fc.boolean(),
  phase: fc.constantFrom('', 'Running', 'Failed', 'Succeeded'),
  reason: fc.constantFrom('', 'Evicted'),
  endedByKubelet: fc.boolean(),
  markedByPodGc: fc.boolean(),
  ends: fc.constantFrom([], [{ reason: 'OOMKilled', exitCode: 137 }]),
  ttlRules: fc.constantFrom(new Map(), new Map([['a', true]])),
  finishedAtMs: orUndefined(ms),
  finishedByMs: orUndefined(ms),
  wait: orUndefined(
    fc.record({
      ...{ sinceMs: ms, reason: text, message: text, image: text, container: text, isWorking: fc.boolean() },
      initEnd: orUndefined(fc.record({ reason: text, exitCode: fc.nat() })),
    }),
  ),
  partlyEnded: orUndefined(fc.record({ ended: few, running: few })),
});

test('returns the facts of each pod, whatever pods share its traits', () => {
  fc.assert(
    fc.property(fc.array(pods, { maxLength: 30 }), (all) => {
      const traits = new SharedValues<PodTraits>();
      const kept = all.map((facts) => new PodRecord(facts, traits));
      expect(kept.map(plain)).toEqual(all);
    }),
  );
});
