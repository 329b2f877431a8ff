import { expect, test } from 'vitest';
import type { InvalidPolicy, Policy } from '../../../src/api/policy.ts';
import { rankPolicies } from '../../../src/api/matching.ts';
import type { PodGcFacts, PodGcPlan } from '../../../src/controllers/podgc/facts.ts';
import { planPodGc } from '../../../src/controllers/podgc/plan.ts';
import {
  finalizerHeld,
  labelled,
  minutesAgo,
  node,
  now,
  owner,
  pod,
  policy,
  terminatedRule,
  terminating,
} from '../../builders.ts';

type World = Partial<Omit<PodGcFacts, 'nodes'>> & { readonly nodes?: readonly ReturnType<typeof node>[] };

/** The plan of a small world; node-1 exists, every namespace is known, node names have been missing for an hour unless told. */
function plan(world: World, ...policies: (Policy | InvalidPolicy)[]): PodGcPlan {
  const pods = [...(world.pods ?? [])];
  const missing = pods.flatMap(({ nodeName }) =>
    nodeName === undefined ? [] : [[nodeName, 3_600_000] as const],
  );
  const facts: PodGcFacts = {
    namespaces: new Map(pods.map(({ namespace }) => [namespace, {}])),
    jobsFinished: undefined,
    replicaSetOwners: new Map(),
    missingForMs: new Map(missing),
    ...world,
    pods,
    nodes: new Map((world.nodes ?? [node('node-1')]).map((one) => [one.name, one])),
  };
  return planPodGc(facts, { policies: rankPolicies(policies), now });
}

const deleted = (made: PodGcPlan): string[] =>
  made.deletions.map(
    ({ pod: { name }, reason, markFailed }) => `${name} ${reason}${markFailed ? ' mark' : ''}`,
  );
const kept = (made: PodGcPlan): string[] =>
  [...made.kept()].map(({ pod: { name }, reason, eligibleAt }) =>
    [name, reason, eligibleAt?.toISOString().slice(11, 19)].filter(Boolean).join(' '),
  );

const aged = (name: string, minutes: number, over: Parameters<typeof pod>[1] = {}): ReturnType<typeof pod> =>
  pod(name, { createdAtMs: minutesAgo(minutes), finishedAtMs: minutesAgo(minutes), ...over });
const evicted = { phase: 'Failed', reason: 'Evicted' } as const;
const gone = { nodeName: 'node-gone', phase: 'Running' } as const;
const outOfServiceNode = node('node-1', { ready: false, taintKeys: ['node.kubernetes.io/out-of-service'] });
const terminated = (over: Parameters<typeof terminatedRule>[0]): Policy =>
  policy({ pods: { terminated: terminatedRule(over) } });
const orphaned = (quarantineMs = 40_000, maxOrphanedNodesPercent = 100): Policy =>
  policy({
    pods: { orphaned: { quarantineMs }, safety: { maxDeletesPerPass: 0, maxOrphanedNodesPercent } },
  });

interface Row {
  readonly name: string;
  readonly world: World;
  readonly policies: readonly (Policy | InvalidPolicy)[];
  readonly goes: readonly string[];
  readonly stays?: readonly string[];
}

const rows: readonly Row[] = [
  {
    name: 'over the threshold the oldest goes',
    world: { pods: [aged('young', 1), aged('old', 9), aged('mid', 5)] },
    policies: [terminated({ threshold: 2 })],
    goes: ['old Terminated'],
    stays: ['young UnderThreshold', 'mid UnderThreshold'],
  },
  {
    name: 'an evicted pod goes before an older one',
    world: { pods: [aged('old', 9), aged('evicted', 1, evicted), aged('mid', 5)] },
    policies: [terminated({ threshold: 1 })],
    goes: ['evicted Terminated', 'old Terminated'],
  },
  {
    name: 'reason Evicted counts only in phase Failed',
    world: { pods: [aged('old', 9), aged('odd', 1, { phase: 'Succeeded', reason: 'Evicted' })] },
    policies: [terminated({ threshold: 1 })],
    goes: ['old Terminated'],
  },
  {
    name: 'equal creation: by name, then namespace',
    world: { pods: [aged('z/b', 5), aged('z/a', 5), aged('y/a', 5), aged('y/c', 5)] },
    policies: [terminated({ threshold: 1 })],
    goes: ['a Terminated', 'a Terminated', 'b Terminated'],
    stays: ['c UnderThreshold'],
  },
  {
    name: 'at the threshold nothing goes',
    world: { pods: [aged('a', 5), aged('b', 6)] },
    policies: [terminated({ threshold: 2 })],
    goes: [],
  },
  ...[0, -1].map((threshold) => ({
    name: `threshold ${threshold} is off`,
    world: { pods: [aged('a', 5)] },
    policies: [terminated({ threshold })],
    goes: [],
    stays: ['a UnderThreshold'],
  })),
  {
    name: 'the empty phase is terminated and is marked; Pending, Running and Unknown are not',
    world: {
      pods: ['', 'Pending', 'Running', 'Unknown', 'Failed'].map((phase, i) =>
        aged(phase || 'none', 9 - i, { phase }),
      ),
    },
    policies: [terminated({ threshold: 1 })],
    goes: ['none Terminated mark'],
    stays: [
      'Pending NotTerminated',
      'Running NotTerminated',
      'Unknown NotTerminated',
      'Failed UnderThreshold',
    ],
  },
  {
    name: 'a finalizer-held pod counts and the next goes instead',
    world: { pods: [aged('held', 9, finalizerHeld), aged('next', 5), aged('young', 1)] },
    policies: [terminated({ threshold: 2 })],
    goes: ['next Terminated'],
    stays: ['held FinalizerHeld', 'young UnderThreshold'],
  },
  {
    name: 'finalizers alone hold nothing: deleted as upstream',
    world: { pods: [aged('a', 9, { finalizers: ['x/y'] }), aged('b', 1)] },
    policies: [terminated({ threshold: 1 })],
    goes: ['a Terminated'],
  },
  {
    name: 'a terminating pod with grace left is not held',
    world: { pods: [aged('a', 9, { ...terminating, finalizers: ['x/y'] }), aged('b', 1)] },
    policies: [terminated({ threshold: 1 })],
    goes: ['a Terminated'],
  },
  {
    name: 'a pod its Job has not counted counts, and the next goes',
    world: {
      pods: [
        aged('uncounted', 9, { finalizers: ['batch.kubernetes.io/job-tracking'] }),
        aged('next', 5),
        aged('c', 1),
      ],
    },
    policies: [terminated({ threshold: 2, ttlAfterFinishedMs: 1 })],
    goes: ['next Terminated', 'c Expired'],
    stays: ['uncounted JobUncounted'],
  },
  {
    name: 'protectUnfinishedJobs keeps pods of running and of unknown Jobs',
    world: {
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
    },
    policies: [terminated({ ttlAfterFinishedMs: 0, protectUnfinishedJobs: true })],
    goes: ['of-done Expired', 'of-set Expired'],
    stays: ['of-running JobUnfinished', 'of-unseen JobUnfinished'],
  },
  {
    name: 'protectUnfinishedJobs keeps all Job pods while no Job was observed',
    world: { pods: [aged('a', 9, { controller: owner('Job', 'done') })] },
    policies: [terminated({ ttlAfterFinishedMs: 0, protectUnfinishedJobs: true })],
    goes: [],
    stays: ['a JobUnfinished'],
  },
  {
    name: 'per namespace, after the cluster-wide threshold took its share',
    world: { pods: [aged('x/1', 9), aged('x/2', 8), aged('x/3', 7), aged('y/4', 6), aged('y/5', 5)] },
    policies: [terminated({ threshold: 4, perNamespaceThreshold: 1 })],
    goes: ['1 Terminated', '2 TerminatedInNamespace', '4 TerminatedInNamespace'],
    stays: ['3 UnderThreshold', '5 UnderThreshold'],
  },
  {
    name: 'a namespace threshold of 0 is off, as the other one',
    world: { pods: [aged('x/1', 9)] },
    policies: [terminated({ perNamespaceThreshold: 0 })],
    goes: [],
  },
  {
    name: 'ttl counts from the finish, its last millisecond included',
    world: {
      pods: [
        pod('due', { createdAtMs: 0, finishedAtMs: minutesAgo(60) }),
        pod('soon', { createdAtMs: 0, finishedAtMs: minutesAgo(60) + 1 }),
      ],
    },
    policies: [terminated({ ttlAfterFinishedMs: 3_600_000 })],
    goes: ['due Expired'],
    stays: ['soon TooYoung 12:00:00'],
  },
  {
    name: 'ttlByReason: the first match wins over ttlAfterFinished, the others fall through',
    world: {
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
    },
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
    goes: ['evicted Expired', 'shutdown Expired'],
    stays: ['plain TooYoung 12:30:00', 'failed TooYoung 12:01:00'],
  },
  {
    name: 'keepPerOwner keeps the newest of each Deployment from ttl, not from the threshold',
    world: {
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
    },
    policies: [terminated({ ttlAfterFinishedMs: 0, keepPerOwner: 1 })],
    goes: ['old-set Expired', 'alone Expired'],
    stays: ['new-set KeptForOwner', 'other KeptForOwner'],
  },
  {
    name: 'the threshold takes even what keepPerOwner keeps',
    world: { pods: [aged('a', 9, { controller: owner('Job', 'j') }), aged('b', 5)] },
    policies: [terminated({ threshold: 1, keepPerOwner: 1 })],
    goes: ['a Terminated'],
  },
  {
    name: 'namespace threshold: what is kept for its owner counts and the next goes',
    world: { pods: [aged('kept', 9, { controller: owner('Job', 'j') }), aged('next', 5)] },
    policies: [terminated({ perNamespaceThreshold: 1, keepPerOwner: 1 })],
    goes: ['next TerminatedInNamespace'],
    stays: ['kept KeptForOwner'],
  },
  {
    name: 'without the terminated rule a finished pod stays',
    world: { pods: [aged('a', 9)] },
    policies: [policy({ pods: { outOfService: true } })],
    goes: [],
    stays: ['a RuleOff'],
  },
  {
    name: 'an orphan past the quarantine goes, marked unless it had finished',
    world: {
      pods: [
        pod('running', gone),
        pod('done', { ...gone, phase: 'Failed' }),
        pod('here', { phase: 'Running' }),
      ],
    },
    policies: [orphaned()],
    goes: ['done Orphaned', 'running Orphaned mark'],
    stays: ['here NotTerminated'],
  },
  ...[
    { ms: 39_999, goes: [], stays: ['a Quarantined 12:00:00'] },
    { ms: 40_000, goes: ['a Orphaned mark'], stays: [] },
    { ms: 0, goes: [], stays: ['a Quarantined 12:00:40'] },
  ].map(({ ms, goes, stays }) => ({
    name: `missing for ${ms} ms of 40 s`,
    world: { pods: [pod('a', gone)], missingForMs: new Map([['node-gone', ms]]) },
    policies: [orphaned()],
    goes,
    stays,
  })),
  {
    name: 'a node first seen missing now starts its quarantine',
    world: { pods: [pod('a', gone)], missingForMs: new Map() },
    policies: [orphaned()],
    goes: [],
    stays: ['a Quarantined 12:00:40'],
  },
  {
    name: 'over the percentage of missing nodes no orphan goes',
    world: {
      pods: [pod('a', gone), pod('b', { ...gone, nodeName: 'node-gone-2' })],
      nodes: ['1', '2', '3', '4', '5', '6', '7'].map((n) => node(`node-${n}`)),
    },
    policies: [orphaned(40_000, 20)],
    goes: [],
    stays: ['a Tripped', 'b Tripped'],
  },
  {
    name: 'at the percentage they go',
    world: { pods: [pod('a', gone)], nodes: ['1', '2', '3', '4'].map((n) => node(`node-${n}`)) },
    policies: [orphaned(40_000, 20)],
    goes: ['a Orphaned mark'],
  },
  {
    name: '100 percent never trips, even with no node left',
    world: { pods: [pod('a', gone)], nodes: [] },
    policies: [orphaned(40_000, 100)],
    goes: ['a Orphaned mark'],
  },
  {
    name: 'the orphan of a Job goes even uncounted',
    world: {
      pods: [pod('a', { ...gone, phase: 'Failed', finalizers: ['batch.kubernetes.io/job-tracking'] })],
    },
    policies: [orphaned()],
    goes: ['a Orphaned'],
  },
  {
    name: 'an orphan held by finalizers alone is not deleted again',
    world: { pods: [pod('a', { ...gone, phase: 'Failed', ...finalizerHeld })] },
    policies: [orphaned()],
    goes: [],
    stays: ['a FinalizerHeld'],
  },
  {
    name: 'out of service: terminating, node not ready and tainted',
    world: {
      pods: [pod('a', { phase: 'Running', ...terminating }), pod('b', { phase: 'Running' })],
      nodes: [outOfServiceNode],
    },
    policies: [policy({ pods: { outOfService: true } })],
    goes: ['a OutOfService mark'],
    stays: ['b NotTerminated'],
  },
  {
    name: 'out of service: a ready node keeps its pods, taint or not',
    world: {
      pods: [pod('a', { phase: 'Running', ...terminating })],
      nodes: [{ ...outOfServiceNode, ready: true }],
    },
    policies: [policy({ pods: { outOfService: true } })],
    goes: [],
  },
  {
    name: 'out of service: not ready without the taint keeps',
    world: {
      pods: [pod('a', { phase: 'Running', ...terminating })],
      nodes: [node('node-1', { ready: false })],
    },
    policies: [policy({ pods: { outOfService: true } })],
    goes: [],
  },
  {
    name: 'unscheduled: terminating and never bound',
    world: {
      pods: [
        pod('a', { phase: 'Pending', ...terminating, nodeName: undefined }),
        pod('b', { phase: 'Pending', nodeName: undefined }),
        pod('c', { phase: 'Pending', ...terminating }),
      ],
    },
    policies: [policy({ pods: { unscheduledTerminating: true } })],
    goes: ['a Unscheduled mark'],
    stays: ['b NotTerminated', 'c NotTerminated'],
  },
  {
    name: 'one decision a pod, by the first rule; rules in order',
    world: {
      pods: [
        pod('unscheduled', { phase: 'Pending', ...terminating, nodeName: undefined }),
        pod('orphan', { ...gone, phase: 'Running' }),
        pod('service', { phase: 'Running', ...terminating }),
        aged('finished-orphan', 99, { nodeName: 'node-gone' }),
      ],
      nodes: [outOfServiceNode],
    },
    policies: [
      policy({
        pods: {
          terminated: terminatedRule({ ttlAfterFinishedMs: 0 }),
          orphaned: { quarantineMs: 0 },
          outOfService: true,
          unscheduledTerminating: true,
        },
      }),
    ],
    goes: [
      'finished-orphan Expired',
      'service OutOfService mark',
      'orphan Orphaned mark',
      'unscheduled Unscheduled mark',
    ],
  },
  {
    name: 'maxDeletesPerPass cuts the sequence',
    world: { pods: [aged('a', 9), aged('b', 8), aged('c', 7)] },
    policies: [
      policy({
        pods: {
          terminated: terminatedRule({ ttlAfterFinishedMs: 0 }),
          safety: { maxDeletesPerPass: 2, maxOrphanedNodesPercent: 20 },
        },
      }),
    ],
    goes: ['a Expired', 'b Expired'],
    stays: ['c PacingLimit'],
  },
  {
    name: 'the keep label on pod, namespace or node takes a pod out and it is not counted',
    world: {
      pods: [
        aged('pod', 9, { labels: { 'gc.dustpan.dev/keep': 'true' } }),
        aged('kept-ns/ns', 8),
        aged('node', 7, { nodeName: 'node-kept' }),
        aged('other', 6, { labels: { 'gc.dustpan.dev/keep': 'false' } }),
      ],
      namespaces: new Map([
        ['default', {}],
        ['kept-ns', { 'gc.dustpan.dev/keep': 'true' }],
      ]),
      nodes: [node('node-1'), node('node-kept', { labels: { 'gc.dustpan.dev/keep': 'true' } })],
    },
    policies: [terminated({ threshold: 1 })],
    goes: [],
    stays: ['pod KeepMarked', 'ns KeepMarked', 'node KeepMarked', 'other UnderThreshold'],
  },
  {
    name: 'no policy, or none that speaks of pods: nothing goes',
    world: { pods: [aged('a', 9)] },
    policies: [policy({ pods: undefined })],
    goes: [],
    stays: ['a NoPolicy'],
  },
  {
    name: 'the policy of higher priority governs, and thresholds count only their own pods',
    world: {
      pods: [
        aged('a', 9, { labels: { app: 'x' } }),
        aged('b', 8, { labels: { app: 'x' } }),
        aged('c', 7),
        aged('d', 6),
      ],
    },
    policies: [
      policy({ name: 'low', pods: { terminated: terminatedRule({ threshold: 1 }) } }),
      policy({
        name: 'high',
        priority: 5,
        pods: { podSelector: labelled('app', 'x'), terminated: terminatedRule({ threshold: 2 }) },
      }),
    ],
    goes: ['c Terminated'],
    stays: ['a UnderThreshold', 'b UnderThreshold', 'd UnderThreshold'],
  },
  {
    name: 'two policies, one sequence',
    world: {
      pods: [aged('a', 9, { labels: { app: 'x' } }), aged('b', 8), aged('c', 7, { labels: { app: 'x' } })],
    },
    policies: [
      policy({ name: 'low', pods: { terminated: terminatedRule({ ttlAfterFinishedMs: 0 }) } }),
      policy({
        name: 'high',
        priority: 5,
        pods: { podSelector: labelled('app', 'x'), terminated: terminatedRule({ ttlAfterFinishedMs: 0 }) },
      }),
    ],
    goes: ['a Expired', 'b Expired', 'c Expired'],
  },
  {
    name: 'an invalid policy shields what stands behind it',
    world: { pods: [aged('a', 9)] },
    policies: [
      terminated({ ttlAfterFinishedMs: 0 }),
      { name: 'broken', uid: 'u', generation: 1, priority: undefined, problems: ['spec: must be an object'] },
    ],
    goes: [],
    stays: ['a InvalidPolicy'],
  },
  {
    name: 'an invalid policy of lower priority shields nothing that is decided before it',
    world: { pods: [aged('a', 9)] },
    policies: [
      terminated({ ttlAfterFinishedMs: 0 }),
      { name: 'broken', uid: 'u', generation: 1, priority: -1, problems: ['spec: must be an object'] },
    ],
    goes: ['a Expired'],
  },
  {
    name: 'a pod whose namespace is not known yet stays',
    world: { pods: [aged('a', 9)], namespaces: new Map() },
    policies: [terminated({ ttlAfterFinishedMs: 0 })],
    goes: [],
    stays: ['a NamespaceUnknown'],
  },
  {
    name: 'mode DryRun decides the same',
    world: { pods: [aged('a', 9)] },
    policies: [policy({ mode: 'DryRun', pods: { terminated: terminatedRule({ ttlAfterFinishedMs: 0 }) } })],
    goes: ['a Expired'],
  },
];

test.each(rows)('$name', ({ world, policies, goes, stays }) => {
  const made = plan(world, ...policies);
  expect(deleted(made)).toEqual(goes);
  if (stays !== undefined) expect(kept(made).sort()).toEqual([...stays].sort());
  expect(made.deletions.length + kept(made).length).toBe([...(world.pods ?? [])].length);
});
