import type { Dirent } from 'node:fs';
import type { OpenDirectory, Name } from './directory.ts';

export interface Budget {
  left: number;
}

interface Limits {
  /** Levels of directories; a tree with more of them is an error. */
  readonly depth: number;
  readonly budget: Budget;
}

export class BudgetSpent extends Error {
  constructor() {
    super('there are more files than one pass removes');
  }
}

/** Removes everything in a directory, never through a link or into another mount; returns the size of the removed files in bytes. */
export async function removeTree(
  directory: OpenDirectory,
  { depth, budget }: Limits,
  signal: AbortSignal,
): Promise<number> {
  if (depth < 0) throw new Error('too many levels of directories');
  let freed = 0;
  for await (const entry of directory.entries()) {
    signal.throwIfAborted();
    if (budget.left-- <= 0) throw new BudgetSpent();
    const inside = (child: OpenDirectory): Promise<number> =>
      removeTree(child, { depth: depth - 1, budget }, signal);
    freed += await removeEntry(directory, entry, inside);
  }
  return freed;
}

/** Removes a file, or a directory after `empty` has emptied it. */
export async function removeEntry(
  parent: OpenDirectory,
  entry: Dirent<Buffer>,
  empty: (child: OpenDirectory) => Promise<number>,
): Promise<number> {
  if (!entry.isDirectory()) return await removeFile(parent, entry.name);
  const child = await parent.child(entry.name);
  if (child === undefined) return 0;
  const freed = await empty(child).finally(() => child.close());
  await parent.removeEmpty(entry.name);
  return freed;
}

export async function removeFile(directory: OpenDirectory, name: Name): Promise<number> {
  const stat = await directory.stat(name);
  if (stat === undefined) return 0;
  if (stat.isDirectory()) throw new Error(`${String(name)} is a directory`);
  return (await directory.unlink(name)) ? stat.size : 0;
}
