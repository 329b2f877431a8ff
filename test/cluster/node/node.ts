import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../servers/cluster.ts';

/** The node that the jail is, as tests address it; its other paths are the well-known ones. */
export interface ClusterNode {
  readonly name: string;
  readonly address: string;
  /** Endpoint with its scheme, `unix:///…`. */
  readonly criSocket: string;
}

export const containerdSocket = '/run/containerd/containerd.sock';

/** The node of this jail, for one cluster at a time. */
export function nodeOfJail(env: NodeJS.ProcessEnv): ClusterNode {
  const { BED_IMAGEFS_MB: isNode, BED_NODE: name, BED_NODE_IP: address } = env;
  if (!isNode || !name || !address)
    throw new Error('containerd starts only in a jail that is a node: put `// @bed node` on top of the file');
  if (existsSync(containerdSocket)) throw new Error('this jail has a node already: stop that cluster first');
  return { name, address, criSocket: `unix://${containerdSocket}` };
}

type Runner = Pick<Cluster, 'run'>;

const images = ['-n', 'k8s.io', 'images'];

/** Imports the images of an OCI archive; CRI lists them, and shows them pinned, when this resolves. */
export async function importArchive(cluster: Runner, archive: string, pinned: boolean): Promise<void> {
  const before = await imported(cluster);
  const { code, stderr } = await cluster.run('ctr', [...images, 'import', '--local', archive]);
  if (code !== 0) throw new Error(`importing ${archive}: ${stderr.trim()}`);
  const pins = pinned ? (await imported(cluster)).filter((name) => !before.includes(name)) : [];
  // Only the import of containerd 2 sets labels.
  for (const name of pins)
    await cluster.run('ctr', [...images, 'label', name, 'io.cri-containerd.pinned=pinned']);
  const deadline = Date.now() + readyTimeoutMs;
  while (!(await isListed(cluster))) {
    if (Date.now() > deadline) throw new Error(`CRI does not list all that ${archive} had`);
    await sleep(50);
  }
}

/** CRI learns of images by events. List CRI first, so that an image removed in between is not waited for. */
async function isListed(cluster: Runner): Promise<boolean> {
  const { stdout } = await cluster.run('crictl', ['images', '-o', 'json']);
  const response = JSON.parse(stdout || '{}') as { readonly images?: readonly CriImage[] };
  const listed = tagsOf(response.images ?? []);
  const pinned = tagsOf((response.images ?? []).filter((one) => one.pinned));
  const all = await imported(cluster);
  const toBePinned = await imported(cluster, 'labels."io.cri-containerd.pinned"==pinned');
  return all.every((ref) => listed.has(ref)) && toBePinned.every((ref) => pinned.has(ref));
}

interface CriImage {
  readonly repoTags: readonly string[];
  readonly pinned: boolean;
}

const tagsOf = (images: readonly CriImage[]): ReadonlySet<string> =>
  new Set(images.flatMap(({ repoTags }) => repoTags));

/** Names of the images, without those that CRI derives from ids. */
async function imported(cluster: Runner, ...filters: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await cluster.run('ctr', [...images, 'ls', '-q', ...filters]);
  return stdout.split('\n').filter((name) => name !== '' && !name.includes('sha256:'));
}

const readyTimeoutMs = 120_000;
const readyFields = '{.status.conditions[?(@.type=="Ready")].status} {.spec.taints[*].key}';

/** Waits until the node is Ready and, if a controller lifts its taint, schedulable. */
export async function nodeReady(cluster: Cluster, isTaintLifted: boolean): Promise<void> {
  const { name } = cluster.node;
  const deadline = Date.now() + readyTimeoutMs;
  const get = ['get', 'node', name, '--ignore-not-found', '-o', `jsonpath=${readyFields}`];
  for (;;) {
    const { stdout } = await cluster.run('kubectl', get);
    const isTainted = isTaintLifted && stdout.includes('node.kubernetes.io/not-ready');
    if (stdout.startsWith('True') && !isTainted) return;
    if (Date.now() > deadline)
      throw new Error(`${name} is not ready (${stdout}); kubelet:\n${await cluster.logs('kubelet', 20)}`);
    await sleep(100);
  }
}
