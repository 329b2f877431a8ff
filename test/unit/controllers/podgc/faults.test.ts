import { expect, test } from 'vitest';
import { FakeCluster } from '../../../fakes/cluster.ts';
import { recording } from '../../../fakes/event-recording.ts';
import type { OwnerRef, PodFacts } from '../../../../src/kube/cache/objects.ts';
import { settled } from '../../../fakes/settling-clock.ts';
import { PodGcMemory } from '../../../../src/controllers/podgc/observe.ts';
import { node, pod } from '../../../builders.ts';
import {
  environmentOf,
  breakerPolicy,
  expireAll,
  many,
  orphan,
  observed,
  orphanPolicy,
  type Environment,
} from './environment.ts';

test('while half of the nodes are missing no orphan is deleted; when most are back, those of the others wait for a new quarantine', async () => {
  const names = Array.from({ length: 100 }, (_, i) => `node-${i}`);
  const cluster = new FakeCluster(
    names.map((name) => pod(`on-${name}`, { nodeName: name, phase: 'Running' })),
    names.map((name) => node(name)),
  );
  const made = environmentOf(cluster, breakerPolicy(40_000));
  const { clock, pass, recorder, registry, reports } = made;
  await pass();
  const [last = ['', node('')], ...others] = [...cluster.nodes].slice(50);
  const vanish = (): void => {
    for (const [uid] of [last, ...others]) cluster.nodes.delete(uid);
  };
  vanish();
  await runs(made);
  expect(cluster.requests).toEqual([]);
  expect(recorder.reasons).toEqual(['Tripped GCPolicy/default']);
  expect(reports.at(-1)).toMatchObject({ missingNodes: 50, trippedPercent: 50, due: 0 });
  expect(await registry.metrics()).toContain('dustpan_pod_gc_missing_nodes 50');

  for (const [uid, one] of others) cluster.nodes.set(uid, one);
  // A pass that takes longer than the quarantine counts for nothing.
  clock.advance(60_000);
  await pass();
  expect(reports.at(-1)).toMatchObject({ missingNodes: 1, trippedPercent: undefined, due: 0 });
  clock.advance(39_999);
  await pass();
  expect(cluster.podNames).toHaveLength(100);
  clock.advance(1);
  await pass();
  expect(cluster.podNames).toHaveLength(99);
  expect(cluster.podNames).not.toContain(`on-${last[1].name}`);

  vanish();
  await pass();
  expect(recorder.reasons.filter((reason) => reason === 'Tripped GCPolicy/default')).toHaveLength(2);
});

const ownedBy = (kind: string, apiVersion: string): OwnerRef => ({ apiVersion, kind, name: 'o', uid: 'o' });

/** Some of 20 nodes vanish one by one, each after the pods of the one before are deleted; returns how many pods are left. */
async function oneByOne(over: Partial<PodFacts>, vanishing = 19): Promise<readonly [number, Environment]> {
  const names = Array.from({ length: 20 }, (_, i) => `node-${i}`);
  const cluster = new FakeCluster(
    names.map((name) => pod(`on-${name}`, { nodeName: name, phase: 'Running', ...over })),
    names.map((name) => node(name)),
  );
  const made = environmentOf(cluster, breakerPolicy(40_000));
  await made.pass();
  for (const [uid] of [...cluster.nodes].slice(0, vanishing)) {
    cluster.nodes.delete(uid);
    for (let i = 0; i < 3; i++) {
      await made.pass();
      made.clock.advance(20_000);
    }
  }
  await made.pass();
  return [cluster.podNames.length, made];
}

test('nodes that are lost one by one within an hour open the circuit breaker', async () => {
  const [left, { recorder, reports }] = await oneByOne({});
  // The fifth one is more than 20 % of those that exist and those that were lost.
  expect(left).toBe(16);
  expect(recorder.reasons).toContain('Tripped GCPolicy/default');
  expect(reports.at(-1)).toMatchObject({ missingNodes: 19, due: 0 });
});

test.each<{ readonly name: string; readonly over: Partial<PodFacts>; readonly vanishing?: number }>([
  {
    name: 'with pods of a DaemonSet, as after a drain',
    over: { controller: ownedBy('DaemonSet', 'apps/v1') },
  },
  { name: 'with static pods', over: { controller: ownedBy('Node', 'v1') } },
  { name: 'with pods that are being deleted', over: { deletionAtMs: 0 } },
  { name: 'with pods that have not started', over: { phase: 'Pending' } },
  { name: 'a fifth of them within an hour', over: {}, vanishing: 4 },
])('nodes that vanish one by one do not open it: $name', async ({ over, vanishing = 19 }) => {
  const [left, { recorder }] = await oneByOne(over, vanishing);
  expect(recorder.reasons).not.toContain('Tripped GCPolicy/default');
  expect(left).toBe(20 - vanishing);
});

test('a lost node counts for an hour, or until it is back', async () => {
  const [left, { cluster, clock, pass, reports }] = await oneByOne({}, 5);
  expect(left).toBe(16);
  for (const name of ['node-0', 'node-1']) cluster.nodes.set(`back-${name}`, node(name));
  await pass();
  expect(reports.at(-1)).toMatchObject({ missingNodes: 3, trippedPercent: undefined });
  for (const [uid, one] of cluster.nodes)
    if (['node-0', 'node-1'].includes(one.name)) cluster.nodes.delete(uid);
  for (const at of cluster.pods.keys())
    if (cluster.pods.get(at)?.name === 'on-node-4') cluster.pods.delete(at);
  cluster.pods.set('late', pod('late', { nodeName: 'node-4', phase: 'Pending' }));
  clock.advance(3_600_000);
  await pass();
  expect(reports.at(-1)).toMatchObject({ missingNodes: 1 });
});

test('a node with pods that no policy deletes counts as lost for an hour, and not again in later passes', () => {
  const pods = [pod('stays', { nodeName: 'node-gone', phase: 'Running', nodeExisted: true })];
  const memory = new PodGcMemory();
  const lostAfter = [0, 59, 60, 61, 62, 63].map(
    (minutes) => observed(memory, { pods, monotonicMs: minutes * 60_000 }).lostNodes.size,
  );
  expect(lostAfter).toEqual([1, 1, 0, 0, 0, 0]);
});

/** Passes for ten minutes. */
async function runs({ clock, pass }: Pick<Environment, 'clock' | 'pass'>): Promise<void> {
  for (let i = 0; i < 30; i++) {
    await pass();
    clock.advance(20_000);
  }
}

/** A cluster of which half of the nodes are gone, with pods that prove it, or do not. Its controller is restarted again and again. */
function withRestarts(nodeExisted: boolean, status: ReadonlyMap<string, number>) {
  const names = Array.from({ length: 10 }, (_, i) => `node-${i}`);
  const pods = names.flatMap((name) =>
    many(4, { nodeName: name, phase: 'Running', nodeExisted }).map((one, i) => ({
      ...{ ...one, name: `on-${name}-${i}`, uid: `${name}-${i}` },
    })),
  );
  const cluster = new FakeCluster(
    pods,
    names.slice(5).map((name) => node(name)),
  );
  return {
    cluster,
    restarted: () => environmentOf(cluster, breakerPolicy(40_000), { openBreakers: () => status }),
  };
}

test.each([
  { name: 'by pods that were bound to them', nodeExisted: true, status: new Map<string, number>() },
  {
    name: 'by the status, of pods that prove nothing',
    nodeExisted: false,
    status: new Map([['default', 5]]),
  },
])(
  'a restart while the circuit breaker is open deletes no pod: former nodes are known $name',
  async ({ nodeExisted, status }) => {
    const { cluster, restarted } = withRestarts(nodeExisted, status);
    for (let i = 0; i < 3; i++) {
      const made = restarted();
      await runs(made);
      expect(cluster.requests).toEqual([]);
      expect(made.reports.at(-1)).toMatchObject({ missingNodes: 5, trippedPercent: 50 });
      expect(made.recorder.reasons).toEqual(status.size > 0 ? [] : ['Tripped GCPolicy/default']);
    }
  },
);

test('invented names open no circuit breaker after a restart', async () => {
  const { cluster, restarted } = withRestarts(false, new Map());
  await runs(restarted());
  expect(cluster.podNames).toHaveLength(20);
});

test('after a restart the circuit breaker remains open for a quarantine even if most nodes are back, and then another one passes', async () => {
  const { cluster, restarted } = withRestarts(true, new Map([['default', 5]]));
  for (const name of ['node-0', 'node-1', 'node-2', 'node-3']) cluster.nodes.set(name, node(name));
  const { clock, reports, pass } = restarted();
  await pass();
  clock.advance(39_999);
  await pass();
  expect(reports.at(-1)).toMatchObject({ missingNodes: 1, trippedPercent: 10 });
  clock.advance(1);
  await pass();
  expect(reports.at(-1)).toMatchObject({ missingNodes: 1, trippedPercent: undefined, due: 0 });
  clock.advance(39_999);
  await pass();
  expect(cluster.requests).toEqual([]);
  clock.advance(1);
  await pass();
  expect(cluster.podNames).toHaveLength(36);
});

test('a wall clock that is set neither ends nor restarts a quarantine', async () => {
  const { cluster, clock, pass } = environmentOf([orphan], orphanPolicy);
  await pass();
  clock.advance(20_000);
  clock.stepWall(3_600_000);
  await pass();
  expect(cluster.requests).toEqual([]);
  clock.stepWall(-7_200_000);
  clock.advance(20_000);
  await pass();
  expect(cluster.podNames).toEqual([]);
});

test('10 000 deleted pods without an owner make 200 Events, the first of them on the policy', async () => {
  const { recorder, server } = recording();
  const { cluster, pass } = environmentOf(many(10_000), expireAll(), { recorder });
  await pass();
  await settled();
  expect(cluster.podNames).toEqual([]);
  expect(server.events).toHaveLength(200);
  expect(server.events[0]).toMatchObject({ reason: 'BacklogCollected', regarding: { kind: 'GCPolicy' } });
});
