import { expect, test } from 'vitest';
import type { TerminatedPolicy, TtlRule } from '../../../../src/api/policy/policy.ts';
import { ttlRuleKey } from '../../../../src/api/policy/ttl-rules.ts';
import { PodGcMemory } from '../../../../src/controllers/podgc/observe.ts';
import { ttlFinder } from '../../../../src/controllers/podgc/ttl.ts';
import type { OwnerRef, PodFacts } from '../../../../src/kube/cache/objects.ts';
import {
  finalizerHeld,
  minutesAgo,
  now,
  owner,
  pod,
  terminatedRule,
  terminating,
} from '../../../builders.ts';
import type { Moment } from '../../../../src/runtime/scheduling/jump.ts';
import { environmentOf, observed } from './environment.ts';
import { aged, checkRow, evicted, terminated, verdictOf, type Row } from './rows.ts';

const job = { controller: owner('Job', 'j') } as const;
const ofSet = (name: string) => ({ controller: owner('ReplicaSet', name) });
const ofJob = (name: string) => ({ controller: owner('Job', name) });
const knownOwners = new Map([
  ...['web-1', 'web-2', 'web-3'].map(
    (name) => [`uid-ReplicaSet-${name}`, owner('Deployment', 'web')] as const,
  ),
  ...['nightly-1', 'nightly-2'].map((name) => [`uid-Job-${name}`, owner('CronJob', 'nightly')] as const),
]);
const uncounted = { finalizers: ['batch.kubernetes.io/job-tracking'] } as const;
/** Why a pod cannot be deleted now. */
const stuck = [
  { reason: 'FinalizerHeld', over: finalizerHeld },
  { reason: 'JobUncounted', over: uncounted },
  { reason: 'JobUnfinished', over: { controller: owner('Job', 'running') } },
];
const ofGroup = (group: string, kind: string, version = 'v1'): OwnerRef => ({
  ...owner(kind, 'own'),
  apiVersion: `${group}/${version}`,
});

const thresholds: readonly Row[] = [
  {
    name: 'deletes the oldest pods over the threshold',
    pods: [aged('young', 1), aged('old', 9), aged('mid', 5)],
    policies: [terminated({ threshold: 2 })],
    deleted: ['old Terminated'],
    kept: ['young UnderThreshold', 'mid UnderThreshold'],
  },
  ...[2, 0, -1].map((threshold) => ({
    name: `deletes none of two pods with threshold ${threshold}`,
    pods: [aged('a', 5), aged('b', 6)],
    policies: [terminated({ threshold })],
    deleted: [],
    kept: ['a UnderThreshold', 'b UnderThreshold'],
  })),
  {
    name: 'counts the empty phase as finished, and marks the pod; Pending, Running and Unknown are not finished',
    pods: ['', 'Pending', 'Running', 'Unknown', 'Failed'].map((phase, i) =>
      aged(phase || 'none', 9 - i, { phase }),
    ),
    policies: [terminated({ threshold: 1 })],
    deleted: ['none Terminated mark'],
    kept: [
      ...['Pending NotTerminated', 'Running NotTerminated', 'Unknown NotTerminated'],
      'Failed UnderThreshold',
    ],
  },
  ...[
    { name: 'with a finalizer that is not being deleted', over: { finalizers: ['x/y'] } },
    { name: 'deleted with grace 0 and without finalizers', over: { ...finalizerHeld, finalizers: [] } },
    { name: 'with a finalizer and grace left', over: { ...terminating, finalizers: ['x/y'] } },
  ].map(({ name, over }) => ({
    name: `deletes a pod ${name}, as upstream`,
    pods: [aged('a', 9, over), aged('b', 1)],
    policies: [terminated({ threshold: 1 })],
    deleted: ['a Terminated'],
  })),
  {
    name: 'the threshold of the cluster counts the pods that the threshold per namespace leaves',
    pods: [aged('x/1', 9), aged('x/2', 8), aged('x/3', 7), aged('y/4', 6), aged('y/5', 5), aged('z/6', 4)],
    policies: [terminated({ threshold: 2, perNamespaceThreshold: 1 })],
    deleted: [
      ...['1 TerminatedInNamespace', '2 TerminatedInNamespace', '4 TerminatedInNamespace'],
      '3 Terminated',
    ],
    kept: ['5 UnderThreshold', '6 UnderThreshold'],
  },
  {
    name: 'the threshold per namespace counts the pods that the ttl leaves',
    pods: [aged('1', 9), aged('2', 8), aged('3', 1), aged('4', 1)],
    policies: [terminated({ perNamespaceThreshold: 2, ttlAfterFinishedMs: 120_000 })],
    deleted: ['1 Expired', '2 Expired'],
    kept: ['3 TooYoung 12:01:00', '4 TooYoung 12:01:00'],
  },
  {
    name: 'a threshold of 0 per namespace is off',
    pods: [aged('x/1', 9)],
    policies: [terminated({ perNamespaceThreshold: 0 })],
    deleted: [],
  },
];

const held: readonly Row[] = [
  ...stuck.map(({ reason, over }) => ({
    name: `${reason} pods of one namespace cause no deletion in another, by either threshold`,
    pods: [
      ...[aged('tenant/1', 9, over), aged('tenant/2', 1, over), aged('tenant/3', 1, over)],
      ...[aged('shop/a', 5), aged('shop/b', 4)],
    ],
    policies: [terminated({ threshold: 2, perNamespaceThreshold: 2, protectUnfinishedJobs: true })],
    deleted: [],
    kept: [`1 ${reason}`, `2 ${reason}`, `3 ${reason}`, 'a UnderThreshold', 'b UnderThreshold'],
  })),
  ...[true, false].map((areKnown) => ({
    name: `protectUnfinishedJobs keeps pods of Jobs of the group batch unless they are known as finished; Jobs are known: ${areKnown}`,
    pods: [
      ...['running', 'done', 'unseen'].map((name) => aged(name, 9, ofJob(name))),
      aged('of-set', 8, ofSet('running')),
      aged('of-other', 7, { controller: ofGroup('jobs.example.com', 'Job') }),
      aged('of-old', 6, { controller: ofGroup('batch', 'Job', 'v2alpha1') }),
    ],
    jobsFinished: areKnown
      ? new Map([
          ['uid-Job-running', false],
          ['uid-Job-done', true],
        ])
      : undefined,
    policies: [terminated({ ttlAfterFinishedMs: 0, protectUnfinishedJobs: true })],
    deleted: [...(areKnown ? ['done Expired'] : []), 'of-set Expired', 'of-other Expired'],
    kept: ['running', 'unseen', 'of-old', ...(areKnown ? [] : ['done'])].map(
      (name) => `${name} JobUnfinished`,
    ),
  })),
];

const expireButOne = terminated({ ttlAfterFinishedMs: 0, keepPerOwner: 1 });
const owners: readonly (Omit<Row, 'policies'> & Partial<Row>)[] = [
  {
    name: 'keeps the newest pod of a Deployment, of a CronJob, of a Job and of any other owner from the ttl',
    pods: [
      ...[aged('old-set', 9, ofSet('web-1')), aged('new-set', 5, ofSet('web-2'))],
      ...[aged('old-job', 8, ofJob('nightly-1')), aged('new-job', 5, ofJob('nightly-2'))],
      ...[aged('of-unknown', 9, ofJob('nightly-3')), aged('alone', 7)],
      aged('of-other', 4, {
        controller: { ...ofGroup('sets.example.com', 'ReplicaSet'), uid: 'uid-ReplicaSet-web-3' },
      }),
    ],
    deleted: ['old-set Expired', 'old-job Expired', 'alone Expired'],
    kept: ['new-set', 'new-job', 'of-unknown', 'of-other'].map((name) => `${name} KeptForOwner`),
  },
  {
    name: 'keepPerOwnerByPhase counts the pods of each phase, and keepPerOwner all',
    pods: [
      ...[1, 2, 3, 4].map((minutes) => aged(`s${minutes}`, minutes, job)),
      ...[5, 6, 7, 8].map((minutes) => aged(`f${minutes}`, minutes, { ...job, phase: 'Failed' })),
      aged('none', 2, { ...job, phase: '' }),
    ],
    policies: [
      terminated({
        ttlAfterFinishedMs: 0,
        keepPerOwner: 3,
        keepPerOwnerByPhase: { succeeded: 1, failed: 2 },
      }),
    ],
    deleted: ['f8 Expired', 'f7 Expired', 's4 Expired', 's3 Expired'],
    kept: [...['s1', 's2', 'none', 'f5', 'f6'].map((name) => `${name} KeptForOwner`)],
  },
  {
    name: 'keepPerOwnerByPhase alone keeps the newest of a phase from the threshold per namespace',
    pods: [aged('f', 9, { ...job, phase: 'Failed' }), aged('s', 5, job)],
    policies: [terminated({ perNamespaceThreshold: 1, keepPerOwnerByPhase: { succeeded: 0, failed: 1 } })],
    deleted: ['s TerminatedInNamespace'],
    kept: ['f KeptForOwner'],
  },
  {
    name: 'keepPerOwnerByPhase does not keep the only pod of an owner whose phase has no quota',
    pods: [aged('f', 9, { ...job, phase: 'Failed' }), aged('s', 5, ofJob('nightly-3'))],
    policies: [terminated({ ttlAfterFinishedMs: 0, keepPerOwnerByPhase: { succeeded: 0, failed: 1 } })],
    deleted: ['s Expired'],
    kept: ['f KeptForOwner'],
  },
  {
    name: 'the newest pod of an owner counts for the threshold per namespace, and the next is deleted',
    pods: [aged('kept', 9, job), aged('next', 5)],
    policies: [terminated({ perNamespaceThreshold: 1, keepPerOwner: 1 })],
    deleted: ['next TerminatedInNamespace'],
    kept: ['kept KeptForOwner'],
  },
  {
    name: 'does not count a terminating pod as the newest',
    pods: [aged('held', 1, { ...job, ...finalizerHeld }), aged('kept', 5, job), aged('old', 9, job)],
    deleted: ['old Expired'],
    kept: ['held FinalizerHeld', 'kept KeptForOwner'],
  },
  {
    name: 'counts a pod that its Job has not counted as the newest',
    pods: [aged('old', 9, job), aged('new', 5, { ...job, ...uncounted })],
    deleted: ['old Expired'],
    kept: ['new JobUncounted'],
  },
  {
    name: 'while owners are not known, the threshold per namespace deletes no pod of another owner in their place',
    pods: [aged('run-1', 9, ofJob('nightly-1')), aged('run-2', 8, ofJob('nightly-2')), aged('crawler', 5)],
    owners: undefined,
    policies: [terminated({ perNamespaceThreshold: 2, keepPerOwner: 1 })],
    deleted: [],
    kept: ['run-1', 'run-2', 'crawler'].map((name) => `${name} OwnersUnknown`),
  },
  {
    name: 'while owners are not known, the threshold, which ignores them, still applies',
    pods: [aged('old', 9, ofJob('nightly-1')), aged('new', 5)],
    owners: undefined,
    policies: [terminated({ threshold: 1, keepPerOwner: 1 })],
    deleted: ['old Terminated'],
    kept: ['new UnderThreshold'],
  },
  {
    name: 'no pod is said to be kept for its owner where only the threshold, which ignores owners, deletes',
    pods: [aged('old', 9, job), aged('other', 5, ofJob('nightly-1')), aged('new', 1, job)],
    policies: [terminated({ threshold: 2, keepPerOwner: 1 })],
    deleted: ['old Terminated'],
    kept: ['other UnderThreshold', 'new UnderThreshold'],
  },
  {
    name: 'owners that are not known do not matter where each pod names its own',
    pods: [aged('old', 9, ofSet('web')), aged('new', 5, ofSet('web'))].map((one) => ({
      ...one,
      controller: owner('StatefulSet', 'web'),
    })),
    owners: undefined,
    deleted: ['old Expired'],
    kept: ['new KeptForOwner'],
  },
  ...[
    ['a', 'b'],
    ['b', 'a'],
  ].map((names) => ({
    name: `keeps the first by UID of pods that finished together, in the order ${names.join()}`,
    pods: names.map((name) => aged(name, 5, job)),
    deleted: ['b Expired'],
    kept: ['a KeptForOwner'],
  })),
];

test.each(thresholds)('threshold: $name', checkRow);
test.each(held)('pods that cannot be deleted: $name', checkRow);
test.each(owners)('keepPerOwner: $name', (row) =>
  checkRow({ policies: [expireButOne], owners: knownOwners, ...row }),
);

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
        ...{ phase: 'Failed', reason: 'Terminated' },
        ttlRules: new Map([[ttlRuleKey({ messagePattern: '*node shutdown*' }), true]]),
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

const [short, long] = [
  { reason: 'A', ttlMs: 0 },
  { reason: 'B', ttlMs: 3 * hour },
];
type Read = readonly (readonly [rule: TtlRule, isMatched: boolean])[];

test.each<readonly [string, readonly TtlRule[], Read, hours: number]>([
  [
    'the first that matches',
    [short, long],
    [
      [short, true],
      [long, true],
    ],
    0,
  ],
  [
    'one that matches after one that does not',
    [short, long],
    [
      [short, false],
      [long, true],
    ],
    3,
  ],
  [
    'none: the general ttl',
    [short, long],
    [
      [short, false],
      [long, false],
    ],
    2,
  ],
  ['an unknown one before it, which is longer', [long, short], [[short, true]], 3],
  ['an unknown one before it, which is shorter', [short, long], [[long, true]], 3],
  ['an unknown one, unless the general ttl is longer', [short], [], 2],
  ['an unknown one that is longer than the general ttl', [long], [], 3],
  ['the longest of unknown ones', [short, long, short], [], 3],
])('of the entries of ttlByReason applies %s', (_, ttlByReason, read, hours) => {
  const ttlOf = ttlFinder(terminatedRule({ ttlAfterFinishedMs: 2 * hour, ttlByReason }));
  const ttlRules = new Map(read.map(([rule, isMatched]) => [ttlRuleKey(rule), isMatched]));
  expect(ttlOf(pod('x', { ttlRules })).ttlMs / hour).toBe(hours);
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
])('an annotation %s', (_, value, minutes, ...[expected, rule]) => {
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
  const memory = new PodGcMemory();
  const unsureAt = (at: Moment): readonly string[] => [
    ...observed(memory, { pods: all, ...at }).finishedForMs.keys(),
  ];
  expect(unsureAt({ monotonicMs: 0, wallMs: minutesAgo(60) })).toEqual(['uid-right', 'uid-ahead']);
  expect(unsureAt({ monotonicMs: minute, wallMs: now.getTime() + minute })).toEqual(['uid-ahead']);
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

test('a restart changes nothing where the API server has recorded a time, and the controller deletes when plan says', async () => {
  const recorded = pod('x', { phase: 'Failed', finishedByMs: minutesAgo(10) });
  expect(verdictOf(recorded, halfAnHour)).toBe('TooYoung 12:20:00');
  const { cluster, pass, clock } = environmentOf([recorded], halfAnHour);
  await pass();
  clock.advance(20 * minute - 1);
  await environmentOf(cluster, halfAnHour, { clock }).pass();
  expect(cluster.podNames).toEqual(['x']);
  clock.advance(1);
  await environmentOf(cluster, halfAnHour, { clock }).pass();
  expect(cluster.podNames).toEqual([]);
});

test.each<readonly [string, Partial<PodFacts>, string]>([
  [
    'a time before the creation',
    { finishedAtMs: minutesAgo(61), finishedByMs: minutesAgo(10) },
    'TooYoung 12:20:00',
  ],
  [
    'a time long after it',
    { finishedAtMs: minutesAgo(-60), finishedByMs: minutesAgo(10) },
    'TooYoung 12:20:00',
  ],
  [
    'a time just after it',
    { finishedAtMs: minutesAgo(9), finishedByMs: minutesAgo(10) },
    'TooYoung 12:21:00',
  ],
  ['no time', { finishedByMs: minutesAgo(30) }, 'Expired'],
])('the time that the API server recorded replaces %s', (_, over, expected) => {
  expect(verdictOf(pod('x', over), halfAnHour)).toBe(expected);
  expect(observed(new PodGcMemory(), { pods: [pod('x', over)] }).finishedForMs.size).toBe(0);
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

const tenMinutes = terminated({ ttlAfterFinishedMs: 10 * minute });

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
