import { beforeAll, expect, test } from 'vitest';
import { policyManifest } from '../../manifests.ts';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import type { DustpanProcess } from '../servers/dustpan-process.ts';
import { apply, create, eventsOn, kubectl, listed } from '../servers/kubectl.ts';
import { eventually, waitUntil } from '../servers/waiting.ts';
import { dustpanUser, startController } from './dustpan.ts';
import { writeReport } from './environment.ts';

const replicas = 20;
/** A tenth of them. */
const perMinute = 2;
const mebi = 1024 ** 2;

let cluster: Cluster;
let dustpan: DustpanProcess;
/** UIDs of the pods that use more than the new limit; the pods that replace them do not. */
let excessive: ReadonlySet<string> = new Set();

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'default' },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      // No scheduler runs.
      spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }] },
    },
  },
};

beforeAll(async () => {
  cluster = await startCluster({
    parts: ['etcd', 'api', 'kcm'],
    kcm: { controllers: 'deployment-controller,replicaset-controller' },
    ...{ crds: true, users: [dustpanUser] },
  });
  await create(
    cluster,
    { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } },
    { apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'NodeGCReport', metadata: { name: 'node-1' } },
    deployment,
  );
  await applyLimits({});
  dustpan = await startController(cluster);
  await dustpan.ready();
});

const applyLimits = (defaultLimits: object): Promise<string> =>
  apply(
    cluster,
    policyManifest('default', { mode: 'Enforce', nodes: { localStorageEviction: { defaultLimits } } }),
  );

interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly status: { readonly phase: string };
}

const pods = (): Promise<readonly Pod[]> => listed<Pod>(cluster, 'pods');

const isEnding = ({ metadata }: Pod): boolean => metadata.deletionTimestamp !== undefined;

const running = async (): Promise<readonly Pod[]> =>
  (await pods()).filter((pod) => pod.status.phase === 'Running' && !isEnding(pod));

/** Does what the kubelet and the agent of node-1 would do: ends evicted pods, runs new ones, and reports those over the limit. */
async function stepNode(): Promise<void> {
  const all = await pods();
  const ending = all.filter(isEnding);
  const living = all.filter((pod) => !isEnding(pod));
  await kubectlEach(ending, ['delete', 'pods'], ['--force', '--grace-period=0']);
  const pending = living.filter(({ status }) => status.phase === 'Pending');
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  const patch = ['--subresource=status', '-p', JSON.stringify({ status })];
  await kubectlEach(pending, ['patch', 'pods'], patch);
  const over = living.filter(({ metadata }) => excessive.has(metadata.uid));
  await writeReport(
    cluster,
    over.map(({ metadata: { name, uid } }) => ({
      pod: { namespace: 'default', name, uid },
      ...{ signal: 'ephemeralpodfs.limit', observedBytes: 130 * mebi, limitBytes: 100 * mebi },
    })),
  );
}

async function kubectlEach(
  of: readonly Pod[],
  command: readonly string[],
  flags: readonly string[],
): Promise<void> {
  if (of.length > 0)
    await kubectl(cluster, [...command, ...of.map(({ metadata }) => metadata.name), ...flags]);
}

/** Waits while the node works. */
const untilNode = (description: string, holds: () => Promise<boolean>): Promise<void> =>
  waitUntil(
    description,
    async () => {
      await stepNode();
      return await holds();
    },
    { ...eventually, timeout: 400_000, interval: 2_000 },
  );

/** Times at which the API server received the evictions that succeeded, Unix milliseconds, in order. */
async function evictedAtMs(): Promise<readonly number[]> {
  const requests = await cluster.audit({ user: dustpanUser.name, verb: 'create' });
  return requests
    .filter(
      ({ objectRef, responseStatus }) =>
        objectRef?.subresource === 'eviction' && responseStatus?.code === 201,
    )
    .map(({ requestReceivedTimestamp }) => Date.parse(requestReceivedTimestamp))
    .toSorted((a, b) => a - b);
}

const paced = 'dustpan_eviction_paced_pods{pace="owner"}';

test('a Deployment whose pods all exceed a new default limit loses a tenth of them a minute, and an Event on their owner reports it', async () => {
  await untilNode('all replicas run', async () => (await running()).length === replicas);
  excessive = new Set((await running()).map(({ metadata }) => metadata.uid));
  await applyLimits({ pod: '100Mi' });
  await untilNode('the others wait', async () => (await dustpan.sample(paced)) === replicas - perMinute);
  const rounds = 3;
  await untilNode('three rounds', async () => (await evictedAtMs()).length >= rounds * perMinute);
  await untilNode('the replacements run', async () => (await running()).length === replicas);

  const times = await evictedAtMs();
  const gaps = times.slice(perMinute).map((atMs, i) => atMs - (times[i] ?? 0));
  // The API server reads the wall clock, the controller a monotonic one.
  expect(Math.min(...gaps)).toBeGreaterThan(59_900);
  const old = (await running()).filter(({ metadata }) => excessive.has(metadata.uid));
  expect(old).toHaveLength(replicas - times.length);
  expect(await dustpan.sample('dustpan_evictions_total{eviction_signal="ephemeralpodfs.limit"}')).toBe(
    times.length,
  );

  const events = await eventsOn(cluster, 'ReplicaSet');
  const slowed = events.filter(({ reason }) => reason === 'EvictionsSlowed');
  expect(slowed).toHaveLength(1);
  expect(slowed[0]).toMatchObject({
    regarding: { name: expect.stringMatching(/^web-/) as string },
    // The cache may not have the replacements yet.
    note: expect.stringMatching(
      /^\d+ pods are due for eviction and wait: dustpan evicts at most [12] of the pods of this owner a minute \(ready: \d+\)\. Raise /,
    ) as string,
  });
});
