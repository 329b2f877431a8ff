import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Cluster } from '../servers/cluster.ts';
import { slowPasses, startControlPlane, startController } from './dustpan.ts';
import { applyPolicy, inTheMiddleOf, isCompleted, numbered, runningPods } from './environment.ts';
import type { DustpanProcess } from '../servers/dustpan-process.ts';

const batch = 400;

let cluster: Cluster;
let dustpan: DustpanProcess;
/** UIDs of the pods that must stay. */
let living: readonly string[];

beforeAll(async () => {
  cluster = await startControlPlane();
  living = await runningPods(cluster, numbered('living', 20));
  await applyPolicy(cluster, { terminated: { ttlAfterFinished: '0s' } });
  dustpan = await startController(cluster, { args: slowPasses });
});

afterAll(async () => {
  await dustpan.stop();
  await cluster.stop();
});

test.each(['api', 'etcd'] as const)(
  '%s is killed during a pass and restarted: the pass completes later',
  async (part) => {
    const { pid } = dustpan;
    await inTheMiddleOf(part, batch, { cluster, living });
    await cluster.kill(part);
    await sleep(5_000);
    expect(await dustpan.probe('/healthz')).toBe(200);
    await cluster.start(part);
    await isCompleted({ cluster, living }, dustpan);
    expect(dustpan.pid).toBe(pid);
  },
);

test('the API server hangs during a pass and resumes: the pass completes later', async () => {
  const { pid } = dustpan;
  await inTheMiddleOf('hang', batch, { cluster, living });
  await cluster.kill('api', 'SIGSTOP');
  await sleep(5_000);
  expect(await dustpan.probe('/healthz')).toBe(200);
  await cluster.kill('api', 'SIGCONT');
  await isCompleted({ cluster, living }, dustpan);
  expect(dustpan.pid).toBe(pid);
});
