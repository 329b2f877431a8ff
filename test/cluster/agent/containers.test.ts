// @bed node
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { agentRequests, everySecond, startAgent } from './agent.ts';
import { passesOf, type DustpanProcess } from '../servers/dustpan-process.ts';
import {
  applyPolicy,
  createPods,
  dataVolume,
  dueInDryRun,
  leavePhantom,
  listContainers,
  listSandboxes,
  metric,
  phases,
  podManifest,
  quickRestarts,
  reportUnit,
  restartsOf,
  runningPods,
  startQuietNode,
  uidOf,
  withStaticPods,
  writeStaticPod,
} from './environment.ts';
import type { Cluster } from '../servers/cluster.ts';
import { crashSandbox, crictl, runContainer, runSandbox } from '../node/crictl.ts';
import { busyboxImage } from '../node/image.ts';
import { kubectl } from '../servers/kubectl.ts';
import { eventually } from '../servers/waiting.ts';

const podLogs = '/var/log/pods';
const links = '/var/log/containers';
const sleep = 'sleep 3600';
const image = busyboxImage.ref;

const collecting = { containerGC: { maxPerPodContainer: 1, logs: { maxRotatedPerContainer: 1 } } };

/** Fails four times, logging the attempt, then runs. */
const crashing = `n=$(cat /data/n || echo 0); echo $((n+1)) >/data/n; echo attempt $n; [ $n -ge 4 ] && ${sleep}; exit 1`;
/** Writes until the kubelet has rotated the log several times and the test creates a file. */
const writing = `while [ ! -e /data/enough ]; do seq 1 2000; sleep 1; done; echo end; ${sleep}`;

let cluster: Cluster;
let agent: DustpanProcess;
let uids: Readonly<Record<string, string>>;
/** The mirror pod's name. */
const still = 'still-node-a';
/** Containers of the pods that keep running. */
let runningAtFirst: Awaited<ReturnType<typeof runningPods>>;

beforeAll(async () => {
  const logs = { containerLogMaxSize: '10Ki', containerLogMaxFiles: 5, containerLogMonitorInterval: '3s' };
  cluster = await startQuietNode({
    images: [busyboxImage],
    config: { ...withStaticPods, ...quickRestarts, ...logs },
  });
  await createPods(cluster, {
    logger: { image, script: writing, ...dataVolume },
    steady: { image, script: sleep },
    crash: { image, script: crashing, ...dataVolume },
    looping: { image, script: 'exit 1' },
    resandboxed: { image, script: sleep },
    done: { image, script: 'echo kept', restartPolicy: 'Never' },
    gone: { image, script: 'echo gone', restartPolicy: 'Never' },
    'gone-running': { image, script: sleep },
  });
  const manifest = podManifest('still', { image, script: 'echo static', restartPolicy: 'OnFailure' });
  writeStaticPod('still', manifest);
});

/** Names of the containers of a pod, of one state. */
const containersOf = async (pod: string, state = 'CONTAINER_EXITED'): Promise<readonly string[]> =>
  (await listContainers(cluster)).flatMap((one) =>
    one.name.startsWith(`${pod}/`) && one.state === state ? [one.name] : [],
  );
const sandboxesOf = async (pod: string): Promise<readonly string[]> =>
  (await listSandboxes(cluster)).flatMap(({ name, state }) =>
    name.startsWith(`${pod}/`) ? [`${name} ${state}`] : [],
  );
const logDirectory = (pod: string): string => join(podLogs, `default_${pod}_${uids[pod] ?? ''}`);
const logsOf = (pod: string): readonly string[] => readdirSync(join(logDirectory(pod), 'main')).sort();
const linksOf = (pod: string): readonly string[] =>
  readdirSync(links).filter((name) => name.startsWith(`${pod}_default_`));
const logText = (pod: string, ...args: readonly string[]): Promise<string> =>
  kubectl(cluster, ['logs', pod, ...args]);

/** Whether the logger has finished and no further rotation is due. */
function isRotated(): boolean {
  const path = join(logDirectory('logger'), 'main');
  const texts = logsOf('logger')
    .filter((name) => !name.endsWith('.gz'))
    .map((name) => readFileSync(join(path, name), 'utf8'));
  return texts.some((text) => text.endsWith(' end\n')) && statSync(join(path, '0.log')).size < 10 * 1024;
}

/** Crashes the sandbox of a pod and waits until the kubelet has made it another. */
async function losesSandbox(pod: string, attempt: number): Promise<void> {
  const sandbox = (await listSandboxes(cluster)).find(({ name }) => name === `${pod}/${attempt}`);
  await crashSandbox(cluster, sandbox?.id ?? '');
  await expect
    .poll(() => containersOf(pod, 'CONTAINER_RUNNING'), eventually)
    .toEqual([`${pod}/main/${attempt + 1}`]);
}

test('DryRun removes nothing', async () => {
  await expect
    .poll(() => phases(cluster), eventually)
    .toMatchObject({
      'gone-running': 'Running',
      done: 'Succeeded',
      gone: 'Succeeded',
      resandboxed: 'Running',
    });
  const names = Object.keys(await phases(cluster));
  uids = Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await uidOf(cluster, name)] as const)),
  );
  for (const attempt of [0, 1]) await losesSandbox('resandboxed', attempt);
  await expect.poll(() => containersOf('crash', 'CONTAINER_RUNNING'), eventually).toEqual(['crash/main/4']);
  await expect.poll(() => logsOf('logger').length, eventually).toBeGreaterThan(3);
  await kubectl(cluster, ['exec', 'logger', '--', 'touch', '/data/enough']);
  await expect.poll(isRotated, eventually).toBe(true);
  expect(logsOf('logger').length).toBeGreaterThan(3);

  // The API server learns of a restart later than the runtime.
  await expect.poll(() => restartsOf(cluster, 'crash'), eventually).toBe('4 true');
  await expect.poll(() => restartsOf(cluster, 'resandboxed'), eventually).toBe('2 true');
  runningAtFirst = await runningPods(cluster);
  await applyPolicy(cluster, 'DryRun', collecting);
  agent = await startAgent(cluster, { args: everySecond });
  const due = (reason: string) => dueInDryRun(agent, 'containergc', reason);
  // Attempts 0 to 2 of crash, attempt 0 of resandboxed, any of looping.
  await expect.poll(() => due('DeadContainer'), eventually).toBeGreaterThan(4);
  // A log that was written to within the last half minute may still be open.
  await expect.poll(() => due('RotatedLog'), eventually).toBeGreaterThan(0);
  await passesOf(agent, 'containergc', 2);
  expect(await containersOf('crash')).toEqual([0, 1, 2, 3].map((attempt) => `crash/main/${attempt}`));
  expect(await containersOf('resandboxed')).toEqual(['resandboxed/main/0', 'resandboxed/main/1']);
  expect(await sandboxesOf('resandboxed')).toEqual([
    'resandboxed/0 SANDBOX_NOTREADY',
    'resandboxed/1 SANDBOX_NOTREADY',
    'resandboxed/2 SANDBOX_READY',
  ]);
  expect(logsOf('logger').length).toBeGreaterThan(3);
});

test('Enforce keeps the newest dead attempt of each container with its log, and one rotated log', async () => {
  const rotated = logsOf('logger').filter((name) => name !== '0.log');
  await applyPolicy(cluster, 'Enforce', collecting);

  await expect.poll(() => containersOf('crash'), eventually).toEqual(['crash/main/3']);
  expect(logsOf('crash')).toEqual(['3.log', '4.log']);
  expect(linksOf('crash')).toHaveLength(2);
  expect(await logText('crash', '--previous')).toBe('attempt 3\n');
  expect(await logText('crash')).toBe('attempt 4\n');

  await expect
    .poll(() => sandboxesOf('resandboxed'), eventually)
    .toEqual(['resandboxed/1 SANDBOX_NOTREADY', 'resandboxed/2 SANDBOX_READY']);
  expect(await containersOf('resandboxed')).toEqual(['resandboxed/main/1']);

  await expect.poll(() => logsOf('logger'), eventually).toEqual(['0.log', ...rotated.slice(-1)]);
  expect(isRotated()).toBe(true);

  // It keeps failing and is collected each time.
  const restarts = async () => Number((await restartsOf(cluster, 'looping')).split(' ')[0]);
  const restartsBefore = await restarts();
  await expect.poll(restarts, eventually).toBeGreaterThan(restartsBefore + 2);
  await expect.poll(async () => (await containersOf('looping')).length, eventually).toBe(1);
  await expect.poll(() => linksOf('looping').length, eventually).toBeLessThan(4);

  expect(await containersOf('done')).toEqual(['done/main/0']);
  expect(await logText('done')).toBe('kept\n');
  expect(await containersOf(still)).toEqual([`${still}/main/0`]);
});

/** A sandbox and a dead container in it as other users of the runtime make them: they carry no label of the kubelet's. */
async function foreign(): Promise<readonly string[]> {
  const labels = { 'io.kubernetes.pod.uid': '' };
  const sandbox = await runSandbox(cluster, { name: 'foreign', labels });
  const command = ['sh', '-c', 'echo foreign'];
  const container = await runContainer(cluster, sandbox, { name: 'main', image, command, labels });
  await crictl(cluster, 'stopp', sandbox.id);
  return [sandbox.id, container];
}

const orphan = join(podLogs, `default_orphan_${'0'.repeat(8)}-1111-2222-3333-${'4'.repeat(12)}`);
const orphansLink = join(links, `orphan_default_main-${'a'.repeat(64)}.log`);
const brokenLink = join(links, `lost_default_main-${'b'.repeat(64)}.log`);
const foreignDirectory = join(podLogs, 'notes');

/** Logs without a pod, and a directory that is not a pod's. */
function leaveLogs(): void {
  mkdirSync(join(orphan, 'main'), { recursive: true });
  writeFileSync(join(orphan, 'main/0.log'), 'orphan');
  symlinkSync(join(orphan, 'main/0.log'), orphansLink);
  symlinkSync(join(podLogs, 'default_lost_uid/main/0.log'), brokenLink);
  mkdirSync(foreignDirectory);
  writeFileSync(join(foreignDirectory, 'note.txt'), 'mine');
}

test('removes the remains of deleted pods, and nothing of others', async () => {
  await cluster.kill('kubelet');
  const doomed = ['gone', 'gone-running', still];
  await kubectl(cluster, ['delete', 'pod', '--force', '--grace-period=0', ...doomed]);
  const foreigners = await foreign();
  await leavePhantom(cluster, image);
  leaveLogs();
  const [goneDirectory, runningDirectory] = [logDirectory('gone'), logDirectory('gone-running')];

  await expect.poll(() => containersOf('gone'), eventually).toEqual([]);
  await expect.poll(() => sandboxesOf('gone'), eventually).toEqual([]);
  await expect.poll(() => existsSync(goneDirectory), eventually).toBe(false);
  await expect.poll(() => linksOf('gone'), eventually).toEqual([]);
  await expect.poll(() => sandboxesOf('phantom'), eventually).toEqual([]);
  await expect
    .poll(() => readdirSync(podLogs).some((name) => name.includes('phantom')), eventually)
    .toBe(false);
  await expect.poll(() => [orphan, orphansLink, brokenLink].filter(isThere), eventually).toEqual([]);
  await passesOf(agent, 'containergc', 2);

  // A running container is never removed, even when its pod is deleted.
  expect(await containersOf('gone-running', 'CONTAINER_RUNNING')).toEqual(['gone-running/main/0']);
  expect(await sandboxesOf('gone-running')).toEqual(['gone-running/0 SANDBOX_READY']);
  expect(existsSync(runningDirectory)).toBe(true);
  expect(await containersOf(still)).toEqual([`${still}/main/0`]);
  expect(await sandboxesOf(still)).toEqual([`${still}/0 SANDBOX_NOTREADY`]);
  expect(readdirSync(podLogs).filter((name) => name.includes(still))).toHaveLength(1);
  const ids = [...(await listContainers(cluster)), ...(await listSandboxes(cluster))].map(({ id }) => id);
  expect(ids).toEqual(expect.arrayContaining([...foreigners]));
  expect(readdirSync(foreignDirectory)).toEqual(['note.txt']);
  expect(await containersOf('done')).toEqual(['done/main/0']);
  expect(await sandboxesOf('done')).toEqual(['done/0 SANDBOX_NOTREADY']);
  expect(logsOf('done')).toEqual(['0.log']);
  expect(await containersOf('crash')).toEqual(['crash/main/3']);
});

/** True also for a broken link. */
const isThere = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

test('a restarted kubelet finds everything that it needs', async () => {
  await cluster.start('kubelet');
  // The kubelet stops the container of the deleted pod, and the agent removes it.
  await expect.poll(() => sandboxesOf('gone-running'), eventually).toEqual([]);
  await createPods(cluster, { later: { image, script: 'true', restartPolicy: 'Never' } });
  await expect.poll(async () => (await phases(cluster))['later'], eventually).toBe('Succeeded');

  const steady = Object.entries(runningAtFirst).filter(
    ([name]) => !['looping', 'gone-running'].includes(name),
  );
  expect(await runningPods(cluster)).toMatchObject(Object.fromEntries(steady));
  expect(await logText('done')).toBe('kept\n');
  expect((await phases(cluster))['done']).toBe('Succeeded');
  expect(await containersOf('done')).toEqual(['done/main/0']);
  expect(await logText('crash', '--previous')).toBe('attempt 3\n');
});

test('reports every removal, and has every right that it uses', async () => {
  const removed = async (reason: string) =>
    metric(agent, `dustpan_removed_objects_total{unit="containergc",reason="${reason}"}`);
  const reasons = ['PodGone', 'DeadContainer', 'Sandbox', 'OrphanedLogs', 'BrokenLink', 'RotatedLog'];
  const values = await Promise.all(reasons.map(removed));
  expect(Math.min(...values)).toBeGreaterThan(0);
  const lines = (await agent.logs()).filter(({ msg }) => msg.startsWith('removed '));
  for (const [index, reason] of reasons.entries())
    expect(lines.filter((line) => line['reason'] === reason).length).toBeGreaterThanOrEqual(
      values[index] ?? 0,
    );
  expect(await agentRequests(cluster)).toMatchObject({ forbidden: [] });
  // A report may wait for a minute.
  const total = values.reduce((sum, value) => sum + value, 0);
  const reported = async () => (await reportUnit(cluster, 'containergc'))?.removedTotal;
  await expect.poll(reported, eventually).toBeGreaterThanOrEqual(total);
  expect(await reportUnit(cluster, 'containergc')).toMatchObject({ errors: 0 });
});
