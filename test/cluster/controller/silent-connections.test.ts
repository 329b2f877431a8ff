import { randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import type { Relay } from '../../proxies.ts';
import type { Cluster } from '../servers/cluster.ts';
import type { DustpanProcess, LogLine } from '../servers/dustpan-process.ts';
import { etcdClient } from '../servers/etcd.ts';
import { create, kubectl } from '../servers/kubectl.ts';
import { eventually, waitUntil } from '../servers/waiting.ts';
import {
  dustpanUser,
  relayedKubeconfig,
  relayTo,
  shortPeriod,
  startControlPlane,
  startDustpan,
} from './dustpan.ts';
import { applyPolicy, linesSince, podDeletes, podEntry } from './environment.ts';

const ttlMs = 25_000;
/** The promise of ADR 61. */
const noticedWithinMs = 120_000;
const noticing = { timeout: noticedWithinMs + 60_000, interval: 500 };
const watched = ['gcpolicies', 'namespaces', 'nodegcreports', 'nodes', 'pods'];

let cluster: Cluster;
let relay: Relay;
let dustpan: DustpanProcess;

beforeAll(async () => {
  cluster = await startControlPlane();
  relay = await relayTo(cluster);
  await applyPolicy(cluster, { terminated: { ttlAfterFinished: `${ttlMs}ms` } });
  const kubeconfig = relayedKubeconfig(cluster, dustpanUser.name, relay);
  dustpan = await startDustpan({ kubeconfig, dir: cluster.dir, args: [...shortPeriod, '--v=4'] });
  await dustpan.ready();
});

/** `NAMESPACE/NAME` of every pod, read past the relay. */
async function pods(): Promise<readonly string[]> {
  const path = 'jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name} {end}';
  const names = await kubectl(cluster, ['get', 'pods', '--all-namespaces', '-o', path]);
  return names.split(' ').filter(Boolean).toSorted();
}

/** Stores pods that have just finished, and waits until the controller knows them. */
async function finishedNow(...names: readonly string[]): Promise<void> {
  const before = await tooYoung();
  const entries = names.map((one) => {
    const [namespace = '', name = ''] = one.split('/');
    return podEntry(name, { namespace, uid: randomUUID(), finishedAt: new Date() });
  });
  await etcdClient(cluster.etcdUrl).put(entries);
  await waitUntil(
    'the controller to know the pods',
    async () => (await tooYoung()) === before + names.length,
  );
}

const tooYoung = async (): Promise<number> =>
  (await dustpan.sample('dustpan_kept_objects{unit="podgc",reason="TooYoung"}')) ?? 0;

const createNamespace = (name: string): Promise<void> =>
  create(cluster, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });

const keep = (...object: readonly string[]): Promise<string> =>
  kubectl(cluster, ['label', ...object, 'gc.dustpan.dev/keep=true']);

/** The names of pods that the controller has requested to delete. */
const requestedSince = async (since: Date): Promise<readonly string[]> =>
  (await podDeletes(cluster, dustpanUser.name, since)).map(({ name }) => name);

/** Waits until the failure of every watch is logged; returns the first line of each. */
async function noticed(since: Date): Promise<readonly LogLine[]> {
  const lines = async (): Promise<readonly LogLine[]> => {
    const failures = await linesSince(dustpan, since, 'list or watch failed');
    return watched.flatMap((name) => failures.find(({ resource }) => resource === name) ?? []);
  };
  await expect.poll(async () => (await lines()).length, noticing).toBe(watched.length);
  return await lines();
}

async function isNoticedInTime(since: Date): Promise<void> {
  for (const { ts, resource, err } of await noticed(since)) {
    const afterMs = Date.parse(ts) - since.getTime();
    expect({ resource, afterMs, inTime: afterMs <= noticedWithinMs }).toMatchObject({ inTime: true });
    expect(err).toEqual(expect.stringContaining(`nothing arrived from the watch of ${String(resource)} for`));
    const failures = `dustpan_reflector_failures_total{resource="${String(resource)}"}`;
    expect(await dustpan.sample(failures)).toBeGreaterThan(0);
  }
}

test('the open connections fall silent: what has got the keep label since then stays, and within two minutes every cache is listed again', async () => {
  const { pid } = dustpan;
  await createNamespace('kept-later');
  await finishedNow('default/due', 'default/labelled-later', 'kept-later/opted-out');
  const silentAt = new Date();
  relay.swallow();
  await keep('namespace', 'kept-later');
  await keep('pod', 'labelled-later');
  const stay = ['default/labelled-later', 'kept-later/opted-out'];

  // The watches are silent, and the controller works: it reads live before it deletes.
  await expect.poll(pods, eventually).toEqual(stay);
  expect(await linesSince(dustpan, silentAt, 'list or watch failed')).toEqual([]);
  await isNoticedInTime(silentAt);
  expect(await pods()).toEqual(stay);
  expect(await requestedSince(silentAt)).not.toContain('opted-out');

  await kubectl(cluster, ['label', 'namespace', 'kept-later', 'gc.dustpan.dev/keep-']);
  await kubectl(cluster, ['label', 'pod', 'labelled-later', 'gc.dustpan.dev/keep-']);
  await finishedNow('default/next');
  await expect.poll(pods, eventually).toEqual([]);
  expect(dustpan.pid).toBe(pid);
});

test('every connection falls silent, new ones too: no deletion is requested, the caches are not current within two minutes, and the work resumes when new connections work', async () => {
  const { pid } = dustpan;
  await createNamespace('kept-in-silence');
  await finishedNow('default/due', 'kept-in-silence/opted-out');
  const silentAt = new Date();
  relay.swallow({ laterToo: true });
  await keep('namespace', 'kept-in-silence');

  await isNoticedInTime(silentAt);
  // At debug level, a pass names the caches that are not current.
  const waiting = () => linesSince(dustpan, silentAt, 'waiting for caches');
  await expect
    .poll(waiting, eventually)
    .toContainEqual(expect.objectContaining({ pods: false, namespaces: false }));
  // Requests would reach the server: it is the controller that sends none.
  expect(await requestedSince(silentAt)).toEqual([]);
  expect(await pods()).toEqual(['default/due', 'kept-in-silence/opted-out']);
  expect(await dustpan.probe('/healthz')).toBe(200);

  relay.restore();
  await expect.poll(pods, eventually).toEqual(['kept-in-silence/opted-out']);
  await finishedNow('default/next');
  await expect.poll(pods, eventually).toEqual(['kept-in-silence/opted-out']);
  expect(await requestedSince(silentAt)).toEqual(['due', 'next']);
  expect(dustpan.pid).toBe(pid);
});
