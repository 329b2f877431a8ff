import type { Dirent } from 'node:fs';
import { errorCode } from '../../runtime/errors.ts';
import { MountCrossing, textOf, type OpenDirectory } from '../logs/directory.ts';
import { BudgetSpent, removeEntry, removeTree, type Budget } from '../logs/remove-tree.ts';

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

/** Whether a directory of a pod contains something that does not end with the pod, or too much to know. */
export async function hasForeignFiles(pod: OpenDirectory): Promise<boolean> {
  return await foreignIn(pod, [], { left: maxForeignEntries });
}

async function foreignIn(
  directory: OpenDirectory,
  names: readonly string[],
  budget: Budget,
): Promise<boolean> {
  for await (const entry of directory.entries()) {
    const path = pathOf(names, entry);
    if (budget.left-- <= 0 || isForeign(path, entry)) return true;
    if (!entry.isDirectory() || isKubeletsTree(path)) continue;
    const child = await directory.child(entry.name);
    const found = child && (await foreignIn(child, path, budget).finally(() => child.close()));
    if (found === true) return true;
  }
  return false;
}

/** A name that is not UTF-8 is none of the kubelet's. */
const pathOf = (names: readonly string[], { name }: Dirent<Buffer>): readonly string[] => [
  ...names,
  textOf(name) ?? '',
];

const isForeign = (path: readonly string[], entry: Dirent<Buffer>): boolean =>
  path.length > maxForeignDepth || (!entry.isDirectory() && !isKubeletsFile(path));

class ForeignFile extends Error {}

/**
 * Removes the directory of a pod from its root. Checks everything before the first removal, and again each file that does not end with the pod:
 * such a file is never removed, even if it appears meanwhile. A directory that is too large for one call is removed in several.
 */
export async function removePodDirectory(
  root: OpenDirectory,
  name: string,
  { budget }: { readonly budget: Budget },
  signal: AbortSignal,
): Promise<DirectoryRemoval> {
  const pod = await root.child(name);
  if (pod === undefined) return { kind: 'done', freedBytes: 0 };
  try {
    if (await hasForeignFiles(pod)) return { kind: 'keep', reason: 'NotEmpty' };
    const freedBytes = await removeKnown(pod, [], { budget, signal });
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
  given: { readonly budget: Budget; readonly signal: AbortSignal },
): Promise<number> {
  let freed = 0;
  for await (const entry of directory.entries()) {
    const path = pathOf(names, entry);
    if (isForeign(path, entry)) throw new ForeignFile();
    const limits = { depth: maxTreeDepth, budget: given.budget };
    freed += await removeEntry(directory, entry, (child) =>
      isKubeletsTree(path) ? removeTree(child, limits, given.signal) : removeKnown(child, path, given),
    );
  }
  return freed;
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
