// @bed node
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { PodStorageUsage } from '../../../src/api/local-storage.ts';
import { tokenCredentials } from '../../../src/kube/auth/credentials.ts';
import { decodeList } from '../../../src/kube/codec/decode.ts';
import { createTransport } from '../../../src/kube/http/http-transport.ts';
import { nodePodsResource, type NodePodFacts } from '../../../src/kube/cache/node-pods.ts';
import type { KubeletUsage } from '../../../src/node/kubelet/source.ts';
import { systemClock as clock } from '../../../src/runtime/scheduling/clock.ts';
import { archiveOf, phases, startQuietNode } from '../agent/environment.ts';
import type { Cluster } from '../servers/cluster.ts';
import { busyboxImage } from '../node/image.ts';
import { kubectl, create } from '../servers/kubectl.ts';
import { eventually, waitUntil } from '../servers/waiting.ts';
import { kubeletTokens, kubeletOf } from '../node/kubelet-api.ts';
import { write } from './pods.ts';

const never = new AbortController().signal;
let cluster: Cluster;
let kubelet: KubeletUsage;
let pods: readonly NodePodFacts[] = [];

/** The shell script of each pod. */
const scripts: Readonly<Record<string, string>> = {
  disk: write('/data/x', 9),
  memory: write('/shm/x', 4),
  layer: write('/layer', 7),
  logs: "i=0; line=$(printf '%01008d' 0); while [ $i -lt 3000 ]; do echo $line; i=$((i+1)); done",
  linked: `${write('/data/x', 3)}; mkdir /data/d; ln /data/x /data/d/y; ln -s /layer /data/l; mkdir -m 0700 /data/s; ${write('/data/s/z', 1)}`,
  sparse: 'dd if=/dev/zero of=/data/hole bs=1 count=1 seek=1073741824 2>/dev/null',
  restarted: `if [ ! -e /data/once ]; then ${write('/layer', 6)}; touch /data/once; exit 1; fi`,
};

const limits = { 'ephemeral-storage': '1Gi' };
const manifest = (name: string, script: string): object => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' } },
  spec: {
    terminationGracePeriodSeconds: 1,
    initContainers: [
      {
        ...{ name: 'prepare', image: busyboxImage.ref },
        command: ['sh', '-c', write('/prepared', 2)],
      },
    ],
    containers: [
      {
        ...{ name: 'main', image: busyboxImage.ref, command: ['sh', '-c', `${script}; sleep 100000`] },
        resources: { limits },
        volumeMounts: [
          { name: 'data', mountPath: '/data' },
          { name: 'shm', mountPath: '/shm' },
          { name: 'conf', mountPath: '/conf' },
        ],
      },
      { name: 'idle', image: busyboxImage.ref, command: ['sleep', '100000'] },
    ],
    volumes: [
      { name: 'data', emptyDir: { sizeLimit: '64Mi' } },
      { name: 'shm', emptyDir: { medium: 'Memory', sizeLimit: '32Mi' } },
      { name: 'conf', configMap: { name: 'conf' } },
    ],
  },
});

async function listPods(accept?: string): Promise<readonly NodePodFacts[]> {
  const transport = createTransport({
    endpoint: { server: cluster.url, tls: { ca: readFileSync(cluster.caFile) } },
    auth: tokenCredentials(cluster.token('admin')),
    clock,
  });
  const { path, query, codec, ...resource } = nodePodsResource(cluster.node.name);
  const request = { method: 'GET', path, query, accept: accept ?? resource.accept } as const;
  try {
    return (await decodeList(transport.stream(request, never), codec)).items;
  } finally {
    transport.close();
  }
}

beforeAll(async () => {
  const { archive } = await archiveOf([busyboxImage]);
  cluster = await startQuietNode({
    images: [{ archive }],
    kubelet: { config: { volumeStatsAggPeriod: '2s' } },
  });
  await kubectl(cluster, ['create', 'configmap', 'conf', '--from-literal=a=b']);
  const items = Object.entries(scripts).map(([name, script]) => manifest(name, script));
  await create(cluster, ...items);
  kubelet = kubeletOf(cluster, (await kubeletTokens(cluster)).stats);
  await waitUntil('all pods run', async () => {
    const found = Object.values(await phases(cluster));
    return found.length === items.length && found.every((phase) => phase === 'Running');
  });
  // The layer of its first container is removed with the container.
  const main = '.status.containerStatuses[?(@.name=="main")]';
  const again = ['get', 'pod', 'restarted', '-o', `jsonpath={${main}.restartCount} {${main}.ready}`];
  await waitUntil('what has failed runs again', async () => (await kubectl(cluster, again)) === '1 true');
  pods = await listPods();
});

afterAll(async () => {
  kubelet.close();
  await cluster.stop();
});

test('the declarations of a pod are the same in JSON and protobuf', async () => {
  const json = await listPods('application/json');
  const byName = (list: readonly NodePodFacts[]): object =>
    Object.fromEntries(
      list.map(({ name, storage, priority, isOptedOut }) => [name, { storage, priority, isOptedOut }]),
    );
  expect(byName(await listPods())).toEqual(byName(json));
  expect(json.find(({ name }) => name === 'disk')?.storage).toMatchObject({
    emptyDirs: [
      { name: 'data', isMemory: false, limit: { bytes: 64 * 1024 ** 2, text: '64Mi' } },
      { name: 'shm', isMemory: true, limit: { bytes: 32 * 1024 ** 2, text: '32Mi' } },
    ],
    containers: [
      { name: 'main', limit: { bytes: 1024 ** 3, text: '1Gi' } },
      { name: 'idle', limit: undefined },
    ],
    initContainers: [{ name: 'prepare', restartable: false, limit: undefined }],
  });
});

interface StorageUsage {
  readonly total: number | undefined;
  readonly data: number | undefined;
  readonly shm: number | undefined;
}

const usageOf = (usage: PodStorageUsage | undefined): StorageUsage => ({
  total: usage?.total?.bytes,
  data: usage?.volumes.get('data')?.bytes,
  shm: usage?.volumes.get('shm')?.bytes,
});

test('the kubelet reports what each pod has written', async () => {
  const mebi = 1024 * 1024;
  const read = async (): Promise<Readonly<Record<string, StorageUsage>>> => {
    const usage = await kubelet.usage(never);
    return Object.fromEntries(pods.map(({ name, uid }) => [name, usageOf(usage.pods.get(uid))]));
  };
  const written = (values: Readonly<Record<string, StorageUsage>>): readonly boolean[] => [
    atLeast(values['disk']?.data, 9 * mebi),
    atLeast(values['memory']?.shm, 4 * mebi),
    atLeast(values['layer']?.total, 7 * mebi),
    atLeast(values['logs']?.total, 3_000_000),
    atLeast(values['linked']?.data, 4 * mebi),
  ];
  // The kubelet measures volumes every 2 s here, the runtime layers every 10 s.
  await expect.poll(async () => written(await read()), eventually).not.toContain(false);
  const values = await read();
  expect(values['memory']?.total).toBeLessThan(4 * mebi);
  expect(values['linked']?.data).toBeLessThan(5 * mebi);
  expect(values['sparse']?.data).toBeLessThan(mebi);
  expect(values['restarted']?.total).toBeLessThan(6 * mebi);
});

const atLeast = (bytes = 0, least: number): boolean => bytes >= least;

test('a kubelet that does not measure local storage has no summary, and the error names the consequence', async () => {
  // A jail has one node at a time.
  await cluster.stop();
  await using other = await startQuietNode({ kubelet: { config: { localStorageCapacityIsolation: false } } });
  const { stats } = await kubeletTokens(other);
  const blind = kubeletOf(other, stats);
  await expect(blind.usage(never)).rejects.toThrow(
    /with 500: .*failed to get rootFs info.*dustpan evicts no pod of this node$/,
  );
  blind.close();
});
