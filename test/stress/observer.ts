import type { V1PodSpec, V1PodStatus } from '@kubernetes/client-node';
import { existsSync, readdirSync, statfsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ApiClient } from '../bench/api-client.ts';
import { crictl } from '../cluster/node/crictl.ts';
import type { Cluster } from '../cluster/servers/cluster.ts';
import type { OnWire } from '../../src/kube/codec/wire.ts';
import type { Rest } from './remains.ts';

export interface SeenPod {
  readonly name: string;
  readonly uid: string;
  readonly phase: string;
  readonly isBound: boolean;
  readonly isDeleting: boolean;
  readonly images: readonly string[];
  readonly terminations: readonly { readonly container: string; readonly exitCode: number }[];
  /** Unix milliseconds; undefined = no container has finished. */
  readonly finishedAtMs: number | undefined;
}

export interface SeenContainer {
  readonly id: string;
  readonly pod: string;
  readonly podUid: string;
  readonly name: string;
  readonly image: string;
  readonly isRunning: boolean;
}

export interface SeenImage {
  readonly id: string;
  readonly tags: readonly string[];
}

/** What the servers list. */
export interface Lists {
  readonly images: readonly SeenImage[];
  readonly containers: readonly SeenContainer[];
  readonly pods: readonly SeenPod[];
}

/** One observation of the node. A list that could not be read is undefined. The pods are read last. */
export type Observation = { readonly atMs: number } & {
  readonly [list in keyof Lists]: Lists[list] | undefined;
};

export const isOver = ({ phase }: Pick<SeenPod, 'phase'>): boolean =>
  phase === 'Succeeded' || phase === 'Failed';

/** Reads what the node's servers and directories show. */
export class Observer {
  readonly #cluster: Cluster;
  readonly #api: ApiClient;

  constructor(cluster: Cluster, api: ApiClient) {
    this.#cluster = cluster;
    this.#api = api;
  }

  /** A server that does not respond leaves its list undefined. */
  async observe(): Promise<Observation> {
    const atMs = Date.now();
    const [images, containers] = await Promise.all([
      orUndefined(this.#images()),
      orUndefined(this.#containers()),
    ]);
    const pods = await orUndefined(this.pods());
    return { atMs, images, containers, pods };
  }

  /** Rejects when a server does not respond. */
  async rest(): Promise<Rest> {
    const [images, containers, sandboxes] = await Promise.all([
      this.#images(),
      this.#containers(),
      this.#sandboxes(),
    ]);
    return { atMs: Date.now(), images, containers, sandboxes, ...logs(), ...disk(), pods: await this.pods() };
  }

  async pods(): Promise<readonly SeenPod[]> {
    const list = await this.#api.send('GET', '/api/v1/namespaces/default/pods', {
      accept: 'application/json',
    });
    return (JSON.parse(list.toString()) as { readonly items: readonly ApiPod[] }).items.map(seenPod);
  }

  async #images(): Promise<readonly SeenImage[]> {
    const { images } = await this.#list<{ images: CriImage[] }>('images');
    return images.map(({ id, repoTags }) => ({ id, tags: repoTags }));
  }

  async #containers(): Promise<readonly SeenContainer[]> {
    const { containers } = await this.#list<{ containers: CriContainer[] }>('ps', '-a');
    return containers.map(({ id, state, metadata, image, labels }) => ({
      ...{ id, pod: labels[podLabel] ?? '', podUid: labels[uidLabel] ?? '' },
      ...{ name: metadata.name, image: image.userSpecifiedImage ?? image.image },
      isRunning: state === 'CONTAINER_RUNNING',
    }));
  }

  async #sandboxes(): Promise<Rest['sandboxes']> {
    const { items } = await this.#list<{ items: Pick<CriContainer, 'id' | 'labels'>[] }>('pods');
    return items.map(({ id, labels }) => ({ id, podUid: labels[uidLabel] ?? '' }));
  }

  async #list<T>(...command: readonly string[]): Promise<T> {
    return JSON.parse(await crictl(this.#cluster, ...command, '-o', 'json')) as T;
  }
}

const podLabel = 'io.kubernetes.pod.name';
const uidLabel = 'io.kubernetes.pod.uid';

interface CriImage {
  readonly id: string;
  readonly repoTags: readonly string[];
}

interface CriContainer {
  readonly id: string;
  readonly state: string;
  readonly metadata: { readonly name: string };
  readonly image: { readonly image: string; readonly userSpecifiedImage?: string };
  readonly labels: Readonly<Record<string, string>>;
}

type ApiPod = OnWire<{
  metadata: { name: string; uid: string; deletionTimestamp?: string };
  spec: V1PodSpec;
  status: V1PodStatus;
}>;

function seenPod({ metadata, spec, status }: ApiPod): SeenPod {
  const statuses = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  const ended = statuses.flatMap(({ name, state, lastState }) =>
    [state?.terminated, lastState?.terminated].flatMap((one) =>
      one === undefined ? [] : [{ name, ...one }],
    ),
  );
  const finished = ended.map(({ finishedAt = '' }) => Date.parse(finishedAt)).filter((ms) => ms > 0);
  return {
    ...{ name: metadata.name, uid: metadata.uid, phase: status.phase ?? 'Pending' },
    ...{ isBound: spec.nodeName !== undefined, isDeleting: metadata.deletionTimestamp !== undefined },
    images: [...spec.containers, ...(spec.initContainers ?? [])].flatMap(({ image }) => image ?? []),
    terminations: ended.map(({ name, exitCode }) => ({ container: name, exitCode })),
    finishedAtMs: finished.length > 0 ? Math.max(...finished) : undefined,
  };
}

/** A value of an unexpected form is an error all the same. */
async function orUndefined<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (err) {
    if (err instanceof TypeError || err instanceof SyntaxError) throw err;
    return undefined;
  }
}

const logRoot = '/var/log/pods';
const linkRoot = '/var/log/containers';
const imageFs = '/var/lib/containerd';

const entries = (dir: string): readonly string[] => (existsSync(dir) ? readdirSync(dir) : []);

/** The kubelet and dustpan change the directories meanwhile: an entry that has gone is none. */
function logs(): Pick<Rest, 'logDirectories' | 'brokenLinks' | 'rotatedLogs'> {
  const directories = entries(logRoot);
  const files = directories.flatMap((dir) =>
    entries(join(logRoot, dir)).flatMap((name) =>
      entries(join(logRoot, dir, name)).map((file) => join(logRoot, dir, name, file)),
    ),
  );
  return {
    // NAMESPACE_NAME_UID; only those of the load's namespace.
    logDirectories: directories
      .filter((dir) => dir.startsWith('default_'))
      .map((dir) => dir.split('_')[2] ?? dir),
    brokenLinks: entries(linkRoot)
      .map((name) => join(linkRoot, name))
      .filter((path) => !existsSync(path)),
    // ATTEMPT.log.YYYYMMDD-HHMMSS, or the same with .gz.
    rotatedLogs: files.flatMap((path) => {
      const log = /^.*\/\d+\.log(?=\.\d{8}-\d{6}(?:\.gz)?$)/.exec(path)?.[0];
      const rotatedAtMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
      return log === undefined || rotatedAtMs === undefined ? [] : [{ log, path, rotatedAtMs }];
    }),
  };
}

/** In whole percent, rounded as the kubelet rounds. */
function disk(): Pick<Rest, 'usedPercent'> {
  const { blocks, bavail } = statfsSync(imageFs);
  return { usedPercent: 100 - Math.floor((100 * bavail) / blocks) };
}
