import { appendFileSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../servers/cluster.ts';
import { crashSandbox, criResponse, crictl, runContainer, runSandbox } from '../node/crictl.ts';
import { busyboxImage } from '../node/image.ts';
import { phases } from '../agent/environment.ts';
import { podOn } from './side-by-side.ts';
import { seededRandom, type Random } from '../population/random.ts';
import { kubectl, create } from '../servers/kubectl.ts';
import { waitUntil } from '../servers/waiting.ts';

/** How often each pod fails, of those that do. */
interface ContainerHistory {
  /** Until its container keeps running. */
  readonly looping: readonly number[];
  /** Until its container succeeds. */
  readonly finishing: readonly number[];
  /** Like `finishing`, then deleted while no kubelet runs. */
  readonly gone: readonly number[];
}

/** Each group has one that fails often enough for every limit, and a random one. */
export function containerHistory(seed: number): ContainerHistory {
  const random = seededRandom(seed);
  return { looping: [4, fails(random)], finishing: [3, fails(random)], gone: [2, fails(random)] };
}

const fails = (random: Random): number => 1 + random.int(4);

/** Fills a node with remains and ends its kubelet. The names of pods tell their history. */
export async function makeRemains(cluster: Cluster, history: ContainerHistory): Promise<void> {
  const { ref: image } = busyboxImage;
  const failing = (name: string, tries: number, end: string): object =>
    podOn(cluster, { name, image, script: failingScript(tries, end), restartPolicy: 'OnFailure' });
  const podsOf = (group: keyof ContainerHistory, end: string): object[] =>
    namesOf(group, history).map(({ name, tries }) => failing(name, tries, end));
  await create(
    cluster,
    ...podsOf('looping', forever),
    ...podsOf('finishing', 'exit 0'),
    ...podsOf('gone', 'exit 0'),
    podOn(cluster, { name: 'failed', image, script: 'exit 1' }),
    podOn(cluster, { name: 'started', image, script: forever, init: { image, script: 'exit 0' } }),
    podOn(cluster, { name: 'moved', image, script: forever, restartPolicy: 'Always' }),
    podOn(cluster, { name: 'gone-stopped', image, script: forever }),
    podOn(cluster, { name: 'held', image, script: forever, finalizers: ['dustpan.test/hold'] }),
    podOn(cluster, { name: 'evicted', image, script: forever, storageLimit: '1Mi' }),
  );
  await atRest(cluster, history);
  for (const attempt of [1, 2]) await moveToSandbox(cluster, attempt);
  await cluster.kill('kubelet');
  for (const pod of ['gone-stopped', 'held']) await crictl(cluster, 'stopp', await sandboxOf(cluster, pod));
  await kubectl(cluster, ['delete', 'pod', 'held', '--wait=false']);
  await deletePods(cluster, ['gone-stopped', ...namesOf('gone', history).map(({ name }) => name)]);
  await leaveLogs(cluster);
}

const forever = 'exec sleep 3600';

const failingScript = (tries: number, end: string): string =>
  `n=$(cat /count/n 2>/dev/null); echo $((n + 1)) >/count/n; [ $((n)) -ge ${tries} ] || exit 1; ${end}`;

const namesOf = (
  group: keyof ContainerHistory,
  history: ContainerHistory,
): readonly { readonly name: string; readonly tries: number }[] =>
  history[group].map((tries, nth) => ({ name: `${group}-${nth}`, tries }));

async function atRest(cluster: Cluster, history: ContainerHistory): Promise<void> {
  const ended = [...namesOf('finishing', history), ...namesOf('gone', history)];
  const running = ['started', 'moved', 'gone-stopped', 'held', 'evicted'].map((name) => `${name}/main#0`);
  const looping = namesOf('looping', history).map(({ name, tries }) => `${name}/main#${tries}`);
  await waitUntil('pods to come to rest', async () => {
    const found = await phases(cluster);
    if (!ended.every(({ name }) => found[name] === 'Succeeded')) return false;
    const containers = (await listContainers(cluster)).map(lineOf);
    return [...running, ...looping].every((one) => containers.includes(`${one} RUNNING`));
  });
}

/** Crashes the sandbox of the pod `moved` and waits until the kubelet has made it another. */
async function moveToSandbox(cluster: Cluster, attempt: number): Promise<void> {
  await crashSandbox(cluster, await sandboxOf(cluster, 'moved'));
  await waitUntil(`sandbox ${attempt}`, async () => {
    const lines = (await listContainers(cluster)).map(lineOf);
    return lines.includes(`moved/main#${attempt} RUNNING`);
  });
}

const sandboxOf = (cluster: Cluster, pod: string): Promise<string> =>
  crictl(cluster, 'pods', '--quiet', '--state=ready', `--name=^${pod}$`);

/** Force-deletes pods, as no kubelet confirms their end. */
export async function deletePods(cluster: Cluster, names: readonly string[]): Promise<void> {
  await kubectl(cluster, ['delete', 'pod', ...names, '--force', '--grace-period=0']);
}

/** Writes so much into the log of the pod `evicted` that a kubelet evicts it, and waits until one has. */
export async function overfill(cluster: Cluster): Promise<void> {
  const log = join(podLogs, `default_evicted_${await uidOf(cluster, 'evicted')}`, 'main/0.log');
  appendFileSync(log, 'x'.repeat(2 * 1024 ** 2));
  await waitUntil('an eviction', async () => (await reasonOf(cluster, 'evicted')) === 'Evicted');
}

/** Leaves the pod `evicted` as a kubelet does that ends right after the eviction: stopped, and so in the API. */
export async function evictAndLeave(cluster: Cluster): Promise<readonly string[]> {
  await crictl(cluster, 'stopp', await sandboxOf(cluster, 'evicted'));
  const left = (await remainsOf(cluster)).filter((line) => line.includes('evicted'));
  const status = { phase: 'Failed', reason: 'Evicted', message: 'Container main exceeded its limit. ' };
  const patch = JSON.stringify({ status });
  await kubectl(cluster, ['patch', 'pod', 'evicted', '--subresource=status', '-p', patch]);
  return left;
}

const reasonOf = (cluster: Cluster, pod: string): Promise<string> =>
  kubectl(cluster, ['get', 'pod', pod, '-o', 'jsonpath={.status.reason}']);

const uidOf = (cluster: Cluster, pod: string): Promise<string> =>
  kubectl(cluster, ['get', 'pod', pod, '-o', 'jsonpath={.metadata.uid}']);

const podLogs = '/var/log/pods';
const containerLogs = '/var/log/containers';

/** A log directory and a link of unknown pods, and a rotated log of the oldest container. */
async function leaveLogs(cluster: Cluster): Promise<void> {
  leaveLogDirectory('default_ghost_4a6ed0b6-9b93-4f5c-8d1e-3f1c1d1f5a10');
  symlinkSync('/var/log/pods/away/0.log', join(containerLogs, `away_default_main-${'ab'.repeat(32)}.log`));
  const uid = await uidOf(cluster, 'looping-0');
  writeFileSync(join(podLogs, `default_looping-0_${uid}/main/0.log.20260101-000000`), 'rotated\n');
}

function leaveLogDirectory(name: string): void {
  mkdirSync(join(podLogs, name, 'main'), { recursive: true });
  writeFileSync(join(podLogs, name, 'main/0.log'), 'a line\n');
}

/** Known differences: a pod deleted while it runs, a container that the kubelet did not create, a directory of another name. */
export async function leaveDeviations(cluster: Cluster): Promise<void> {
  await deletePods(cluster, ['started']);
  leaveLogDirectory('notes');
  const labels = { 'io.kubernetes.pod.uid': '' };
  const sandbox = await runSandbox(cluster, { name: 'by-hand', labels });
  const container = { name: 'main', image: busyboxImage.ref, command: ['true'], labels };
  const id = await runContainer(cluster, sandbox, container);
  await waitUntil(
    'the container to end',
    async () => (await crictl(cluster, 'ps', '--quiet', `--id=${id}`)) === '',
  );
  await crictl(cluster, 'stopp', sandbox.id);
}

/** One line for each container, sandbox and log of the node, by the names of pods, without random parts. */
export async function remainsOf(cluster: Cluster): Promise<readonly string[]> {
  const containers = await listContainers(cluster);
  const { items } = await criResponse<{ readonly items: Item[] }>(cluster, 'pods');
  return [
    ...containers.map((one) => `container ${lineOf(one)}`),
    ...items.map(({ metadata, state }) => `sandbox ${metadata.name}#${metadata.attempt} ${state}`),
    ...logFiles().map((path) => `log ${path}`),
    ...readdirSync(containerLogs).map((name) => `link ${name.replace(/-[0-9a-f]{64}\.log$/, '')}`),
  ].sort();
}

/** Paths below the pods' directories, without UIDs. A collector may remove one while they are read. */
function logFiles(): readonly string[] {
  const directories = readdirSync(podLogs);
  const files = directories.flatMap((name) => filesBelow(join(podLogs, name)));
  return [
    ...directories.map((name) => `${name}/`),
    ...files.map((path) => path.slice(podLogs.length + 1)),
  ].map((path) => path.replace(/_[^_/]*\//, '/'));
}

/** [] where it is gone. */
function filesBelow(directory: string): readonly string[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
      const path = join(entry.parentPath, entry.name);
      return entry.isDirectory() ? filesBelow(path) : entry.isFile() ? [path] : [];
    });
  } catch (err) {
    if ((err as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw err;
  }
}

interface Item {
  readonly id: string;
  readonly metadata: { readonly name: string; readonly attempt?: number };
  readonly state: string;
  readonly labels: Readonly<Record<string, string>>;
}

const listContainers = async (cluster: Cluster): Promise<readonly Item[]> =>
  (await criResponse<{ readonly containers: Item[] }>(cluster, 'ps', '--all')).containers;

const lineOf = ({ metadata, labels, state }: Item): string => {
  const pod = labels['io.kubernetes.pod.name'] ?? 'by-hand';
  return `${pod}/${metadata.name}#${metadata.attempt ?? 0} ${state.replace('CONTAINER_', '')}`;
};
