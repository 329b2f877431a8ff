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
])('$name', checkRow);

const oom = { reason: 'OOMKilled', exitCode: 137 };
const error = { reason: 'Error', exitCode: 1 };
const failedWith = (...ends: PodFacts['ends']): Partial<PodFacts> => ({ phase: 'Failed', ends });

test.each<readonly [name: string, rule: Partial<TtlRule>, over: Partial<PodFacts>, isMatched: boolean]>([
  ['the reason of a container', { reason: 'OOMKilled' }, failedWith(error, oom), true],
  ['the reason of no container', { reason: 'OOMKilled' }, failedWith(error), false],
  ['Evicted by the condition', { reason: 'Evicted' }, { phase: 'Failed', endedByKubelet: true }, true],
  [
    'Evicted of a pod with another reason',
    { reason: 'Evicted' },
    { phase: 'Failed', reason: 'Preempting', endedByKubelet: true },
    false,
  ],
  ['any of some exit codes', { exitCodes: [2, 137] }, failedWith(error, oom), true],
  ['the exit code of no container', { exitCodes: [0] }, failedWith(), false],
  ['both of one container', { reason: 'OOMKilled', exitCodes: [137] }, failedWith(error, oom), true],
  ['one each of two containers', { reason: 'OOMKilled', exitCodes: [1] }, failedWith(error, oom), false],
  [
    'the reason of the pod and the exit code of a container',
    { reason: 'Evicted', exitCodes: [1] },
    { ...evicted, ends: [error] },
    true,
  ],
  ['a pod in another phase', { phase: 'Succeeded', reason: 'Error' }, failedWith(error), false],
])('ttlByReason: %s', (_, rule, over, isMatched) => {
  const ttlByReason = [{ ttlMs: 0, ...rule }];
  const governing = terminated({ ttlAfterFinishedMs: 2 * hour, ttlByReason });
  expect(verdictOf(aged('x', 60, over), governing)).toBe(isMatched ? 'Expired' : 'TooYoung 13:00:00');
});

const ageOfAll = 100 * 365 * 24 * 60;

const twoHours = { ttlAfterFinishedMs: 2 * hour };
const ofFailed = { ttlByReason: [{ phase: 'Failed', ttlMs: 2 * hour }] } as const;

test.each<[name: string, value: string, minutes: number, expected: string, Partial<TerminatedPolicy>?]>([
  ['shortens the ttl of the policy', '30m', 60, 'Expired', twoHours],
  ['shortens the ttl of a rule', '30m', 60, 'Expired', ofFailed],
  ['never lengthens a ttl', '48h', 60, 'Expired', { ttlAfterFinishedMs: hour }],
  ['alone sets a ttl from the finish', '1h', 60, 'Expired'],
  ['includes its last millisecond', '1h0.001s', 60, 'TooYoung 12:00:00'],
  ['changes nothing without honorTTLAnnotation', '0s', 60, 'UnderThreshold', { honorTTLAnnotation: false }],
  ['that is no duration is ignored', '-5m', 60, 'TooYoung 13:00:00', twoHours],
  ['that is too long is ignored', `${'0'.repeat(32)}1s`, 60, 'TooYoung 13:00:00', twoHours],
  ['sets a ttl of ten years', '87600h', ageOfAll, 'Expired'],
  ['sets no ttl of more than ten years', '87601h', ageOfAll, 'UnderThreshold'],
])('an annotation %s', (_, value, minutes, expected, rule) => {
  const governing = terminated({ threshold: 0, honorTTLAnnotation: true, ...rule });
  expect(verdictOf(aged('x', minutes, { ...evicted, ttlAnnotation: value }), governing)).toBe(expected);
});

/** A pod of a node whose clock is two hours behind. */
const longBehind = pod('behind', { finishedAtMs: minutesAgo(120) });
const halfAnHour = terminated({ ttlAfterFinishedMs: 30 * minute });

test('accepts a finish time that was in the future only because our clock was set back', () => {
  const all = [
    pod('right', { finishedAtMs: minutesAgo(5) }),
    pod('ahead', { finishedAtMs: minutesAgo(-60) }),
  ];
  const seen = observeFinished(noneSeen, all, { monotonicMs: 0, now: new Date(minutesAgo(60)) });
  expect([...seen.keys()]).toEqual(['uid-right', 'uid-ahead']);
  const later = { monotonicMs: minute, now: new Date(now.getTime() + minute) };
  expect([...observeFinished(seen, all, later).keys()]).toEqual(['uid-ahead']);
});

test('a pod of a node whose clock is behind is deleted a ttl after it was first seen finished, whatever our clock', async () => {
  const { cluster, pass, clock } = environmentOf([longBehind], halfAnHour);
  await pass();
  for (const stepMs of [60 * minute, -120 * minute]) {
    clock.advance(10 * minute);
    clock.stepWall(stepMs);
    await pass();
  }
  clock.advance(10 * minute - 1);
  await pass();
  expect(cluster.podNames).toEqual(['behind']);
  clock.advance(1);
  await pass();
  expect(cluster.podNames).toEqual([]);
});

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
});

const job = { controller: owner('Job', 'j') };
const tenMinutes = terminated({ ttlAfterFinishedMs: 10 * minute });
const expireButOne = terminated({ ttlAfterFinishedMs: 0, keepPerOwner: 1 });

test.each<Row>([
  ...[
    { clock: 'a second before its creation', finishedAtMs: minutesAgo(60) - 1_000 },
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
