// @bed node imageFsMB=0
import { pinnedVersion } from '../programs/find.ts';
import { expect, test } from 'vitest';
import { startAgent } from '../agent/agent.ts';
import {
  applyPolicy,
  measuring,
  startQuietNode,
  withStaticPods,
  writeStaticPod,
} from '../agent/environment.ts';
import type { Cluster } from '../servers/cluster.ts';
import { startController } from '../controller/dustpan.ts';
import { busyboxImage } from '../node/image.ts';
import { onlyMeasures } from '../programs/kubelet-quick.ts';
import {
  createOverruns,
  noMoreEvictions,
  overrunPod,
  podEvents,
  print,
  write,
  type Overrun,
} from './pods.ts';
import { kubectl } from '../servers/kubectl.ts';
import { waitUntil } from '../servers/waiting.ts';

const small = { main: { limit: '10Mi' } };

/** Every rule of upstream, hit and just missed. */
const pods: Readonly<Record<string, Overrun>> = {
  'volume-over': { emptyDirs: { a: '10Mi' }, main: { script: write('/a/x', 12) } },
  'volume-under': { emptyDirs: { a: '10Mi' }, main: { script: write('/a/x', 8) } },
  'volume-without-limit': { emptyDirs: { a: '' }, main: { script: write('/a/x', 20) } },
  'volume-limit-zero': { emptyDirs: { a: '0' }, main: { script: write('/a/x', 5) } },
  'second-volume-over': { emptyDirs: { a: '10Mi', b: '5Mi' }, main: { script: write('/b/x', 6) } },
  // The first volume of the pod counts and is filled first: no measurement may find only the other one over its limit.
  'both-volumes-over': {
    emptyDirs: { b: '5Mi', a: '5Mi' },
    main: { script: `${write('/b/x', 6)}; ${write('/a/x', 9)}` },
  },
  'volume-in-memory-full': { inMemory: { a: '4Mi' }, main: { script: write('/a/x', 8) } },
  'sparse-file': {
    emptyDirs: { a: '10Mi' },
    main: { script: 'dd if=/dev/zero of=/a/x bs=1 count=1 seek=1073741824 2>/dev/null' },
  },
  'hard-links': { emptyDirs: { a: '10Mi' }, main: { script: `${write('/a/x', 7)}; ln /a/x /a/y` } },
  'link-out-of-the-volume': {
    emptyDirs: { a: '10Mi' },
    main: { script: `${write('/big', 15)}; ln -s /big /a/x` },
  },
  'deleted-but-open': {
    emptyDirs: { a: '10Mi' },
    // It is written after it was deleted: no measurement may find it in the volume.
    main: {
      script:
        '{ rm /a/x; dd if=/dev/zero of=/proc/self/fd/1 bs=1048576 count=12 2>/dev/null; sleep 100000; } >/a/x & true',
    },
  },
  'layer-over': { main: { limit: '10Mi', script: write('/x', 14) } },
  'layer-under': { main: { limit: '10Mi', script: write('/x', 7) } },
  'logs-over': { main: { limit: '4Mi', script: print(6) } },
  'layer-and-logs-over': { main: { limit: '10Mi', script: `${write('/x', 7)}; ${print(5)}` } },
  'one-of-two-over': {
    ...small,
    second: { limit: '50Mi' },
    main: { limit: '10Mi', script: write('/x', 15) },
  },
  'unlimited-beside-limited': { ...small, second: { script: write('/x', 15) } },
  'volume-counts-for-the-pod': {
    emptyDirs: { a: '' },
    main: { limit: '10Mi', script: write('/a/x', 15) },
  },
  'init-raises-the-pods-limit': { init: { limit: '30Mi' }, main: { limit: '10Mi', script: write('/x', 15) } },
  'init-wrote-and-is-gone': { init: { limit: '10Mi', script: write('/x', 15) }, ...small },
  'sidecar-over-its-own': { sidecar: { limit: '20Mi', script: write('/x', 25) }, ...small },
  'sidecar-over-the-pods': { sidecar: { limit: '10Mi', script: write('/x', 25) }, ...small },
  'limit-zero': { main: { limit: '0', script: write('/x', 1) } },
  'volume-before-pod': { emptyDirs: { a: '5Mi' }, main: { limit: '8Mi', script: write('/a/x', 12) } },
  critical: {
    emptyDirs: { a: '5Mi' },
    main: { script: write('/a/x', 12) },
    spec: { priorityClassName: 'system-node-critical' },
  },
  // The kubelet replaces config.source on its copy of an API pod. A pod with config.mirror is missing here: the kubelet takes it for the
  // mirror of a static pod that does not exist, never runs it and deletes it.
  'claims-to-be-static': {
    emptyDirs: { a: '10Mi' },
    main: { script: write('/a/x', 12) },
    annotations: {
      'kubernetes.io/config.source': 'file',
      'kubernetes.io/config.hash': '0123456789abcdef0123456789abcdef',
    },
  },
  finished: { emptyDirs: { a: '5Mi' }, main: { script: write('/a/x', 12) }, ends: true },
  idle: { emptyDirs: { a: '5Mi' }, main: { limit: '5Mi' } },
};

const staticPod: Overrun = { emptyDirs: { a: '5Mi' }, main: { script: write('/a/x', 12) } };

async function startNode(kubelet: 'kubelet' | 'kubelet-quick', config: object = {}): Promise<Cluster> {
  const cluster = await startQuietNode({
    ...{ kubelet, images: [busyboxImage] },
    config: { ...measuring, ...withStaticPods, ...config },
  });
  writeStaticPod('static', overrunPod('', 'static', { ...staticPod, spec: { nodeName: undefined } }));
  await createOverruns(cluster, pods);
  await waitUntil('all pods to be started', async () => {
    const phases = await kubectl(cluster, ['get', 'pods', '-o', 'jsonpath={.items[*].status.phase}']);
    const list = phases.split(' ');
    const hasFinished = list.some((phase) => phase === 'Succeeded' || phase === 'Failed');
    return hasFinished && list.length > Object.keys(pods).length && !list.includes('Pending');
  });
  return cluster;
}

/** The messages up to the limit, by pod; the rest differs. */
const evictions = (events: Awaited<ReturnType<typeof podEvents>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    events
      .map(({ pod, note }): [string, string] => [pod, /^.*?limit[^.]*\. /.exec(note)?.[0] ?? note])
      .sort(),
  );

/** Waits until these are evicted, and then for others. */
async function evicted(
  cluster: Cluster,
  areThose: (names: readonly string[]) => boolean,
): Promise<Readonly<Record<string, string>>> {
  const see = async (): Promise<Readonly<Record<string, string>>> =>
    evictions(await podEvents(cluster, 'Evicted'));
  await waitUntil('these are evicted', async () => areThose(Object.keys(await see())), { timeout: 240_000 });
  return await noMoreEvictions(see);
}

const fewest = 10;

/** Kubelets before 1.37 evict for the limit of no sidecar (docs/deviations.md). */
const isOlderKubelet = Number(pinnedVersion('kubernetes', 'k8s.io/kubernetes').split('.')[1]) < 37;

function omit<T>(record: Readonly<Record<string, T>>, name: string): Readonly<Record<string, T>> {
  expect(Object.keys(record)).toContain(name);
  return Object.fromEntries(Object.entries(record).filter(([key]) => key !== name));
}

async function byKubelet(): Promise<Readonly<Record<string, string>>> {
  await using cluster = await startNode('kubelet');
  return await evicted(cluster, ({ length }) => length >= fewest);
}

/** The kubelet of this node measures and evicts no pod. */
async function byDustpan(theirs: readonly string[]): Promise<Readonly<Record<string, string>>> {
  await using cluster = await startNode('kubelet-quick', onlyMeasures);
  await applyPolicy(cluster, 'Enforce', { localStorageEviction: {} });
  // The first report is spread over a period of containers.
  const periods = ['--local-storage-period=2s', '--container-gc-period=5s'];
  await using agent = await startAgent(cluster, { args: periods });
  await agent.ready();
  await using controller = await startController(cluster);
  expect(controller.pid).toBeGreaterThan(0);
  const seen = await evicted(cluster, (names) => theirs.every((name) => names.includes(name)));
  const left = await kubectl(cluster, ['get', 'pods', '-o', 'jsonpath={.items[*].metadata.name}']);
  const gone = Object.keys(pods).filter((name) => !left.split(' ').includes(name));
  expect(gone.sort()).toEqual(Object.keys(seen).sort());
  return seen;
}

test('the kubelet and dustpan evict the same pods, for the same limit', async () => {
  // On a busy machine the kubelet measures the pod `finished` before it has ended, and rightly evicts it.
  const ofRunning = Object.entries(await byKubelet()).filter(([name]) => name !== 'finished');
  const kubelet = Object.fromEntries(ofRunning);
  expect(Object.keys(kubelet).length).toBeGreaterThanOrEqual(fewest);
  expect(Object.keys(pods).length - Object.keys(kubelet).length).toBeGreaterThanOrEqual(10);
  const dustpan = await byDustpan(Object.keys(kubelet));
  expect(isOlderKubelet ? omit(dustpan, 'sidecar-over-its-own') : dustpan).toEqual(kubelet);
}, 1_500_000);
