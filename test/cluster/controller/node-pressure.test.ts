import { afterAll, beforeAll, expect, test } from 'vitest';
import { policyManifest } from '../../manifests.ts';
import type { Cluster } from '../servers/cluster.ts';
import type { DustpanProcess } from '../servers/dustpan-process.ts';
import { apply, create, kubectl } from '../servers/kubectl.ts';
import { eventually, waitUntil } from '../servers/waiting.ts';
import { startControlPlane, startController } from './dustpan.ts';
import { eventsOn, runningPods, writeReport } from './environment.ts';

const names = ['guarded', 'first', 'second'];
const mebi = 1024 ** 2;

let cluster: Cluster;
let dustpan: DustpanProcess;
let uids: readonly string[];

beforeAll(async () => {
  cluster = await startControlPlane();
  await create(
    cluster,
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } },
    { apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'NodeGCReport', metadata: { name: 'node-1' } },
  );
  uids = await runningPods(cluster, names);
  await kubectl(cluster, ['label', 'pod', 'guarded', 'app=guarded']);
  // Without a disruption controller it allows nothing.
  await kubectl(cluster, ['create', 'pdb', 'guarded', '--selector=app=guarded', '--min-available=1']);
  const nodePressure = { evictPods: true, thresholds: { 'nodefs.available': '15%' } };
  await apply(cluster, policyManifest('default', { mode: 'Enforce', nodes: { nodePressure } }));
  dustpan = await startController(cluster);
});

afterAll(async () => {
  await dustpan.stop();
  await cluster.stop();
});

/** Writes a report with requests for these pods. */
const report = (requested: readonly string[]): Promise<void> =>
  writeReport(
    cluster,
    requested.map((name) => ({
      pod: { namespace: 'default', name, uid: uids[names.indexOf(name)] },
      ...{ signal: 'nodefs.available', observedBytes: 90 * mebi, limitBytes: 0 },
      shortage: { available: 100 * mebi, threshold: 150 * mebi },
    })),
  );

const ending = async (): Promise<readonly string[]> => {
  const path = '{range .items[?(@.metadata.deletionTimestamp)]}{.metadata.name} {end}';
  const found = await kubectl(cluster, ['get', 'pods', '-o', `jsonpath=${path}`]);
  return found.split(' ').filter((name) => name !== '');
};

const events = (reason: string) => eventsOn(cluster, 'Pod', reason);

const paced = { ...eventually, interval: 2_000 };

test('of a node under pressure one pod a minute is evicted, in the order of the report; a budget protects the first', async () => {
  await waitUntil(
    'a pod is evicted',
    async () => {
      await report(names);
      return (await ending()).length > 0;
    },
    paced,
  );
  expect(await ending()).toEqual(['first']);
  const [blocked] = await events('EvictionBlocked');
  expect(blocked).toMatchObject({
    regarding: { name: 'guarded' },
    note: expect.stringMatching(/^The node is low on disk space .* The disruption budget guarded /) as string,
  });
  // No kubelet ends it. While a report still requests a pod that is gone, the others wait.
  await kubectl(cluster, ['delete', 'pod', 'first', '--force', '--grace-period=0']);
  await waitUntil(
    'the next pod is evicted',
    async () => {
      await report(['guarded', 'second']);
      return (await ending()).length > 0;
    },
    paced,
  );
  expect(await ending()).toEqual(['second']);
  await expect
    .poll(async () => (await events('Evicted')).map(({ regarding }) => regarding.name).toSorted(), eventually)
    .toEqual(['first', 'second']);
  const times = (await events('Evicted')).map(({ eventTime }) => Date.parse(eventTime)).toSorted();
  // An Event is recorded a moment after the eviction.
  expect((times[1] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(59_000);
  const metrics = await (await fetch(dustpan.metricsUrl)).text();
  expect(metrics).toContain('dustpan_evictions_total{eviction_signal="nodefs.available"} 2');
});
