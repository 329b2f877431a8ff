import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import type { Cluster } from '../servers/cluster.ts';
import {
  applyPolicy,
  conditionOf,
  isCompleted,
  numbered,
  podDeletes,
  podEntry,
  podUids,
  runningPods,
} from './environment.ts';
import { dustpanUser, startControlPlane, startController } from './dustpan.ts';
import type { DustpanProcess } from '../servers/dustpan-process.ts';
import { etcdClient } from '../servers/etcd.ts';
import { shiftedClock, type ShiftedClock } from '../programs/shifted-clock.ts';
import { create, kubectl } from '../servers/kubectl.ts';
import { eventually } from '../servers/waiting.ts';

const hourMs = 3_600_000;
const quarantineMs = 12_000;
/** The clock is set this long after the node is deleted: a restarted quarantine would end that much later. */
const setAfterMs = 6_000;

let cluster: Cluster;
let clock: ShiftedClock;
let dustpan: DustpanProcess;
/** UIDs of the pods that must stay. */
let living: readonly string[];

const nodes = numbered('node', 10);
const ago = (ms: number): Date => new Date(Date.now() - ms);
const sample = (name: string): Promise<number | undefined> => dustpan.sample(`dustpan_${name}`);
const unsure = async (): Promise<number> =>
  (await sample('skipped_objects_total{unit="podgc",reason="ClockUnsure"}')) ?? 0;

const holder = (): Promise<string> =>
  kubectl(cluster, ['get', 'lease', 'dustpan-controller', '-o', 'jsonpath={.spec.holderIdentity}']);

beforeAll(async () => {
  clock = shiftedClock(mkdtempSync(join(tmpdir(), 'controller-')));
  cluster = await startControlPlane();
  const node = (name: string): object => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } });
  await create(cluster, ...nodes.map(node));
  living = await runningPods(cluster, numbered('living', 10));
  await applyPolicy(cluster, {
    terminated: { ttlAfterFinished: '30m' },
    orphaned: { quarantine: `${quarantineMs}ms` },
  });
  dustpan = await startController(cluster, {
    env: clock.env,
    args: ['--leader-elect=true', '--leader-elect-resource-namespace=default', '--pod-gc-period=1s'],
  });
});

test.each([
  { name: 'forward', shiftMs: hourMs, lost: 'node-8' },
  { name: 'back', shiftMs: -hourMs, lost: 'node-9' },
])(
  'its clock is moved an hour $name: no TTL is evaluated, the policy is Degraded, the quarantine continues, and all resumes with the right time',
  async ({ name, shiftMs, lost }) => {
    const { pid } = dustpan;
    await runningPods(cluster, [`orphan-${name}`], { node: lost });
    await isCompleted({ cluster, living: await podUids(cluster) }, dustpan);
    const [leader, called] = [await holder(), await unsure()];

    const lostAt = new Date();
    await kubectl(cluster, ['delete', 'node', lost]);
    await expect.poll(() => sample('pod_gc_missing_nodes'), eventually).toBe(1);
    await sleep(setAfterMs);
    const setAt = Date.now();
    clock.set(shiftMs);
    const young = crypto.randomUUID();
    await etcdClient(cluster.etcdUrl).put([
      podEntry(`young-${name}`, { uid: young, finishedAt: ago(600_000) }),
      podEntry(`old-${name}`, { finishedAt: ago(3 * hourMs) }),
    ]);
    living = [...living, young];
    await expect.poll(() => conditionOf(cluster, 'Degraded'), eventually).toBe('True ClockUnsure');
    expect(await unsure()).toBeGreaterThan(called);
    // The server's time has whole seconds, and its response takes a while.
    expect(await dustpan.logTail(1_000)).toMatch(
      shiftMs > 0 ? /"aheadSeconds":360[0-4]\b/ : /"aheadSeconds":-(3600|359[6-9])\b/,
    );

    const deletes = () => podDeletes(cluster, dustpanUser.name, lostAt);
    await expect
      .poll(async () => (await deletes()).map((one) => one.name), eventually)
      .toEqual([`orphan-${name}`]);
    const [orphan] = await deletes();
    expect(orphan?.atMs).toBeGreaterThan(lostAt.getTime() + quarantineMs);
    expect(orphan?.atMs).toBeLessThan(setAt + quarantineMs);
    expect(await podUids(cluster)).toEqual(expect.arrayContaining([...living]));

    clock.set(0);
    await isCompleted({ cluster, living }, dustpan);
    expect((await deletes()).map((one) => one.name)).toEqual([`orphan-${name}`, `old-${name}`]);
    expect(dustpan.pid).toBe(pid);
    expect(await holder()).toBe(leader);
  },
);

test('a Pending pod is stuck after an hour, if the clock agrees with that of the API server', async () => {
  const stuck = (): Promise<number | undefined> => sample('stuck_pods{cause="NodeNotReady"}');
  const pending = (name: string, createdAt: Date) =>
    podEntry(name, { phase: 'Pending', node: 'node-0', createdAt });
  clock.set(2 * hourMs);
  await etcdClient(cluster.etcdUrl).put([pending('new', ago(600_000))]);
  await sleep(5_000);
  expect(await stuck()).toBe(0);
  clock.set(0);
  await etcdClient(cluster.etcdUrl).put([pending('stuck', ago(3 * hourMs))]);
  await expect.poll(stuck, eventually).toBe(1);
  const names = 'jsonpath={.items[?(@.reason=="PodStuck")].involvedObject.name}';
  await expect.poll(() => kubectl(cluster, ['get', 'events', '-o', names]), eventually).toBe('stuck');
});
