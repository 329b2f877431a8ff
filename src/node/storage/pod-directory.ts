import type { Dirent } from 'node:fs';
import { errorCode } from '../../runtime/errors.ts';
import { MountCrossing, textOf, type OpenDirectory } from '../logs/directory.ts';
import { BudgetSpent, removeEntry, removeFile, removeTree, type Budget } from '../logs/remove-tree.ts';
import { isVolumeData, readVolumeData, type CsiVolume } from './csi-volume.ts';

/** Why the directory of a pod that is gone cannot be removed. */
type DirectoryObstacle = 'Mounted' | 'ReadOnly' | 'NotEmpty' | 'PacingLimit';

export type DirectoryRemoval =
  | { readonly kind: 'done'; readonly freedBytes: number }
  | { readonly kind: 'keep'; readonly reason: DirectoryObstacle };

/** Volume plugins whose files end with the pod; `plugins` holds their markers. */
const ownPlugins: ReadonlySet<string | undefined> = new Set(
  ['empty-dir', 'configmap', 'secret', 'projected', 'downward-api'].map((name) => `kubernetes.io~${name}`),
);

/** Whether everything in a directory of a pod ends with the pod, by the names on the way to it: termination messages, and volumes such as emptyDir. */
export const isKubeletsTree = ([first = '', second, ...more]: readonly string[]): boolean =>
  first === 'containers'
    ? second === undefined
    : ['volumes', 'plugins'].includes(first) && ownPlugins.has(second) && more.length === 0;

const isKubeletsFile = (names: readonly string[]): boolean => names.join('/') === 'etc-hosts';

/** Deeper than the mount points of any volume plugin. */
const maxForeignDepth = 8;
/** Directories of other volume plugins in one pod; there are two or three for each volume. */
const maxForeignEntries = 1_000;
/** An emptyDir volume may hold any tree. Each level is an open file. */
const maxTreeDepth = 256;

export interface PodContents {
  /** The path of a file that may outlive the pod, or of the entry after which there is too much to know; undefined = none. */
  readonly foreign: string | undefined;
  /** The volumes of which the directory has nothing but `vol_data.json`. */
  readonly volumes: readonly CsiVolume[];
}

/** Searches the directory of a pod for what does not end with the pod. */
export async function contentsOf(pod: OpenDirectory): Promise<PodContents> {
  const volumes: CsiVolume[] = [];
  return { foreign: await foreignIn(pod, [], { left: maxForeignEntries, volumes }), volumes };
}

async function foreignIn(
  directory: OpenDirectory,
  names: readonly string[],
  walk: Budget & { readonly volumes: CsiVolume[] },
): Promise<string | undefined> {
  for await (const entry of directory.entries()) {
    const path = pathOf(names, entry);
    const volume = isVolumeData(path) ? await readVolumeData(directory) : undefined;
    if (walk.left-- <= 0 || (volume === undefined && isForeign(path, entry))) return path.join('/');
    if (volume !== undefined) walk.volumes.push(volume);
    if (!entry.isDirectory() || isKubeletsTree(path)) continue;
    const child = await directory.child(entry.name);
    const found = child && (await foreignIn(child, path, walk).finally(() => child.close()));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** A name that is not UTF-8 is none of the kubelet's. */
const pathOf = (names: readonly string[], { name }: Dirent<Buffer>): readonly string[] => [
  ...names,
  textOf(name) ?? '',
];

const isForeign = (path: readonly string[], entry: Dirent<Buffer>): boolean =>
  path.length > maxForeignDepth || (!entry.isDirectory() && !isKubeletsFile(path));

class ForeignFile extends Error {}

interface RemovalLimits {
  readonly budget: Budget;
  /** Whether the data of a volume may be removed. */
  readonly mayRemove: (volume: CsiVolume) => boolean;
}

/**
 * Removes the directory of a pod from its root. Checks everything before the first removal, and again each file that does not end with the pod:
 * such a file is never removed, even if it appears meanwhile. A directory that is too large for one call is removed in several.
 */
export async function removePodDirectory(
  root: OpenDirectory,
  name: string,
  limits: RemovalLimits,
  signal: AbortSignal,
): Promise<DirectoryRemoval> {
  const pod = await root.child(name);
  if (pod === undefined) return { kind: 'done', freedBytes: 0 };
  try {
    const { foreign, volumes } = await contentsOf(pod);
    if (foreign !== undefined || !volumes.every(limits.mayRemove))
      return { kind: 'keep', reason: 'NotEmpty' };
    const freedBytes = await removeKnown(pod, [], { ...limits, signal });
    await root.removeEmpty(name);
    return { kind: 'done', freedBytes };
  } catch (err) {
    const reason = obstacleOf(err);
    if (reason === undefined) throw err;
    return { kind: 'keep', reason };
  } finally {
    await pod.close();
  }
}

async function removeKnown(
  directory: OpenDirectory,
  names: readonly string[],
  given: RemovalLimits & { readonly signal: AbortSignal },
): Promise<number> {
  let freed = 0;
  let volumeData: Dirent<Buffer> | undefined;
  for await (const entry of directory.entries()) {
    const path = pathOf(names, entry);
    if (isVolumeData(path)) {
      volumeData = entry;
      continue;
    }
    if (isForeign(path, entry)) throw new ForeignFile();
    const limits = { depth: maxTreeDepth, budget: given.budget };
    freed += await removeEntry(directory, entry, (child) =>
      isKubeletsTree(path) ? removeTree(child, limits, given.signal) : removeKnown(child, path, given),
    );
  }
  if (volumeData === undefined) return freed;
  // Last, as the kubelet does (`removeMountDir`, pkg/volume/csi/csi_mounter.go): it needs the file for what could not be removed.
  const volume = await readVolumeData(directory);
  if (volume === undefined || !given.mayRemove(volume)) throw new ForeignFile();
  return freed + (await removeFile(directory, volumeData.name));
}

/** Returns why the directory is kept after this error; undefined = any other error. */
export function obstacleOf(err: unknown): DirectoryObstacle | undefined {
  if (err instanceof MountCrossing) return 'Mounted';
  if (err instanceof BudgetSpent) return 'PacingLimit';
  if (err instanceof ForeignFile) return 'NotEmpty';
  return obstacles[errorCode(err) ?? ''];
}

/** ENOTEMPTY: somebody writes into it. ENOTDIR, ELOOP: something else has taken the place of a directory. */
const obstacles: Readonly<Record<string, DirectoryObstacle>> = {
  EBUSY: 'Mounted',
  EROFS: 'ReadOnly',
  ENOTEMPTY: 'NotEmpty',
  ENOTDIR: 'NotEmpty',
  ELOOP: 'NotEmpty',
};
