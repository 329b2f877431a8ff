import { mkdirSync } from 'node:fs';
import { copyFile, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import {
  applyPolicy,
  inTheMiddleOf,
  isCompleted,
  numbered,
  podUids,
  runningPods,
  staysAsItIs,
} from './environment.ts';
import { renewCa } from '../servers/credentials.ts';
import { dustpanUser, shortPeriod, startDustpan } from './dustpan.ts';
import type { DustpanProcess } from '../servers/dustpan-process.ts';
import { statusOf } from '../servers/probe.ts';
import { grant } from '../servers/resources.ts';
import { kubectl } from '../servers/kubectl.ts';
import { eventually, promptly } from '../servers/waiting.ts';

let cluster: Cluster;
let dustpan: DustpanProcess;
/** UIDs of the pods that must stay. */
let living: readonly string[];
/** The directory of token and CA, as the kubelet mounts it. */
let account: string;

/** A token that is good for as long as the Secret it is bound to exists. */
async function tokenBoundTo(secret: string): Promise<string> {
  await kubectl(cluster, ['create', 'secret', 'generic', secret]);
  const bound = ['--bound-object-kind=Secret', `--bound-object-name=${secret}`];
  return (await kubectl(cluster, ['create', 'token', 'dustpan', ...bound])).trim();
}

/** Replaces the file atomically, as the kubelet does. */
async function put(file: string, text: string): Promise<void> {
  await writeFile(join(account, `.${file}`), text);
  await rename(join(account, `.${file}`), join(account, file));
}

beforeAll(async () => {
  cluster = await startCluster({ parts: ['etcd', 'api'], crds: true });
  account = join(cluster.dir, 'account');
  mkdirSync(account);
  await kubectl(cluster, ['create', 'serviceaccount', 'dustpan']);
  await grant(cluster, 'system:serviceaccount:default:dustpan', dustpanUser.rules ?? []);
  await put('token', await tokenBoundTo('first'));
  await copyFile(cluster.caFile, join(account, 'ca.crt'));
  living = await runningPods(cluster, numbered('living', 20));
  await applyPolicy(cluster, { terminated: { ttlAfterFinished: '0s' } });
  dustpan = await startDustpan({
    serviceAccount: { dir: account, server: cluster.url },
    dir: cluster.dir,
    // A rejected token must meet a pass, and the API server rejects it only after 10 s: hence not the default rate.
    args: [...shortPeriod, '--max-delete-qps=30'],
  });
});

const responses = async (method: string, code: string): Promise<number> => {
  const { host } = new URL(cluster.url);
  const labels = `code="${code}",method="${method}",host="${host}"`;
  return (await dustpan.sample(`dustpan_rest_client_requests_total{${labels}}`)) ?? 0;
};

test('its token is revoked during a pass: nothing is deleted until the file has another one', async () => {
  const { pid } = dustpan;
  const ca = await readFile(cluster.caFile, 'utf8');
  const token = await readFile(join(account, 'token'), 'utf8');
  // The API server remembers for 10 s that a token is good.
  await inTheMiddleOf('token', 800, { cluster, living }, dustpan);
  await kubectl(cluster, ['delete', 'secret', 'first']);
  await expect.poll(() => statusOf(`${cluster.url}/api/v1/pods`, { ca, token }), promptly).toBe(401);
  await expect.poll(() => responses('GET', '401'), promptly).toBeGreaterThan(0);
  await staysAsItIs(0, { cluster, living }, dustpan);
  // Else there would have been nothing left to do.
  expect((await podUids(cluster)).length).toBeGreaterThan(living.length);
  expect(await dustpan.probe('/healthz')).toBe(200);
  expect(await dustpan.logTail(1_000)).toContain('Unauthorized');

  await put('token', await tokenBoundTo('second'));
  await isCompleted({ cluster, living }, dustpan);
  expect(dustpan.pid).toBe(pid);
});

test('its token is replaced, then revoked during a pass: no deletion fails', async () => {
  const { pid } = dustpan;
  const errors = 'dustpan_failed_objects_total{unit="podgc",reason="Expired"}';
  const failed = await dustpan.sample(errors);
  const ca = await readFile(cluster.caFile, 'utf8');
  const token = await readFile(join(account, 'token'), 'utf8');
  const third = await tokenBoundTo('third');
  // Enough for longer than the API server remembers the second.
  await inTheMiddleOf('rotated', 800, { cluster, living }, dustpan);
  await put('token', third);
  await kubectl(cluster, ['delete', 'secret', 'second']);
  await expect.poll(() => statusOf(`${cluster.url}/api/v1/pods`, { ca, token }), promptly).toBe(401);
  // The second token could not delete these any more.
  expect((await podUids(cluster)).length).toBeGreaterThan(living.length);
  await isCompleted({ cluster, living }, dustpan);
  expect(dustpan.pid).toBe(pid);
  expect(await dustpan.sample(errors)).toBe(failed);
});

test('the API server returns with a certificate of another CA: nothing is deleted until the file has that CA', async () => {
  const { pid } = dustpan;
  await inTheMiddleOf('ca', 150, { cluster, living }, dustpan);
  await cluster.kill('api');
  await renewCa(cluster.dir);
  await cluster.start('api');
  await expect.poll(() => dustpan.logTail(1_000), eventually).toMatch(/certificate/i);
  await staysAsItIs(0, { cluster, living }, dustpan);
  // Else there would have been nothing left to do.
  expect((await podUids(cluster)).length).toBeGreaterThan(living.length);
  expect(await dustpan.probe('/healthz')).toBe(200);

  await put('ca.crt', await readFile(cluster.caFile, 'utf8'));
  await isCompleted({ cluster, living }, dustpan);
  expect(dustpan.pid).toBe(pid);
});
