// @bed node imageFsMB=768
import { statfsSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { agentRequests, everySecond, imageRecord, startAgent } from './agent.ts';
import { passesOf, type DustpanProcess } from '../servers/dustpan-process.ts';
import {
  agentEvents,
  applyPolicy,
  condition,
  createPods,
  dueInDryRun,
  imageTags,
  imageVolume,
  listContainers,
  metric,
  phases,
  readReport,
  reportUnit,
  runningPods,
  startQuietNode,
} from './environment.ts';
import type { Cluster } from '../servers/cluster.ts';
import { criResponse, crictl, inspectedImage } from '../node/crictl.ts';
import { busyboxImage, type ImageSpec } from '../node/image.ts';
import { isContainerd17 } from '../programs/parts.ts';
import { runDustpan } from '../servers/command.ts';
import { kubectl } from '../servers/kubectl.ts';
import { eventually } from '../servers/waiting.ts';

const mebi = 1024 * 1024;
const filled = (ref: string, mebibytes: number): ImageSpec => {
  return { ref: `bed.test/${ref}`, fill: { bytes: mebibytes * mebi, kind: 'random' } };
};

/** Images that must never be removed, each for another reason. */
const survivors = {
  running: filled('running:1', 8),
  finished: filled('finished:1', 8),
  waiting: filled('waiting:1', 8),
  starting: { ...filled('starting:1', 8), tags: ['bed.test/starting:alias'] },
  volume: filled('volume:1', 8),
  kept: filled('kept:1', 8),
};
const pinned = filled('pinned:1', 8);
const usedBefore = filled('used-before:1', 24);
const unused = ['a', 'b', 'c', 'd', 'e'].map((name) => filled(`unused:${name}`, 24));
const unusedLast = filled('unused:last', 24);
const unusedLater = ['f', 'g', 'h', 'i', 'j'].map((name) => filled(`unused:${name}`, 24));

const protectedTags = [
  ...Object.values(survivors).map(({ ref }) => ref),
  pinned.ref,
  busyboxImage.ref,
  'bed.test/pause:1',
];
const withProtected = (...others: readonly ImageSpec[]): readonly string[] =>
  [...protectedTags, ...others.map(({ ref }) => ref)].sort();

/** containerd 1.7 has no image volumes: a pod with one never starts, and its image is kept all the same. */
const mountsImages = !isContainerd17();

const policy = (highThresholdPercent: number, lowThresholdPercent: number): object => ({
  imageGC: { highThresholdPercent, lowThresholdPercent, minimumAge: '2s', keep: ['bed.test/kept:*'] },
  containerGC: {},
});

function disk(): {
  readonly usedPercent: number;
  readonly usedBytes: number;
  readonly capacityBytes: number;
} {
  const { blocks, bavail, bsize } = statfsSync('/var/lib/containerd');
  const usedPercent = 100 - Math.floor((bavail * 100) / blocks);
  return { usedPercent, usedBytes: (blocks - bavail) * bsize, capacityBytes: blocks * bsize };
}

let cluster: Cluster;
let agent: DustpanProcess;
/** Containers of running pods when all of them run. */
let runningAtFirst: Awaited<ReturnType<typeof runningPods>>;

beforeAll(async () => {
  cluster = await startQuietNode({
    images: [busyboxImage, ...Object.values(survivors), usedBefore],
    pinnedImages: [pinned],
    // Report writable layers soon.
    ctd: { statsSeconds: 1 },
  });
  const sleep = 'sleep 3600';
  await createPods(cluster, {
    running: { image: survivors.running.ref, script: sleep },
    finished: { image: survivors.finished.ref, script: 'echo done', restartPolicy: 'Never' },
    waiting: {
      image: survivors.waiting.ref,
      script: sleep,
      volumes: [{ name: 'missing', configMap: { name: 'missing' } }],
      volumeMounts: [{ name: 'missing', mountPath: '/missing' }],
    },
    starting: {
      image: 'bed.test/starting:alias',
      script: sleep,
      initContainers: [{ name: 'first', image: busyboxImage.ref, command: ['sleep', '3600'] }],
    },
    volume: {
      image: busyboxImage.ref,
      script: sleep,
      ...imageVolume(survivors.volume.ref),
    },
    before: { image: usedBefore.ref, script: sleep },
  });
});

test('without a policy, only records when images are used', async () => {
  agent = await startAgent(cluster, { args: everySecond });
  await agent.ready();
  await expect
    .poll(() => phases(cluster), eventually)
    .toEqual({
      running: 'Running',
      finished: 'Succeeded',
      waiting: 'Pending',
      starting: 'Pending',
      volume: mountsImages ? 'Running' : 'Pending',
      before: 'Running',
    });
  const { id } = await inspectedImage(cluster, usedBefore.ref);
  const record = () => imageRecord(cluster, id);
  const isSeenInUse = (): boolean => {
    const { firstDetectedMs = Infinity, lastUsedMs = 0 } = record() ?? {};
    return lastUsedMs > firstDetectedMs;
  };
  await expect.poll(isSeenInUse, eventually).toBe(true);

  await kubectl(cluster, ['delete', 'pod', 'before']);
  const left = async () => (await listContainers(cluster)).filter(({ name }) => name.startsWith('before/'));
  // Unless the kubelet comes first.
  for (const container of await left()) await cluster.run('crictl', ['rm', container.id]);
  await expect.poll(left, eventually).toEqual([]);
  await passesOf(agent, 'imagegc', 1);
  const remembered = record();
  expect(remembered?.lastUsedMs).toBeGreaterThan(remembered?.firstDetectedMs ?? Infinity);

  // The next agent has known these images for longer than later ones.
  for (const images of [unused, [unusedLast]]) {
    await cluster.importImages(images);
    // Longer than the minimum age.
    await passesOf(agent, 'imagegc', 3);
  }
  await agent.stop();
  expect(record()).toEqual(remembered);
});

/** The last measurement of the runtime. */
async function writableLayer(id: string): Promise<number> {
  interface Response {
    stats: { writableLayer?: { usedBytes?: { value: string } } }[];
  }
  const { stats } = await criResponse<Response>(cluster, 'stats', '--id', id);
  return Number(stats[0]?.writableLayer?.usedBytes?.value ?? 0);
}

const space = 'dustpan_image_garbage_collected_total{reason="space"}';
const freed = 'dustpan_image_garbage_collected_bytes_total';

test('DryRun removes nothing, and reports the removable images', async () => {
  await applyPolicy(cluster, 'DryRun', policy(30, 10));
  agent = await startAgent(cluster, { args: everySecond });
  const before = await imageTags(cluster);
  expect(before).toEqual(withProtected(usedBefore, unusedLast, ...unused));
  runningAtFirst = await runningPods(cluster);
  expect(Object.keys(runningAtFirst).sort()).toEqual(mountsImages ? ['running', 'volume'] : ['running']);

  await expect
    .poll(async () => (await readReport(cluster))?.images, eventually)
    .toMatchObject({
      removable: { count: 7 },
      // Those of the pods, and busybox.
      inUse: { count: 6 },
      pinned: { count: 2 },
      kept: { count: 1 },
    });
  // Packed and unpacked, without the layer of busybox, which other images have too.
  const { bytes = 0 } = (await readReport(cluster))?.images?.removable ?? {};
  expect(bytes / (7 * 2 * 24 * mebi)).toBeCloseTo(1, 2);
  await expect.poll(() => dueInDryRun(agent, 'imagegc', 'Space'), eventually).toBeGreaterThan(0);
  await passesOf(agent, 'imagegc', 2);
  expect(await metric(agent, space)).toBe(0);
  expect(await imageTags(cluster)).toEqual(before);
});

test('Enforce frees space to below the low threshold: never used images first, the longest known first', async () => {
  const before = disk();
  const oneImage = (2 * 24 * mebi * 100) / before.capacityBytes;
  // Five removals reach just below the threshold.
  const low = Math.ceil(before.usedPercent - 4.5 * oneImage);
  await applyPolicy(cluster, 'Enforce', policy(before.usedPercent - 2, low));
  await expect.poll(() => metric(agent, space), eventually).toBe(5);
  await passesOf(agent, 'imagegc', 2);

  expect(await imageTags(cluster)).toEqual(withProtected(usedBefore, unusedLast));
  expect(disk().usedPercent).toBeLessThan(low + 1);
  expect(disk().usedPercent).toBeGreaterThan(low - oneImage - 1);
  const cameFree = before.usedBytes - disk().usedBytes;
  expect(await metric(agent, freed)).toBeGreaterThan(0.95 * cameFree);
  expect(await metric(agent, freed)).toBeLessThan(1.05 * cameFree);
  expect(await runningPods(cluster)).toEqual(runningAtFirst);
});

const keptMarked = 'dustpan_kept_objects{unit="imagegc",reason="KeepMarked"}';
const isKept = async (): Promise<boolean> => (await metric(agent, keptMarked)) > 0;

const label = (value: string): Promise<string> =>
  kubectl(cluster, ['label', 'node', cluster.node.name, `gc.dustpan.dev/keep${value}`]);

test('removes nothing while the node has the keep label', async () => {
  await label('=true');
  // The agent knows before there is anything more to remove.
  await expect.poll(isKept, eventually).toBe(true);
  await cluster.importImages(unusedLater);
  const everything = withProtected(usedBefore, unusedLast, ...unusedLater);
  await expect.poll(() => metric(agent, keptMarked), eventually).toBe(everything.length);
  await passesOf(agent, 'imagegc', 3);
  expect(await imageTags(cluster)).toEqual(everything);
  await expect.poll(() => condition(cluster, 'Ready'), eventually).toBe('True KeepMarked');

  await label('-');
  await expect.poll(() => metric(agent, space), eventually).toBe(10);
  await passesOf(agent, 'imagegc', 2);
  const left = await imageTags(cluster);
  expect(left).toEqual(expect.arrayContaining([...withProtected(usedBefore)]));
  expect(left).not.toContain(unusedLast.ref);
  expect(left).toHaveLength(withProtected(usedBefore).length + 1);
});

test('reports what fills the disk when no image can be removed', async () => {
  const [, id = ''] = runningAtFirst['running']?.[0]?.split(' ')[0]?.split('//') ?? [];
  await applyPolicy(cluster, 'Enforce', policy(disk().usedPercent + 10, disk().usedPercent - 20));
  await label('=true');
  await expect.poll(isKept, eventually).toBe(true);
  const megabytes = Math.ceil((disk().capacityBytes * 0.3) / mebi);
  await crictl(
    cluster,
    'exec',
    '--sync',
    id,
    'dd',
    'if=/dev/zero',
    'of=/big',
    'bs=1048576',
    `count=${megabytes}`,
  );
  await expect.poll(() => writableLayer(id), eventually).toBeGreaterThanOrEqual(megabytes * mebi);
  await label('-');

  await expect.poll(() => imageTags(cluster), eventually).toEqual(withProtected());
  await expect.poll(() => condition(cluster, 'Degraded'), eventually).toBe('True TargetMissed');
  const values = { removedTotal: 12, freedBytesTotal: await metric(agent, freed) };
  const question = ['why', 'image', usedBefore.ref, `--kubeconfig=${cluster.kubeconfig('admin')}`];
  await expect(runDustpan(...question)).resolves.toMatch(
    /\swas\s+removed:\s+Space\n[^]* {2}Policy {5}GCPolicy \S+\n/,
  );
  expect(await reportUnit(cluster, 'imagegc')).toMatchObject({ result: 'Short', ...values });
  const events = async (wanted: string) => {
    const ours = (await agentEvents(cluster)).filter(({ reason }) => reason === wanted);
    return ours.map(({ type, note }) => `${type} ${note}`).join('\n');
  };
  const size = '[\\d.]+ [KM]iB';
  const images = `images InUse ${size} \\(4\\), images BoundPod ${size} \\(2\\), images Pinned ${size} \\(2\\), images KeepListed ${size} \\(1\\)`;
  const attribution = new RegExp(
    `^Warning Insufficient free disk space on the node's image filesystem \\(\\d+% of [\\d.]+ MiB used\\)\\. Failed to free sufficient space by deleting unused images \\(freed (${size}|0 B)\\)\\. Wanted ${size}\\. Used: ${size} of ${size}: ${images}, writable layers ${megabytes} MiB, logs \\d+ B, rest (${size}|\\d+ B)\\.$`,
    'm',
  );
  await expect.poll(() => events('FreeDiskSpaceFailed'), eventually).toMatch(attribution);
  await expect
    .poll(() => events('ImageGCFailed'), eventually)
    .toMatch(/^Warning Insufficient free disk space/);

  await crictl(cluster, 'exec', '--sync', id, 'rm', '/big');
  await expect.poll(() => condition(cluster, 'Degraded'), eventually).toBe('False AsPlanned');
  expect(await imageTags(cluster)).toEqual(withProtected());
  expect(await runningPods(cluster)).toEqual(runningAtFirst);
});

test('only keeps all other images; an image on the remove list is purged nevertheless, unless it is in use', async () => {
  const rules = {
    highThresholdPercent: 100,
    minimumAge: '1s',
    maximumAge: '2s',
    only: ['bed.test/elsewhere'],
  };
  await applyPolicy(cluster, 'Enforce', { imageGC: rules });
  await cluster.importImages([unusedLast]);
  const kept = 'dustpan_kept_objects{unit="imagegc",reason="NotSelected"}';
  await expect.poll(() => metric(agent, kept), eventually).toBeGreaterThanOrEqual(1);
  await passesOf(agent, 'imagegc', 3, ['success']);
  expect(await imageTags(cluster)).toContain(unusedLast.ref);

  const until = `${new Date(Date.now() + 3_600_000).toISOString().slice(0, 19)}Z`;
  const remove = [unusedLast, survivors.running].map(({ ref }) => ({ image: ref, until }));
  await applyPolicy(cluster, 'Enforce', { imageGC: { ...rules, remove } });
  const requested = 'dustpan_image_garbage_collected_total{reason="requested"}';
  await expect.poll(() => metric(agent, requested), eventually).toBe(1);
  expect(await imageTags(cluster)).toEqual(withProtected());
  await expect
    .poll(async () => (await readReport(cluster))?.images?.removeList, eventually)
    .toEqual([
      { image: unusedLast.ref, matched: true, inUse: 0, untagged: 0, kept: 0 },
      { image: survivors.running.ref, matched: true, inUse: 1, untagged: 0, kept: 0 },
    ]);
  expect(await runningPods(cluster)).toEqual(runningAtFirst);
});

test('has every right that it uses', async () => {
  expect((await agentRequests(cluster)).forbidden).toEqual([]);
});
