import { describe, expect, test } from 'vitest';
import type { PodGcDeps } from '../../../../src/controllers/podgc/controller.ts';
import type { LivePolicies } from '../../../../src/kube/actions/live-reads.ts';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { seriesKey } from '../../../../src/kube/events/series.ts';
import { FakeCluster, storeOf } from '../../../fakes/cluster.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import {
  finalizerHeld,
  minutesAgo,
  node,
  owner,
  pod,
  podWait,
  policy,
  terminatedRule,
  terminating,
} from '../../../builders.ts';
import { livePolicies } from '../../../fakes/evictions.ts';
import {
  environmentOf,
  expireAll,
  inTheMiddle,
  many,
  orphan,
  orphanPolicy,
  type Environment,
} from './environment.ts';
import { fieldsOfLine } from '../../docs/pages.ts';

test('Enforce deletes due pods and records one Event for all pods of an owner', async () => {
  const job = owner('Job', 'report');
  const pods = [...many(3, { controller: job }), pod('runs', { phase: 'Running' })];
  const { cluster, recorder, pass, reports, registry } = environmentOf(pods, expireAll());
  await pass();
  expect(cluster.podNames).toEqual(['runs']);
  expect(recorder.events).toHaveLength(1);
  expect(recorder.events[0]).toMatchObject({
    regarding: { kind: 'Job', name: 'report', namespace: 'default' },
    reason: 'PodCollected',
    note: 'Deleted 3 pods (Expired, policy default): p0000, p0001, p0002',
    annotations: {
      'gc.dustpan.dev/reason': 'Expired',
      'gc.dustpan.dev/policy': 'default',
      'gc.dustpan.dev/pods': 'p0000,p0001,p0002',
      'gc.dustpan.dev/more-pods': '0',
    },
  });
  expect(reports).toMatchObject([{ governed: 1, terminated: 0, due: 0, deleted: 3, failed: 0 }]);
  const metrics = await registry.metrics();
  expect(metrics).toContain('dustpan_pod_gc_force_delete_pods_total{namespace="default",reason="expired"} 3');
  expect(metrics).toContain('dustpan_removed_objects_total{unit="podgc",reason="Expired"} 3');
  expect(metrics).toContain('dustpan_failed_objects_total{unit="podgc",reason="Expired"} 0');
  expect(metrics).toContain('dustpan_pod_gc_delete_window 0');
  expect(metrics).toContain('dustpan_skipped_objects_total{unit="podgc",reason="NodeExists"} 0');
});

test('each pass has an Event of its own, which names its pods: a series would name those of the first alone', async () => {
  const controller = owner('Job', 'crawl');
  const { cluster, clock, recorder, pass } = environmentOf([pod('crawl-0', { controller })], expireAll());
  await pass();
  clock.advance(20_000);
  cluster.pods.set('uid-1', pod('crawl-1', { uid: 'uid-1', controller, finishedAtMs: 0 }));
  await pass();
  const [first, second] = recorder.events;
  expect(first?.note).toMatch(/: crawl-0$/);
  expect(second?.note).toMatch(/: crawl-1$/);
  expect(first && seriesKey(first)).not.toBe(second && seriesKey(second));
});

test('only the first thousand namespaces have series of their own; all others are counted together', async () => {
  const names = Array.from({ length: 1_002 }, (_, i) => `ns-${String(i).padStart(4, '0')}`);
  const pods = names.flatMap((name) => [
    pod(`${name}/a`, { finishedAtMs: 0, createdAtMs: 0 }),
    pod(`${name}/b`, { finishedAtMs: 0, createdAtMs: minutesAgo(1) }),
  ]);
  const { namespaces, pass, registry } = environmentOf(pods, expireAll());
  for (const name of names) namespaces.set(name, { uid: name, name, resourceVersion: '1', labels: {} });
  await pass();
  const lines = (await registry.metrics())
    .split('\n')
    .filter((line) => line.startsWith('dustpan_pod_gc_force_delete_pods_total{'));
  expect(lines).toHaveLength(1_001);
  expect(lines).toContain('dustpan_pod_gc_force_delete_pods_total{namespace="ns-0999",reason="expired"} 2');
  expect(lines).toContain('dustpan_pod_gc_force_delete_pods_total{namespace="<other>",reason="expired"} 4');
});

test('the deletions of a pass are limited to a rate', async () => {
  const { cluster, clock, pass } = environmentOf(many(11), expireAll(), { maxDeletesPerSecond: 10 });
  await pass();
  expect(cluster.podNames).toEqual([]);
  expect(clock.monotonicMs()).toBe(1_000);
});

describe('a pod on a node out of service, behind a backlog of finished pods', () => {
  const lost = pod('db-0', { phase: 'Running', nodeName: 'node-2', ...terminating });
  const outOfService = node('node-2', { ready: false, taintKeys: ['node.kubernetes.io/out-of-service'] });
  const governing = (maxDeletesPerPass: number) =>
    policy({
      pods: {
        ...{ terminated: terminatedRule({ ttlAfterFinishedMs: 0 }), outOfService: true },
        safety: { maxDeletesPerPass, maxOrphanedNodesPercent: 20 },
      },
    });
  const clusterOf = (count: number) =>
    new FakeCluster([...many(count), lost], [node('node-1'), outOfService]);

  test('is deleted in the first pass under maxDeletesPerPass', async () => {
    const { cluster, pass } = environmentOf(clusterOf(200), governing(50));
    await pass();
    expect(cluster.podNames).toHaveLength(151);
    expect(cluster.podNames).not.toContain('db-0');
  });

  test('is deleted in the first pass under a rate, though the pass ends after a minute', async () => {
    const { cluster, pass } = environmentOf(clusterOf(400), governing(0), { maxDeletesPerSecond: 5 });
    await pass();
    expect(cluster.podNames).not.toHaveLength(0);
    expect(cluster.podNames).not.toContain('db-0');
  });

  test('is among the first in the pass after one that did not come to its end', async () => {
    const { cluster, policies, pass } = environmentOf(clusterOf(200), governing(0));
    inTheMiddle({ cluster }, () => (policies.synced = false));
    await pass();
    expect(cluster.podNames).toContain('db-0');
    policies.synced = true;
    inTheMiddle({ cluster }, () => undefined);
    cluster.requests.length = 0;
    await pass();
    // 32 deletions are in flight at a time, and its node is read before.
    expect(cluster.requests.slice(0, 40).join()).toContain('db-0');
  });
});

test('each policy reports the outcomes of its own pods', async () => {
  const others = policy({ name: 'others', priority: -1, mode: 'DryRun', pods: expireAll().pods });
  const ofShop = ['a', 'b'].map((name) => pod(`shop/${name}`, { finishedAtMs: 0 }));
  const { pass, policies, reports, namespaces } = environmentOf([...many(3), ...ofShop], expireAll());
  namespaces.set('shop', { uid: 'uid-shop', name: 'shop', resourceVersion: '1', labels: {} });
  policies.ranked = [policy({ pods: { ...expireAll().pods, excludeNamespaces: new Set(['shop']) } }), others];
  await pass();
  expect(reports).toMatchObject([
    { governed: 0, terminated: 0, due: 0, deleted: 3 },
    { governed: 2, terminated: 2, due: 2, deleted: 0 },
  ]);
});

test('each deletion logs one line with identity and reason of the pod', async () => {
  const log = new RecordingLogger();
  await environmentOf(many(1, { controller: owner('Job', 'report') }), expireAll(), { log }).pass();
  const fields = {
    ...{ pod: { namespace: 'default', name: 'p0000' }, uid: 'uid-p0000', node: 'node-1' },
    ...{ owner: 'Job/report', phase: 'Succeeded', reason: 'Expired', policy: 'default' },
  };
  const [line] = log.lines.filter(({ message }) => message === 'deleted pod');
  expect(line).toMatchObject({ level: 'info', fields });
  const { written, promised } = fieldsOfLine(line);
  expect(written).toEqual(promised);
});

test('an orphan is deleted after the quarantine: its node is read live, the pod is marked with the condition', async () => {
  const { cluster, clock, pass } = environmentOf([orphan], orphanPolicy);
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

test('a node that the live GET finds keeps its pods and restarts its own quarantine, not that of another', async () => {
  const lost = { nodeName: 'node-lost', phase: 'Running' } as const;
  const { cluster, clock, pass, registry } = environmentOf([orphan, pod('lost', lost)], orphanPolicy);
  await pass();
  clock.advance(40_000);
  cluster.unseenNodes.set('u', node('node-gone'));
  await pass();
  expect(cluster.podNames).toEqual(['orphan']);
  const metrics = await registry.metrics();
  expect(metrics).toContain('dustpan_skipped_objects_total{unit="podgc",reason="NodeExists"} 1');
  expect(metrics).toContain('dustpan_removed_objects_total{unit="podgc",reason="Orphaned"} 1');
  cluster.unseenNodes.clear();
  cluster.pods.set('late', pod('late', { uid: 'late', ...lost }));
  clock.advance(20_000);
  await pass();
  expect(cluster.podNames).toEqual(['orphan']);
});

test.each([
  { name: 'of five periods', gapMs: 100_000, left: [] },
  { name: 'of more, in which the node may have been back', gapMs: 100_001, left: ['orphan'] },
])('a gap between two passes $name', async ({ gapMs, left }) => {
  const { cluster, clock, pass } = environmentOf([orphan], orphanPolicy);
  await pass();
  clock.advance(gapMs);
  await pass();
  expect(cluster.podNames).toEqual(left);
});

test('a node that is back under its name during the quarantine keeps its pods', async () => {
  const { cluster, clock, pass } = environmentOf([orphan], orphanPolicy);
  await pass();
  clock.advance(30_000);
  cluster.nodes.set('back', node('node-gone'));
  await pass();
  cluster.nodes.delete('back');
  clock.advance(30_000);
  await pass();
  expect(cluster.podNames).toEqual(['orphan']);
});

test('a pod whose mark fails is not deleted; the others are, and the pass fails', async () => {
  const pods = [pod('bad', { phase: 'Running', deletionAtMs: 1, nodeName: undefined }), ...many(2)];
  const both = policy({
    pods: { unscheduledTerminating: true, terminated: terminatedRule({ ttlAfterFinishedMs: 0 }) },
  });
  const { cluster, pass, reports } = environmentOf(pods, both);
  cluster.fault((verb) => (verb === 'mark' ? new ApiError('boom', { status: 500 }) : undefined));
  await expect(pass()).rejects.toThrow('1 of 3 failed');
  expect(cluster.podNames).toEqual(['bad']);
  expect(reports).toMatchObject([{ deleted: 2, failed: 1 }]);
});

test('a pod re-created under its name between plan and deletion is kept', async () => {
  const { cluster, pass, recorder, reports } = environmentOf(many(1), expireAll());
  cluster.fault((verb, name) => {
    cluster.pods.clear();
    cluster.pods.set('new', pod(name, { uid: 'new', phase: 'Running' }));
    return undefined;
  });
  await pass();
  expect([...cluster.pods.keys()]).toEqual(['new']);
  expect(recorder.events).toEqual([]);
  expect(reports).toMatchObject([{ due: 1, deleted: 0, failed: 0 }]);
});

test.each<{ name: string; breakIt: (made: Environment) => Partial<PodGcDeps> }>([
  {
    name: 'the pods are not synced',
    breakIt: ({ cluster }) => ({ pods: { ...storeOf(cluster.pods, false), covers: () => true } }),
  },
  {
    name: 'the pods lack the labels of the policies',
    breakIt: ({ cluster }) => ({ pods: { ...storeOf(cluster.pods), covers: () => false } }),
  },
  { name: 'the nodes are not synced', breakIt: ({ cluster }) => ({ nodes: storeOf(cluster.nodes, false) }) },
  {
    name: 'the namespaces are not synced',
    breakIt: ({ namespaces }) => ({ namespaces: storeOf(namespaces, false) }),
  },
  {
    name: 'the policies are not synced',
    breakIt: ({ policies }) => ({ policies: Object.assign(policies, { synced: false }) }),
  },
])('nothing is deleted while $name', async ({ breakIt }) => {
  const made = environmentOf(many(3), expireAll());
  const { pass, reports } = environmentOf(made.cluster, expireAll(), breakIt(made));
  expect(await pass()).toBe('waiting');
  expect(made.cluster.requests).toEqual([]);
  expect(reports).toEqual([]);
});

const held = { ...finalizerHeld, deletionAtMs: minutesAgo(10), phase: 'Failed' } as const;
const stuck = pod('stuck', held);

test('a pass names the eight longest stuck pods of each cause, logs each once, counts all, and none that it deletes', async () => {
  const log = new RecordingLogger();
  const wait = podWait({ sinceMs: minutesAgo(600), reason: 'Unschedulable' });
  const pods = many(60, { phase: 'Pending', nodeName: undefined, wait });
  const unbound = pod('unbound', { ...terminating, deletionAtMs: minutesAgo(10), nodeName: undefined });
  const rule = policy({ pods: { unscheduledTerminating: true } });
  const { cluster, recorder, registry, pass } = environmentOf([...pods, stuck, unbound], rule, { log });
  for (let i = 0; i < 2; i++) await pass();
  const first = pods.slice(0, 8).map(({ name }) => `PodStuck Pod/${name}`);
  const each = [...first, 'PodStuck Pod/stuck'];
  expect(recorder.reasons.filter((reason) => reason.startsWith('PodStuck'))).toEqual([...each, ...each]);
  expect(recorder.events.findLast(({ regarding }) => regarding.uid === stuck.uid)).toMatchObject({
    regarding: { kind: 'Pod', namespace: 'default', name: 'stuck' },
    note: expect.stringMatching(/^Finalizer: .* dustpan why pod default\/stuck prints the command/) as string,
  });
  expect(log.lines.filter(({ message }) => message === 'pod is stuck')).toHaveLength(9);
  expect(await registry.metrics()).toContain('dustpan_stuck_pods{cause="Unschedulable"} 60');
  cluster.pods.clear();
  await pass();
  expect(await registry.metrics()).toContain('dustpan_stuck_pods{cause="Unschedulable"} 0');
});

test('a stuck pod is reported although its rule is in mode DryRun, and although deletions fail', async () => {
  const unbound = pod('unbound', { ...terminating, deletionAtMs: minutesAgo(10), nodeName: undefined });
  const rule = policy({ pods: { unscheduledTerminating: true } });
  const dry = environmentOf([unbound], { ...rule, mode: 'DryRun' });
  await dry.pass();
  expect(dry.recorder.reasons).toEqual(['PodStuck Pod/unbound']);
  const failing = environmentOf([stuck, ...many(1)], expireAll());
  failing.cluster.fault(() => new ApiError('boom', { status: 500 }));
  await expect(failing.pass()).rejects.toThrow('1 of 1 failed');
  expect(failing.recorder.reasons).toEqual(['PodStuck Pod/stuck']);
});

test.each<{ name: string; policies: (made: Environment) => Promise<LivePolicies> }>([
  { name: 'a clock that differs', policies: () => Promise.resolve(livePolicies({ clockSkewMs: 61_000 })) },
  { name: 'an unknown time', policies: () => Promise.reject(new Error('down')) },
  {
    name: 'a clock that jumps during the pass',
    policies: ({ clock }) => {
      clock.stepWall(3_600_000);
      return Promise.resolve(livePolicies());
    },
  },
])('$name makes no other pod stuck', async ({ policies }) => {
  const made = environmentOf([stuck], policy({ pods: undefined }));
  const { cluster, registry, pass } = made;
  await pass();
  cluster.pods.set('other', { ...stuck, uid: 'other', name: 'other' });
  cluster.policies = () => policies(made);
  await pass();
  expect(await registry.metrics()).toContain('dustpan_stuck_pods{cause="Finalizer"} 1');
  cluster.policies = () => Promise.resolve(livePolicies());
  await pass();
  expect(await registry.metrics()).toContain('dustpan_stuck_pods{cause="Finalizer"} 2');
});

test('with keepPerOwner, a pass waits for the first list of the owners, keeps all if it fails, and later deletes the pods that the plan lists', async () => {
  const runs = Array.from({ length: 6 }, (_, i) =>
    pod(`backup-${i}`, { controller: owner('Job', `backup-${i}`), finishedAtMs: minutesAgo(60 - i) }),
  );
  const crawler = [1, 2, 3, 4].map((i) =>
    pod(`crawler-${i}`, { controller: owner('Workflow', 'crawler'), finishedAtMs: minutesAgo(9 - i) }),
  );
  const jobs = new Map(
    runs.map(({ controller }) => {
      const uid = controller?.uid ?? '';
      const [name, cronJob] = [controller?.name ?? '', owner('CronJob', 'backup')];
      return [
        uid,
        { uid, name, namespace: 'default', resourceVersion: '1', controller: cronJob, finished: true },
      ];
    }),
  );
  const store = { items: new Map() as typeof jobs, synced: false, isStarting: true };
  const rule = policy({
    pods: { terminated: terminatedRule({ perNamespaceThreshold: 5, keepPerOwner: 1 }) },
  });
  const replicaSets = { items: new Map<string, never>(), synced: false };
  const { cluster, pass, reports } = environmentOf([...runs, ...crawler], rule, {
    jobs: () => store,
    replicaSets: () => replicaSets,
  });
  expect([await pass(), reports]).toEqual(['waiting', []]);
  store.isStarting = false;
  await pass();
  expect(reports.at(-1)).toMatchObject({ due: 0, deleted: 0, unknownOwners: ['jobs'] });
  Object.assign(store, { items: jobs, synced: true });
  await pass();
  expect(reports.at(-1)).toMatchObject({ due: 0, deleted: 0, unknownOwners: ['replicasets'] });
  expect(cluster.podNames).toHaveLength(10);
  replicaSets.synced = true;
  await pass();
  expect(reports.at(-1)?.unknownOwners).toEqual([]);
  expect(cluster.podNames).toEqual(['backup-5', ...crawler.map(({ name }) => name)]);
});
