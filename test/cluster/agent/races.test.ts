// @bed node
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, test } from 'vitest';
import { everySecond, startAgent, stateFileOf, type AgentOptions } from './agent.ts';
import { passesOf, type DustpanProcess } from '../servers/dustpan-process.ts';
import {
  applyPolicy,
  createPods,
  imageTags,
  listContainers,
  metric,
  uidOf,
  startNodeWithoutKubelet,
} from './environment.ts';
import type { Cluster } from '../servers/cluster.ts';
import { runContainer, runSandbox, type Sandbox } from '../node/crictl.ts';
import type { BuiltImage } from '../node/image.ts';
import { shiftedClock, type ShiftedClock } from '../programs/shifted-clock.ts';
import { eventually, promptly } from '../servers/waiting.ts';

const requestTimeoutMs = 4_000;
/** Longer than the deadline of any request of the agent. */
const pauseMs = 11_000;
/** Longer than responses of the API server stay fresh. */
const freshMs = 6_000;
/** All that a pass does before its next call to the runtime; well below the deadline of that call. */
const untilItWaitsMs = 1_000;
const hourMs = 3_600_000;

/** So many that a busy machine, too, is in the middle of it when it has begun. */
const batch = 200;
/** So many of a batch are gone when something happens. */
const begun = 10;

const args = [...everySecond, `--runtime-request-timeout=${requestTimeoutMs}ms`];
/** Removes images that were unused for two seconds. */
const unusedGo = { highThresholdPercent: 100, lowThresholdPercent: 80, minimumAge: '1s', maximumAge: '2s' };

let cluster: Cluster;
let agent: DustpanProcess | undefined;
let clock: ShiftedClock;
let sandbox: Sandbox;
/** The labels that the kubelet sets on its containers. */
let labels: Readonly<Record<string, string>>;
/** Tags of the images that must stay. */
const living = new Set(['bed.test/pause:1']);

beforeAll(async () => {
  clock = shiftedClock(mkdtempSync(join(tmpdir(), 'agent-')));
  cluster = await startNodeWithoutKubelet();
  await bindPod('user', 'bed.test/elsewhere:1');
  const uid = await uidOf(cluster, 'user');
  sandbox = await runSandbox(cluster, { name: 'user', uid });
  labels = { 'io.kubernetes.pod.uid': uid, 'io.kubernetes.pod.name': 'user' };
});

const bindPod = (name: string, image: string): Promise<void> =>
  createPods(cluster, { [name]: { image, script: 'sleep 3600', nodeName: cluster.node.name } });

async function start(options: AgentOptions = {}): Promise<DustpanProcess> {
  await agent?.stop();
  agent = await startAgent(cluster, { args, ...options });
  return agent;
}

/** So many images that nothing uses, in the order in which an agent removes them that sees all for the first time at once. */
async function importUnused(name: string, count: number): Promise<readonly BuiltImage[]> {
  const own = (_: unknown, i: number) =>
    ({ ref: `bed.test/${name}:${i + 1}`, fill: { bytes: 1_000, kind: 'random' } }) as const;
  const built = await cluster.importImages(Array.from({ length: count }, own));
  return built.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

const removed = (of: DustpanProcess): Promise<number> =>
  metric(of, 'dustpan_image_garbage_collected_total{reason="age"}');
const spared = (of: DustpanProcess, reason: string): Promise<number> =>
  metric(of, `dustpan_skipped_objects_total{unit="imagegc",reason="${reason}"}`);

/** Starts an agent on a batch, and waits until it is in the middle of it. */
async function inTheMiddleOf(
  name: string,
): Promise<{ readonly at: DustpanProcess; readonly order: readonly string[] }> {
  await agent?.stop();
  const order = (await importUnused(name, batch)).map(({ ref }) => ref);
  const at = await start();
  await expect.poll(() => removed(at), promptly).toBeGreaterThanOrEqual(begun);
  return { at, order };
}

const lastPass = 'dustpan_loop_last_success_timestamp_seconds{loop="imagegc"}';

const sleeps = ['sleep', '3600'];
const ends = ['true'];

async function useImage(image: string, command: readonly string[]): Promise<void> {
  const name = image.replace(/^.*\//, '').replace(':', '-');
  await runContainer(cluster, sandbox, { name, image, command, labels });
  living.add(image);
}

/** Waits until all removable images are gone; no other image may ever be missing. */
async function othersGo(): Promise<void> {
  const wanted = [...living].sort();
  await expect
    .poll(async () => {
      const tags = await imageTags(cluster);
      expect(tags.filter((tag) => living.has(tag))).toEqual(wanted);
      return tags;
    }, eventually)
    .toEqual(wanted);
}

const states = async (): Promise<readonly string[]> =>
  (await listContainers(cluster)).map(({ name, state }) => `${name} ${state}`);

/**
 * Stops the agent while it waits for the runtime: what is between its last look and the socket it sends when it wakes, and nobody can hold that
 * back (docs/reliability.md). What was asked of the runtime before the pause is done by then.
 */
async function paused(at: DustpanProcess): Promise<readonly string[]> {
  await cluster.kill('ctd', 'SIGSTOP');
  await sleep(untilItWaitsMs);
  await at.kill('SIGSTOP');
  await cluster.kill('ctd', 'SIGCONT');
  for (let before = -1, tags = await imageTags(cluster); ; tags = await imageTags(cluster)) {
    if (tags.length === before) return tags;
    before = tags.length;
    await sleep(200);
  }
}

test('a clock that is moved by an hour, forward and back, makes no image or container older', async () => {
  const images = (await importUnused('clock', 6)).map(({ ref }) => ref);
  const [image = ''] = images;
  await useImage(image, sleeps);
  for (const attempt of [0, 1, 2])
    await runContainer(cluster, sandbox, { name: 'job', image, command: ends, labels, attempt });
  const ended = async (): Promise<readonly string[]> =>
    (await states()).filter((one) => one.includes('/job/') && one.endsWith(' CONTAINER_EXITED'));
  await expect.poll(ended, eventually).toHaveLength(3);
  const before = { images: await imageTags(cluster), containers: await states() };
  expect(before.images).toEqual([...new Set([...living, ...images])].sort());
  // The space step does not use the time of the API server.
  const full = { highThresholdPercent: 1, lowThresholdPercent: 0 };
  const patient = { ...full, minimumAge: '30m', maximumAge: '45m' };
  await applyPolicy(cluster, 'Enforce', {
    imageGC: patient,
    containerGC: { minimumAge: '30m', maxPerPodContainer: 0 },
  });
  const at = await start({ env: clock.env });
  for (const offsetMs of [hourMs, 0, -hourMs, 0]) {
    clock.set(offsetMs);
    await Promise.all([passesOf(at, 'imagegc', 1), passesOf(at, 'containergc', 1)]);
    const passedMs = 1_000 * (await metric(at, lastPass));
    expect(Math.abs(passedMs - offsetMs - Date.now())).toBeLessThan(hourMs / 2);
    expect({ images: await imageTags(cluster), containers: await states() }).toEqual(before);
  }

  // An agent with the right clock sees their real age.
  await applyPolicy(cluster, 'Enforce', { imageGC: unusedGo, containerGC: { maxPerPodContainer: 0 } });
  await start();
  await othersGo();
  // The agent keeps the newest attempt in an unfinished pod.
  const staying = before.containers.filter((state) => / CONTAINER_RUNNING$|\/job\/2 /.test(state));
  expect(staying).toHaveLength(2);
  await expect.poll(states, eventually).toEqual(staying);
});

test('keeps images that containers begin to use during a pass, and removes the others', async () => {
  await applyPolicy(cluster, 'Enforce', { imageGC: unusedGo });
  const { at, order } = await inTheMiddleOf('one');
  const [runs = '', ended = ''] = order.slice(-2);
  await useImage(runs, sleeps);
  await useImage(ended, ends);
  expect(await removed(at)).toBeLessThan(batch - 2);

  await othersGo();
  await expect.poll(() => removed(at), eventually).toBe(batch - 2);
  // So they were on the list of the pass.
  await expect.poll(() => spared(at, 'InUse'), eventually).toBe(2);
});

test('keeps images that came into use while the agent was paused beyond all deadlines', async () => {
  const { at, order } = await inTheMiddleOf('two');
  const tags = await paused(at);
  const pausedAt = performance.now();
  const left = order.filter((ref) => tags.includes(ref));
  const [next = '', second = ''] = left;
  const last = left.at(-1) ?? '';
  // The agent may just have checked that nothing uses the next image.
  await useImage(next, sleeps);
  await useImage(second, ends);
  await bindPod('late', last);
  living.add(last);
  await sleep(pauseMs - (performance.now() - pausedAt));
  await at.kill('SIGCONT');

  await othersGo();
  expect(await removed(at)).toBeLessThanOrEqual(batch - 3);
  await at.ready();
});

test('removes nothing more when the policy became DryRun while the agent was paused', async () => {
  const { at } = await inTheMiddleOf('three');
  const tags = await paused(at);
  await applyPolicy(cluster, 'DryRun', { imageGC: unusedGo });
  await sleep(freshMs);
  await at.kill('SIGCONT');

  await passesOf(at, 'imagegc', 2);
  expect(await imageTags(cluster)).toEqual(tags);
  // Else there would have been nothing left to do.
  expect(tags.length).toBeGreaterThan(living.size + begun);
  await applyPolicy(cluster, 'Enforce', { imageGC: unusedGo });
  await othersGo();
});

test('a state file of the future and a killed runtime make nothing older', async () => {
  await agent?.stop();
  const images = await importUnused('future', 5);
  await applyPolicy(cluster, 'Enforce', {
    imageGC: { ...unusedGo, minimumAge: '3s', maximumAge: '4s' },
  });
  const record = { firstDetected: '2020-01-01T00:00:00Z', lastUsed: null };
  const records = Object.fromEntries(images.map(({ id }) => [id, record]));
  const future = JSON.stringify({ version: 2, images: records, removed: [] });
  const stateFile = stateFileOf(cluster);
  writeFileSync(stateFile, future);
  await cluster.kill('ctd');
  const at = await start();
  expect([await at.probe('/healthz'), await at.probe('/readyz')]).toEqual([200, 500]);
  expect(readFileSync(stateFile, 'utf8')).toBe(future);

  // It sees nothing before that.
  const seenMs = Date.now();
  await cluster.start('ctd');
  await at.ready();
  await othersGo();
  expect(readFileSync(`${stateFile}.bak`, 'utf8')).toBe(future);
  const removals = async () => (await at.logs()).filter(({ msg }) => msg === 'removed image');
  await expect.poll(removals, eventually).toHaveLength(images.length);
  for (const { ts } of await removals()) expect(Date.parse(ts)).toBeGreaterThanOrEqual(seenMs + 4_000);
});
