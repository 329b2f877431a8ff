// @bed node diskMB=512
import { readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { startAgent } from '../agent/agent.ts';
import {
  agentEvents,
  applyPolicy,
  condition,
  imageTags,
  measuring,
  readReport,
  startQuietNode,
} from '../agent/environment.ts';
import { startController } from '../controller/dustpan.ts';
import { createOverruns, fillSteadily, podEvents, write, type Overrun } from '../local-storage/pods.ts';
import { busyboxImage, type ImageSpec } from '../node/image.ts';
import { runDustpan } from '../servers/command.ts';
import type { Cluster } from '../servers/cluster.ts';
import { create, kubectl } from '../servers/kubectl.ts';
import { eventually, waitUntil } from '../servers/waiting.ts';

const mebi = 1024 ** 2;
const disk = '/var/lib';
const filling = `${disk}/filling`;
const available = (): number => {
  const { bavail, bsize } = statfsSync(disk);
  return bavail * bsize;
};
const capacity = (): number => {
  const { blocks, bsize } = statfsSync(disk);
  return blocks * bsize;
};

/** The steps wait for measurements every 10 to 15 s, and for an eviction a minute. */
const patient = { ...eventually, timeout: 300_000 };
const agentArgs = ['--local-storage-period=2s', '--image-gc-period=10s', '--container-gc-period=5s'] as const;

const fill = { bytes: 24 * mebi, kind: 'random' } as const;
const unused = ['bed.test/unused:1', 'bed.test/unused:2'].map((ref) => ({ ref, busybox: false, fill }));

const emptied = (): void => rmSync(filling, { force: true });

afterEach(emptied);

const startNode = (config: object, images: readonly ImageSpec[] = []): Promise<Cluster> =>
  startQuietNode({ images, pinnedImages: [busyboxImage], config: { ...measuring, ...config } });

/** Of the names with the same priority, the one that uses more is evicted first. */
const pods: Readonly<Record<string, Overrun>> = {
  important: {
    ...{ emptyDirs: { a: '' }, main: { script: write('/a/x', 90) } },
    spec: { priorityClassName: 'important' },
  },
  small: { emptyDirs: { a: '' }, main: { script: write('/a/x', 20) } },
  large: { emptyDirs: { a: '' }, main: { script: write('/a/x', 60) } },
  expendable: {
    ...{ emptyDirs: { a: '' }, main: { script: write('/x', 10) } },
    spec: { priorityClassName: 'expendable' },
  },
};
const thresholdPercent = 40;
/** More than the first pod uses, and less than the first two. */
const shortBytes = 45 * mebi;

/** Starts the pods, and fills the disk until it is so much below the threshold. */
async function bringUnderPressure(
  cluster: Cluster,
  beforeIt: () => Promise<void> = () => sleep(20_000),
): Promise<void> {
  const classes = Object.entries({ important: 1_000, expendable: -10 });
  await create(
    cluster,
    ...classes.map(([name, value]) => ({
      ...{ apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name }, value },
    })),
  );
  const before = available();
  await createOverruns(cluster, pods);
  const written = 180 * mebi;
  await waitUntil('the pods have written', () => Promise.resolve(before - available() >= written));
  // The kubelet measures the pods before the disk is low.
  await beforeIt();
  const rest = available() - (capacity() * thresholdPercent) / 100 + shortBytes;
  writeFileSync(filling, Buffer.alloc(rest));
}

/** The first two evicted pods, in the order of their Events. */
async function evictedFirst(cluster: Cluster): Promise<readonly string[]> {
  const seen: string[] = [];
  await waitUntil(
    'two pods are evicted',
    async () => {
      const names = (await podEvents(cluster, 'Evicted')).map(({ pod }) => pod);
      seen.push(...new Set(names.filter((name) => !seen.includes(name))));
      return seen.length >= 2;
    },
    patient,
  );
  return seen.slice(0, 2);
}

const threshold = `${thresholdPercent}%`;

async function byKubelet(): Promise<readonly string[]> {
  await using cluster = await startNode({ evictionHard: { 'nodefs.available': threshold } });
  await bringUnderPressure(cluster);
  return await evictedFirst(cluster);
}

async function byDustpan(): Promise<readonly string[]> {
  await using cluster = await startNode({});
  await applyPolicy(cluster, 'Enforce', {
    nodePressure: { thresholds: { 'nodefs.available': threshold }, gracePeriod: '0s', evictPods: true },
  });
  await using agent = await startAgent(cluster, { args: agentArgs });
  await agent.ready();
  await using controller = await startController(cluster);
  expect(controller.pid).toBeGreaterThan(0);
  const places = async (): Promise<readonly string[]> => {
    const listed = (await readReport(cluster))?.usage?.pods ?? [];
    const ranked = listed.filter(({ evictionPlace }) => evictionPlace !== undefined);
    return ranked.toSorted((a, b) => (a.evictionPlace ?? 0) - (b.evictionPlace ?? 0)).map(({ name }) => name);
  };
  await bringUnderPressure(cluster, () =>
    expect.poll(places, patient).toEqual(['expendable', 'large', 'small', 'important']),
  );
  return await evictedFirst(cluster);
}

test('with equal thresholds the kubelet and dustpan evict the same pods in the same order', async () => {
  const kubelet = await byKubelet();
  emptied();
  expect(kubelet).toEqual(['expendable', 'large']);
  expect(await byDustpan()).toEqual(kubelet);
}, 1_200_000);

/** `False 2026-01-01T00:00:00Z`, and the taints of the node. */
async function diskPressure(cluster: Cluster): Promise<string> {
  const which = '.status.conditions[?(@.type=="DiskPressure")]';
  const path = `{${which}.status} {${which}.lastTransitionTime} [{.spec.taints[*].key}]`;
  return await kubectl(cluster, ['get', 'node', cluster.node.name, '-o', `jsonpath=${path}`]);
}

/** A pod that fills the disk at a steady rate, and whose hook writes to the node. */
const filler: Overrun = {
  spec: {
    terminationGracePeriodSeconds: 20,
    volumes: [
      { name: 'a', emptyDir: {} },
      { name: 'reported', hostPath: { path: '/var/lib/reported', type: 'DirectoryOrCreate' } },
    ],
    containers: [
      {
        ...{ name: 'main', image: busyboxImage.ref, command: ['sh', '-c', fillSteadily('/a', 1)] },
        lifecycle: {
          preStop: {
            exec: {
              command: ['sh', '-c', 'echo begun >/reported/hook; sleep 4; echo ended >>/reported/hook'],
            },
          },
        },
        volumeMounts: [
          { name: 'a', mountPath: '/a' },
          { name: 'reported', mountPath: '/reported' },
        ],
      },
    ],
  },
};

test('a step ahead of the kubelet: first a warning, then images are removed, then one pod ends gracefully; the node has no DiskPressure', async () => {
  await using cluster = await startNode({ evictionHard: { 'nodefs.available': '15%' } }, unused);
  await using agent = await startAgent(cluster, { args: agentArgs });
  await agent.ready();
  await using controller = await startController(cluster);
  expect(controller.pid).toBeGreaterThan(0);
  const thresholds = { 'nodefs.available': '45%' };
  await applyPolicy(cluster, 'Enforce', {
    nodePressure: { thresholds, gracePeriod: '5s', evictPods: true },
    imageGC: { highThresholdPercent: 99, lowThresholdPercent: 98, minimumAge: '10s' },
  });
  const before = await diskPressure(cluster);
  expect(before).toMatch(/^False \S+ \[\]$/);
  const images = await imageTags(cluster);
  expect(images).toContain('bed.test/unused:1');
  await createOverruns(cluster, { filler });

  // imagefs.available measures the same disk: its default threshold, 20 %, may cause another warning.
  const warnings = async (): Promise<readonly string[]> =>
    (await agentEvents(cluster))
      .filter(({ reason, note }) => reason === 'NodePressureAhead' && note.includes('(nodefs.available)'))
      .map(({ note }) => note);
  await expect.poll(async () => (await warnings()).length, patient).toBe(1);
  expect(available()).toBeGreaterThan(0.45 * capacity());
  expect(await imageTags(cluster)).toEqual(images);
  const [warning = ''] = await warnings();
  expect(warning).toMatch(/^The node will be low on disk space .* are available, .* less each minute\. /);
  expect(warning).toMatch(/The policy's threshold, 45%.*, will be crossed in about \d+ ?[ms]/);
  expect(warning).toMatch(/The kubelet's threshold, 15%.*, will be crossed in about \d+ ?m/);
  expect(warning).toContain('Largest consumers: pod default/filler');
  await expect.poll(() => condition(cluster, 'PressureAhead'), patient).toMatch(/^True /); // written after the Event

  await expect
    .poll(() => imageTags(cluster), patient)
    .toEqual(images.filter((tag) => !tag.startsWith('bed.test/unused:')));
  expect(await podEvents(cluster, 'Evicted')).toEqual([]);

  await expect.poll(async () => (await podEvents(cluster, 'Evicted')).length, patient).toBe(1);
  expect(await podEvents(cluster, 'Evicted')).toEqual([
    {
      ...{ pod: 'filler', reason: 'Evicted', by: 'gc.dustpan.dev/controller' },
      note: expect.stringContaining('The node is low on disk space') as string,
    },
  ]);
  await waitUntil(
    'the pod is gone',
    async () => (await kubectl(cluster, ['get', 'pods', '-o', 'name'])) === '',
  );
  expect(readFileSync('/var/lib/reported/hook', 'utf8')).toBe('begun\nended\n');
  await expect.poll(() => available() > 0.45 * capacity(), patient).toBe(true);
  expect(await diskPressure(cluster)).toBe(before);
  await expect.poll(async () => (await readReport(cluster))?.evictionRequestCount, patient).toBe(0);
  const question = ['why', 'pod', 'default/filler', `--kubeconfig=${cluster.kubeconfig('admin')}`];
  await expect(runDustpan(...question)).resolves.toMatch(
    /^Pod default\/filler was evicted\n[^]* {2}Evidence {3}Event on Pod filler: The node is low on disk/,
  );
}, 1_200_000);
