import { expect, test } from 'vitest';
import type { PodDeleteReason } from '../../../../src/api/reasons.ts';
import { recheckNode, type LiveNode } from '../../../../src/controllers/podgc/checks.ts';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { FakeCluster, storeOf } from '../../../fakes/cluster.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { node, pod, policy, terminatedRule } from '../../../builders.ts';
import { bed, expireAll, many, orphan, orphanPolicy } from './environment.ts';
import { outOfServiceNode } from './rows.ts';

const keep = { 'gc.dustpan.dev/keep': 'true' };

test('nothing is deleted when the policies, read live, say something else; that is no failure', async () => {
  const { cluster, policies, pass } = bed(new FakeCluster(many(20), [node('node-1')]), expireAll());
  policies.confirm = () => Promise.resolve({ same: false, clockSkewMs: 0 });
  await pass();
  expect(cluster.requests).toEqual([]);
});

test('nothing is deleted when the policies cannot be read live, and the pass has failed', async () => {
  const { cluster, policies, pass, reports } = bed(new FakeCluster(many(20), [node('node-1')]), expireAll());
  policies.confirm = () => Promise.reject(new Error('server down'));
  await expect(pass()).rejects.toMatchObject({
    message: 'confirming policies',
    cause: { message: 'server down' },
  });
  expect(cluster.requests).toEqual([]);
  expect(reports).toMatchObject([{ deleted: 0, failed: 0 }]);
});

test('when they cannot be read in the middle of a pass, what was done is told, and the pass has failed', async () => {
  const { cluster, clock, policies, pass, reports } = bed(
    new FakeCluster(many(300), [node('node-1')]),
    expireAll(),
  );
  cluster.fault(() => {
    if (cluster.requests.length < 40) return undefined;
    clock.advance(5_000);
    policies.confirm = () => Promise.reject(new Error('server down'));
    return undefined;
  });
  await expect(pass()).rejects.toThrow('confirming policies');
  expect(cluster.requests.length).toBeLessThan(80);
  expect(reports.at(-1)?.deleted).toBe(300 - cluster.podNames.length);
  expect(reports.at(-1)?.deleted).toBeGreaterThan(0);
});

test('a node read that hangs while the policy goes to DryRun ends in no act', async () => {
  const { cluster, clock, policies, pass } = bed(new FakeCluster([orphan], [node('node-1')]), orphanPolicy);
  await pass();
  clock.advance(40_000);
  cluster.fault((verb) => {
    if (verb === 'get') policies.ranked = [{ ...orphanPolicy, mode: 'DryRun' }];
    return undefined;
  });
  await pass();
  expect(cluster.requests).toEqual(['get node-gone']);
});

test('a node that comes back while the policies are read slowly keeps its pods', async () => {
  const { cluster, clock, policies, pass } = bed(new FakeCluster([orphan], [node('node-1')]), orphanPolicy);
  await pass();
  clock.advance(40_000);
  policies.confirm = () => {
    clock.advance(5_000);
    cluster.unseenNodes.set('uid-back', node('node-gone'));
    return Promise.resolve({ same: true, clockSkewMs: 0 });
  };
  await pass();
  expect(cluster.requests).toEqual(['get node-gone', 'get node-gone']);
});

test('a node that is always seen too long before the act counts as unknown', async () => {
  const { cluster, clock, policies, pass, metrics } = bed(
    new FakeCluster([orphan], [node('node-1')]),
    orphanPolicy,
  );
  await pass();
  clock.advance(40_000);
  policies.confirm = () => {
    clock.advance(5_000);
    return Promise.resolve({ same: true, clockSkewMs: 0 });
  };
  await pass();
  expect(cluster.requests).toEqual(['get node-gone', 'get node-gone', 'get node-gone']);
  const { values } = await metrics.skipped.get();
  expect(values.filter(({ value }) => value > 0)).toMatchObject([{ labels: { reason: 'NodeUnknown' } }]);
});

test('a lease lost while a node is read ends in no act', async () => {
  let leads = true;
  const { cluster, clock, pass } = bed(new FakeCluster([orphan], [node('node-1')]), orphanPolicy, {
    holdsLease: () => leads,
  });
  await pass();
  clock.advance(40_000);
  cluster.fault((verb) => {
    if (verb === 'get') leads = false;
    return undefined;
  });
  await pass();
  expect(cluster.requests).toEqual(['get node-gone']);
});

test('a keep label set on the namespace in the middle of a pass is heeded', async () => {
  const { cluster, namespaces, pass } = bed(new FakeCluster(many(300), [node('node-1')]), expireAll());
  cluster.fault(() => {
    if (cluster.requests.length >= 40)
      namespaces.set('uid-default', {
        uid: 'uid-default',
        name: 'default',
        resourceVersion: '2',
        labels: keep,
      });
    return undefined;
  });
  await pass();
  expect(cluster.requests.length).toBeLessThan(80);
});

test('an out-of-service node that is marked by now keeps its pods', async () => {
  const tainted = node('node-1', { ready: false, taintKeys: ['node.kubernetes.io/out-of-service'] });
  const cluster = new FakeCluster([pod('stuck', { phase: 'Running', deletionAtMs: 1 })], [tainted]);
  Object.assign(cluster, { getNode: () => Promise.resolve({ ...tainted, labels: keep }) });
  await bed(cluster, policy({ pods: { outOfService: true } })).pass();
  expect(cluster.podNames).toEqual(['stuck']);
});

test('caches that stop working in the middle of a pass end it', async () => {
  const { cluster, policies, pass } = bed(new FakeCluster(many(300), [node('node-1')]), expireAll());
  cluster.fault(() => {
    if (cluster.requests.length >= 40) policies.synced = false;
    return undefined;
  });
  await pass();
  expect(cluster.requests.length).toBeLessThan(80);
});

test('a plan a minute old is not followed further; the next pass plans afresh', async () => {
  let stale = 0;
  const { cluster, clock, pass } = bed(new FakeCluster(many(300), [node('node-1')]), expireAll(), {
    onStale: () => stale++,
  });
  cluster.fault(() => {
    if (stale === 0 && cluster.requests.length >= 40) clock.advance(60_000);
    return undefined;
  });
  await pass();
  expect(cluster.requests.length).toBeLessThan(80);
  expect(stale).toBeGreaterThan(0);
  await pass();
  expect(cluster.podNames).toEqual([]);
});

test('by a clock that is off, times to live are not judged; thresholds are', async () => {
  const both = policy({ pods: { terminated: terminatedRule({ threshold: 3, ttlAfterFinishedMs: 0 }) } });
  const log = new RecordingLogger();
  const { cluster, policies, pass, registry, reports } = bed(
    new FakeCluster(many(5), [node('node-1')]),
    both,
    { log },
  );
  policies.confirm = () => Promise.resolve({ same: true, clockSkewMs: -3_600_000 });
  await pass();
  expect(cluster.podNames).toHaveLength(3);
  expect(await registry.metrics()).toContain('dustpan_pod_gc_skipped_pods_total{reason="ClockUnsure"} 3');
  expect(reports.at(-1)).toMatchObject({ deleted: 2, failed: 0, clockUnsure: 3 });
  const warnings = log.lines.filter(({ level }) => level === 'warn');
  expect(warnings.map(({ fields }) => fields)).toEqual([{ aheadSeconds: -3_600 }]);
});

test('a quarantine does not run while nobody looks', async () => {
  const cluster = new FakeCluster([orphan], [node('node-1')]);
  const nodes = { ...storeOf(cluster.nodes), synced: true };
  const { clock, pass } = bed(cluster, orphanPolicy, { nodes });
  await pass();
  nodes.synced = false;
  clock.advance(3_600_000);
  await pass();
  nodes.synced = true;
  await pass();
  expect(cluster.requests).toEqual([]);
  clock.advance(40_000);
  await pass();
  expect(cluster.podNames).toEqual([]);
});

test('a pod that is always throttled is given up; the others go', async () => {
  const { cluster, pass } = bed(new FakeCluster(many(30), [node('node-1')]), expireAll());
  cluster.fault((_verb, name) => (name === 'p0003' ? new ApiError('busy', { status: 429 }) : undefined));
  await expect(pass()).rejects.toThrow('1 of 30 failed, the first default/p0003');
  expect(cluster.podNames).toEqual(['p0003']);
});

test('one pod that is refused does not stop the others', async () => {
  const { cluster, pass } = bed(new FakeCluster(many(100), [node('node-1')]), expireAll());
  cluster.fault((_verb, name) =>
    name === 'p0000' ? new ApiError('a webhook says no', { status: 403 }) : undefined,
  );
  await expect(pass()).rejects.toThrow('1 of 100 failed');
  expect(cluster.podNames).toEqual(['p0000']);
});

test('a server that does not know us any more is sent nothing more', async () => {
  const { cluster, pass } = bed(new FakeCluster(many(200), [node('node-1')]), expireAll());
  cluster.fault((_verb, name) =>
    name === 'p0000' ? new ApiError('Unauthorized', { status: 401 }) : undefined,
  );
  await expect(pass()).rejects.toThrow('the first default/p0000');
  expect(cluster.requests.length).toBeLessThan(80);
});

test('a node that takes too long to read counts as unknown, and the other pods are deleted', async () => {
  const both = policy({
    pods: {
      orphaned: { quarantineMs: 0 },
      terminated: terminatedRule({ ttlAfterFinishedMs: 0 }),
    },
  });
  const cluster = new FakeCluster([orphan, ...many(2)], [node('node-1')]);
  const { clock, pass, metrics } = bed(cluster, both);
  cluster.fault((verb) => {
    if (verb === 'get') clock.advance(5_000);
    return undefined;
  });
  await pass();
  expect(cluster.podNames).toEqual(['orphan']);
  const { values } = await metrics.skipped.get();
  expect(values.filter(({ value }) => value > 0)).toMatchObject([{ labels: { reason: 'NodeUnknown' } }]);
});

test('policies that are always read too slowly end the pass, and it has failed', async () => {
  const { cluster, clock, policies, pass } = bed(new FakeCluster(many(1), [node('node-1')]), expireAll());
  policies.confirm = () => {
    clock.advance(5_000);
    return Promise.resolve({ same: true, clockSkewMs: 0 });
  };
  await expect(pass()).rejects.toThrow('re-checking live before a removal takes longer than 5 s');
  expect(cluster.requests).toEqual([]);
});

test('a server that refuses connections is not asked for every pod', async () => {
  const { cluster, pass } = bed(new FakeCluster(many(2_000), [node('node-1')]), expireAll());
  cluster.fault(() => new Error('connection refused'));
  await expect(pass()).rejects.toMatchObject({ cause: { message: 'connection refused' } });
  expect(cluster.requests.length).toBeLessThan(80);
});

const absent: LiveNode = { node: undefined };
const back: LiveNode = { node: node('node-1') };
const optedOut: LiveNode = { node: { ...outOfServiceNode, labels: keep } };

test.each<{ readonly reason: PodDeleteReason; readonly live: LiveNode; readonly kept: string | undefined }>([
  { reason: 'Orphaned', live: absent, kept: undefined },
  { reason: 'Orphaned', live: back, kept: 'NodeExists' },
  { reason: 'Orphaned', live: 'unreadable', kept: 'NodeUnknown' },
  { reason: 'OutOfService', live: { node: outOfServiceNode }, kept: undefined },
  { reason: 'OutOfService', live: back, kept: 'NodeRecovered' },
  { reason: 'OutOfService', live: optedOut, kept: 'KeepMarked' },
  { reason: 'OutOfService', live: absent, kept: 'NodeUnknown' },
  { reason: 'OutOfService', live: 'unreadable', kept: 'NodeUnknown' },
  { reason: 'Terminated', live: back, kept: undefined },
  { reason: 'Unscheduled', live: 'unreadable', kept: undefined },
])('re-check of the node for $reason, live $live: kept as $kept', ({ reason, live, kept }) => {
  expect(recheckNode(reason, live)).toBe(kept);
});
