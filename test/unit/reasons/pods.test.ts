import { expect, test } from 'vitest';
import {
  podDeleteReasons,
  podKeepReasons,
  type PodDeleteReason,
  type PodKeepReason,
} from '../../../src/api/reasons.ts';
import { ApiError } from '../../../src/kube/http/transport.ts';
import {
  finalizerHeld,
  minutesAgo,
  node,
  now,
  owner,
  pod,
  policy,
  terminatedRule,
  terminating,
} from '../../builders.ts';
import { FakeCluster } from '../../fakes/cluster.ts';
import {
  environmentOf,
  expireAll,
  orphan,
  orphanPolicy,
  type Environment,
} from '../controllers/podgc/environment.ts';
import { decided, invalidPolicy, keepMark, podsBy, type Fixture } from './reasons.fixture.ts';

type PodReason = PodDeleteReason | PodKeepReason;
/** Only the executor decides these, if a live read right before the action differs from the plan. */
type LiveReason = 'NodeExists' | 'NodeUnknown' | 'NodeRecovered' | 'ClockUnsure';

const finished = { finishedAtMs: minutesAgo(5) } as const;
const expires = podsBy({ terminated: terminatedRule({ ttlAfterFinishedMs: 0 }) });
const quarantine = { orphaned: { quarantineMs: 40_000 } } as const;
const lost = pod('a', { nodeName: 'node-gone', phase: 'Running' });
const outOfServiceNode = node('node-1', { ready: false, taintKeys: ['node.kubernetes.io/out-of-service'] });
const stuck = pod('a', { ...terminating, phase: 'Running' });

/** A fixture for each reason about the pod `a`. */
const planned: Readonly<Record<Exclude<PodReason, LiveReason | 'DeletionFailed'>, Fixture>> = {
  Terminated: {
    ...podsBy({ terminated: terminatedRule({ threshold: 1 }) }),
    pods: [pod('a', { createdAtMs: minutesAgo(90) }), pod('b')],
  },
  TerminatedInNamespace: {
    ...podsBy({ terminated: terminatedRule({ perNamespaceThreshold: 1 }) }),
    pods: [pod('a', { createdAtMs: minutesAgo(90) }), pod('b')],
  },
  Expired: { ...expires, pods: [pod('a', finished)] },
  OutOfService: { ...podsBy({ outOfService: true }), pods: [stuck], nodes: [outOfServiceNode] },
  Orphaned: { ...podsBy(quarantine), pods: [lost], assumeElapsed: true },
  Unscheduled: {
    ...podsBy({ unscheduledTerminating: true }),
    pods: [pod('a', { ...terminating, phase: 'Pending', nodeName: undefined })],
  },
  NotTerminated: { ...expires, pods: [pod('a', { phase: 'Running' })] },
  UnderThreshold: { ...podsBy({ terminated: terminatedRule() }), pods: [pod('a')] },
  RuleOff: { ...podsBy(quarantine), pods: [pod('a')] },
  TooYoung: {
    ...podsBy({ terminated: terminatedRule({ ttlAfterFinishedMs: 3_600_000 }) }),
    pods: [pod('a', finished)],
  },
  KeepMarked: { ...expires, pods: [pod('a', { ...finished, labels: keepMark })] },
  JobUncounted: {
    ...expires,
    pods: [pod('a', { ...finished, finalizers: ['batch.kubernetes.io/job-tracking'] })],
  },
  JobUnfinished: {
    ...podsBy({ terminated: terminatedRule({ ttlAfterFinishedMs: 0, protectUnfinishedJobs: true }) }),
    pods: [pod('a', { ...finished, controller: owner('Job', 'nightly') })],
  },
  KeptForOwner: {
    ...podsBy({ terminated: terminatedRule({ ttlAfterFinishedMs: 0, keepPerOwner: 1 }) }),
    pods: [pod('a', { ...finished, controller: owner('ReplicaSet', 'web') })],
  },
  FinalizerHeld: { ...expires, pods: [pod('a', { ...finished, ...finalizerHeld })] },
  Quarantined: { ...podsBy(quarantine), pods: [lost] },
  Tripped: {
    ...podsBy({ ...quarantine, safety: { maxDeletesPerPass: 0, maxOrphanedNodesPercent: 0 } }),
    pods: [lost],
    assumeElapsed: true,
  },
  Holding: {
    ...podsBy({
      terminated: terminatedRule({ ttlAfterFinishedMs: 0 }),
      hold: { above: 1, forMs: 300_000 },
    }),
    pods: [pod('b', finished), pod('a', finished)],
    inForce: { default: { generation: 1, since: now } },
  },
  PacingLimit: {
    ...podsBy({
      terminated: terminatedRule({ ttlAfterFinishedMs: 0 }),
      safety: { maxDeletesPerPass: 1, maxOrphanedNodesPercent: 20 },
    }),
    pods: [pod('b', { ...finished, createdAtMs: minutesAgo(90) }), pod('a', finished)],
  },
  NamespaceUnknown: { ...expires, pods: [pod('a', finished)], namespaces: [] },
  NoPolicy: { pods: [pod('a', finished)] },
  InvalidPolicy: { policies: [invalidPolicy], pods: [pod('a', finished)] },
};

test.each(Object.entries(planned))('a plan decides %s', (reason, fixture) => {
  const decisions = decided(fixture, 'podgc').filter(({ object }) => 'name' in object && object.name === 'a');
  expect(decisions.map((one) => one.reason)).toEqual([reason]);
});

/** Fixtures whose first pass plans a deletion that the live check then prevents. */
const live: Readonly<Record<LiveReason, () => Environment>> = {
  NodeExists: () => {
    const cluster = new FakeCluster([orphan], [node('node-1')]);
    cluster.unseenNodes.set('uid-node-gone', node('node-gone'));
    return environmentOf(cluster, orphanAtOnce);
  },
  NodeUnknown: () => {
    const cluster = new FakeCluster([orphan], [node('node-1')]);
    cluster.fault((verb) => (verb === 'get' ? new Error('server down') : undefined));
    return environmentOf(cluster, orphanAtOnce);
  },
  NodeRecovered: () => {
    const cluster = new FakeCluster([stuck], [outOfServiceNode]);
    Object.assign(cluster, { getNode: () => Promise.resolve(node('node-1')) });
    return environmentOf(cluster, policy({ pods: { outOfService: true } }));
  },
  ClockUnsure: () => {
    const made = environmentOf(new FakeCluster([pod('a', finished)], [node('node-1')]), expireAll());
    made.policies.confirm = () => Promise.resolve({ same: true, clockSkewMs: 3_600_000 });
    return made;
  },
};
const orphanAtOnce = { ...orphanPolicy, pods: policy({ pods: { orphaned: { quarantineMs: 0 } } }).pods };

test.each(Object.entries(live))('the check right before the action decides %s', async (reason, setUp) => {
  const { cluster, pass, registry } = setUp();
  const before = cluster.podNames;
  await pass();
  expect(cluster.podNames).toEqual(before);
  const lines = (await registry.metrics()).split('\n');
  const skipped = lines.filter((line) => /^dustpan_pod_gc_skipped_pods_total\{.*\} [^0]/.test(line));
  expect(skipped).toEqual([`dustpan_pod_gc_skipped_pods_total{reason="${reason}"} 1`]);
});

test('a failure in an earlier pass decides DeletionFailed', async () => {
  const { cluster, pass, registry } = environmentOf(new FakeCluster([pod('a', finished)]), expireAll());
  cluster.fault(() => new ApiError('denied', { status: 403 }));
  await pass().catch(() => undefined);
  await pass();
  expect(await registry.metrics()).toContain('dustpan_pod_gc_kept_pods{reason="DeletionFailed"} 1');
});

test('every reason has a row', () => {
  const rows = [...Object.keys(planned), ...Object.keys(live), 'DeletionFailed'];
  expect(rows.sort()).toEqual([...podDeleteReasons, ...podKeepReasons].sort());
});
