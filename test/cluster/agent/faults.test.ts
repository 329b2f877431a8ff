// @bed node
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseState } from '../../../src/node/disk/state-format.ts';
import type { AgentState } from '../../../src/node/disk/state-format.ts';
import { agentRequests, agentUser, startAgent, stateFileOf } from './agent.ts';
import { passesOf, type DustpanProcess } from '../servers/dustpan-process.ts';
import {
  agentEvents,
  applyPolicy,
  archiveOf,
  condition,
  createPods,
  imageTags,
  leavePhantom,
  listContainers,
  listSandboxes,
  metric,
  phases,
  runningPods,
  startQuietNode,
} from './environment.ts';
import type { Cluster } from '../servers/cluster.ts';
import { busyboxImage, tinyImages, type ImageSpec } from '../node/image.ts';
import { eventually, waitUntil } from '../servers/waiting.ts';

/** An image with its own layer. */
const own = (ref: string): ImageSpec => ({ ref, fill: { bytes: 1_000, kind: 'random' } });
const app = own('bed.test/app:1');
const waiting = own('bed.test/waiting:1');
const needed = [app, waiting, busyboxImage].map(({ ref }) => ref).concat('bed.test/pause:1');
const isNeeded = (tags: readonly string[]): boolean => needed.every((tag) => tags.includes(tag));

const batch = 150;
/** So many of a batch are gone when the fault comes. */
const begun = 10;

const args = ['--image-gc-period=1s', '--container-gc-period=1s', '--runtime-request-timeout=4s'];
/** Everything that nothing has used for two seconds. */
const collecting = (minimumAge: string, maximumAge: string): object => ({
  imageGC: { highThresholdPercent: 100, lowThresholdPercent: 80, minimumAge, maximumAge },
  containerGC: { logs: {} },
});

let cluster: Cluster;
let agent: DustpanProcess;
/** When the API server was back. */
let recovered: Date;
/** Containers of running pods when all of them run. */
let runningAtFirst: Awaited<ReturnType<typeof runningPods>>;

beforeAll(async () => {
  const { archive } = await archiveOf([busyboxImage, app, waiting]);
  const withoutRight = (name: string, resource: string) => {
    const rules = agentUser.rules?.filter(({ resources = [] }) => !resources.includes(resource)) ?? [];
    return { name, rules };
  };
  const users = [
    withoutRight('no-pods', 'pods'),
    withoutRight('no-nodes', 'nodes'),
    withoutRight('no-policies', 'gcpolicies'),
    withoutRight('no-reports', 'nodegcreports'),
  ];
  cluster = await startQuietNode({ images: [{ archive }], users });
  const script = 'sleep 3600';
  await createPods(cluster, {
    busybox: { image: busyboxImage.ref, script },
    app: { image: app.ref, script },
    waiting: {
      image: waiting.ref,
      script,
      volumes: [{ name: 'missing', configMap: { name: 'missing' } }],
      volumeMounts: [{ name: 'missing', mountPath: '/missing' }],
    },
  });
  await waitUntil('pods run', async () => {
    const found = Object.values(await phases(cluster)).toSorted();
    return found.join(' ') === 'Pending Running Running';
  });
  runningAtFirst = await runningPods(cluster);
  await applyPolicy(cluster, 'Enforce', collecting('1s', '2s'));
  agent = await startAgent(cluster, { args });
  await agent.ready();
});

afterAll(async () => {
  await agent.stop();
  await cluster.stop();
});

const removed = (): Promise<number> => metric(agent, 'dustpan_image_garbage_collected_total{reason="age"}');

async function importUnused(name: string, count: number): Promise<readonly string[]> {
  const specs = tinyImages(count, `bed.test/${name}`);
  const { archive } = await archiveOf(specs);
  await cluster.importImage({ archive });
  return specs.map(({ ref }) => ref);
}

/** Imports unused images, and waits until the agent has removed some of them. */
async function inTheMiddleOf(name: string): Promise<void> {
  const before = await removed();
  await importUnused(name, batch);
  await expect.poll(removed, { ...eventually, interval: 20 }).toBeGreaterThanOrEqual(before + begun);
  expect(await removed()).toBeLessThan(before + batch);
}

/** Waits until only needed images are left, none of which may ever be missing. */
async function isCompleted(): Promise<void> {
  await expect
    .poll(async () => {
      const tags = await imageTags(cluster);
      expect(isNeeded(tags)).toBe(true);
      return tags;
    }, eventually)
    .toEqual(needed.toSorted());
  expect(await runningPods(cluster)).toEqual(runningAtFirst);
}

function readState(): AgentState {
  const reading = parseState(readFileSync(stateFileOf(cluster), 'utf8'));
  if (reading.kind !== 'read') throw new Error('the state file cannot be read');
  return reading.state;
}

test('containerd is killed during a pass and restarted: the pass completes later', async () => {
  await inTheMiddleOf('one');
  await cluster.kill('ctd');
  await expect.poll(() => condition(cluster, 'Degraded'), eventually).toMatch(/^True /);
  await expect.poll(() => agent.probe('/readyz'), eventually).toBe(500);
  expect(await agent.probe('/healthz')).toBe(200);

  await cluster.start('ctd');
  await isCompleted();
  await agent.ready();
  await expect.poll(() => condition(cluster, 'Degraded'), eventually).toBe('False AsPlanned');
});

test('containerd hangs during a pass and resumes: the pass completes later', async () => {
  await inTheMiddleOf('two');
  await cluster.kill('ctd', 'SIGSTOP');
  await expect.poll(() => condition(cluster, 'Degraded'), eventually).toMatch(/^True /);
  await expect.poll(() => agent.probe('/readyz'), eventually).toBe(500);
  expect(await agent.probe('/healthz')).toBe(200);
  const deadlines = (await agent.logs()).filter((line) => JSON.stringify(line).includes('within 4'));
  expect(deadlines).not.toEqual([]);

  await cluster.kill('ctd', 'SIGCONT');
  await isCompleted();
  await agent.ready();
  await expect.poll(() => condition(cluster, 'Degraded'), eventually).toBe('False AsPlanned');
});

test('the agent is killed during a pass and restarted: it keeps its history and completes the work', async () => {
  const before = readState();
  await inTheMiddleOf('three');
  await agent.kill('SIGKILL');
  const left = (await imageTags(cluster)).filter((tag) => tag.includes('three'));
  expect(left.length).toBeGreaterThan(0);
  expect(left.length).toBeLessThan(batch);
  const found = readState();

  agent = await startAgent(cluster, { args });
  await isCompleted();
  await passesOf(agent, 'imagegc', 1);
  const messages = (await agent.logs()).map(({ msg }) => msg);
  expect(messages).not.toContain('state file cannot be used, starting over');
  const now = readState();
  expect(now.images.size).toBe(needed.length);
  for (const [id, { firstDetectedMs, lastUsedMs = 0 }] of now.images) {
    expect(firstDetectedMs).toBe(before.images.get(id)?.firstDetectedMs);
    expect(lastUsedMs).toBeGreaterThanOrEqual(found.images.get(id)?.lastUsedMs ?? 0);
  }
});

test('nothing is removed while the API server is unreachable', async () => {
  expect((await agentRequests(cluster)).forbidden).toEqual([]);
  // The kubelet would remove the remains of an unknown pod.
  await cluster.kill('kubelet');
  await cluster.kill('api');
  const unsure = async () =>
    (await metric(agent, 'dustpan_kept_objects{unit="imagegc",reason="NodeUnknown"}')) > 0;
  await expect.poll(unsure, eventually).toBe(true);
  const unused = await importUnused('four', 5);
  await leavePhantom(cluster, busyboxImage.ref);
  const phantoms = async () => {
    const left = [...(await listSandboxes(cluster)), ...(await listContainers(cluster))];
    return left.map(({ name }) => name).filter((name) => /^(phantom|-)\//.test(name));
  };
  await passesOf(agent, 'imagegc', 3);
  await passesOf(agent, 'containergc', 3);
  expect(await imageTags(cluster)).toEqual([...needed, ...unused].sort());
  expect(await phantoms()).toEqual(['phantom/0', '-/main/0']);
  expect(await agent.probe('/healthz')).toBe(200);

  await cluster.start('api');
  await cluster.start('kubelet');
  // Its watches wait longer after each attempt that failed.
  await expect.poll(phantoms, { ...eventually, timeout: 120_000 }).toEqual([]);
  await isCompleted();
  // Right after its start the server did not know its roles yet.
  recovered = new Date();
});

test('a damaged state file restarts the history, and nothing is removed early', async () => {
  await agent.stop();
  const unused = await importUnused('five', 5);
  const text = readFileSync(stateFileOf(cluster), 'utf8');
  writeFileSync(stateFileOf(cluster), text.replaceAll(/20\d\d-/g, '2020-').slice(0, -20));
  await applyPolicy(cluster, 'Enforce', collecting('25s', '26s'));
  const startedMs = Date.now();
  agent = await startAgent(cluster, { args });
  await passesOf(agent, 'imagegc', 1);
  expect(await imageTags(cluster)).toEqual([...needed, ...unused].sort());
  expect(existsSync(`${stateFileOf(cluster)}.bak`)).toBe(true);
  expect(
    [...readState().images.values()].filter(({ firstDetectedMs }) => firstDetectedMs < startedMs),
  ).toEqual([]);

  await isCompleted();
  const lines = await agent.logs();
  expect(lines.map(({ msg }) => msg)).toContain('state file cannot be used, starting over');
  const removals = lines.filter(({ msg }) => msg === 'removed image');
  expect(removals).toHaveLength(unused.length);
  for (const { ts } of removals) expect(Date.parse(ts)).toBeGreaterThanOrEqual(startedMs + 26_000);
});

test('has every right that it uses', async () => {
  expect((await agentRequests(cluster, recovered)).forbidden).toEqual([]);
});

test.each([
  { user: 'no-pods', line: 'cannot list resource "pods"' },
  { user: 'no-nodes', line: 'cannot list resource "nodes"' },
  { user: 'no-policies', line: 'cannot list resource "gcpolicies"' },
])('exits as $user, and names verb and resource', async ({ user, line }) => {
  await expect(startAgent(cluster, { args, user })).rejects.toThrow(line);
});

test('without the right to report, logs an error and still collects', async () => {
  await agent.stop();
  agent = await startAgent(cluster, { args, user: 'no-reports' });
  const log = async () => JSON.stringify(await agent.logs());
  await expect.poll(log, eventually).toMatch(/cannot get resource .{0,3}nodegcreports/);
  await importUnused('six', 2);
  await isCompleted();
  expect((await agentEvents(cluster)).map(({ reason }) => reason)).not.toContain('FreeDiskSpaceFailed');
});
