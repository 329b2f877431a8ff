import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cluster } from '../servers/cluster.ts';
import { startControlPlane, startController } from './dustpan.ts';
import { applyPolicy, isCompleted, numbered, podEntry, runningPods } from './environment.ts';
import type { DustpanProcess } from '../servers/dustpan-process.ts';
import { etcdClient } from '../servers/etcd.ts';
import { kubectl } from '../servers/kubectl.ts';
import { eventually } from '../servers/waiting.ts';

const owned = 4_000;
const alone = 6_000;
const jobs = numbered('job', 3).map((name) => ({ name, uid: randomUUID() }));
/** The recorder's limit: a burst, and one more each 100 ms. */
const eventBurst = 200;
const msAnEvent = 100;

let cluster: Cluster;
let dustpan: DustpanProcess | undefined;

beforeAll(async () => {
  cluster = await startControlPlane();
});

afterAll(async () => {
  await dustpan?.stop();
  await cluster.stop();
});

const podCount = (): Promise<number> => etcdClient(cluster.etcdUrl).count('/registry/pods/');

/** The number of pods in the API server's cache. */
async function cachedCount(): Promise<number> {
  const path = '/api/v1/namespaces/default/pods?resourceVersion=0';
  const list = await kubectl(cluster, ['get', '--raw', path]);
  return (JSON.parse(list) as { readonly items: readonly unknown[] }).items.length;
}

interface StoredEvent {
  readonly note: string;
  readonly regarding: { readonly kind: string };
}

async function events(): Promise<readonly StoredEvent[]> {
  const list = await kubectl(cluster, ['get', 'events.events.k8s.io', '-A', '-o', 'json']);
  return (JSON.parse(list) as { readonly items: readonly StoredEvent[] }).items;
}

test('10 000 pods are deleted in one pass: one Event for each Job, a bounded number for the others, and a small status', async () => {
  const living = await runningPods(cluster, numbered('living', 20));
  await etcdClient(cluster.etcdUrl).putFast([
    // Deleted in order of names, so that the Jobs' Events come first.
    ...numbered('batch', owned).map((name, i) => podEntry(name, { job: jobs[i % jobs.length] })),
    ...numbered('lone', alone).map((name) => podEntry(name)),
  ]);
  expect(await podCount()).toBe(owned + alone + living.length);
  // Wait until the API server's cache is complete.
  await expect.poll(cachedCount, eventually).toBe(owned + alone + living.length);
  await applyPolicy(cluster, { terminated: { ttlAfterFinished: '0s' } });
  const startedMs = performance.now();
  const controller = await startController(cluster, { args: ['--pod-gc-period=1h'] });
  dustpan = controller;
  const { pid } = controller;
  await expect.poll(podCount, { ...eventually, timeout: 300_000 }).toBe(living.length);
  await isCompleted({ cluster, living }, controller);
  const ofJobsIn = (stored: readonly StoredEvent[]): readonly string[] =>
    stored.filter(({ regarding }) => regarding.kind === 'Job').map(({ note }) => note);
  await expect.poll(async () => ofJobsIn(await events()).length, eventually).toBe(jobs.length);
  const stored = await events();
  // Until they were read: so long they may have been written.
  const took = performance.now() - startedMs;
  expect(stored.length).toBeGreaterThan(jobs.length);
  expect(stored.length).toBeLessThanOrEqual(eventBurst + took / msAnEvent);
  expect(
    ofJobsIn(stored)
      .map((note) => note.split(' (')[0])
      .toSorted(),
  ).toEqual([...['Deleted 1333 pods', 'Deleted 1333 pods', 'Deleted 1334 pods']]);

  const sample = (name: string): Promise<number | undefined> => controller.sample(`dustpan_${name}`);
  expect(await sample('removed_objects_total{unit="podgc",reason="Expired"}')).toBe(owned + alone);
  const status = await kubectl(cluster, ['get', 'gcpolicy', 'default', '-o', 'jsonpath={.status}']);
  expect(Buffer.byteLength(status)).toBeLessThan(8_192);
  expect(controller.pid).toBe(pid);
});
