import { expect, test } from 'vitest';
import type { TerminatedPolicy, TtlRule } from '../../../../src/api/policy/policy.ts';
import { noneSeen, observeFinished } from '../../../../src/controllers/podgc/finish.ts';
import type { PodFacts } from '../../../../src/kube/cache/objects.ts';
import { minutesAgo, now, owner, pod } from '../../../builders.ts';
import { environmentOf } from './environment.ts';
import { aged, checkRow, evicted, terminated, verdictOf, type Row } from './rows.ts';

const minute = 60_000;
const hour = 60 * minute;

test.each<Row>([
  {
    name: 'ttl counts from the finish, including its last millisecond',
    pods: [
      pod('due', { createdAtMs: 0, finishedAtMs: minutesAgo(60) }),
      pod('soon', { createdAtMs: 0, finishedAtMs: minutesAgo(60) + 1 }),
    ],
    policies: [terminated({ ttlAfterFinishedMs: hour })],
    deleted: ['due Expired'],
    kept: ['soon TooYoung 12:00:00'],
  },
  {
    name: 'ttlByReason: the first match wins over ttlAfterFinished',
    pods: [
      aged('evicted', 90, evicted),
      aged('shutdown', 9, {
        ...{ phase: 'Failed', reason: 'Terminated', message: 'Pod was terminated: node shutdown.' },
      }),
      aged('plain', 90),
      aged('failed', 9, { phase: 'Failed' }),
    ],
    policies: [
      terminated({
        ttlAfterFinishedMs: 2 * hour,
        ttlByReason: [
          { phase: 'Failed', reason: 'Evicted', ttlMs: hour },
          { messagePattern: '*node shutdown*', ttlMs: 0 },
          { phase: 'Failed', ttlMs: 10 * minute },
        ],
      }),
    ],
    deleted: ['evicted Expired', 'shutdown Expired'],
    kept: ['plain TooYoung 12:30:00', 'failed TooYoung 12:01:00'],
  },
  {
    name: 'an annotation does not save a pod from the threshold',
    pods: [aged('x', 60, { ttlAnnotation: '48h' }), aged('y', 1)],
    policies: [terminated({ threshold: 1, honorTTLAnnotation: true })],
    deleted: ['x Terminated'],
  },
])('$name', checkRow);

const oom = { reason: 'OOMKilled', exitCode: 137 };
const error = { reason: 'Error', exitCode: 1 };
const failedWith = (...ends: PodFacts['ends']): Partial<PodFacts> => ({ phase: 'Failed', ends });

test.each<{
  readonly name: string;
  readonly rule: Partial<TtlRule>;
  readonly over: Partial<PodFacts>;
  readonly isMatched: boolean;
}>([
  ...(
    [
      ['a container', failedWith(error, oom), true],
      ['the pod', { reason: 'OOMKilled' }, true],
      ['no container', failedWith(error), false],
      ['no container: another case', failedWith({ reason: 'OOMkilled', exitCode: 137 }), false],
    ] as const
  ).map(([name, over, isMatched]) => ({
    ...{ name: `the reason of ${name}`, rule: { reason: 'OOMKilled' }, over, isMatched },
  })),
  {
    name: 'Evicted by the condition alone',
    rule: { reason: 'Evicted' },
    over: { phase: 'Failed', endedByKubelet: true },
    isMatched: true,
  },
  ...['Terminated', 'Preempting'].map((reason) => ({
    ...{ name: `Evicted of a pod with the reason ${reason}`, rule: { reason: 'Evicted' } },
    ...{ over: { phase: 'Failed', reason, endedByKubelet: true }, isMatched: false },
  })),
  {
    name: 'any of some exit codes',
    rule: { exitCodes: [2, 137] },
    over: failedWith(error, oom),
    isMatched: true,
  },
  { name: 'another exit code', rule: { exitCodes: [2] }, over: failedWith(error), isMatched: false },
  { name: 'the exit code of no container', rule: { exitCodes: [0] }, over: failedWith(), isMatched: false },
  {
    name: 'reason and exit code of one container',
    rule: { reason: 'OOMKilled', exitCodes: [137] },
    over: failedWith(error, oom),
    isMatched: true,
  },
  {
    name: 'reason and exit code of two containers',
    rule: { reason: 'OOMKilled', exitCodes: [1] },
    over: failedWith(error, oom),
    isMatched: false,
  },
  {
    name: 'the reason of the pod and the exit code of a container',
    rule: { reason: 'Evicted', exitCodes: [1] },
    over: { ...evicted, ends: [error] },
    isMatched: true,
  },
  {
    name: 'the reason of a container of a pod in another phase',
    rule: { phase: 'Succeeded', reason: 'Error' },
    over: failedWith(error),
    isMatched: false,
  },
])('ttlByReason: $name: $isMatched', ({ rule, over, isMatched }) => {
  const ttlByReason = [{ ttlMs: 0, ...rule }];
  const governing = terminated({ ttlAfterFinishedMs: 2 * hour, ttlByReason });
  expect(verdictOf(aged('x', 60, over), governing)).toBe(isMatched ? 'Expired' : 'TooYoung 13:00:00');
});

const ageOfAll = 100 * 365 * 24 * 60;

test.each<{
  readonly name: string;
  readonly value: string;
  readonly rule?: Partial<TerminatedPolicy>;
  readonly over?: Partial<PodFacts>;
  readonly minutes?: number;
  readonly expected: string;
}>([
  {
    name: 'shortens the ttl of the policy',
    value: '30m',
    rule: { ttlAfterFinishedMs: 2 * hour },
    expected: 'Expired',
  },
  {
    name: 'shortens the ttl of a rule',
    value: '30m',
    rule: { ttlByReason: [{ phase: 'Failed', ttlMs: 2 * hour }] },
    over: evicted,
    expected: 'Expired',
  },
  { name: 'never lengthens a ttl', value: '48h', rule: { ttlAfterFinishedMs: hour }, expected: 'Expired' },
  { name: 'alone sets a ttl from the finish', value: '1h', expected: 'Expired' },
  { name: 'includes its last millisecond', value: '1h0.001s', expected: 'TooYoung 12:00:00' },
  { name: 'deletes at once', value: '0s', minutes: 0, expected: 'Expired' },
  {
    name: 'changes nothing without honorTTLAnnotation',
    value: '0s',
    rule: { honorTTLAnnotation: false },
    expected: 'UnderThreshold',
  },
  ...['soon', '-5m', '87601h', `${'0'.repeat(32)}1s`].map((value) => ({
    ...{ name: 'is ignored', value, rule: { ttlAfterFinishedMs: 2 * hour }, expected: 'TooYoung 13:00:00' },
  })),
  { name: 'is read', value: '1w1d12h', minutes: ageOfAll, expected: 'Expired' },
  { name: 'is read', value: '87600h', minutes: ageOfAll, expected: 'Expired' },
  {
    name: 'sets no ttl of more than ten years',
    value: '87601h',
    minutes: ageOfAll,
    expected: 'UnderThreshold',
  },
])('an annotation $value $name', ({ value, rule, over, minutes = 60, expected }) => {
  const governing = terminated({ threshold: 0, honorTTLAnnotation: true, ...rule });
  expect(verdictOf(aged('x', minutes, { ttlAnnotation: value, ...over }), governing)).toBe(expected);
});

const right = pod('right', { finishedAtMs: minutesAgo(5) });
const ahead = pod('ahead', { finishedAtMs: minutesAgo(-60) });
/** A pod of a node whose clock is two hours behind. */
const longBehind = pod('behind', { finishedAtMs: minutesAgo(120) });
const halfAnHour = terminated({ ttlAfterFinishedMs: 30 * minute });

test('accepts finish times that were in the future only because our clock was set back', () => {
  const all = [right, ahead, pod('unknown', { finishedAtMs: undefined })];
  const seen = observeFinished(noneSeen, all, { monotonicMs: 0, now: new Date(minutesAgo(60)) });
  expect([...seen.keys()]).toEqual(['uid-right', 'uid-ahead', 'uid-unknown']);
  const later = { monotonicMs: minute, now: new Date(now.getTime() + minute) };
  expect([...observeFinished(seen, all, later).keys()]).toEqual(['uid-ahead', 'uid-unknown']);
});

test.each([0, 60 * minute, -60 * minute])(
  'a pod of a node whose clock is behind is deleted a ttl after it was first seen finished; wall clock set by %d ms',
  async (stepMs) => {
    const { cluster, pass, clock } = environmentOf([longBehind], halfAnHour);
    await pass();
    clock.advance(15 * minute);
    clock.stepWall(stepMs);
    await pass();
    clock.advance(15 * minute - 1);
    await pass();
    expect(cluster.podNames).toEqual(['behind']);
    clock.advance(1);
    await pass();
    expect(cluster.podNames).toEqual([]);
  },
);

test('a restarted controller counts the ttl from its own first pass: later, never earlier', async () => {
  const first = environmentOf([longBehind], halfAnHour);
  const { cluster, clock } = first;
  await first.pass();
  clock.advance(29 * minute);
  const next = environmentOf(cluster, halfAnHour, { clock });
  await next.pass();
  clock.advance(29 * minute);
  await next.pass();
  expect(cluster.podNames).toEqual(['behind']);
  clock.advance(minute);
  await next.pass();
  expect(cluster.podNames).toEqual([]);
});

const job = { controller: owner('Job', 'j') };
const tenMinutes = terminated({ ttlAfterFinishedMs: 10 * minute });
const expireButOne = terminated({ ttlAfterFinishedMs: 0, keepPerOwner: 1 });

test.each<Row>([
  ...[
    { clock: 'a second before its creation', finishedAtMs: minutesAgo(60) - 1_000 },
    { clock: 'in 1970', finishedAtMs: 123_000 },
    { clock: 'in the future', finishedAtMs: minutesAgo(-60) },
    { clock: 'in the year 9999', finishedAtMs: 253_402_300_799_000 },
    { clock: 'at an invalid time', finishedAtMs: NaN },
    { clock: 'at an unknown time', finishedAtMs: undefined },
  ].map(({ clock, finishedAtMs }) => ({
    name: `counts the ttl of a pod that finished ${clock} from when it was first seen finished`,
    pods: ['due', 'soon', 'fresh'].map((name) => pod(name, { finishedAtMs })),
    finishedForMs: new Map([
      ['uid-due', 600_000],
      ['uid-soon', 599_999],
    ]),
    policies: [tenMinutes],
    deleted: ['due Expired'],
    kept: ['soon TooYoung 12:00:00', 'fresh TooYoung 12:10:00'],
  })),
  {
    name: 'accepts a finish in the second of the creation, and one that is ahead by a tolerable skew',
    pods: [
      pod('at-once', { createdAtMs: minutesAgo(5), finishedAtMs: minutesAgo(5) }),
      pod('ahead', { createdAtMs: minutesAgo(5), finishedAtMs: now.getTime() + 60_000 }),
      pod('too-far', { createdAtMs: minutesAgo(5), finishedAtMs: now.getTime() + 60_001 }),
    ],
    policies: [tenMinutes],
    deleted: [],
    kept: ['at-once TooYoung 12:05:00', 'ahead TooYoung 12:11:00', 'too-far TooYoung 12:10:00'],
  },
  {
    name: 'rejects a finish that was in the future when the pod was first seen finished',
    pods: [pod('ahead', { finishedAtMs: minutesAgo(5) })],
    finishedForMs: new Map([['uid-ahead', 30 * minute]]),
    policies: [halfAnHour],
    deleted: ['ahead Expired'],
  },
  {
    name: 'keepPerOwner: a pod of a node whose clock is ahead displaces no pod that finished later',
    pods: [
      pod('ahead', { finishedAtMs: minutesAgo(-60), ...job }),
      pod('later', { finishedAtMs: minutesAgo(5), ...job }),
    ],
    finishedForMs: new Map([['uid-ahead', 600_000]]),
    policies: [expireButOne],
    deleted: ['ahead Expired'],
    kept: ['later KeptForOwner'],
  },
  {
    name: 'keepPerOwner: after a restart an old pod with a false finish time displaces no sibling',
    pods: [
      pod('old', { createdAtMs: minutesAgo(900), finishedAtMs: minutesAgo(999), ...job }),
      pod('newest', { finishedAtMs: minutesAgo(5), ...job }),
      pod('before', { finishedAtMs: minutesAgo(6), ...job }),
    ],
    policies: [expireButOne],
    deleted: ['before Expired'],
    kept: ['old KeptForOwner', 'newest KeptForOwner'],
  },
  {
    name: 'keepPerOwner: among pods first seen finished together, the last created is the newest',
    pods: [
      pod('b', { createdAtMs: minutesAgo(9), finishedAtMs: minutesAgo(99), ...job }),
      pod('c', { createdAtMs: minutesAgo(7), finishedAtMs: minutesAgo(99), ...job }),
      pod('a', { createdAtMs: minutesAgo(8), finishedAtMs: minutesAgo(98), ...job }),
    ],
    policies: [expireButOne],
    deleted: ['b Expired', 'a Expired'],
    kept: ['c KeptForOwner'],
  },
])('$name', checkRow);
