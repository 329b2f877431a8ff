import { describe, expect, test } from 'vitest';
import { CONTAINER_ENDS } from '../../../../src/api/policy/matching.ts';
import { podCodec } from '../../../../src/kube/cache/resources.ts';
import { protobufOf } from '../../../sandbox/api/format/protobuf-kinds.ts';
import { pod } from '../codec/decode.fixtures.ts';

const january = (day: number): string => `2026-01-0${day}T00:00:00Z`;
const ended = (name: string, exitCode: number, finishedAt: string | null): object => ({
  name,
  state: { terminated: { exitCode, reason: exitCode === 0 ? 'Completed' : 'Error', finishedAt } },
});
const waiting = (name: string, lastState: object = {}): object => ({
  ...{ name, lastState },
  state: { waiting: { reason: 'PodInitializing' } },
});
const running = (name: string): object => ({ name, state: { running: { startedAt: january(1) } } });
const disrupted = {
  conditions: [{ type: 'DisruptionTarget', status: 'True', lastTransitionTime: january(9) }],
};

/** When a pod with the main containers `a` and `b` finished, and how its containers ended, from both wire forms. */
function endOf(status: object): { readonly day: number | undefined; readonly ends: string } {
  const object = {
    ...pod({ phase: 'Failed', ...status }),
    spec: { containers: [{ name: 'a' }, { name: 'b' }] },
  };
  const codec = podCodec(() => new Set([CONTAINER_ENDS]));
  const [json, protobuf] = [codec.fromJson(object), codec.fromProtobuf(protobufOf('Pod', object))].map(
    ({ finishedAtMs: at, ends }) => ({
      day: at === undefined ? undefined : new Date(at).getUTCDate(),
      ends: ends.map(({ exitCode }) => exitCode).join(),
    }),
  );
  expect(protobuf).toEqual(json);
  return json ?? { day: undefined, ends: '' };
}

const main = (...containerStatuses: readonly object[]): object => ({ containerStatuses });
const init = (...initContainerStatuses: readonly object[]): object => ({ initContainerStatuses });
const neverStarted = main(waiting('a'), waiting('b'));

describe('one set of containers decides how and when a pod ended', () => {
  test.each<readonly [string, object, number | undefined, string]>([
    [
      'an init container failed and no main container has started: its end',
      { ...neverStarted, ...init(ended('i', 1, january(3))) },
      ...([3, '1'] as const),
    ],
    [
      'the last of the init containers counts, and none that waits for it',
      { ...neverStarted, ...init(ended('h', 0, january(4)), ended('i', 1, january(3)), waiting('j')) },
      ...([4, '1'] as const),
    ],
    [
      'a sidecar that still runs has no end',
      { ...neverStarted, ...init(running('s'), ended('i', 1, january(3))) },
      ...([undefined, '1'] as const),
    ],
    [
      'an init container that waits to be restarted has run',
      {
        ...neverStarted,
        ...init(ended('i', 1, january(3)), waiting('j', { terminated: { finishedAt: january(2) } })),
      },
      ...([undefined, '1'] as const),
    ],
    [
      'an init container that the kubelet lost has no end',
      { ...neverStarted, ...init(ended('i', 137, null)) },
      ...([undefined, '137'] as const),
    ],
    [
      'no init container failed: the main containers have no end',
      { ...neverStarted, ...init(ended('i', 0, january(3))) },
      ...([undefined, ''] as const),
    ],
    [
      'a main container has run although an init container failed: it has no end',
      { ...main(running('a'), waiting('b')), ...init(ended('i', 1, january(3))) },
      ...([undefined, '1'] as const),
    ],
    [
      'main containers completed, and a sidecar failed: the end of the last',
      { ...main(ended('a', 0, january(3)), ended('b', 0, january(2))), ...init(ended('s', 143, january(4))) },
      ...([4, '143'] as const),
    ],
    [
      'a main container without any status has no end',
      main(ended('a', 1, january(3))),
      ...([undefined, '1'] as const),
    ],
    [
      'a main container without any status has no end, if an init container failed either',
      { ...main(waiting('a')), ...init(ended('i', 1, january(3))) },
      ...([undefined, '1'] as const),
    ],
    [
      'without all ends the disruption counts',
      { ...main(ended('a', 1, january(3))), ...disrupted },
      ...([9, '1'] as const),
    ],
    [
      'all main containers ended',
      main(ended('a', 1, january(3)), ended('b', 0, january(5))),
      ...([5, '1'] as const),
    ],
  ])('%s', (_name, status, day, ends) => {
    expect(endOf(status)).toEqual({ day, ends });
  });
});

describe('the writers of a finished pod', () => {
  const owns = (paths: object, time: string | undefined): object => ({
    ...{ manager: 'kubelet', operation: 'Update', subresource: 'status', time },
    fieldsV1: paths,
  });
  const phase = (time: string | undefined): object =>
    owns({ 'f:status': { 'f:phase': {}, 'f:reason': {} } }, time);
  const labels = (time: string): object => owns({ 'f:metadata': { 'f:labels': { 'f:phase': {} } } }, time);
  const malformed = (time: string): object => ({ fieldsV1: '{', time });
  const rejected = { reason: 'OutOfcpu' };
  const beforeCreation = '2025-12-31T23:00:00Z';
  const whole = (day: number): object => main(ended('a', 1, january(day)), ended('b', 0, january(2)));
  const early = main(ended('a', 1, beforeCreation), ended('b', 0, january(2)));

  test.each<readonly [string, object, readonly object[], at: number | undefined, by: number | undefined]>([
    ['give a time to a pod that was rejected', rejected, [phase(january(3))], undefined, 3],
    [
      'are several: the last that may have written it',
      rejected,
      [phase(january(3)), phase(january(5))],
      undefined,
      5,
    ],
    ['of other fields give none', rejected, [labels(january(3))], undefined, undefined],
    ['without a time give none', rejected, [phase(january(3)), phase(undefined)], undefined, undefined],
    [
      'whose fields are unknown may be the last',
      rejected,
      [phase(january(3)), malformed(january(4))],
      undefined,
      4,
    ],
    ['are none', rejected, [], undefined, undefined],
    ['are later than the disruption', disrupted, [phase(january(9))], undefined, 9],
    ['add nothing to an end that is possible', whole(3), [phase(january(5))], 3, undefined],
    ['replace an end before the creation', early, [phase(january(5))], NaN, 5],
    ['replace an end after the phase', whole(8), [phase(january(5))], 8, 5],
    ['do not replace an end without their times', whole(8), [], 8, undefined],
    ['are no earlier than the creation', rejected, [phase('2025-12-30T00:00:00Z')], undefined, 1],
    ['of a running pod are not read', { phase: 'Running' }, [phase(january(3))], undefined, undefined],
  ])('%s', (_name, status, managedFields, ...[at, by]) => {
    const object = {
      ...pod({ phase: 'Failed', ...status }, { managedFields }),
      spec: { containers: [{ name: 'a' }, { name: 'b' }] },
    };
    const codec = podCodec(() => new Set());
    for (const facts of [codec.fromJson(object), codec.fromProtobuf(protobufOf('Pod', object))]) {
      const before = Number.isNaN(at) ? Date.parse(beforeCreation) : undefined;
      expect(facts.finishedAtMs).toBe(before ?? (at && Date.parse(january(at))));
      expect(facts.finishedByMs).toBe(by && Date.parse(january(by)));
    }
  });
});
