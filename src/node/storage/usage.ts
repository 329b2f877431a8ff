import type { Dirent, Stats } from 'node:fs';
import { lstat, opendir } from 'node:fs/promises';
import { join } from 'node:path';

/** Disk usage of a directory; a lower bound if there are more entries than allowed, or some that cannot be read. */
interface Usage {
  readonly bytes: number;
  readonly entries: number;
}

interface UsageBounds {
  readonly maxEntries: number;
  /** Never touched: one that hangs would block us for ever. */
  readonly mountpoints: ReadonlySet<string>;
}

/** The unit of lstat's `blocks`, independent of the file system. */
const blockBytes = 512;

/** Measures a directory as du does: allocated bytes, a file with several names once, without following links or entering other file systems. */
export async function diskUsage(root: string, bounds: UsageBounds, signal: AbortSignal): Promise<Usage> {
  const walk = new Walk(bounds);
  await walk.run(root, signal);
  return walk;
}

class Walk implements Usage {
  bytes = 0;
  entries = 0;
  readonly #bounds: UsageBounds;
  readonly #linked = new Set<number>();
  readonly #todo: string[] = [];
  #device: number | undefined;

  constructor(bounds: UsageBounds) {
    this.#bounds = bounds;
  }

  async run(root: string, signal: AbortSignal): Promise<void> {
    if (!(await this.#visit(root))) return;
    for (let next: string | undefined = root; next !== undefined; next = this.#todo.pop()) {
      await this.#directory(next, signal);
    }
  }

  async #directory(path: string, signal: AbortSignal): Promise<void> {
    const directory = await opendir(path).catch(() => undefined);
    if (directory === undefined) return;
    for await (const entry of directory) {
      signal.throwIfAborted();
      if (this.entries >= this.#bounds.maxEntries) {
        this.#todo.length = 0;
        return;
      }
      await this.#entry(join(path, entry.name), entry);
    }
  }

  async #entry(path: string, entry: Dirent): Promise<void> {
    if ((await this.#visit(path)) && entry.isDirectory()) this.#todo.push(path);
  }

  /** Counts an entry; false = it does not belong to the directory, or is counted already. */
  async #visit(path: string): Promise<boolean> {
    if (this.#bounds.mountpoints.has(path)) return false;
    const stats = await lstat(path).catch(() => undefined);
    if (stats === undefined) return false;
    this.#device ??= stats.dev;
    if (stats.dev !== this.#device || this.#isCounted(stats)) return false;
    this.entries += 1;
    this.bytes += stats.blocks * blockBytes;
    return true;
  }

  #isCounted({ nlink, ino, mode }: Stats): boolean {
    const isDirectory = (mode & 0o170000) === 0o040000;
    if (isDirectory || nlink < 2) return false;
    if (this.#linked.has(ino)) return true;
    this.#linked.add(ino);
    return false;
  }
}
