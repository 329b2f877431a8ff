import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cluster } from '../servers/cluster.ts';
import {
  applyPolicy,
  conditionOf,
  inTheMiddleOf,
  isCompleted,
  linesSince,
  numbered,
  podCount,
  podDeletes,
  runningPods,
  staysAsItIs,
} from './environment.ts';
import { dustpanUser, shortPeriod, startControlPlane, startController } from './dustpan.ts';
import type { DustpanProcess } from '../servers/dustpan-process.ts';
import { etcdClient } from '../servers/etcd.ts';
import { etcdEntry } from '../servers/etcd-objects.ts';
import { kubectl } from '../servers/kubectl.ts';
import { eventually } from '../servers/waiting.ts';

/** Long enough for a few kubectl commands on a busy machine. */
const quarantineMs = 10_000;
const rules = {
  terminated: { ttlAfterFinished: '0s' },
  orphaned: { quarantine: `${quarantineMs}ms` },
  safety: { maxOrphanedNodesPercent: 20 },
};
/** The requests of a pass in flight: the most that it may still do once something has changed. */
const inFlight = 32;
const batch = 2_000;

let cluster: Cluster;
let dustpan: DustpanProcess;
/** UIDs of the pods that must stay. */
let living: readonly string[];
/** UIDs of the pods on node-1. */
let first: readonly string[];

const nodes = numbered('node', 10);

const nodeEntry = (name: string) =>
  etcdEntry({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, uid: crypto.randomUUID(), creationTimestamp: '2026-01-01T00:00:00Z' },
  });

const make = async (names: readonly string[]): Promise<void> => {
  await etcdClient(cluster.etcdUrl).put(names.map(nodeEntry));
};

const sample = (name: string): Promise<number | undefined> => dustpan.sample(`dustpan_pod_gc_${name}`);

beforeAll(async () => {
  cluster = await startControlPlane();
  await make(nodes);
  const pods = await Promise.all(
    nodes.map((node) => runningPods(cluster, numbered(`on-${node}`, 2), { node })),
  );
  living = pods.flat();
  first = pods[1] ?? [];
  await applyPolicy(cluster, rules);
  dustpan = await startController(cluster, { args: shortPeriod });
});

afterAll(async () => {
  await dustpan.stop();
  await cluster.stop();
});

test('a node is deleted and created again during the quarantine: its pods stay, and a second deletion begins a new quarantine', async () => {
  const { pid } = dustpan;
  await expect.poll(() => conditionOf(cluster, 'Degraded'), eventually).toBe('False AsPlanned');
  await kubectl(cluster, ['delete', 'node', 'node-1']);
  await expect.poll(() => sample('kept_pods{reason="Quarantined"}'), eventually).toBe(2);
  await make(['node-1']);
  await expect.poll(() => sample('missing_nodes'), eventually).toBe(0);
  await staysAsItIs(quarantineMs + 2_000, { cluster, living }, dustpan);

  const again = new Date();
  await kubectl(cluster, ['delete', 'node', 'node-1']);
  living = living.filter((uid) => !first.includes(uid));
  await isCompleted({ cluster, living }, dustpan);
  const deletes = await podDeletes(cluster, dustpanUser.name, new Date(0));
  expect(deletes.map(({ name }) => name).toSorted()).toEqual(['on-node-1-0', 'on-node-1-1']);
  for (const { atMs } of deletes) expect(atMs).toBeGreaterThan(again.getTime() + quarantineMs);
  expect(dustpan.pid).toBe(pid);
});

test('half of the nodes vanish: their pods stay, over restarts of the controller too, the condition names the reason, and the circuit breaker closes when they are back', async () => {
  const half = nodes.slice(0, 6).filter((name) => name !== 'node-1');
  await kubectl(cluster, ['delete', 'node', ...half]);
  await expect.poll(() => conditionOf(cluster, 'Degraded'), eventually).toBe('True Tripped');
  expect(await conditionOf(cluster, 'Ready')).toBe('False Tripped');
  expect(await sample('tripped{policy="default"}')).toBe(1);
  // A pass that fell between two of the deletions may have tripped already.
  await expect.poll(() => sample('missing_nodes'), eventually).toBe(half.length);
  await staysAsItIs(quarantineMs + 2_000, { cluster, living }, dustpan);

  // A rollout: the next controllers have never seen these nodes, and these pods do not prove that they existed.
  for (let restarts = 0; restarts < 2; restarts += 1) {
    await dustpan.stop();
    dustpan = await startController(cluster, { args: shortPeriod });
    await dustpan.ready();
    await staysAsItIs(3 * quarantineMs, { cluster, living }, dustpan);
    expect(await conditionOf(cluster, 'Degraded')).toBe('True Tripped');
    expect(await sample('kept_pods{reason="Tripped"}')).toBe(2 * half.length);
  }

  const { pid } = dustpan;
  await make(half);
  await isCompleted({ cluster, living }, dustpan);
  expect(await sample('tripped{policy="default"}')).toBe(0);
  const notes = 'jsonpath={range .items[?(@.reason=="Tripped")]}{.note}{"\\n"}{end}';
  const reported = await kubectl(cluster, ['get', 'events.events.k8s.io', '-A', '-o', notes]);
  expect(reported.trim().split('\n')).toEqual([expect.stringContaining('dustpan deletes no orphaned pod')]);
  expect(dustpan.pid).toBe(pid);
});

interface Change {
  readonly name: string;
  readonly change: () => Promise<unknown>;
  /** As the controller logs it. */
  readonly logged: string;
  /** The metric of a plan with the change that counts the pods it does not delete. */
  readonly series: string;
  /** The living pods that it counts as well. */
  readonly others: () => number;
}

const changes: readonly Change[] = [
  {
    name: 'set to DryRun',
    change: () => applyPolicy(cluster, rules, 'DryRun'),
    logged: 'MODIFIED',
    series: 'due_pods{reason="Expired",mode="DryRun"}',
    others: () => 0,
  },
  {
    name: 'deleted',
    change: () => kubectl(cluster, ['delete', 'gcpolicy', 'default']),
    logged: 'DELETED',
    series: 'kept_pods{reason="NoPolicy"}',
    others: () => living.length,
  },
];

test.each(changes)(
  'a policy is $name during a pass: the 32 requests in flight at most end, and no other begins until the policy is back',
  async ({ name, change, logged, series, others }) => {
    const { pid } = dustpan;
    await inTheMiddleOf(name.split(' ')[0] ?? '', batch, { cluster, living }, dustpan);
    const changedAt = new Date();
    await change();
    const left = async (): Promise<number> => (await podCount(cluster)) - living.length;
    // A plan with the change.
    await expect
      .poll(async () => (await sample(series)) === (await left()) + others(), eventually)
      .toBe(true);
    const [known] = await linesSince(dustpan, changedAt, 'policies changed');
    expect(known?.['change']).toBe(logged);
    // The log has whole milliseconds.
    const since = new Date(Date.parse(known?.ts ?? '') + 1);
    expect((await podDeletes(cluster, dustpanUser.name, since)).length).toBeLessThanOrEqual(inFlight);
    // Else there would have been nothing left to begin.
    expect(await left()).toBeGreaterThan(inFlight);

    await applyPolicy(cluster, rules);
    await isCompleted({ cluster, living }, dustpan);
    expect(dustpan.pid).toBe(pid);
  },
);
