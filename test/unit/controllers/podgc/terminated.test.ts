import { test } from 'vitest';
import { finalizerHeld, minutesAgo, owner, pod, policy, terminating } from '../../../builders.ts';
import { checkRow, type Row, aged, evicted, terminated } from './rows.ts';

const rows: readonly Row[] = [
  {
    name: 'over the threshold the oldest goes',
    pods: [aged('young', 1), aged('old', 9), aged('mid', 5)],
    policies: [terminated({ threshold: 2 })],
    deleted: ['old Terminated'],
    kept: ['young UnderThreshold', 'mid UnderThreshold'],
  },
  {
    name: 'an evicted pod goes before an older one',
    pods: [aged('old', 9), aged('evicted', 1, evicted), aged('mid', 5)],
    policies: [terminated({ threshold: 1 })],
    deleted: ['evicted Terminated', 'old Terminated'],
  },
  {
    name: 'reason Evicted counts only in phase Failed',
    pods: [aged('old', 9), aged('odd', 1, { phase: 'Succeeded', reason: 'Evicted' })],
    policies: [terminated({ threshold: 1 })],
    deleted: ['old Terminated'],
  },
  {
    name: 'equal creation: by name, then namespace',
    pods: [aged('z/b', 5), aged('z/a', 5), aged('y/a', 5), aged('y/c', 5)],
    policies: [terminated({ threshold: 1 })],
    deleted: ['a Terminated', 'a Terminated', 'b Terminated'],
    kept: ['c UnderThreshold'],
  },
  {
    name: 'at the threshold nothing goes',
    pods: [aged('a', 5), aged('b', 6)],
    policies: [terminated({ threshold: 2 })],
    deleted: [],
  },
  ...[0, -1].map((threshold) => ({
    name: `threshold ${threshold} is off`,
    pods: [aged('a', 5)],
    policies: [terminated({ threshold })],
    deleted: [],
    kept: ['a UnderThreshold'],
  })),
  {
    name: 'the empty phase is terminated and is marked; Pending, Running and Unknown are not',
    pods: ['', 'Pending', 'Running', 'Unknown', 'Failed'].map((phase, i) =>
      aged(phase || 'none', 9 - i, { phase }),
    ),
    policies: [terminated({ threshold: 1 })],
    deleted: ['none Terminated mark'],
    kept: [
      'Pending NotTerminated',
      'Running NotTerminated',
      'Unknown NotTerminated',
      'Failed UnderThreshold',
    ],
  },
  {
    name: 'a finalizer-held pod does not count and the next goes instead',
    pods: [aged('held', 9, finalizerHeld), aged('next', 5), aged('young', 1)],
    policies: [terminated({ threshold: 1 })],
    deleted: ['next Terminated'],
    kept: ['held FinalizerHeld', 'young UnderThreshold'],
  },
  {
    name: 'finalizers alone hold nothing: deleted as upstream',
    pods: [aged('a', 9, { finalizers: ['x/y'] }), aged('b', 1)],
    policies: [terminated({ threshold: 1 })],
    deleted: ['a Terminated'],
  },
  {
    name: 'a pod deleted with grace 0 that nothing holds is not held',
    pods: [aged('a', 9, { ...finalizerHeld, finalizers: [] }), aged('b', 1)],
    policies: [terminated({ threshold: 1 })],
    deleted: ['a Terminated'],
  },
  {
    name: 'a terminating pod with grace left is not held',
    pods: [aged('a', 9, { ...terminating, finalizers: ['x/y'] }), aged('b', 1)],
    policies: [terminated({ threshold: 1 })],
    deleted: ['a Terminated'],
  },
  {
    name: 'a pod its Job has not counted does not count, and the next goes',
    pods: [
      aged('uncounted', 9, { finalizers: ['batch.kubernetes.io/job-tracking'] }),
      aged('next', 5),
      aged('c', 1),
    ],
    policies: [terminated({ threshold: 1, ttlAfterFinishedMs: 1 })],
    deleted: ['next Terminated', 'c Expired'],
    kept: ['uncounted JobUncounted'],
  },
  {
    name: 'protectUnfinishedJobs keeps pods of running and of unknown Jobs',
    pods: [
      aged('of-running', 9, { controller: owner('Job', 'running') }),
      aged('of-done', 8, { controller: owner('Job', 'done') }),
      aged('of-unseen', 7, { controller: owner('Job', 'unseen') }),
      aged('of-set', 6, { controller: owner('ReplicaSet', 'running') }),
    ],
    jobsFinished: new Map([
      ['uid-Job-running', false],
      ['uid-Job-done', true],
    ]),
    policies: [terminated({ ttlAfterFinishedMs: 0, protectUnfinishedJobs: true })],
    deleted: ['of-done Expired', 'of-set Expired'],
    kept: ['of-running JobUnfinished', 'of-unseen JobUnfinished'],
  },
  {
    name: 'protectUnfinishedJobs keeps all Job pods while no Job was observed',
    pods: [aged('a', 9, { controller: owner('Job', 'done') })],
    policies: [terminated({ ttlAfterFinishedMs: 0, protectUnfinishedJobs: true })],
    deleted: [],
    kept: ['a JobUnfinished'],
  },
  {
    name: 'per namespace, after the cluster-wide threshold took its share',
    pods: [aged('x/1', 9), aged('x/2', 8), aged('x/3', 7), aged('y/4', 6), aged('y/5', 5)],
    policies: [terminated({ threshold: 4, perNamespaceThreshold: 1 })],
    deleted: ['1 Terminated', '2 TerminatedInNamespace', '4 TerminatedInNamespace'],
    kept: ['3 UnderThreshold', '5 UnderThreshold'],
  },
  {
    name: 'a namespace threshold of 0 is off, as the other one',
    pods: [aged('x/1', 9)],
    policies: [terminated({ perNamespaceThreshold: 0 })],
    deleted: [],
  },
  {
    name: 'ttl counts from the finish, its last millisecond included',
    pods: [
      pod('due', { createdAtMs: 0, finishedAtMs: minutesAgo(60) }),
      pod('soon', { createdAtMs: 0, finishedAtMs: minutesAgo(60) + 1 }),
    ],
    policies: [terminated({ ttlAfterFinishedMs: 3_600_000 })],
    deleted: ['due Expired'],
    kept: ['soon TooYoung 12:00:00'],
  },
  {
    name: 'ttlByReason: the first match wins over ttlAfterFinished, the others fall through',
    pods: [
      aged('evicted', 90, evicted),
      aged('shutdown', 9, {
        phase: 'Failed',
        reason: 'Terminated',
        message: 'Pod was terminated: node shutdown.',
      }),
      aged('plain', 90),
      aged('failed', 9, { phase: 'Failed' }),
    ],
    policies: [
      terminated({
        ttlAfterFinishedMs: 2 * 3_600_000,
        ttlByReason: [
          { phase: 'Failed', reason: 'Evicted', messagePattern: undefined, ttlMs: 3_600_000 },
          { phase: undefined, reason: undefined, messagePattern: '*node shutdown*', ttlMs: 0 },
          { phase: 'Failed', reason: undefined, messagePattern: undefined, ttlMs: 600_000 },
        ],
      }),
    ],
    deleted: ['evicted Expired', 'shutdown Expired'],
    kept: ['plain TooYoung 12:30:00', 'failed TooYoung 12:01:00'],
  },
  {
    name: 'keepPerOwner keeps the newest of each Deployment from ttl, not from the threshold',
    pods: [
      aged('old-set', 9, { controller: owner('ReplicaSet', 'web-1') }),
      aged('new-set', 5, { controller: owner('ReplicaSet', 'web-2') }),
      aged('other', 8, { controller: owner('Job', 'j') }),
      aged('alone', 7),
    ],
    replicaSetOwners: new Map([
      ['uid-ReplicaSet-web-1', owner('Deployment', 'web')],
      ['uid-ReplicaSet-web-2', owner('Deployment', 'web')],
    ]),
    policies: [terminated({ ttlAfterFinishedMs: 0, keepPerOwner: 1 })],
    deleted: ['old-set Expired', 'alone Expired'],
    kept: ['new-set KeptForOwner', 'other KeptForOwner'],
  },
  {
    name: 'the threshold takes even what keepPerOwner keeps',
    pods: [aged('a', 9, { controller: owner('Job', 'j') }), aged('b', 5)],
    policies: [terminated({ threshold: 1, keepPerOwner: 1 })],
    deleted: ['a Terminated'],
  },
  {
    name: 'what keepPerOwner would keep is told of what a threshold alone leaves',
    pods: [
      aged('a', 9),
      aged('b', 5, { controller: owner('Job', 'j') }),
      aged('c', 4, { controller: owner('Job', 'j') }),
    ],
    policies: [terminated({ threshold: 2, keepPerOwner: 1 })],
    deleted: ['a Terminated'],
    kept: ['b UnderThreshold', 'c KeptForOwner'],
  },
  {
    name: 'namespace threshold: what is kept for its owner counts and the next goes',
    pods: [aged('kept', 9, { controller: owner('Job', 'j') }), aged('next', 5)],
    policies: [terminated({ perNamespaceThreshold: 1, keepPerOwner: 1 })],
    deleted: ['next TerminatedInNamespace'],
    kept: ['kept KeptForOwner'],
  },
  {
    name: 'without the terminated rule a finished pod stays',
    pods: [aged('a', 9)],
    policies: [policy({ pods: { outOfService: true } })],
    deleted: [],
    kept: ['a RuleOff'],
  },
  {
    name: 'keepPerOwner does not count a pod that is already going',
    pods: [
      aged('held', 1, { controller: owner('Job', 'j'), ...finalizerHeld }),
      aged('kept', 5, { controller: owner('Job', 'j') }),
      aged('old', 9, { controller: owner('Job', 'j') }),
    ],
    policies: [terminated({ ttlAfterFinishedMs: 0, keepPerOwner: 1 })],
    deleted: ['old Expired'],
    kept: ['held FinalizerHeld', 'kept KeptForOwner'],
  },
  {
    name: 'keepPerOwner keeps the newest of what the threshold leaves',
    pods: [
      aged('taken', 1, { controller: owner('Job', 'j'), ...evicted }),
      aged('kept', 5, { controller: owner('Job', 'j') }),
      aged('old', 9, { controller: owner('Job', 'j') }),
    ],
    policies: [terminated({ threshold: 2, ttlAfterFinishedMs: 0, keepPerOwner: 1 })],
    deleted: ['taken Terminated', 'old Expired'],
    kept: ['kept KeptForOwner'],
  },
  ...[
    ['a', 'b'],
    ['b', 'a'],
  ].map((names) => ({
    name: `of pods that finished at once, in the order ${names.join()}, keepPerOwner keeps the first by UID`,
    pods: names.map((name) => aged(name, 5, { controller: owner('Job', 'j') })),
    policies: [terminated({ ttlAfterFinishedMs: 0, keepPerOwner: 1 })],
    deleted: ['b Expired'],
    kept: ['a KeptForOwner'],
  })),
];

test.each(rows)('$name', checkRow);
