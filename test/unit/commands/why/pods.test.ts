import { ttlRuleKey } from '../../../../src/api/policy/ttl-rules.ts';
import {
  podDeleteReasons,
  podKeepReasons,
  type PodDeleteReason,
  type PodKeepReason,
} from '../../../../src/api/reasons.ts';
import { toKeep, type KeptBecause } from '../../../../src/controllers/podgc/facts.ts';
import type { JobFacts, OwnerRef, PodFacts } from '../../../../src/kube/cache/objects.ts';
import { explainPod } from '../../../../src/controllers/podgc/words.ts';
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
  planFor,
  terminated,
} from '../../controllers/podgc/rows.ts';
import { broken, finished, keepMark, type Facts } from '../facts.ts';
import { actedCases, casesOf, explained, testReasons, type Cases } from './catalogue.ts';

const job = owner('Job', 'report');
const jobOf = ({ uid, name }: OwnerRef): JobFacts => ({
  ...{ uid, name, namespace: 'default', resourceVersion: '1', controller: undefined, finished: false },
});
const hour = 3_600_000;

/** The pod `x` on a node that does not exist. */
const missing = (quarantineMs: number, { percent = 100, phase = 'Running' } = {}): Facts => ({
  policies: [orphaned(quarantineMs, percent)],
  pods: [pod('x', { ...onMissingNode, phase })],
});

/** The pod `x`, which finished an hour ago, with this annotation. */
const annotated = (ttlAnnotation: string, over: Parameters<typeof finished>[0] = {}): Facts =>
  finished({ honorTTLAnnotation: true, ...over }, aged('x', 60, { ttlAnnotation }));

/** The pod `x` has not finished. */
const running = (over: Parameters<typeof pod>[1] = {}): Facts =>
  finished({}, pod('x', { phase: 'Running', ...over }));
const partlyEnded = (ended: readonly string[], still: readonly string[], controller?: OwnerRef): Facts =>
  running({ controller, partlyEnded: { ended, running: still } });

/** New rules for finished pods. */
const held = (
  terminatedPods: typeof atOnce,
  above: number | undefined,
  pods: readonly PodFacts[],
): Facts => ({
  policies: [policy({ pods: { terminated: terminatedPods, hold: { above, forMs: 300_000 } } })],
  pods,
  inForce: new Map([['default', { rulesId: 'rules-default', since: now }]]),
});
/** So many pods that finished an hour ago, `x` first. */
const many = (count: number): readonly PodFacts[] =>
  Array.from({ length: count }, (_, at) => aged(at === 0 ? 'x' : `x${at}`, 60));

const keepOne = terminatedRule({ threshold: 1 });
const atOnce = terminatedRule({ ttlAfterFinishedMs: 0 });
const onePerPass = { maxDeletesPerPass: 1, maxOrphanedNodesPercent: 100 };
const jobPod = { controller: job, finalizers: ['batch.kubernetes.io/job-tracking'] };
const otherLabels = policy({ pods: { podSelector: labelled('team', 'a') } });
const excluding = policy({ name: 'apps', priority: 1, pods: { excludeNamespaces: new Set(['d*']) } });
const ttlByReason = [
  { phase: 'Succeeded', reason: undefined, messagePattern: undefined, ttlMs: 1 },
  { phase: 'Failed', reason: 'Evicted', messagePattern: '*disk*', ttlMs: 600_000 },
] as const;

const cronJob = { ...jobOf(job), controller: owner('CronJob', 'nightly'), finished: true };

/** Only the controller gives these reasons: the live checks before a deletion, and its memory. */
const live = [
  { reason: 'NodeExists' },
  { reason: 'NodeUnknown' },
  { reason: 'NodeRecovered' },
  { reason: 'ClockUnsure' },
  { reason: 'DeletionFailed', times: 3 },
  { reason: 'PodChanged' },
] as const satisfies readonly KeptBecause[];
type LiveReason = (typeof live)[number]['reason'];

/** About the pod `x`. */
const planned: Cases<PodDeleteReason | Exclude<PodKeepReason, LiveReason>> = {
  Expired: {
    'the ttl of a phase, a reason and a message': finished(
      { ttlAfterFinishedMs: 10 * hour, ttlByReason },
      aged('x', 60, { ...evicted, ttlRules: new Map([[ttlRuleKey(ttlByReason[1]), true]]) }),
    ),
    'an annotation that is no duration': annotated('soon', { ttlAfterFinishedMs: 0 }),
    'a finish that only the API server has recorded': finished(
      { ttlAfterFinishedMs: hour },
      pod('x', { phase: 'Failed', finishedByMs: minutesAgo(90) }),
    ),
    'finished in the future': finished(
      { ttlAfterFinishedMs: 0 },
      aged('x', -60, { createdAtMs: minutesAgo(30) }),
    ),
  },
  TerminatedInNamespace: {
    'two in the namespace': finished(
      { threshold: 0, perNamespaceThreshold: 1 },
      ...[aged('x', 60), aged('y', 30), aged('b/z', 90)],
    ),
  },
  Terminated: {
    'others are due by another limit': finished(
      { threshold: 1, ttlAfterFinishedMs: 4_000_000 },
      ...[aged('a', 90), aged('b', 80), aged('x', 60), aged('new', 30)],
    ),
    'mode DryRun': {
      policies: [policy({ mode: 'DryRun', pods: { terminated: keepOne } })],
      pods: [aged('x', 60), aged('y', 30)],
    },
  },
  OutOfService: {
    'a tainted node': {
      policies: [policy({ pods: { outOfService: true } })],
      pods: [pod('x', { ...terminating, phase: 'Running' })],
      nodes: [outOfServiceNode],
    },
  },
  Orphaned: {
    'after an assumed quarantine': { ...missing(40_000), assumeElapsed: true },
    'finished, so no container may run': missing(0, { phase: 'Succeeded' }),
  },
  Unscheduled: {
    'never bound': {
      policies: [policy({ pods: { unscheduledTerminating: true } })],
      pods: [pod('x', { ...terminating, phase: 'Pending', nodeName: undefined })],
    },
  },
  NotTerminated: {
    'on a node that exists': { policies: [orphaned()], pods: [pod('x', { phase: 'Running' })] },
    'on a node that is not ready': {
      ...running(),
      nodes: [node('node-1', { ready: false, readyChangedAtMs: minutesAgo(40) })],
    },
    'on a node that is ready, with a taint that stayed': {
      ...running(),
      nodes: [node('node-1', { taintKeys: ['node.kubernetes.io/out-of-service'] })],
    },
    'a sidecar still runs': partlyEnded(['report'], ['istio-proxy']),
    'a sidecar of a Job still runs': partlyEnded(['report'], ['istio-proxy'], job),
    'two containers still run': partlyEnded(['a', 'b'], ['c', 'd']),
  },
  UnderThreshold: {
    'fewer than the threshold': finished({ threshold: 5 }, aged('y', 30), aged('x', 60)),
    'one cannot be deleted': finished(
      { threshold: 1 },
      ...[aged('z', 90), aged('y', 95, finalizerHeld), aged('x', 60)],
    ),
  },
  RuleOff: { 'no rule for finished pods': { policies: [orphaned()], pods: [pod('x')] } },
  TooYoung: {
    'the ttl of all, due in an hour and some seconds': finished(
      { ttlAfterFinishedMs: 2 * hour + 5_000 },
      aged('x', 60),
    ),
    'an annotation': annotated('90m'),
  },
  KeepMarked: {
    'the pod': finished({ threshold: 1 }, pod('x', { labels: keepMark })),
    'its namespace': { ...finished({ threshold: 1 }, pod('x')), namespaces: [], keptNamespaces: ['default'] },
    'its node': { ...finished({ threshold: 1 }, pod('x')), nodes: [node('node-1', { labels: keepMark })] },
  },
  JobUncounted: {
    'the finalizer of its Job': finished({}, pod('x', jobPod)),
    'its Job exists': {
      ...finished({ protectUnfinishedJobs: true }, pod('x', { ...jobPod, controller: job })),
      jobs: [jobOf(job)],
    },
    'its Job does not exist': {
      ...finished(
        { protectUnfinishedJobs: true },
        pod('x', { ...jobPod, controller: owner('Job', 'deleted') }),
      ),
      jobs: [jobOf(job)],
    },
    'it has no owner': finished({}, pod('x', { ...jobPod, controller: undefined })),
    'its owner is no Job': finished({}, pod('x', { ...jobPod, controller: owner('ReplicaSet', 'web') })),
  },
  JobUnfinished: {
    'of a Job': {
      ...finished({ protectUnfinishedJobs: true }, pod('x', { controller: job })),
      jobs: [jobOf(job)],
    },
    'Jobs are not known': {
      ...finished({ protectUnfinishedJobs: true }, pod('x', { controller: job })),
      jobs: undefined,
    },
    'of a Job that does not exist': {
      ...finished({ protectUnfinishedJobs: true }, pod('x', { controller: owner('Job', 'deleted') })),
      jobs: [jobOf(job)],
    },
  },
  OwnersUnknown: {
    'ReplicaSets and Jobs are not listed': finished(
      { ttlAfterFinishedMs: 1, keepPerOwner: 2 },
      pod('x', { controller: job }),
    ),
  },
  KeptForOwner: {
    'one of two, of a CronJob': {
      ...finished({ ttlAfterFinishedMs: 1, keepPerOwner: 2 }, pod('x', { controller: job })),
      jobs: [cronJob],
    },
  },
  FinalizerHeld: { 'by a finalizer': finished({}, pod('x', finalizerHeld)) },
  Quarantined: {
    'its containers may run': missing(40_000),
    'finished, so no container may run': missing(40_000, { phase: 'Failed' }),
  },
  Tripped: {
    'half of the nodes are missing': missing(0, { percent: 0 }),
    'open by the status of the policy': {
      ...missing(40_000, { percent: 20 }),
      openBreakers: new Map([['default', 1]]),
    },
  },
  Holding: {
    'new rules': held(atOnce, 1, [aged('x', 60), aged('y', 60), pod('runs', { phase: 'Running' })]),
    'new rules without holdAbove': held(atOnce, undefined, many(11)),
    'new rules that could remove many': held(terminatedRule({ threshold: 90 }), undefined, many(120)),
  },
  PacingLimit: {
    'others are before it': {
      policies: [policy({ pods: { terminated: keepOne, safety: onePerPass } })],
      pods: [aged('old', 90), aged('x', 60), aged('new', 30)],
    },
  },
  NamespaceUnknown: { 'not read': { ...finished({}, pod('x')), namespaces: [] } },
  NoPolicy: {
    'other labels are selected': { policies: [otherLabels], pods: [pod('x')] },
    'its namespace is excluded, by a glob': { policies: [excluding, otherLabels], pods: [pod('x')] },
    'no policy has rules for pods': { policies: [policy({ pods: undefined })], pods: [pod('x')] },
  },
  InvalidPolicy: { 'it may select the pod': { policies: [broken, terminated({})], pods: [pod('x')] } },
};

const noPods = planFor({ pods: [] }, policy());

testReasons(
  'pods',
  [...podDeleteReasons, ...podKeepReasons],
  [
    ...casesOf(planned, (facts) => explained({ kind: 'pod', namespace: 'default', name: 'x' }, facts)),
    ...actedCases(
      live
        .map((why) => toKeep(pod('x'), why, policy()))
        .map((one) => [one, explainPod(one, noPods)] as const),
    ),
  ],
);
