import { randomBytes, randomUUID } from 'node:crypto';
import { beforeAll, expect, test } from 'vitest';
import { usageOf } from '../../bench/process.ts';
import { contractTransport, Objects } from '../../contract/kube/objects.ts';
import type { Cluster } from '../servers/cluster.ts';
import { contractServer } from '../servers/contract.ts';
import { applyPolicy, numbered, podEntry, runningPods } from './environment.ts';
import { startControlPlane, startController } from './dustpan.ts';
import { etcdClient } from '../servers/etcd.ts';
import { shipped } from '../chart/shipped.ts';
import { eventually } from '../servers/waiting.ts';

/** Nearly the largest object of etcd; half of them compress to almost nothing. */
const nameBytes = 1_400_000;
const hostile = 170;
const ownerName = (i: number): string =>
  i % 2 === 0 ? `${i}`.padEnd(nameBytes, 'x') : randomBytes(nameBytes / 2).toString('hex');

let cluster: Cluster;

beforeAll(async () => {
  cluster = await startControlPlane();
  const objects = new Objects(await contractTransport(contractServer(cluster)));
  await objects.start();
  for (let i = 0; i < hostile; i += 1) {
    const owner = { apiVersion: 'batch/v1', kind: 'Job', name: ownerName(i), uid: randomUUID() };
    await objects.createPod({ ownerReferences: [{ ...owner, controller: true }] });
  }
}, 300_000);

const podCount = (): Promise<number> => etcdClient(cluster.etcdUrl).count('/registry/pods/');

test('170 pods with owner names of 1.4 MB: the controller stays below the memory limit of the chart, and collects them and others', async () => {
  const { env, limitMiB } = await shipped('Deployment');
  const living = await runningPods(cluster, numbered('living', 5));
  await applyPolicy(cluster, { terminated: { ttlAfterFinished: '0s' } });
  const controller = await startController(cluster, { args: ['--pod-gc-period=1s'], env });
  const { pid } = controller;
  await etcdClient(cluster.etcdUrl).put([podEntry('finished')]);
  await expect.poll(podCount, { ...eventually, timeout: 180_000 }).toBe(hostile + living.length);
  expect(usageOf(pid).peakMiB).toBeLessThan(limitMiB);

  // Each is marked and deleted, 32 at a time; the responses contain the name.
  const safety = { maxOrphanedNodesPercent: 100 };
  await applyPolicy(cluster, { orphaned: { quarantine: '1s' }, safety });
  await expect.poll(podCount, { ...eventually, timeout: 600_000 }).toBe(0);
  expect(usageOf(pid).peakMiB).toBeLessThan(limitMiB);
  expect(controller.pid).toBe(pid);
}, 1_200_000);
