import { expect, test } from 'vitest';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { FakeCluster, storeOf } from '../../../fakes/cluster.ts';
import { finalizerHeld, minutesAgo, node, owner, pod, policy, terminatedRule } from '../../../builders.ts';
import { bed, expireAll, many, orphan, orphanPolicy } from './environment.ts';

test('Enforce deletes what is due and says so on the owner, once for all its pods', async () => {
  const job = owner('Job', 'report');
  const { cluster, recorder, pass, reports, registry } = bed(
    new FakeCluster([...many(3, { controller: job }), pod('runs', { phase: 'Running' })], [node('node-1')]),
    expireAll(),
  );
  await pass();
  expect(cluster.podNames).toEqual(['runs']);
  expect(recorder.events).toHaveLength(1);
  expect(recorder.events[0]).toMatchObject({
    regarding: { kind: 'Job', name: 'report', namespace: 'default' },
    reason: 'PodCollected',
    note: 'Deleted 3 pods (Expired, policy default): p0000, p0001, p0002',
  });
  expect(reports).toMatchObject([{ governed: 4, terminated: 3, due: 3, deleted: 3, failed: 0 }]);
  const told = await registry.metrics();
  expect(told).toContain('dustpan_pod_gc_force_delete_pods_total{namespace="default",reason="expired"} 3');
  expect(told).toContain('dustpan_pod_gc_deleted_pods_total{reason="Expired"} 3');
  expect(told).toContain('dustpan_pod_gc_delete_errors_total{reason="Expired"} 0');
});

test('of a large backlog every owner is told by the end of the pass, and the policy first', async () => {
  const { recorder, pass, reports } = bed(new FakeCluster(many(1_200), [node('node-1')]), expireAll());
  await pass();
  expect(reports).toMatchObject([{ deleted: 1_200 }]);
  expect(recorder.events).toHaveLength(1_201);
  expect(recorder.events[0]).toMatchObject({
    reason: 'BacklogCollected',
    regarding: { kind: 'GCPolicy', name: 'default' },
    note: expect.stringContaining('Deleted 1200 pods in one pass; ') as string,
  });
});

test('DryRun touches nothing and counts the same', async () => {
  const { cluster, recorder, pass, reports, registry } = bed(
    new FakeCluster(many(3), [node('node-1')]),
    expireAll({ mode: 'DryRun' }),
  );
  await pass();
  expect(cluster.requests).toEqual([]);
  expect(recorder.events).toEqual([]);
  expect(reports).toMatchObject([{ due: 3, deleted: 0 }]);
  expect(await registry.metrics()).toContain('dustpan_pod_gc_due_pods{reason="Expired",mode="DryRun"} 3');
});

test('invented node names open no breaker, the names of nodes that an earlier pass saw do', async () => {
  const careful = policy({
    pods: {
      orphaned: { quarantineMs: 0 },
      safety: { maxDeletesPerPass: 0, maxOrphanedNodesPercent: 20 },
    },
  });
  const waiting = { phase: 'Pending', started: false } as const;
  const pods = ['x', 'y', 'z'].map((name) => pod(name, { ...waiting, nodeName: `invented-${name}` }));
  const nodes = ['1', '2', '3', '4'].map((n) => node(`node-${n}`));
  const { cluster, pass, reports } = bed(new FakeCluster(pods, nodes), careful);
  await pass();
  expect(cluster.podNames).toEqual([]);
  expect(reports).toMatchObject([{ missingNodes: 0, trippedPercent: undefined, deleted: 3 }]);

  for (const { name, uid } of nodes) {
    cluster.pods.set(uid, pod(`on-${name}`, { ...waiting, nodeName: name }));
    cluster.nodes.delete(uid);
  }
  await pass();
  expect(reports[1]).toMatchObject({ missingNodes: 4, trippedPercent: 100, deleted: 0 });
});

test('an orphan waits for the quarantine, is read live, marked with the condition, deleted', async () => {
  const { cluster, clock, pass } = bed(new FakeCluster([orphan], [node('node-1')]), orphanPolicy);
  await pass();
  clock.advance(39_000);
  await pass();
  expect(cluster.requests).toEqual([]);
  clock.advance(1_000);
  await pass();
  expect(cluster.requests).toEqual(['get node-gone', 'mark orphan', 'delete orphan']);
  expect(cluster.failed.get('orphan')).toBe('DeletionByPodGC');
  expect(cluster.podNames).toEqual([]);
});

test('one live GET serves all the pods of a node', async () => {
  const pods = many(20, { nodeName: 'node-gone' });
  const { cluster, clock, pass } = bed(new FakeCluster(pods, [node('node-1')]), orphanPolicy);
  await pass();
  clock.advance(40_000);
  await pass();
  expect(cluster.requests.filter((request) => request.startsWith('get'))).toEqual(['get node-gone']);
  expect(cluster.podNames).toEqual([]);
});

test('a node that the live GET finds saves its pods and starts the quarantine anew', async () => {
  const { cluster, clock, pass, registry } = bed(new FakeCluster([orphan], [node('node-1')]), orphanPolicy);
  cluster.unseenNodes.set('u', node('node-gone'));
  await pass();
  clock.advance(40_000);
  await pass();
  expect(cluster.podNames).toEqual(['orphan']);
  expect(await registry.metrics()).toContain('dustpan_pod_gc_skipped_pods_total{reason="NodeExists"} 1');
  cluster.unseenNodes.clear();
  clock.advance(20_000);
  await pass();
  expect(cluster.podNames).toEqual(['orphan']);
});

test('a node that is back under its name during the quarantine saves its pods', async () => {
  const { cluster, clock, pass } = bed(new FakeCluster([orphan], [node('node-1')]), orphanPolicy);
  await pass();
  clock.advance(30_000);
  cluster.nodes.set('back', node('node-gone'));
  await pass();
  cluster.nodes.delete('back');
  clock.advance(30_000);
  await pass();
  expect(cluster.podNames).toEqual(['orphan']);
});

test('a node that cannot be read keeps its pods', async () => {
  const { cluster, clock, pass } = bed(new FakeCluster([orphan], [node('node-1')]), orphanPolicy);
  cluster.fault((verb) => (verb === 'get' ? new ApiError('internal error', { status: 500 }) : undefined));
  await pass();
  clock.advance(60_000);
  await pass();
  expect(cluster.podNames).toEqual(['orphan']);
});

test('a wall clock that jumps an hour does not end a quarantine', async () => {
  const { cluster, clock, pass } = bed(new FakeCluster([orphan], [node('node-1')]), orphanPolicy);
  await pass();
  clock.stepWall(3_600_000);
  await pass();
  expect(cluster.requests).toEqual([]);
});

test('out of service: a node that recovered since saves its pods', async () => {
  const tainted = node('node-1', { ready: false, taintKeys: ['node.kubernetes.io/out-of-service'] });
  const stuck = pod('stuck', { phase: 'Running', deletionAtMs: minutesAgo(5) });
  const cluster = new FakeCluster([stuck], [tainted]);
  const live = Object.assign(cluster, { getNode: () => Promise.resolve(node('node-1')) });
  const { pass } = bed(live, policy({ pods: { outOfService: true } }));
  await pass();
  expect(cluster.podNames).toEqual(['stuck']);
});

test('a failed mark means no delete; the others go on; the pass throws at its end', async () => {
  const pods = [pod('bad', { phase: 'Running', deletionAtMs: 1, nodeName: undefined }), ...many(2)];
  const both = policy({
    pods: { unscheduledTerminating: true, terminated: terminatedRule({ ttlAfterFinishedMs: 0 }) },
  });
  const { cluster, pass, reports, registry } = bed(new FakeCluster(pods, [node('node-1')]), both);
  cluster.fault((verb) => (verb === 'mark' ? new ApiError('boom', { status: 500 }) : undefined));
  await expect(pass()).rejects.toThrow('1 of 3 failed');
  expect(cluster.podNames).toEqual(['bad']);
  expect(reports).toMatchObject([{ deleted: 2, failed: 1 }]);
  const told = await registry.metrics();
  expect(told).toMatch(/^dustpan_pod_gc_deleted_pods_total\{reason="Expired"\} 2$/m);
  expect(told).toMatch(/^dustpan_pod_gc_delete_errors_total\{reason="Unscheduled"\} 1$/m);
});

test('forbidden ends the pass before long', async () => {
  const { cluster, pass } = bed(new FakeCluster(many(200), [node('node-1')]), expireAll());
  cluster.fault(() => new ApiError('pods is forbidden', { status: 403 }));
  await expect(pass()).rejects.toThrow('deleting pods');
  expect(cluster.requests.length).toBeLessThan(80);
  expect(cluster.podNames).toHaveLength(200);
});

test('a 429 is waited out and nothing is lost', async () => {
  const { cluster, pass, clock } = bed(new FakeCluster(many(50), [node('node-1')]), expireAll());
  let throttled = 0;
  cluster.fault(() =>
    throttled++ < 5 ? new ApiError('too many', { status: 429, retryAfterMs: 3_000 }) : undefined,
  );
  const before = clock.monotonicMs();
  await pass();
  expect(cluster.podNames).toEqual([]);
  expect(clock.monotonicMs() - before).toBeGreaterThanOrEqual(3_000);
});

test('a policy switched to DryRun in the middle of a pass stops it', async () => {
  const { cluster, policies, pass } = bed(new FakeCluster(many(500), [node('node-1')]), expireAll());
  cluster.fault(() => {
    if (cluster.requests.length >= 40) policies.ranked = [expireAll({ mode: 'DryRun' })];
    return undefined;
  });
  await pass();
  expect(cluster.requests.length).toBeLessThan(100);
});

test('a lost lease stops the pass before the next delete', async () => {
  let leads = true;
  const cluster = new FakeCluster(many(500), [node('node-1')]);
  const { pass } = bed(cluster, expireAll(), { holdsLease: () => leads });
  cluster.fault(() => {
    if (cluster.requests.length >= 40) leads = false;
    return undefined;
  });
  await pass();
  expect(cluster.requests.length).toBeLessThan(100);
});

test('a pod re-created under its name between plan and act stays', async () => {
  const { cluster, pass } = bed(new FakeCluster(many(1), [node('node-1')]), expireAll());
  cluster.fault((verb, name) => {
    cluster.pods.clear();
    cluster.pods.set('new', pod(name, { uid: 'new', phase: 'Running' }));
    return undefined;
  });
  await pass();
  expect([...cluster.pods.keys()]).toEqual(['new']);
});

test.each(['pods', 'nodes', 'namespaces'] as const)(
  'nothing is decided while %s are not synced',
  async (what) => {
    const cluster = new FakeCluster(many(3), [node('node-1')]);
    const { pass } = bed(cluster, expireAll(), {
      [what]: { ...storeOf(cluster.pods, false), covers: () => true },
    });
    await pass();
    expect(cluster.requests).toEqual([]);
  },
);

test('a pod stuck on its finalizers is reported once', async () => {
  const stuck = pod('stuck', { ...finalizerHeld, phase: 'Failed' });
  const { recorder, pass } = bed(
    new FakeCluster([stuck, pod('runs', { phase: 'Running' })], [node('node-1')]),
    expireAll(),
  );
  for (let i = 0; i < 4; i++) await pass();
  expect(recorder.reasons).toEqual(['FinalizerHeld Pod/stuck']);
});

test('the breaker is told when it trips, once, and again after it had closed', async () => {
  const careful = policy({
    pods: {
      orphaned: { quarantineMs: 0 },
      safety: { maxDeletesPerPass: 0, maxOrphanedNodesPercent: 20 },
    },
  });
  const { cluster, recorder, pass, reports } = bed(new FakeCluster([orphan], [node('node-1')]), careful);
  await pass();
  await pass();
  expect(recorder.reasons).toEqual(['Tripped GCPolicy/default']);
  expect(reports[0]).toMatchObject({ missingNodes: 1, trippedPercent: 50 });
  cluster.nodes.set('back', node('node-gone'));
  await pass();
  cluster.nodes.delete('back');
  await pass();
  expect(recorder.reasons).toHaveLength(2);
  expect(cluster.podNames).toEqual(['orphan']);
});
