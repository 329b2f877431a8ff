import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startCluster, type Cluster } from './cluster.ts';
import { dustpanUser, startDustpan, type Dustpan } from './dustpan.ts';
import { etcdClient } from './etcd.ts';
import { etcdEntry } from './etcd-objects.ts';
import { statusOf } from './probe.ts';

const patience = { timeout: 90_000, interval: 100 };
const batch = 400;
/** So many of a batch are gone when the fault comes. */
const begun = 30;

let cluster: Cluster;
let dustpan: Dustpan;
/** What must live, by UID. */
let living: readonly string[];

const podEntry = (name: string, phase: 'Succeeded' | 'Running', uid: string = randomUUID()) =>
  etcdEntry({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' },
    status: { phase },
  });

async function kubectl(args: readonly string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await cluster.run('kubectl', args, input);
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
  return stdout;
}

const uids = async (): Promise<readonly string[]> =>
  (await kubectl(['get', 'pods', '-o', 'jsonpath={.items[*].metadata.uid}'])).split(' ').toSorted();

beforeAll(async () => {
  cluster = await startCluster({ parts: ['etcd', 'api'], crds: true, users: [dustpanUser] });
  living = Array.from({ length: 20 }, () => randomUUID()).toSorted();
  await etcdClient(cluster.etcdUrl).put(living.map((uid, i) => podEntry(`living-${i}`, 'Running', uid)));
  const policy = {
    ...{ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'GCPolicy', metadata: { name: 'default' } },
    spec: { mode: 'Enforce', pods: { terminated: { ttlAfterFinished: '0s' } } },
  };
  await kubectl(['create', '-f', '-'], JSON.stringify(policy));
  dustpan = await startDustpan({
    kubeconfig: cluster.kubeconfig(dustpanUser.name),
    dir: cluster.dir,
    args: ['--pod-gc-period=1s', '--max-delete-qps=40'],
  });
});

afterAll(async () => {
  await dustpan.stop();
  await cluster.stop();
});

/** Makes a batch of finished pods and waits until the controller is busy with them. */
async function inTheMiddleOf(name: string): Promise<void> {
  await etcdClient(cluster.etcdUrl).put(
    Array.from({ length: batch }, (_, i) => podEntry(`${name}-${i}`, 'Succeeded')),
  );
  const all = living.length + batch;
  await expect.poll(async () => (await uids()).length, patience).toBeLessThan(all - begun);
  expect((await uids()).length).toBeGreaterThan(living.length + begun);
}

/** All that is due goes in the end, nothing else ever does, and the process is the same as before. */
async function isCompleted(pid: number): Promise<void> {
  await expect
    .poll(async () => {
      const left = await uids();
      expect(living.filter((uid) => !left.includes(uid))).toEqual([]);
      return left.length;
    }, patience)
    .toBe(living.length);
  expect(dustpan.pid).toBe(pid);
  const degraded = 'jsonpath={.status.conditions[?(@.type=="Degraded")].status}';
  await expect.poll(() => kubectl(['get', 'gcpolicy', 'default', '-o', degraded]), patience).toBe('False');
  await expect.poll(() => statusOf(`${dustpan.healthUrl}/readyz`), patience).toBe(200);
}

const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

test.each(['api', 'etcd'] as const)(
  '%s is killed in the middle of a pass, and started again',
  async (part) => {
    const { pid } = dustpan;
    await inTheMiddleOf(part);
    await cluster.kill(part);
    await wait(5_000);
    expect(await statusOf(`${dustpan.healthUrl}/healthz`)).toBe(200);
    await cluster.start(part);
    await isCompleted(pid);
  },
);

test('the API server hangs in the middle of a pass, and goes on', async () => {
  const { pid } = dustpan;
  await inTheMiddleOf('hang');
  await cluster.kill('api', 'SIGSTOP');
  await wait(5_000);
  expect(await statusOf(`${dustpan.healthUrl}/healthz`)).toBe(200);
  await cluster.kill('api', 'SIGCONT');
  await isCompleted(pid);
});
