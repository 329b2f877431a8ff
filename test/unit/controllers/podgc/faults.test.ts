import { expect, test } from 'vitest';
import type { PodGcDeps } from '../../../../src/controllers/podgc/controller.ts';
import { FakeCluster } from '../../../fakes/cluster.ts';
import { recording } from '../../../fakes/event-recording.ts';
import { led } from '../../../fakes/lease-candidate.ts';
import { settled } from '../../../fakes/settling-clock.ts';
import { node, owner, pod, policy, terminatedRule } from '../../../builders.ts';
import { bed, expireAll, many, orphan, orphanPolicy } from './environment.ts';

/** Calls back in the middle of a pass, once so many requests were sent; returns how many there were then. */
function inTheMiddle(cluster: FakeCluster, act: () => void): () => number {
  let sent = 0;
  cluster.fault(() => {
    if (sent === 0 && cluster.requests.length >= 100) {
      act();
      sent = cluster.requests.length;
    }
    return undefined;
  });
  return () => sent;
}

test.each([
  { name: 'deleted', by: [] },
  { name: 'switched to DryRun', by: [expireAll({ mode: 'DryRun' })] },
  { name: 'replaced', by: [expireAll({ uid: 'uid-other', generation: 2 })] },
])('a policy that is $name in the middle of a pass: not one more request begins', async ({ by }) => {
  const { cluster, policies, pass } = bed(new FakeCluster(many(500), [node('node-1')]), expireAll());
  const sent = inTheMiddle(cluster, () => (policies.ranked = by));
  await pass();
  expect(sent()).toBeGreaterThanOrEqual(100);
  expect(cluster.requests).toHaveLength(sent());
});

test('a leader that was paused beyond its lease in the middle of a pass deletes nothing more', async () => {
  const { clock, leader, server } = await led();
  const { cluster, pass } = bed(new FakeCluster(many(500), [node('node-1')]), expireAll(), {
    holdsLease: () => leader.elector.holdsLease(),
  });
  const sent = inTheMiddle(cluster, () => {
    // Time has passed, and not one timer of ours has run.
    void clock.advance(20_000);
    server.overwrite({ ...server.spec, holderIdentity: 'b' });
  });
  await pass();
  expect(cluster.requests).toHaveLength(sent());
  expect(await leader.outcome).toBe('lost');
  await pass();
  expect(cluster.requests).toHaveLength(sent());
});

test('half of the nodes vanish from the list for an hour: no orphan goes, and all is well when they are back', async () => {
  const names = Array.from({ length: 100 }, (_, i) => `node-${i}`);
  const pods = names.map((name) => pod(`on-${name}`, { nodeName: name, phase: 'Running' }));
  const careful = policy({
    pods: {
      orphaned: { quarantineMs: 40_000 },
      safety: { maxDeletesPerPass: 0, maxOrphanedNodesPercent: 20 },
    },
  });
  const cluster = new FakeCluster(
    pods,
    names.map((name) => node(name)),
  );
  const { clock, recorder, reports, pass, registry } = bed(cluster, careful);
  await pass();
  const vanished = [...cluster.nodes].slice(50);
  for (const [uid] of vanished) cluster.nodes.delete(uid);
  for (let i = 0; i < 180; i++) {
    clock.advance(20_000);
    await pass();
  }
  expect(cluster.requests).toEqual([]);
  expect(recorder.reasons).toEqual(['Tripped GCPolicy/default']);
  expect(reports.at(-1)).toMatchObject({ missingNodes: 50, trippedPercent: 50, due: 0 });
  expect(await registry.metrics()).toContain('dustpan_pod_gc_missing_nodes 50');

  for (const [uid, one] of vanished) cluster.nodes.set(uid, one);
  await pass();
  expect(reports.at(-1)).toMatchObject({ missingNodes: 0, trippedPercent: undefined });
  expect([...cluster.pods.keys()]).toEqual(pods.map(({ uid }) => uid));
});

test.each([-3_600_000, 3_600_000])(
  'a wall clock that is set by %d ms neither ends a quarantine nor begins it anew',
  async (ms) => {
    const { cluster, clock, pass } = bed(new FakeCluster([orphan], [node('node-1')]), orphanPolicy);
    await pass();
    clock.advance(20_000);
    clock.stepWall(ms);
    await pass();
    expect(cluster.requests).toEqual([]);
    clock.advance(20_000);
    await pass();
    expect(cluster.podNames).toEqual([]);
  },
);

test.each([-3_600_000, 3_600_000])(
  'by a wall clock that is off by %d ms no time to live is judged, until it is right again',
  async (ms) => {
    const hour = policy({ pods: { terminated: terminatedRule({ ttlAfterFinishedMs: 3_600_000 }) } });
    const { cluster, clock, policies, pass } = bed(
      new FakeCluster([pod('old', { createdAtMs: 0, finishedAtMs: 0 })], [node('node-1')]),
      hour,
    );
    clock.stepWall(ms);
    policies.confirm = () => Promise.resolve({ same: true, clockSkewMs: ms });
    await pass();
    expect(cluster.podNames).toEqual(['old']);
    clock.stepWall(-ms);
    policies.confirm = () => Promise.resolve({ same: true, clockSkewMs: 0 });
    await pass();
    expect(cluster.podNames).toEqual([]);
  },
);

/** A pass over these pods with the real recorder, against a server for its Events. */
async function told(pods: ReturnType<typeof many>, over: Partial<PodGcDeps> = {}) {
  const { recorder, server } = recording();
  const { cluster, pass } = bed(new FakeCluster(pods, [node('node-1')]), expireAll(), { recorder, ...over });
  await pass();
  await settled();
  return { left: cluster.podNames, events: server.events };
}

test('10 000 pods without an owner, deleted in one pass, are told in 200 Events, the first of them on the policy', async () => {
  const { left, events } = await told(many(10_000));
  expect(left).toEqual([]);
  expect(events).toHaveLength(200);
  expect(events[0]).toMatchObject({ reason: 'BacklogCollected', regarding: { kind: 'GCPolicy' } });
});

test('10 000 pods of three Jobs, deleted in one pass, are told in three Events', async () => {
  const pods = many(10_000).map((one, i) => ({ ...one, controller: owner('Job', `job-${i % 3}`) }));
  const { left, events } = await told(pods);
  expect(left).toEqual([]);
  expect(events.map(({ note }) => note)).toEqual([
    expect.stringContaining('Deleted 3334 pods (Expired'),
    expect.stringContaining('Deleted 3333 pods (Expired'),
    expect.stringContaining('Deleted 3333 pods (Expired'),
  ]);
});

test('names of the greatest length are deleted, marked and told, in Events that a server takes', async () => {
  const long = (length: number, first: string): string => first.padEnd(length, 'x');
  const names = Array.from({ length: 10 }, (_, i) => long(253, `p${i}`));
  const namespace = long(63, 'n');
  const pods = names.map((name) =>
    pod(`${namespace}/${name}`, {
      finishedAtMs: 0,
      nodeName: long(253, 'node'),
      controller: owner('Job', long(63, 'j')),
    }),
  );
  const known = { uid: 'n', name: namespace, resourceVersion: '1', labels: {} };
  const { left, events } = await told(pods, { namespaces: { synced: true, items: new Map([['n', known]]) } });
  expect(left).toEqual([]);
  expect(events).toHaveLength(1);
  expect(Buffer.byteLength(events[0]?.note ?? '')).toBeLessThanOrEqual(1024);
  expect(events[0]?.metadata.name.length).toBeLessThanOrEqual(253);
});
