import type { Dirent, Stats } from 'node:fs';
import { OpenDirectory, textOf } from './directory.ts';

/** Levels below the root of the pods: pod, container, log, and one more. */
const maxDepth = 4;

/** Lists the log roots, up to `maxEntries`; rejects for an unreadable root; a missing root is empty. */
export async function listLogs(
  roots: LogRoots,
  maxEntries: number,
  signal: AbortSignal,
): Promise<LogListing> {
  const walk = new Walk(maxEntries, signal);
  const podsFound = await walk.tree(roots.pods, maxDepth);
  const directories = [...walk.directories];
  await walk.tree(roots.containers, 1);
  // Without the root of the pods every link would seem broken.
  return { roots, entries: walk.entries, directories, complete: podsFound && walk.complete };
}

interface Spot {
  readonly directory: OpenDirectory;
  readonly path: string;
  /** Levels that may be listed, this one included. */
  readonly levels: number;
}

class Walk {
  readonly entries: LogEntry[] = [];
  readonly directories: string[] = [];
  complete = true;
  readonly #maxEntries: number;
  readonly #signal: AbortSignal;

  constructor(maxEntries: number, signal: AbortSignal) {
    this.#maxEntries = maxEntries;
    this.#signal = signal;
  }

  /** False = the root does not exist. */
  async tree(path: string, levels: number): Promise<boolean> {
    const root = await OpenDirectory.root(path);
    if (root === undefined) return false;
    try {
      const found = named(await root.list());
      for (const entry of found) if (entry.isDirectory) this.directories.push(`${path}/${entry.name}`);
      for (const entry of found) await this.#visit(entry, { directory: root, path, levels });
    } finally {
      await root.close();
    }
    return true;
  }

  async #visit(entry: Named, { directory, path, levels }: Spot): Promise<void> {
    this.#signal.throwIfAborted();
    const spot = { directory, path: `${path}/${entry.name}`, levels: levels - 1 };
    if (this.entries.length >= this.#maxEntries) this.complete = false;
    else if (entry.isDirectory) await this.#enter(entry.name, spot);
    else await this.#record(entry.name, spot);
  }

  /** Skips a directory that cannot be read: one bad pod must not hide the others. */
  async #enter(name: string, { directory, path, levels }: Spot): Promise<void> {
    if (levels === 0) return;
    const child = await directory.child(name).catch(() => {
      this.complete = false;
      return undefined;
    });
    if (child === undefined) return;
    try {
      for (const entry of named(await child.list()))
        await this.#visit(entry, { directory: child, path, levels });
    } finally {
      await child.close();
    }
  }

  async #record(name: string, { directory, path }: Spot): Promise<void> {
    const stat = await directory.stat(name);
    if (stat === undefined || !(stat.isFile() || stat.isSymbolicLink())) return;
    const target = stat.isSymbolicLink() ? await directory.linkTarget(name) : undefined;
    if (stat.isSymbolicLink() && target === undefined) return;
    this.entries.push(entryOf(path, stat, target));
  }
}

interface Named {
  readonly name: string;
  readonly isDirectory: boolean;
}

/** Skips names that are not UTF-8: neither the kubelet nor a runtime makes them. They are removed with their directory. */
const named = (entries: readonly Dirent<Buffer>[]): readonly Named[] =>
  entries.flatMap((entry) => {
    const name = textOf(entry.name);
    return name === undefined ? [] : [{ name, isDirectory: entry.isDirectory() }];
  });

function entryOf(path: string, { size, mtimeMs: exactMs }: Stats, target: string | undefined): LogEntry {
  // Rounded up, so that no file seems older than it is, and to milliseconds, as in a snapshot.
  const mtimeMs = Math.ceil(exactMs);
  return target === undefined ? { path, bytes: size, mtimeMs } : { path, bytes: 0, mtimeMs, target };
}

export interface LogEntry {
  readonly path: string;
  readonly bytes: number;
  readonly mtimeMs: number;
  /** The target of a link, absolute or relative to its directory. */
  readonly target?: string | undefined;
}

export interface LogListing {
  readonly roots: LogRoots;
  readonly entries: readonly LogEntry[];
  /** The directories right below the root of the pods, empty ones too. */
  readonly directories: readonly string[];
  /** False = the list is incomplete: a missing entry may exist. */
  readonly complete: boolean;
}

/** Absolute paths as on the node: the targets of links are compared with them. */
export interface LogRoots {
  /** `/var/log/pods`: one directory per pod, in it one per container. */
  readonly pods: string;
  /** `/var/log/containers`: links to the current logs, one level. */
  readonly containers: string;
}
