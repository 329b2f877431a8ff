import { lstat, readFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { inDirectory } from '../logs/directory.ts';
import { within } from '../disk/within.ts';
import { Attachments, type ReadAttachment } from './attachments.ts';
import type { CsiVolume } from './csi-volume.ts';
import { mountOf, mountsBelow, readMounts, type Mount } from './mounts.ts';
import {
  cgroupPathsOf,
  listOrphanPlaces,
  realPath,
  type OrphanRoots,
  knownPodUids,
  planUnclaimed,
  type KnownPods,
  type OrphanPaths,
  type OrphanPlace,
  type PodPath,
} from './orphans.ts';
import { isCgroupInUse, removePodCgroup, type CgroupRemoval } from './pod-cgroup.ts';
import {
  contentsOf,
  obstacleOf,
  removePodDirectory,
  type DirectoryRemoval,
  type PodContents,
} from './pod-directory.ts';
import { diskUsage } from './usage.ts';

/** Why a resource cannot be removed. */
export const orphanObstacles = [
  'Mounted',
  'MountsUnknown',
  'ProcessesUnknown',
  'ReadOnly',
  'NotEmpty',
  'VolumeAttached',
  'AttachmentsUnknown',
  'InUse',
  'PacingLimit',
] as const;
export type OrphanObstacle = (typeof orphanObstacles)[number];

export interface FoundOrphan extends PodPath {
  /** When it last changed, in Unix milliseconds; undefined = unknown. */
  readonly sinceMs: number | undefined;
  /** Bytes on disk; for a control group, the memory still charged to it. */
  readonly bytes: number;
  /** undefined = it can be removed, as far as known. */
  readonly obstacle: OrphanObstacle | undefined;
  /** When the kubelet last wrote data of a CSI volume into a directory, in Unix milliseconds; undefined = the directory has none, or an obstacle. */
  readonly volumeDataMs: number | undefined;
  /** The obstacle by name: mount points, in the order in which they can be unmounted; a file; VolumeAttachments, one that is unknown with the reason. */
  readonly holders: readonly string[];
}

/** Why a directory cannot be removed. */
type Hold = Pick<FoundOrphan, 'obstacle' | 'holders' | 'volumeDataMs'>;

/** Resources of unknown pods; undefined = the place does not exist. */
export type OrphansFound = Readonly<Record<OrphanPlace, readonly FoundOrphan[] | undefined>>;

export type OrphanRemoval =
  DirectoryRemoval | CgroupRemoval | { readonly kind: 'keep'; readonly reason: OrphanObstacle | 'TooYoung' };

export type NodeOrphans = Pick<OrphanFinder, keyof OrphanFinder>;

interface OrphanFinderOptions {
  readonly roots: OrphanRoots;
  readonly readAttachment: ReadAttachment;
  readonly deadline?: () => AbortSignal;
  readonly mounts?: () => Promise<readonly Mount[]>;
}

/** A search takes milliseconds if there are no orphans; this is for a node full of them, or a disk that hangs. */
const timeoutMs = 60_000;
/** Entries that one search may measure, over all orphans. */
const maxEntries = 20_000;
/** Orphans change seldom, and measuring them reads all their files. */
const measureEveryMs = 10 * 60_000;
/** Files that one call of `removeDirectory` may remove: some seconds of work. */
const maxFilesRemoved = 100_000;

/** Orphaned resources of pods on this node; Linux only. Paths of removals are those that `inspect` returned. */
export class OrphanFinder {
  readonly #options: OrphanFinderOptions;
  readonly #attachments: Attachments;
  #measured: ReadonlyMap<string, { readonly atMs: number; readonly bytes: number }> = new Map();
  /** Reads under way, also after a timeout. */
  #pending = 0;

  constructor(options: OrphanFinderOptions) {
    this.#options = options;
    this.#attachments = new Attachments(options.readAttachment);
  }

  /** Must be called before the pods are read, so that the pod of each listed path is known. */
  async list(signal: AbortSignal): Promise<OrphanPaths> {
    if (this.#pending > 0) throw new Error('searching orphaned resources: the last search still hangs');
    return await this.#withDeadline(listOrphanPlaces(this.#options.roots), signal);
  }

  async inspect(listed: OrphanPaths, known: KnownPods, signal: AbortSignal): Promise<OrphansFound> {
    return await this.#withDeadline(this.#inspect(listed, known, signal), signal);
  }

  /**
   * Rejects for a directory that is not one of a pod, and if a file in it cannot be removed. `volumeDataMs`: as found; a directory with newer data
   * of a CSI volume is kept.
   */
  async removeDirectory(
    path: string,
    volumeDataMs: number | undefined,
    signal: AbortSignal,
  ): Promise<OrphanRemoval> {
    const { hold, volumes } = await this.#judge(path, await this.#mounts());
    const isAsFound = ({ writtenMs }: CsiVolume): boolean =>
      volumeDataMs !== undefined && writtenMs <= volumeDataMs;
    if (!volumes.every(isAsFound)) return { kind: 'keep', reason: 'TooYoung' };
    const names = attachmentsOf(volumes);
    const attachments = new Attachments(this.#options.readAttachment);
    if (hold === undefined) await attachments.refresh(names, signal);
    // Reading VolumeAttachments takes time, in which a volume may have been mounted.
    const { obstacle: reason } =
      hold ??
      attachmentHold(names, attachments) ??
      (await this.#judge(path, await this.#mounts())).hold ??
      free;
    if (reason !== undefined) return { kind: 'keep', reason };
    const root = await realPath(this.#options.roots.podDirectories);
    if (dirname(path) !== root) throw new Error(`refusing ${JSON.stringify(path)}: it is not below ${root}`);
    const mayRemove = (volume: CsiVolume): boolean =>
      isAsFound(volume) && volume.attachments.every((name) => names.has(name));
    const limits = { budget: { left: maxFilesRemoved }, mayRemove };
    const removal = await inDirectory(root, [], (directory) =>
      removePodDirectory(directory, basename(path), limits, signal),
    );
    return removal ?? { kind: 'done', freedBytes: 0 };
  }

  async removeCgroup(path: string): Promise<OrphanRemoval> {
    return await removePodCgroup(this.#options.roots.cgroups, path);
  }

  #mounts(): Promise<readonly Mount[]> {
    return (this.#options.mounts ?? readMounts)();
  }

  #withDeadline<T>(reading: Promise<T>, signal: AbortSignal): Promise<T> {
    const { deadline = () => AbortSignal.timeout(timeoutMs) } = this.#options;
    const late = (): Error => new Error('searching orphaned resources: no response, a disk hangs');
    this.#pending += 1;
    const counted = reading.finally(() => {
      this.#pending -= 1;
    });
    return within(counted, { deadline: deadline(), late }, signal);
  }

  async #inspect(listed: OrphanPaths, known: KnownPods, signal: AbortSignal): Promise<OrphansFound> {
    const { podDirectories, logDirectories, podCgroups } = planUnclaimed(listed, knownPodUids(known));
    const mounts = await this.#mounts();
    const sizes = await this.#measure([...(podDirectories ?? []), ...(logDirectories ?? [])], mounts, signal);
    const { cgroups } = this.#options.roots;
    const bytesOf = ({ path }: PodPath): number => sizes.get(path)?.bytes ?? 0;
    const directories = await inspected(podDirectories, async (one) => ({
      bytes: bytesOf(one),
      ...(await this.#judge(one.path, mounts)),
    }));
    const isOpen = ({ hold }: Judged): boolean => hold === undefined;
    const open = directories?.filter(isOpen).flatMap(({ volumes }) => volumes) ?? [];
    await this.#attachments.refresh(attachmentsOf(open), signal);
    return {
      podDirectories: directories?.map(({ hold, volumes, ...one }) => ({
        ...one,
        ...(hold ?? attachmentHold(attachmentsOf(volumes), this.#attachments) ?? free),
        volumeDataMs:
          volumes.length === 0 ? undefined : Math.max(...volumes.map((volume) => volume.writtenMs)),
      })),
      logDirectories: await inspected(logDirectories, (one) =>
        Promise.resolve({ bytes: bytesOf(one), ...free }),
      ),
      podCgroups: await inspected(podCgroups, async ({ path }) => ({
        bytes: await memoryOf(path),
        ...heldBy(await cgroupObstacle(cgroups, path, mounts)),
      })),
    };
  }

  /** Judges a directory by mounts, processes and files; VolumeAttachments are read after it. */
  async #judge(path: string, mounts: readonly Mount[]): Promise<Judged> {
    const { podDirectories, cgroups } = this.#options.roots;
    const obstacle = mountObstacle(path, mounts);
    if (obstacle === 'Mounted') return judgedAs(obstacle, mountsBelow(path, mounts).toReversed());
    if (obstacle !== undefined) return judgedAs(obstacle);
    const inUse = await processObstacle(cgroups, basename(path));
    if (inUse !== undefined) return judgedAs(inUse);
    const contents = await contentsIn(path);
    if ('hold' in contents) return contents;
    if (contents.volumes.length === 0) return { hold: undefined, volumes: [] };
    const plugins = join(await realPath(dirname(podDirectories)), 'plugins/kubernetes.io/csi');
    // It may have another mount in the agent than the directories of pods.
    if (mountOf(plugins, mounts)?.isPropagated !== true) return judgedAs('MountsUnknown');
    const staged = contents.volumes.flatMap(({ stagingPaths }) =>
      stagingPaths.map((one) => join(plugins, one)).filter((one) => mountsBelow(one, mounts).length > 0),
    );
    // The kubelet needs the file to unmount the volume from the node.
    if (staged.length > 0) return judgedAs('Mounted', staged);
    return { hold: undefined, volumes: contents.volumes };
  }

  /** Measures what is new or was measured long ago. */
  async #measure(
    found: readonly PodPath[],
    mounts: readonly Mount[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, { readonly bytes: number }>> {
    const atMs = performance.now();
    const mountpoints = new Set(mounts.map(({ point }) => point));
    const measured = new Map<string, { readonly atMs: number; readonly bytes: number }>();
    let entriesLeft = maxEntries;
    for (const { path } of found) {
      const before = this.#measured.get(path);
      if (before !== undefined && atMs - before.atMs < measureEveryMs) {
        measured.set(path, before);
        continue;
      }
      const { bytes, entries } = await diskUsage(path, { maxEntries: entriesLeft, mountpoints }, signal);
      entriesLeft = Math.max(0, entriesLeft - entries);
      measured.set(path, { atMs, bytes });
    }
    this.#measured = measured;
    return measured;
  }
}

async function inspected<T extends object>(
  unclaimed: readonly PodPath[] | undefined,
  inspect: (one: PodPath) => Promise<T>,
): Promise<readonly (Pick<FoundOrphan, 'sinceMs' | keyof PodPath> & T)[] | undefined> {
  if (unclaimed === undefined) return undefined;
  const found = [];
  for (const one of unclaimed) {
    const stats = await lstat(one.path).catch(() => undefined);
    found.push({ ...one, sinceMs: stats?.mtimeMs, ...(await inspect(one)) });
  }
  return found;
}

interface Judged {
  /** undefined = only VolumeAttachments may hold it. */
  readonly hold: Hold | undefined;
  readonly volumes: readonly CsiVolume[];
}

const heldBy = (obstacle: OrphanObstacle | undefined, holders: readonly string[] = []): Hold => ({
  obstacle,
  holders,
  volumeDataMs: undefined,
});
const free = heldBy(undefined);
const judgedAs = (obstacle: OrphanObstacle, holders?: readonly string[]): Judged => ({
  hold: heldBy(obstacle, holders),
  volumes: [],
});

const attachmentsOf = (volumes: readonly CsiVolume[]): ReadonlySet<string> =>
  new Set(volumes.flatMap(({ attachments }) => attachments));

/** Why VolumeAttachments forbid the removal of the data of their volumes. */
function attachmentHold(
  names: ReadonlySet<string>,
  attachments: Pick<Attachments, 'exists' | 'problem'>,
): Hold | undefined {
  const those = (exists: boolean | undefined): readonly string[] =>
    [...names].filter((name) => attachments.exists(name) === exists);
  const [existing, unknown] = [those(true), those(undefined)];
  if (existing.length > 0) return heldBy('VolumeAttached', existing);
  const why = attachments.problem === undefined ? '' : `: ${attachments.problem}`;
  const unread = unknown.map((name) => `${name}${why}`);
  return unread.length > 0 ? heldBy('AttachmentsUnknown', unread) : undefined;
}

type MountObstacle = 'Mounted' | 'MountsUnknown' | 'ReadOnly';

/** Why the table of mounts forbids the removal of a directory. */
function mountObstacle(path: string, mounts: readonly Mount[]): MountObstacle | undefined {
  if (mountsBelow(path, mounts).length > 0) return 'Mounted';
  const mount = mountOf(path, mounts);
  // Removing a directory that is a mount point elsewhere would unmount it there.
  if (mount?.isPropagated !== true) return 'MountsUnknown';
  return mount.isReadOnly ? 'ReadOnly' : undefined;
}

type ProcessObstacle = 'InUse' | 'ProcessesUnknown';

/** Why the control groups of a pod forbid the removal of its directory: a process that outlived the pod may use the files. */
async function processObstacle(root: string, podUid: string): Promise<ProcessObstacle | undefined> {
  const paths = await cgroupPathsOf(root, podUid).catch(() => undefined);
  if (paths === undefined) return 'ProcessesUnknown';
  for (const path of paths) if (await isInUse(root, path)) return 'InUse';
  return undefined;
}

/** The contents of a directory, or why its files forbid its removal. */
async function contentsIn(path: string): Promise<Judged | Pick<PodContents, 'volumes'>> {
  try {
    const contents = await inDirectory(dirname(path), [basename(path)], contentsOf);
    if (contents?.foreign !== undefined) return judgedAs('NotEmpty', [join(path, contents.foreign)]);
    return { volumes: contents?.volumes ?? [] };
  } catch (err) {
    // An entry that cannot be read may belong to anybody.
    return judgedAs(obstacleOf(err) ?? 'NotEmpty');
  }
}

/** A control group that cannot be read counts as in use. */
const isInUse = (root: string, path: string): Promise<boolean> => isCgroupInUse(root, path).catch(() => true);

async function cgroupObstacle(
  root: string,
  path: string,
  mounts: readonly Mount[],
): Promise<OrphanObstacle | undefined> {
  if (await isInUse(root, path)) return 'InUse';
  return mountOf(path, mounts)?.isReadOnly === true ? 'ReadOnly' : undefined;
}

/** File names in cgroup v2 and v1. */
const memoryFiles = ['memory.current', 'memory.usage_in_bytes'];

/** Returns 0 if memory is not counted, or the cgroup is gone meanwhile. */
async function memoryOf(cgroup: string): Promise<number> {
  for (const file of memoryFiles) {
    const bytes = Number(await readFile(join(cgroup, file), 'utf8').catch(() => undefined));
    if (Number.isFinite(bytes)) return bytes;
  }
  return 0;
}
