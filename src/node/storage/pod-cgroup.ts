import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../runtime/errors.ts';
import { inDirectory, type OpenDirectory } from '../logs/directory.ts';
import type { Budget } from '../logs/remove-tree.ts';

export type CgroupRemoval =
  | { readonly kind: 'done'; readonly freedBytes: number }
  | { readonly kind: 'keep'; readonly reason: 'InUse' | 'ReadOnly' };

/** The processes of a control group, not of those below it. Every control group has this file, in v1 and v2. */
const processes = 'cgroup.procs';
/** Control groups below that of one pod: some for each container, more if a container makes its own. */
const maxGroups = 2_000;
const maxDepth = 32;

/** A control group of a pod: a path of names below a tree. In v1 the pod has one in the tree of each controller. */
interface PodGroup {
  readonly tree: string;
  readonly names: readonly string[];
}

/** Whether a process is left in the control group of a pod, or below it, in any tree; also true if that is not known. */
export async function isCgroupInUse(root: string, path: string): Promise<boolean> {
  for (const group of await groupsOf(root, path))
    if ((await inParent(group, (parent, name) => usedBelow(parent, name, newWalk()))) === true) return true;
  return false;
}

/**
 * Removes the control group of a pod, and those below it, deepest first. Only empties are removed, by rmdir: the kernel refuses to remove one with
 * a process, so a process that enters meanwhile is safe.
 */
export async function removePodCgroup(root: string, path: string): Promise<CgroupRemoval> {
  if (await isCgroupInUse(root, path)) return { kind: 'keep', reason: 'InUse' };
  try {
    for (const group of await groupsOf(root, path))
      await inParent(group, (parent, name) => removeGroup(parent, name, maxDepth));
    return { kind: 'done', freedBytes: 0 };
  } catch (err) {
    const reason = obstacles[errorCode(err) ?? ''];
    if (reason === undefined) throw err;
    return { kind: 'keep', reason };
  }
}

/** EBUSY: a process is in it. ENOTEMPTY: something made a new one below it. */
const obstacles: Readonly<Record<string, 'InUse' | 'ReadOnly'>> = {
  EBUSY: 'InUse',
  ENOTEMPTY: 'InUse',
  EROFS: 'ReadOnly',
};

/** The same path in every tree: v2 has one, the root itself; v1 has one for each controller. */
async function groupsOf(root: string, path: string): Promise<readonly PodGroup[]> {
  const trees = await treesIn(root);
  const tree = trees.find((one) => path.startsWith(`${one}/`));
  const names = tree === undefined ? [] : path.slice(tree.length + 1).split('/');
  if (names.length < 2)
    throw new Error(`refusing ${JSON.stringify(path)}: it is not a control group of a pod`);
  return trees.map((one) => ({ tree: one, names }));
}

async function treesIn(root: string): Promise<readonly string[]> {
  const isTree = (await inDirectory(root, [], (directory) => directory.stat(processes))) !== undefined;
  if (isTree) return [root];
  const trees: string[] = [];
  for await (const entry of await opendir(root)) if (entry.isDirectory()) trees.push(join(root, entry.name));
  return trees;
}

/** Runs an action with the directory that contains the group; undefined = there is none. */
const inParent = <T>(
  { tree, names }: PodGroup,
  action: (parent: OpenDirectory, name: string) => Promise<T>,
): Promise<T | undefined> =>
  inDirectory(tree, names.slice(0, -1), (parent) => action(parent, names.at(-1) ?? ''));

interface Walk {
  readonly budget: Budget;
  readonly depth: number;
}

const newWalk = (): Walk => ({ budget: { left: maxGroups }, depth: maxDepth });

async function usedBelow(parent: OpenDirectory, name: string | Buffer, walk: Walk): Promise<boolean> {
  const { budget, depth } = walk;
  if (depth === 0 || budget.left-- <= 0) return true;
  const group = await parent.child(name);
  if (group === undefined) return false;
  try {
    if (await hasProcesses(group)) return true;
    for await (const entry of group.entries())
      if (entry.isDirectory() && (await usedBelow(group, entry.name, { budget, depth: depth - 1 })))
        return true;
    return false;
  } finally {
    await group.close();
  }
}

/** Without the file it is no control group, and a threaded one does not list its processes: both count as in use. */
async function hasProcesses(group: OpenDirectory): Promise<boolean> {
  const pids = await group.read(processes).catch(() => undefined);
  return pids?.trim() !== '';
}

async function removeGroup(parent: OpenDirectory, name: string | Buffer, depth: number): Promise<void> {
  const group = depth > 0 ? await parent.child(name) : undefined;
  if (group === undefined) return;
  try {
    for await (const entry of group.entries())
      if (entry.isDirectory()) await removeGroup(group, entry.name, depth - 1);
  } finally {
    await group.close();
  }
  await parent.removeEmpty(name);
}
