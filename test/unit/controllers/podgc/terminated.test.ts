import { test } from 'vitest';
import type { OwnerRef } from '../../../../src/kube/cache/objects.ts';
import { finalizerHeld, owner, terminating } from '../../../builders.ts';
import { checkRow, type Row, aged, evicted, terminated } from './rows.ts';

const job = { controller: owner('Job', 'j') } as const;
const deployments = new Map([
  ['uid-ReplicaSet-web-1', owner('Deployment', 'web')],
  ['uid-ReplicaSet-web-2', owner('Deployment', 'web')],
]);
const cronJobs = new Map([
  ['uid-Job-nightly-1', owner('CronJob', 'nightly')],
  ['uid-Job-nightly-2', owner('CronJob', 'nightly')],
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
  ...[2, 0].map((threshold) => ({
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
      ...['running', 'done', 'unseen'].map((name) => aged(name, 9, { controller: owner('Job', name) })),
      aged('of-set', 8, { controller: owner('ReplicaSet', 'running') }),
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
const owners: readonly Row[] = [
  {
    name: 'keeps the newest pod of a Deployment and of a Job from the ttl',
    pods: [
      aged('old-set', 9, { controller: owner('ReplicaSet', 'web-1') }),
      aged('new-set', 5, { controller: owner('ReplicaSet', 'web-2') }),
      aged('other', 8, job),
      aged('alone', 7),
    ],
    owners: deployments,
    policies: [expireButOne],
    deleted: ['old-set Expired', 'alone Expired'],
    kept: ['new-set KeptForOwner', 'other KeptForOwner'],
  },
  {
    name: 'the pods of the Jobs of a CronJob have one owner, whatever their Jobs are named',
    pods: [
      aged('old', 9, { controller: owner('Job', 'nightly-1') }),
      aged('new', 5, { controller: owner('Job', 'nightly-2') }),
      aged('of-unknown', 9, { controller: owner('Job', 'nightly-3') }),
    ],
    owners: cronJobs,
    policies: [expireButOne],
    deleted: ['old Expired'],
    kept: ['new KeptForOwner', 'of-unknown KeptForOwner'],
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
    name: 'the newest pod of an owner counts for the threshold per namespace, and the next is deleted',
    pods: [aged('kept', 9, job), aged('next', 5)],
    policies: [terminated({ perNamespaceThreshold: 1, keepPerOwner: 1 })],
    deleted: ['next TerminatedInNamespace'],
    kept: ['kept KeptForOwner'],
  },
  {
    name: 'does not count a terminating pod as the newest',
    pods: [aged('held', 1, { ...job, ...finalizerHeld }), aged('kept', 5, job), aged('old', 9, job)],
    policies: [expireButOne],
    deleted: ['old Expired'],
    kept: ['held FinalizerHeld', 'kept KeptForOwner'],
  },
  {
    name: 'counts a pod that its Job has not counted as the newest',
    pods: [aged('old', 9, job), aged('new', 5, { ...job, ...uncounted })],
    policies: [expireButOne],
    deleted: ['old Expired'],
    kept: ['new JobUncounted'],
  },
  ...[
    ['a', 'b'],
    ['b', 'a'],
  ].map((names) => ({
    name: `keeps the first by UID of pods that finished together, in the order ${names.join()}`,
    pods: names.map((name) => aged(name, 5, job)),
    policies: [expireButOne],
    deleted: ['b Expired'],
    kept: ['a KeptForOwner'],
  })),
  {
    name: 'a kind ReplicaSet of another API group is an owner of its own, whatever its UID',
    pods: [
      aged('of-set', 9, { controller: owner('ReplicaSet', 'web-1') }),
      aged('of-other', 5, {
        controller: { ...ofGroup('sets.example.com', 'ReplicaSet'), uid: 'uid-ReplicaSet-web-1' },
      }),
    ],
    owners: deployments,
    policies: [expireButOne],
    deleted: [],
    kept: ['of-set KeptForOwner', 'of-other KeptForOwner'],
  },
];

test.each(thresholds)('threshold: $name', checkRow);
test.each(held)('pods that cannot be deleted: $name', checkRow);
test.each(owners)('keepPerOwner: $name', checkRow);
