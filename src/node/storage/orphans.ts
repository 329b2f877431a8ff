import { opendir, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { NodePod } from '../../api/node-pod.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../cri/runtime.ts';
import { errorCode } from '../../runtime/errors.ts';

/** Places of a node with resources of pods. */
export type OrphanPlace = 'podDirectories' | 'logDirectories' | 'podCgroups';

/** Paths by place; a place that does not exist is undefined, which is not the same as empty. */
export type OrphanPaths = Readonly<Record<OrphanPlace, readonly string[] | undefined>>;

export interface PodPath {
  readonly path: string;
  readonly podUid: string;
}

type Unclaimed = Readonly<Record<OrphanPlace, readonly PodPath[] | undefined>>;

/** The pods that the API server and the runtime know. */
export interface KnownPods {
  readonly pods: Iterable<Pick<NodePod, 'uid' | 'configHash'>>;
  readonly sandboxes: readonly Pick<RuntimeSandbox, 'podUid'>[];
  readonly containers: readonly Pick<RuntimeContainer, 'labels'>[];
}

/** The UIDs of all known pods; for a static pod also the UID in the names of its directories. */
export function knownPodUids({ pods, sandboxes, containers }: KnownPods): ReadonlySet<string> {
  const known = new Set<string>();
  for (const { uid, configHash } of pods) known.add(uid).add(configHash ?? uid);
  for (const { podUid } of sandboxes) known.add(podUid);
  for (const { labels } of containers) known.add(labels['io.kubernetes.pod.uid'] ?? '');
  return known;
}

/** Selects the paths whose name has the UID of an unknown pod. A name without a UID does not belong to a pod. */
export function planUnclaimed(listed: OrphanPaths, known: ReadonlySet<string>): Unclaimed {
  return byPlace((place) =>
    listed[place]?.flatMap((path) => {
      const podUid = uidIn[place](path.slice(path.lastIndexOf('/') + 1));
      return podUid === undefined || known.has(podUid) ? [] : [{ path, podUid }];
    }),
  );
}

function byPlace<T>(make: (place: OrphanPlace) => T): Readonly<Record<OrphanPlace, T>> {
  return {
    podDirectories: make('podDirectories'),
    logDirectories: make('logDirectories'),
    podCgroups: make('podCgroups'),
  };
}

const uidIn: Readonly<Record<OrphanPlace, (name: string) => string | undefined>> = {
  podDirectories: asUid,
  logDirectories: (name) => asUid(name.slice(name.lastIndexOf('_') + 1)),
  podCgroups: uidOfCgroup,
};

/** The UIDs of the API server, and the kubelet's hashes for static pods. */
const uidForm = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})$/;

function asUid(text: string): string | undefined {
  return uidForm.test(text) ? text : undefined;
}

/** `pod<uid>`; with systemd `kubepods-burstable-pod<uid>.slice`, with underscores for the dashes of the UID. */
function uidOfCgroup(name: string): string | undefined {
  const uid = /(?:^|-)pod([0-9a-f_-]+)(?:\.slice)?$/.exec(name)?.[1];
  return uid === undefined ? undefined : asUid(uid.replaceAll('_', '-'));
}

export interface OrphanRoots {
  /** `pods` below the kubelet's root directory. */
  readonly podDirectories: string;
  readonly logDirectories: string;
  /** The node's own view: inside a container it must be mounted from the node. */
  readonly cgroups: string;
}

export const orphanRoots = (directories: {
  readonly kubeletRoot: string;
  readonly podLogs: string;
}): OrphanRoots => ({
  podDirectories: join(directories.kubeletRoot, 'pods'),
  logDirectories: directories.podLogs,
  cgroups: '/sys/fs/cgroup',
});

/** Ten times the pods of a full node; further entries are ignored. */
const maxEntries = 5_000;

/** Lists the directories of each place; undefined = the place does not exist. Rejects for a place that cannot be read. */
export async function listOrphanPlaces(roots: OrphanRoots): Promise<OrphanPaths> {
  return {
    podDirectories: await directoriesIn(await realPath(roots.podDirectories)),
    logDirectories: await directoriesIn(roots.logDirectories),
    podCgroups: await podCgroups(roots.cgroups),
  };
}

/** Resolves links, as in the table of mounts; returns a path that does not exist unchanged. */
export const realPath = (path: string): Promise<string> => realpath(path).catch(() => path);

async function directoriesIn(path: string): Promise<readonly string[] | undefined> {
  try {
    const found: string[] = [];
    for await (const entry of await opendir(path)) {
      if (entry.isDirectory()) found.push(join(path, entry.name));
      if (found.length >= maxEntries) break;
    }
    return found;
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return undefined;
    throw new Error(`listing ${path}`, { cause: err });
  }
}

/** cgroup v2 has one tree; of the trees of v1 any that the kubelet uses will do, preferably the one that counts memory. */
const trees = ['', 'memory', 'pids', 'systemd'];

async function podCgroups(root: string): Promise<readonly string[] | undefined> {
  for (const tree of trees) {
    const tops = await kubepods(join(root, tree));
    if (tops.length === 0) continue;
    const inside = await childrenOf(tops);
    return [...inside, ...(await childrenOf(inside.filter(isQosClass)))];
  }
  return undefined;
}

/**
 * The paths that the control group of a pod may have, by the kubelet's cgroup driver and the QoS class of the pod. Not listed: a node may have
 * more groups than are listed. undefined = the control groups of pods cannot be seen, so the processes of a pod are not known.
 */
export async function cgroupPathsOf(root: string, podUid: string): Promise<readonly string[] | undefined> {
  for (const tree of trees) {
    const tops = await kubepods(join(root, tree));
    if (tops.length > 0) return tops.flatMap((top) => groupsIn(top, podUid));
  }
  return undefined;
}

const qosClasses = ['burstable', 'besteffort'];

function groupsIn(top: string, podUid: string): readonly string[] {
  const [name = '', slice] = basename(top).split('.');
  if (slice === undefined) return ['', ...qosClasses].map((qos) => join(top, qos, `pod${podUid}`));
  const pod = `pod${podUid.replaceAll('-', '_')}.slice`;
  const ofQos = qosClasses.map((qos) => join(top, `${name}-${qos}.slice`, `${name}-${qos}-${pod}`));
  return [join(top, `${name}-${pod}`), ...ofQos];
}

/** Also below the kubelet's own cgroup (`--cgroup-root`, as kind sets it). */
async function kubepods(tree: string): Promise<readonly string[]> {
  const top = (await directoriesIn(tree)) ?? [];
  const nested = await childrenOf(top.filter((path) => /\/kubelet(\.slice)?$/.test(path)));
  return [...top, ...nested].filter((path) => /[/-]kubepods(\.slice)?$/.test(path));
}

const isQosClass = (path: string): boolean => /[/-](burstable|besteffort)(\.slice)?$/.test(path);

async function childrenOf(paths: readonly string[]): Promise<readonly string[]> {
  const lists = await Promise.all(paths.map(directoriesIn));
  return lists.flatMap((list) => list ?? []);
}
