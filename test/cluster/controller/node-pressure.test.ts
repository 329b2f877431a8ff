import { afterAll, beforeAll, expect, test } from 'vitest';
import { policyManifest } from '../../manifests.ts';
import type { Cluster } from '../servers/cluster.ts';
import type { DustpanProcess } from '../servers/dustpan-process.ts';
import { apply, create, kubectl } from '../servers/kubectl.ts';
import { eventually, waitUntil } from '../servers/waiting.ts';
import { startControlPlane, startController } from './dustpan.ts';
import { runningPods } from './environment.ts';

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

/** Writes the report of node-1, as its agent would, with a measurement of now and requests for these pods. */
async function report(requested: readonly string[]): Promise<void> {
  const path = 'jsonpath={.metadata.uid} {.metadata.generation}';
  const [uid, generation] = (await kubectl(cluster, ['get', 'gcpolicy', 'default', '-o', path])).split(' ');
  const observedTime = new Date().toISOString();
  const evictionRequests = requested.map((name) => ({
    pod: { namespace: 'default', name, uid: uids[names.indexOf(name)] },
    ...{ signal: 'nodefs.available', observedBytes: 90 * mebi, limitBytes: 0, observedTime },
    shortage: { available: 100 * mebi, threshold: 150 * mebi },
  }));
  const status = {
    ...{ reportTime: observedTime, evictionRequestCount: requested.length, evictionRequests },
    policy: { name: 'default', uid, observedGeneration: Number(generation), mode: 'Enforce' },
  };
  const patch = ['--type=merge', '--subresource=status', '-p', JSON.stringify({ status })];
  await kubectl(cluster, ['patch', 'nodegcreport', 'node-1', ...patch]);
}

const ending = async (): Promise<readonly string[]> => {
  const path = '{range .items[?(@.metadata.deletionTimestamp)]}{.metadata.name} {end}';
  const found = await kubectl(cluster, ['get', 'pods', '-o', `jsonpath=${path}`]);
  return found.split(' ').filter((name) => name !== '');
};

interface EventList {
  readonly items: readonly {
    readonly reason: string;
    readonly note: string;
    readonly eventTime: string;
    readonly regarding: { readonly kind: string; readonly name: string };
  }[];
}

async function events(reason: string): Promise<EventList['items']> {
  const list = await kubectl(cluster, ['get', 'events.v1.events.k8s.io', '-n', 'default', '-o', 'json']);
  const { items } = JSON.parse(list) as EventList;
  return items.filter((event) => event.reason === reason && event.regarding.kind === 'Pod');
}

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
