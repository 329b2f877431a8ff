import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { Cluster } from '../servers/cluster.ts';
import { passesOf, type DustpanProcess, type LogLine } from '../servers/dustpan-process.ts';
import { etcdClient, type EtcdEntry } from '../servers/etcd.ts';
import { etcdEntry } from '../servers/etcd-objects.ts';
import { policyManifest, unheldPods } from '../../manifests.ts';
import { apply, kubectl } from '../servers/kubectl.ts';
import { eventually, promptly } from '../servers/waiting.ts';

interface PodShape {
  readonly namespace?: string;
  readonly phase?: 'Succeeded' | 'Running' | 'Pending';
  readonly uid?: string;
  readonly node?: string;
  readonly createdAt?: Date;
  /** By its node's clock. */
  readonly finishedAt?: Date;
  /** The owning Job. */
  readonly job?: { readonly name: string; readonly uid: string } | undefined;
}

/** A stored pod, by default finished: the API server would drop its status at creation. */
export function podEntry(name: string, shape: PodShape = {}): EtcdEntry {
  const { namespace = 'default', phase = 'Succeeded', uid = randomUUID() } = shape;
  const { node = 'node-1', finishedAt, job } = shape;
  const { createdAt = new Date('2026-01-01T00:00:00Z') } = shape;
  const owner = job && { apiVersion: 'batch/v1', kind: 'Job', ...job, controller: true };
  const terminated = finishedAt && { exitCode: 0, finishedAt: seconds(finishedAt) };
  return etcdEntry({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      ...{ name, namespace, uid, creationTimestamp: seconds(createdAt) },
      ...(owner && { ownerReferences: [owner] }),
    },
    spec: { nodeName: node, containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' },
    status: { phase, ...(terminated && { containerStatuses: [{ name: 'c', state: { terminated } }] }) },
  });
}

/** metav1.Time, which has no fractions. */
const seconds = (at: Date): string => `${at.toISOString().slice(0, 19)}Z`;

/** NAME-0, NAME-1, … */
export const numbered = (name: string, count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => `${name}-${i}`);

/** Makes running pods of these names and returns their UIDs. */
export async function runningPods(
  cluster: Cluster,
  names: readonly string[],
  shape: PodShape = {},
): Promise<readonly string[]> {
  const pods = names.map((name) => ({ name, uid: randomUUID() }));
  const entries = pods.map(({ name, uid }) => podEntry(name, { ...shape, uid, phase: 'Running' }));
  await etcdClient(cluster.etcdUrl).put(entries);
  return pods.map(({ uid }) => uid);
}

/** Applies the one policy of these tests, as a person would. */
export async function applyPolicy(cluster: Cluster, pods: object, mode = 'Enforce'): Promise<void> {
  await apply(cluster, policyManifest('default', { mode, pods: unheldPods(pods) }));
}

/** UIDs of the listed pods. */
export async function podUids(cluster: Cluster): Promise<readonly string[]> {
  const uids = await kubectl(cluster, ['get', 'pods', '-o', 'jsonpath={.items[*].metadata.uid}']);
  return uids.split(' ').toSorted();
}

/** `True Tripped`: status and reason of a condition of the policy. */
export async function conditionOf(cluster: Cluster, type: string): Promise<string> {
  const one = `{.status.conditions[?(@.type=="${type}")]`;
  const path = `jsonpath=${one}.status} ${one}.reason}`;
  return await kubectl(cluster, ['get', 'gcpolicy', 'default', '-o', path]);
}

interface Pass {
  readonly cluster: Cluster;
  readonly living: readonly string[];
}

/** So many of a batch are gone when the fault comes. */
const begun = 30;

/** Counts in etcd: kubectl may be slower than a controller is for half a batch. */
const podCount = (cluster: Cluster): Promise<number> =>
  etcdClient(cluster.etcdUrl).count('/registry/pods/default/');

const setMode = (cluster: Cluster, mode: 'DryRun' | 'Enforce'): Promise<string> =>
  kubectl(cluster, [
    'patch',
    'gcpolicy',
    'default',
    '--type=merge',
    '-p',
    JSON.stringify({ spec: { mode } }),
  ]);

/** Makes a batch of finished pods, in a dry run, and waits until the controller is in the middle of the pass that deletes them. */
export async function inTheMiddleOf(
  name: string,
  batch: number,
  { cluster, living }: Pass,
  dustpan: DustpanProcess,
): Promise<void> {
  await setMode(cluster, 'DryRun');
  // Passes that enforce must be over.
  await dustpan.ready();
  await passesOf(dustpan, 'podgc', 1);
  await etcdClient(cluster.etcdUrl).put(numbered(name, batch).map((one) => podEntry(one)));
  const due = 'dustpan_due_objects{unit="podgc",reason="Expired",mode="DryRun"}';
  await expect.poll(() => dustpan.sample(due), eventually).toBe(batch);
  await setMode(cluster, 'Enforce');
  const all = living.length + batch;
  await expect.poll(() => podCount(cluster), promptly).toBeLessThan(all - begun);
  expect(await podCount(cluster)).toBeGreaterThan(living.length + begun);
}

/** Expects that nothing is deleted for a while, in which passes run, and that all living pods exist. */
export async function staysAsItIs(
  ms: number,
  { cluster, living }: Pass,
  dustpan: DustpanProcess,
): Promise<void> {
  const before = await podUids(cluster);
  await sleep(ms);
  await passesOf(dustpan, 'podgc', 1);
  const after = await podUids(cluster);
  expect(after).toEqual(before);
  expect(living.filter((uid) => !after.includes(uid))).toEqual([]);
}

/** Waits until exactly the due pods are deleted, the policy is not Degraded and the controller is ready. */
export async function isCompleted({ cluster, living }: Pass, dustpan: DustpanProcess): Promise<void> {
  await expect
    .poll(async () => {
      const left = await podUids(cluster);
      expect(living.filter((uid) => !left.includes(uid))).toEqual([]);
      return left.length;
    }, eventually)
    .toBe(living.length);
  await expect.poll(() => conditionOf(cluster, 'Degraded'), eventually).toBe('False AsPlanned');
  await expect.poll(() => dustpan.probe('/readyz'), eventually).toBe(200);
}

/** The log lines with this message that the program has written since. */
export async function linesSince(
  dustpan: DustpanProcess,
  since: Date,
  message: string,
): Promise<readonly LogLine[]> {
  const lines = await dustpan.logs();
  return lines.filter(({ ts, msg }) => msg === message && Date.parse(ts) >= since.getTime());
}

/** Expects that the API server has deleted no pod twice for these users. */
export async function nothingTwice(cluster: Cluster, users: readonly string[], since: Date): Promise<void> {
  const all = await Promise.all(users.map((user) => podDeletes(cluster, user, since)));
  const gone = all.flat().filter(({ code }) => code === 200);
  expect(new Set(gone.map(({ name }) => name)).size).toBe(gone.length);
}

/** The pod deletions that this user has requested since, with time and status code. */
export async function podDeletes(cluster: Cluster, user: string, since: Date): Promise<readonly PodDelete[]> {
  const requests = await cluster.audit({ user, verb: 'delete', since });
  return requests
    .filter(({ objectRef }) => objectRef?.resource === 'pods')
    .map(({ objectRef, responseStatus, requestReceivedTimestamp }) => ({
      name: objectRef?.name ?? '',
      code: responseStatus?.code ?? 0,
      atMs: Date.parse(requestReceivedTimestamp),
    }));
}

interface PodDelete {
  readonly name: string;
  readonly code: number;
  /** Unix milliseconds. */
  readonly atMs: number;
}
