import { expect, test } from 'vitest';
import { podDeleteReasons, podKeepReasons } from '../../../../src/api/reasons.ts';
import {
  finalizerHeld,
  labelled,
  minutesAgo,
  node,
  now,
  owner,
  pod,
  policy,
  terminating,
  terminatedRule,
} from '../../../builders.ts';
import {
  aged,
  evicted,
  onMissingNode,
  orphaned,
  outOfServiceNode,
  terminated,
} from '../../controllers/podgc/rows.ts';
import {
  broken,
  expectExplanation,
  explained,
  factsOf,
  finished,
  type Facts,
  type ReasonRow,
} from './fixtures.ts';

interface Row extends ReasonRow {
  readonly facts: Facts;
  /** The pod to explain; default: `default/x`. */
  readonly pod?: string;
}

const label = 'metadata.labels["gc.dustpan.dev/keep"]';
const job = owner('Job', 'report');
const jobs = [{ uid: job.uid, name: 'report', namespace: 'default', resourceVersion: '1', finished: false }];

const rows: readonly Row[] = [
  {
    reason: 'Terminated',
    facts: finished({ threshold: 1 }, aged('old', 90), aged('x', 60), aged('new', 30)),
    field: 'pods.terminated.threshold=1',
    why: 'This policy governs 3 finished pods, and the threshold is 1; this one is the 2nd to be deleted: evicted pods first, then the oldest.',
  },
  {
    reason: 'Terminated',
    facts: finished(
      { threshold: 1, ttlAfterFinishedMs: 4_000_000 },
      ...[aged('a', 90), aged('b', 80), aged('x', 60), aged('new', 30)],
    ),
    field: 'pods.terminated.threshold=1',
    why: 'This policy governs 2 finished pods (2 more are already due by another limit; they do not count), and the threshold is 1; this one is the 1st to be deleted: evicted pods first, then the oldest.',
  },
  {
    reason: 'TerminatedInNamespace',
    facts: finished(
      { threshold: 0, perNamespaceThreshold: 1 },
      aged('x', 60),
      aged('y', 30),
      aged('b/z', 90),
    ),
    field: 'pods.terminated.perNamespaceThreshold=1',
    why: 'This policy governs 2 finished pods in namespace default, and the threshold is 1; this one is the 1st to be deleted: evicted pods first, then the oldest.',
  },
  {
    reason: 'Expired',
    facts: finished({ ttlAfterFinishedMs: 3_000_000 }, aged('x', 60)),
    field: 'pods.terminated.ttlAfterFinished=50m',
    why: 'It finished at 2026-01-15T11:00:00Z, and its time to live of 50m has passed.',
  },
  {
    reason: 'Expired',
    facts: finished(
      {
        ttlAfterFinishedMs: 36_000_000,
        ttlByReason: [
          { phase: 'Succeeded', reason: undefined, messagePattern: undefined, ttlMs: 1 },
          { phase: 'Failed', reason: 'Evicted', messagePattern: '*disk*', ttlMs: 600_000 },
        ],
      },
      aged('x', 60, { ...evicted, message: 'the disk is full' }),
    ),
    field: 'pods.terminated.ttlByReason[1].ttl=10m',
    why: 'It finished at 2026-01-15T11:00:00Z, and the time to live for phase Failed and reason Evicted and a message like "*disk*" of 10m has passed.',
  },
  {
    reason: 'OutOfService',
    facts: {
      policies: [policy({ pods: { outOfService: true } })],
      pods: [pod('x', { ...terminating, phase: 'Running' })],
      nodes: [outOfServiceNode],
    },
    field: 'pods.outOfService',
    why: 'It is terminating on node node-1, which is not ready and has the out-of-service taint.',
  },
  {
    reason: 'Orphaned',
    facts: { policies: [orphaned()], pods: [pod('x', onMissingNode)] },
    assumeElapsed: true,
    field: 'pods.orphaned.quarantine=40s',
    why: 'Node node-gone does not exist, and the quarantine of 40s is assumed to be over.',
  },
  {
    reason: 'Orphaned',
    facts: { policies: [orphaned(0)], pods: [pod('x', onMissingNode)] },
    field: 'pods.orphaned.quarantine=0s',
    why: 'Node node-gone does not exist, and the policy sets no quarantine.',
  },
  {
    reason: 'Unscheduled',
    facts: {
      policies: [policy({ pods: { unscheduledTerminating: true } })],
      pods: [pod('x', { ...terminating, phase: 'Pending', nodeName: undefined })],
    },
    field: 'pods.unscheduledTerminating',
    why: 'It is terminating and was never bound to a node.',
  },
  {
    reason: 'NotTerminated',
    facts: { policies: [orphaned()], pods: [pod('x', { phase: 'Running' })] },
    field: 'status.phase=Running',
    why: 'It has not finished: its phase is Running, and node node-1 exists.',
  },
  {
    reason: 'NotTerminated',
    facts: finished({}, pod('x', { ...terminating, phase: 'Running' })),
    field: 'status.phase=Running',
    why: 'It has not finished: its phase is Running, although it is terminating.',
  },
  {
    reason: 'UnderThreshold',
    facts: finished({ threshold: 5 }, aged('y', 30), aged('x', 60)),
    field: 'pods.terminated.threshold=5',
    why: 'This policy governs 2 finished pods, and the threshold is 5; this one would be the 1st to be deleted.',
  },
  {
    reason: 'UnderThreshold',
    facts: finished({ threshold: 2 }, aged('z', 90), aged('y', 30), aged('x', 60)),
    field: 'pods.terminated.threshold=2',
    why: 'This policy governs 3 finished pods, and the threshold is 2, so dustpan deletes the first; this one is the 2nd.',
  },
  {
    reason: 'UnderThreshold',
    facts: finished({ threshold: 0, perNamespaceThreshold: 3 }, aged('x', 60)),
    field: 'pods.terminated.threshold=0, pods.terminated.perNamespaceThreshold=3',
    why: 'This policy governs 1 finished pod in namespace default, and the threshold is 3; this one would be the 1st to be deleted.',
  },
  {
    reason: 'UnderThreshold',
    facts: finished(
      { threshold: 0, perNamespaceThreshold: 1 },
      aged('y', 90),
      aged('x', 60),
      aged('b/z', 95),
    ),
    field: 'pods.terminated.threshold=0, pods.terminated.perNamespaceThreshold=1',
    why: 'This policy governs 2 finished pods in namespace default, and the threshold is 1, so dustpan deletes the first; this one is the 2nd.',
  },
  {
    reason: 'UnderThreshold',
    facts: finished({ threshold: 1 }, aged('z', 90), aged('y', 95, finalizerHeld), aged('x', 60)),
    field: 'pods.terminated.threshold=1',
    why: 'This policy governs 2 finished pods (1 more cannot be deleted now; it does not count), and the threshold is 1, so dustpan deletes the first; this one is the 2nd.',
  },
  {
    reason: 'UnderThreshold',
    facts: finished(
      { threshold: 0, perNamespaceThreshold: 1 },
      ...[aged('z', 90), aged('y', 95, finalizerHeld), aged('w', 95, finalizerHeld), aged('x', 60)],
      aged('b/v', 95, finalizerHeld),
    ),
    field: 'pods.terminated.threshold=0, pods.terminated.perNamespaceThreshold=1',
    why: 'This policy governs 2 finished pods in namespace default (2 more cannot be deleted now; they do not count), and the threshold is 1, so dustpan deletes the first; this one is the 2nd.',
  },
  {
    reason: 'UnderThreshold',
    facts: finished({ threshold: 0 }, aged('x', 60)),
    field: 'pods.terminated.threshold=0',
    why: 'It has finished, but the policy sets neither a threshold nor a ttl for it.',
  },
  {
    reason: 'Expired',
    facts: finished({ honorTTLAnnotation: true }, aged('x', 60, { ttlAnnotation: '30m' })),
    field: 'metadata.annotations["gc.dustpan.dev/ttl-after-finished"]=30m',
    why: 'It finished at 2026-01-15T11:00:00Z, and the time to live of 30m in its annotation gc.dustpan.dev/ttl-after-finished has passed.',
  },
  {
    reason: 'TooYoung',
    facts: finished({ honorTTLAnnotation: true }, aged('x', 60, { ttlAnnotation: '90m' })),
    field: 'metadata.annotations["gc.dustpan.dev/ttl-after-finished"]=1h30m',
    why: 'It finished at 2026-01-15T11:00:00Z, and the time to live of 1h30m in its annotation gc.dustpan.dev/ttl-after-finished has not passed yet.',
  },
  {
    reason: 'TooYoung',
    facts: finished(
      { honorTTLAnnotation: true, ttlAfterFinishedMs: 7_200_000 },
      aged('x', 60, { ttlAnnotation: '48h' }),
    ),
    field: 'pods.terminated.ttlAfterFinished=2h',
    why: 'It finished at 2026-01-15T11:00:00Z, and its time to live of 2h has not passed yet. Its annotation gc.dustpan.dev/ttl-after-finished is ignored: "48h" is not shorter.',
  },
  {
    reason: 'Expired',
    facts: finished(
      { honorTTLAnnotation: true, ttlAfterFinishedMs: 0 },
      aged('x', 60, { ttlAnnotation: 'soon' }),
    ),
    field: 'pods.terminated.ttlAfterFinished=0s',
    why: 'It finished at 2026-01-15T11:00:00Z, and its time to live of 0s has passed. Its annotation gc.dustpan.dev/ttl-after-finished is ignored: "soon" is not a duration between 0s and 87600h, such as 90s or 1h30m.',
  },
  {
    reason: 'UnderThreshold',
    facts: finished({ threshold: 0, honorTTLAnnotation: true }, aged('x', 60, { ttlAnnotation: '1d' })),
    field: 'pods.terminated.threshold=0',
    why: 'It has finished, but the policy sets neither a threshold nor a ttl for it. Its annotation gc.dustpan.dev/ttl-after-finished is ignored: "1d" is not a duration between 0s and 87600h, such as 90s or 1h30m.',
  },
  {
    reason: 'RuleOff',
    facts: { policies: [orphaned()], pods: [pod('x')] },
    field: 'pods.terminated is not set',
    why: 'It has finished, but the policy has no rule for finished pods.',
  },
  {
    reason: 'TooYoung',
    facts: finished({ ttlAfterFinishedMs: 7_200_000 }, aged('x', 60)),
    field: 'pods.terminated.ttlAfterFinished=2h',
    why: 'It finished at 2026-01-15T11:00:00Z, and its time to live of 2h has not passed yet.',
  },
  {
    reason: 'TooYoung',
    facts: finished({ ttlAfterFinishedMs: 1_800_000 }, aged('x', 60, { createdAtMs: minutesAgo(30) })),
    field: 'pods.terminated.ttlAfterFinished=30m',
    why: 'Its status reports that it finished at 2026-01-15T11:00:00Z, before the creation of the pod (2026-01-15T11:30:00Z): the clock of its node is wrong. This command counts from now, because only the controller knows when it first observed the pod as finished, and its time to live of 30m has not passed yet.',
  },
  {
    reason: 'TooYoung',
    facts: finished({ ttlAfterFinishedMs: 1_800_000 }, pod('x')),
    field: 'pods.terminated.ttlAfterFinished=30m',
    why: 'Its status does not have the time at which it finished. This command counts from now, because only the controller knows when it first observed the pod as finished, and its time to live of 30m has not passed yet.',
  },
  {
    reason: 'Expired',
    facts: finished({ ttlAfterFinishedMs: 0 }, aged('x', -60, { createdAtMs: minutesAgo(30) })),
    field: 'pods.terminated.ttlAfterFinished=0s',
    why: 'Its status reports that it finished at 2026-01-15T13:00:00Z, in the future: the clock of its node is wrong. This command counts from now, because only the controller knows when it first observed the pod as finished, and its time to live of 0s has passed.',
  },
  {
    reason: 'KeepMarked',
    facts: finished({ threshold: 1 }, pod('x', { labels: { 'gc.dustpan.dev/keep': 'true' } })),
    field: label,
    why: 'The label gc.dustpan.dev/keep is on the pod.',
  },
  {
    reason: 'KeepMarked',
    facts: finished({ threshold: 1 }, pod('kept/x')),
    pod: 'kept/x',
    field: label,
    why: 'The label gc.dustpan.dev/keep is on namespace kept.',
  },
  {
    reason: 'KeepMarked',
    facts: {
      ...finished({ threshold: 1 }, pod('x')),
      nodes: [node('node-1', { labels: { 'gc.dustpan.dev/keep': 'true' } })],
    },
    field: label,
    why: 'The label gc.dustpan.dev/keep is on node node-1.',
  },
  {
    reason: 'JobUncounted',
    facts: finished({}, pod('x', { controller: job, finalizers: ['batch.kubernetes.io/job-tracking'] })),
    field: 'metadata.finalizers=batch.kubernetes.io/job-tracking',
    why: 'Job report has not counted it yet: it still has the finalizer batch.kubernetes.io/job-tracking.',
  },
  {
    reason: 'JobUnfinished',
    facts: { ...finished({ protectUnfinishedJobs: true }, pod('x', { controller: job })), jobs },
    field: 'pods.terminated.protectUnfinishedJobs=true',
    why: 'Job report has neither completed nor failed, as far as the controller knows, and the policy protects the pods of such Jobs.',
  },
  {
    reason: 'KeptForOwner',
    facts: finished({ ttlAfterFinishedMs: 1, keepPerOwner: 1 }, pod('x', { controller: job })),
    field: 'pods.terminated.keepPerOwner=1',
    why: 'It is the newest finished pod of its owner.',
  },
  {
    reason: 'FinalizerHeld',
    facts: finished({}, pod('x', finalizerHeld)),
    field: 'metadata.finalizers=example.com/backup',
    why: 'It was deleted at 2026-01-15T11:50:00Z and waits only for its finalizers: example.com/backup.',
  },
  {
    reason: 'Quarantined',
    facts: { policies: [orphaned()], pods: [pod('x', onMissingNode)] },
    field: 'pods.orphaned.quarantine=40s',
    why: 'Node node-gone does not exist; this command counts the quarantine of 40s from now, because only the controller knows since when the node has been missing.',
  },
  {
    reason: 'Tripped',
    facts: { policies: [orphaned(0, 0)], pods: [pod('x', onMissingNode)] },
    field: 'pods.safety.maxOrphanedNodesPercent=0',
    why: 'Node node-gone does not exist, but 50 % of all nodes are missing. Above 0 % the circuit breaker opens, because the list of nodes is probably wrong.',
  },
  {
    reason: 'Tripped',
    facts: {
      policies: [orphaned(40_000, 20)],
      pods: [pod('x', onMissingNode)],
      openBreakers: new Map([['default', 1]]),
    },
    field: 'pods.safety.maxOrphanedNodesPercent=20',
    why: 'Node node-gone does not exist, but the status of the policy reports that the circuit breaker is open. A controller that has just started keeps it open for a quarantine.',
  },
  {
    reason: 'Holding',
    facts: {
      policies: [
        policy({
          generation: 3,
          pods: {
            terminated: terminatedRule({ ttlAfterFinishedMs: 0 }),
            hold: { above: 1, forMs: 300_000 },
          },
        }),
      ],
      pods: [aged('x', 60), aged('y', 60), pod('runs', { phase: 'Running' })],
      inForce: new Map([['default', { generation: 3, since: now }]]),
    },
    field: 'pods.safety.holdAbove=1, pods.safety.holdFor=5m',
    why: 'It is due, but generation 3 of the policy would remove 2 of 3 pods: more than 1, and more than half. The first such pass of a generation waits 5m.',
  },
  {
    reason: 'PacingLimit',
    facts: {
      policies: [
        policy({
          pods: {
            terminated: terminatedRule({ threshold: 1 }),
            safety: { maxDeletesPerPass: 1, maxOrphanedNodesPercent: 100 },
          },
        }),
      ],
      pods: [aged('old', 90), aged('x', 60), aged('new', 30)],
    },
    field: 'pods.safety.maxDeletesPerPass=1',
    why: 'It is due, but a pass deletes at most 1 pod for this policy, and other pods are before it.',
  },
  {
    reason: 'NamespaceUnknown',
    facts: { ...finished({}, pod('x')), namespaces: [] },
    field: null,
    why: 'Namespace default is unknown, and its labels may protect the pod.',
  },
  {
    reason: 'NoPolicy',
    facts: { policies: [policy({ pods: { podSelector: labelled('team', 'a') } })], pods: [pod('x')] },
    policy: null,
    field: null,
    why: 'No GCPolicy selects it.',
  },
  {
    reason: 'InvalidPolicy',
    facts: { policies: [broken, terminated({})], pods: [pod('x')] },
    policy: 'broken',
    field: 'spec.pods.terminated.treshold',
    why: 'GCPolicy broken is invalid and may select this pod, so dustpan keeps it: spec.pods.terminated.treshold: is not a known field.',
  },
];

test.each(rows)('$reason: $why', ({ facts, pod: key = 'default/x', ...row }) => {
  const [namespace, name = ''] = key.split('/');
  expectExplanation({ kind: 'pod', namespace, name }, facts, row);
});

test.each([
  { phase: 'Running', reason: 'Orphaned', percent: 100, cautions: true },
  { phase: 'Running', reason: 'Quarantined', percent: 100, cautions: true },
  { phase: 'Running', reason: 'Tripped', percent: 0, cautions: true },
  { phase: 'Succeeded', reason: 'Orphaned', percent: 100, cautions: false },
  { phase: 'Failed', reason: 'Quarantined', percent: 100, cautions: false },
  { phase: 'Failed', reason: 'Tripped', percent: 0, cautions: false },
  { phase: '', reason: 'Quarantined', percent: 100, cautions: true },
])('$reason, phase "$phase": warns about containers that may run: $cautions', (row) => {
  const { phase, reason, percent, cautions } = row;
  const facts = factsOf({
    policies: [orphaned(reason === 'Quarantined' ? 40_000 : 0, percent)],
    pods: [pod('x', { ...onMissingNode, phase })],
  });
  const question = { kind: 'pod', namespace: 'default', name: 'x' } as const;
  const { explanation } = explained({ question, facts, assumeElapsed: reason === 'Orphaned' });
  expect(explanation.reason).toBe(reason);
  expect(explanation.caution !== null).toBe(cautions);
});

/** Only the controller gives these reasons: the live checks before a deletion, and its memory. */
const liveReasons = new Set(['NodeExists', 'NodeUnknown', 'NodeRecovered', 'ClockUnsure', 'DeletionFailed']);

test('the table has every reason that a plan of pods can give', () => {
  const possible = [...podDeleteReasons, ...podKeepReasons].filter((reason) => !liveReasons.has(reason));
  expect(new Set(rows.map(({ reason }) => reason))).toEqual(new Set(possible));
});
