// @bed node
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { ContainerdClient } from '../../../src/containerd/client.ts';
import { everySecond, startAgent } from './agent.ts';
import {
  applyPolicy,
  condition,
  createPods,
  imageTags,
  readReport,
  startQuietNode,
  untilPhases,
} from './environment.ts';
import { host } from './pulled-images.ts';
import { criResponse, crictl } from '../node/crictl.ts';
import { busyboxImage, type ImageSpec } from '../node/image.ts';
import { push } from '../node/push.ts';
import { startOtherKubelet } from '../node-side-by-side/kubelet.ts';
import { repositoryRoot } from '../repository.ts';
import type { Cluster } from '../servers/cluster.ts';
import { passesOf, type DustpanProcess } from '../servers/dustpan-process.ts';
import { runCommand, runDustpan } from '../servers/command.ts';
import { eventually } from '../servers/waiting.ts';

const { signal } = new AbortController();
const containerd = new ContainerdClient({ socket: '/run/containerd/containerd.sock' });
const pin = 'io.cri-containerd.pinned';
const own = 'gc.dustpan.dev/pinned';

const filled = (ref: string, bytes = 2 * 1024 * 1024): ImageSpec => ({
  ref,
  fill: { bytes, kind: 'random' },
});
const kept = `${host}/kept:1`;
const foreign = filled('bed.test/foreign:1');
const unused = ['a', 'b', 'c'].map((name) => filled(`bed.test/unused:${name}`));

let cluster: Cluster;
let agent: DustpanProcess;
/** The id of the image that the kept tag names. */
let id: string;

const policy = (keep: readonly string[]): object => ({
  imageGC: { highThresholdPercent: 100, lowThresholdPercent: 99, minimumAge: '1s', keep },
});

/** Pushes other content under the kept tag, and pulls it; returns the id of the new image. */
async function pushed(bytes: number): Promise<string> {
  const built = await push(cluster.registryUrl, filled(kept, bytes));
  await crictl(cluster, 'pull', kept);
  return built.id;
}

interface Listed {
  readonly id: string;
  readonly repoTags: readonly string[];
  readonly repoDigests: readonly string[];
  readonly pinned: boolean;
}

const listed = async (): Promise<readonly Listed[]> =>
  (await criResponse<{ images: Listed[] }>(cluster, 'images')).images;

/** Whether CRI, and so the kubelet, sees a pin. */
const isPinned = async (image: string): Promise<boolean | undefined> =>
  (await listed()).find((one) => one.id === image)?.pinned;

/** Of each name of an image, the policy for which dustpan has pinned it. */
async function pinsOf(image: string): Promise<Readonly<Record<string, string | undefined>>> {
  const one = (await listed()).find((other) => other.id === image);
  const names = one === undefined ? [] : [image, ...one.repoTags, ...one.repoDigests];
  const stored = (await containerd.read(signal))?.get('k8s.io')?.images ?? [];
  return Object.fromEntries(
    stored.flatMap(({ name, labels }) =>
      names.includes(name) ? [[name, pin in labels ? (labels[own] ?? 'others') : undefined]] : [],
    ),
  );
}

const pinnedNames = async (): Promise<readonly string[]> => {
  const stored = (await containerd.read(signal))?.get('k8s.io')?.images ?? [];
  return stored.flatMap(({ name, labels }) => (own in labels ? [name] : []));
};

async function whollyPinned(image: string): Promise<void> {
  const isWhole = async (): Promise<boolean> => {
    const policies = Object.values(await pinsOf(image));
    return policies.length >= 2 && policies.every((one) => one === 'default');
  };
  await expect.poll(isWhole, eventually).toBe(true);
  await expect.poll(() => isPinned(image), eventually).toBe(true);
}

beforeAll(async () => {
  cluster = await startQuietNode({
    parts: ['registry'],
    images: [busyboxImage, ...unused],
    pinnedImages: [foreign],
  });
  id = await pushed(2_000_000);
  await applyPolicy(cluster, 'Enforce', policy([kept]));
  agent = await startAgent(cluster, { args: everySecond });
  await agent.ready();
});

test('every name of a kept image is pinned, and the keep list is at risk no longer', async () => {
  await whollyPinned(id);
  expect(Object.keys(await pinsOf(id))).toHaveLength(3);
  await expect.poll(() => condition(cluster, 'KeepListAtRisk'), eventually).toBe('False Pinned');
  await expect
    .poll(async () => (await readReport(cluster))?.images?.pinnedByDustpan?.count, eventually)
    .toBeGreaterThanOrEqual(1);
});

test('the pin survives another pull of the tag and a restart of containerd', async () => {
  await crictl(cluster, 'pull', kept);
  expect(await isPinned(id)).toBe(true);
  await whollyPinned(id);
  await cluster.kill('ctd');
  await cluster.start('ctd');
  expect(await isPinned(id)).toBe(true);
});

test('a tag that moves takes the pin along', async () => {
  const former = id;
  id = await pushed(3_000_000);
  expect(id).not.toBe(former);
  await whollyPinned(id);
  await expect.poll(() => isPinned(former), eventually).toBe(false);
  expect(Object.values(await pinsOf(former)).filter((one) => one !== undefined)).toEqual([]);
});

test('a kubelet whose disk is too full removes every other image, and leaves those that are pinned', async () => {
  const before = await imageTags(cluster);
  expect(before).toEqual(expect.arrayContaining(unused.map(({ ref }) => ref)));
  await crictl(cluster, 'pull', kept);
  await cluster.kill('kubelet');
  const kubelet = await startOtherKubelet(cluster, [
    '--image-gc-high-threshold=1',
    '--image-gc-low-threshold=0',
    '--minimum-image-ttl-duration=1s',
    '--eviction-hard=memory.available<1Mi',
  ]);
  const left = [kept, foreign.ref, 'bed.test/pause:1'].sort();
  await expect.poll(() => imageTags(cluster), eventually).toEqual(left);
  // Passes of the kubelet with nothing but pinned images.
  await passesOf(agent, 'imagegc', 5);
  expect(await imageTags(cluster)).toEqual(left);
  await kubelet.kill();
  await cluster.start('kubelet');
});

test('the sandbox image is pinned where nobody has, also without a keep list', async () => {
  // containerd 2 shows only by a sandbox which image that is.
  await cluster.importImages([busyboxImage]);
  await createPods(cluster, { pinning: { image: busyboxImage.ref, script: 'sleep 3600' } });
  await untilPhases(cluster, { pinning: 'Running' });
  const pause = (await listed()).find(({ repoTags }) => repoTags[0] === 'bed.test/pause:1');
  const sandboxImage = pause?.id ?? '';
  expect(Object.values(await pinsOf(sandboxImage))).toContain('others');
  // As after an upgrade of containerd, or with a short name in its configuration.
  const names = Object.keys(await pinsOf(sandboxImage));
  await applyPolicy(cluster, 'Enforce', policy([]));
  for (const name of names) await containerd.labelImage(name, { [pin]: '' }, signal);
  // CRI manages its id; a tag that was imported it may not.
  await expect.poll(async () => (await pinsOf(sandboxImage))[sandboxImage], eventually).toBe('default');
  await expect.poll(() => isPinned(sandboxImage), eventually).toBe(true);
  for (const name of names) await containerd.labelImage(name, { [pin]: 'pinned', [own]: '' }, signal);
});

test('without its entry an image loses the pin; the pin of others stays', async () => {
  await applyPolicy(cluster, 'Enforce', policy(['bed.test/foreign:1']));
  await expect.poll(() => isPinned(id), eventually).toBe(false);
  const { id: foreignId = '' } = (await listed()).find((one) => one.repoTags[0] === foreign.ref) ?? {};
  expect(await isPinned(foreignId)).toBe(true);
  expect((await pinsOf(foreignId))[foreign.ref]).toBe('others');
});

test('without an agent, a person removes the pins of dustpan, and no others', async () => {
  await applyPolicy(cluster, 'Enforce', policy([kept]));
  await whollyPinned(id);
  await agent.stop();
  const others = (await listed()).filter((one) => one.pinned && one.id !== id);
  expect(others.map(({ repoTags }) => repoTags[0])).toContain(foreign.ref);
  expect(await runDustpan('unpin', `--cri-socket=${cluster.node.criSocket}`)).toContain(`unpinned ${kept}\n`);
  expect(await pinnedNames()).toEqual([]);
  await expect.poll(() => isPinned(id), eventually).toBe(false);
  const left = (await listed()).filter((one) => one.pinned);
  expect(left.map((one) => one.id).sort()).toEqual(others.map((one) => one.id).sort());
  await containerd.labelImage(kept, { [pin]: 'pinned', [own]: 'default' }, signal);
  const help = readFileSync(join(repositoryRoot(), 'docs/reference/cli.md'), 'utf8');
  const [, byHand = ''] = /\n(ctr -n k8s.io images ls[^]*?)\n```/.exec(help) ?? [];
  const { DUSTPAN_BED_BIN: bin = '', PATH: path = '' } = process.env;
  const env = { ...process.env, PATH: `${bin}:${path}` };
  expect(await runCommand(['sh', '-c', byHand], { env })).toMatchObject({ code: 0 });
  expect(await pinnedNames()).toEqual([]);
  expect(await isPinned(id)).toBe(false);
  agent = await startAgent(cluster, { args: everySecond });
});

test('in mode DryRun nothing is pinned', async () => {
  await applyPolicy(cluster, 'Enforce', policy([kept]));
  await whollyPinned(id);
  await applyPolicy(cluster, 'DryRun', policy([kept]));
  await expect.poll(pinnedNames, eventually).toEqual([]);
  await agent.stop();
});
