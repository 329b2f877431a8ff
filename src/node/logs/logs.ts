import type { Stats } from 'node:fs';
import { posix } from 'node:path';
import { within } from '../disk/within.ts';
import { inDirectory, type OpenDirectory } from './directory.ts';
import { listLogs, type LogListing, type LogRoots } from './list.ts';
import { removeFile, removeTree } from './remove-tree.ts';

export type NodeLogs = Pick<LocalLogs, keyof LocalLogs>;

/** Deeper than any log: more levels are made on purpose. */
const maxDepth = 32;

interface LocalLogsOptions {
  readonly maxEntries?: number;
  readonly list?: typeof listLogs;
  readonly deadline?: () => AbortSignal;
}

/** A disk that works lists 50 000 entries, or removes a large log, in seconds. */
const timeoutMs = 60_000;
const defaults = {
  maxEntries: 50_000,
  list: listLogs,
  deadline: (): AbortSignal => AbortSignal.timeout(timeoutMs),
};

/**
 * The container logs of this node; Linux only. Paths are absolute and must be below their root; a missing file counts as removed. A removal never
 * follows a link and never crosses a mount point: it rejects; after a minute too. Removals return the size of the removed files in bytes.
 */
export class LocalLogs {
  readonly roots: LogRoots;
  readonly #options: Required<LocalLogsOptions>;
  /** A listing has not ended. A hung one occupies a thread until it ends, so there is no second. */
  #isListing = false;
  /** Operations that have not ended by their deadline. */
  #hanging = 0;

  constructor(roots: LogRoots, options: LocalLogsOptions = {}) {
    this.roots = roots;
    this.#options = { ...defaults, ...options };
  }

  /** An operation has not ended although its deadline has passed. Until it ends, all others reject at once. */
  get isHanging(): boolean {
    return this.#hanging > 0;
  }

  /** Rejects after a minute, and while an earlier listing has not ended. */
  async list(signal: AbortSignal): Promise<LogListing> {
    return wrapped('listing logs', () => this.#listInTime(signal));
  }

  #listInTime(signal: AbortSignal): Promise<LogListing> {
    signal.throwIfAborted();
    if (this.#isListing) throw new Error('an earlier listing has not ended: the disk hangs');
    const { list, maxEntries } = this.#options;
    return this.#inTime((during) => {
      this.#isListing = true;
      return list(this.roots, maxEntries, during).finally(() => {
        this.#isListing = false;
      });
    }, signal);
  }

  /** Ends the wait at the deadline; `run` then ends before its next file operation. */
  async #inTime<T>(run: (signal: AbortSignal) => Promise<T>, signal: AbortSignal): Promise<T> {
    if (this.isHanging) throw new Error('an earlier operation has not ended: the disk hangs');
    const deadline = this.#options.deadline();
    let hasEnded = false;
    let isLate = false;
    const running = run(AbortSignal.any([signal, deadline])).finally(() => {
      hasEnded = true;
      if (isLate) this.#hanging -= 1;
    });
    const late = (): Error => {
      if (!hasEnded && !isLate) {
        isLate = true;
        this.#hanging += 1;
      }
      return new Error('no response: the disk hangs');
    };
    return within(running, { deadline, late }, signal);
  }

  async #removed<T>(
    message: string,
    run: (signal: AbortSignal) => Promise<T>,
    signal: AbortSignal,
  ): Promise<T> {
    return wrapped(message, () => this.#inTime(run, signal));
  }

  async removeDirectory(path: string, signal: AbortSignal): Promise<number> {
    const remove = async (during: AbortSignal): Promise<number> => {
      const components = componentsBelow(this.roots.pods, path);
      if (components.length !== 1) throw new Error('it is not the directory of a pod');
      const freed = await inDirectory(this.roots.pods, components, (pod) =>
        removeTree(pod, { depth: maxDepth, budget: { left: Infinity } }, during),
      );
      during.throwIfAborted();
      await inDirectory(this.roots.pods, [], (root) => root.removeEmpty(lastOf(components)));
      return freed ?? 0;
    };
    return this.#removed(`removing log directory ${path}`, remove, signal);
  }

  /** Removes a rotated log: never a name that ends in `.log`. */
  async removeRotated(path: string, signal: AbortSignal): Promise<number> {
    const remove = async (during: AbortSignal): Promise<number> => {
      during.throwIfAborted();
      const components = componentsBelow(this.roots.pods, path);
      if (components.length !== 3 || path.endsWith('.log')) throw new Error('it is not a rotated log');
      const name = lastOf(components);
      const freed = await inDirectory(this.roots.pods, components.slice(0, -1), (directory) =>
        removeFile(directory, name),
      );
      return freed ?? 0;
    };
    return this.#removed(`removing rotated log ${path}`, remove, signal);
  }

  /** Removes the log of a container and all its rotations: every name in its directory with this literal prefix (pkg/kubelet/kuberuntime/kuberuntime_container.go, removeContainerLog). */
  async removeContainerLog(path: string, signal: AbortSignal): Promise<number> {
    const remove = async (during: AbortSignal): Promise<number> => {
      const components = componentsBelow(this.roots.pods, path);
      if (components.length < 2) throw new Error('it is not the log of a container');
      const freed = await inDirectory(this.roots.pods, components.slice(0, -1), (directory) =>
        removePrefixed(directory, lastOf(components), during),
      );
      return freed ?? 0;
    };
    return this.#removed(`removing container log ${path}`, remove, signal);
  }

  /**
   * Removes a link below the root of the containers; false = it is no such link. `broken`: its target below the root of the pods is missing. `outside`:
   * it does not lead to a file below the root of the pods; the target may exist.
   */
  async removeLink(path: string, kind: 'broken' | 'outside', signal: AbortSignal): Promise<boolean> {
    const isRemovable = (target: string): Promise<boolean> =>
      kind === 'broken' ? this.#isMissing(target) : this.#isOutside(target);
    const remove = async (during: AbortSignal): Promise<boolean> => {
      during.throwIfAborted();
      const components = componentsBelow(this.roots.containers, path);
      if (components.length !== 1) throw new Error('it is not a link of a container');
      const name = lastOf(components);
      const removed = await inDirectory(this.roots.containers, [], async (root) => {
        const stat = await root.stat(name);
        const target = stat?.isSymbolicLink() === true ? await root.linkTarget(name) : undefined;
        if (target === undefined) return false;
        if (!(await isRemovable(posix.resolve(posix.dirname(path), target)))) return false;
        // What hung may be outdated.
        during.throwIfAborted();
        return root.unlink(name);
      });
      return removed ?? false;
    };
    return this.#removed(`removing log link ${path}`, remove, signal);
  }

  async #isOutside(target: string): Promise<boolean> {
    return !this.#isBelowPods(target) || (await this.#statBelowPods(target))?.isSymbolicLink() === true;
  }

  /** Never true for a target outside the root of the pods: such a directory may exist on the node and not in this container. */
  async #isMissing(target: string): Promise<boolean> {
    if (!this.#isBelowPods(target)) return false;
    const found = await inDirectory(this.roots.pods, [], () => Promise.resolve(true));
    return found !== undefined && (await this.#statBelowPods(target)) === undefined;
  }

  #isBelowPods(path: string): boolean {
    return path.startsWith(`${this.roots.pods}/`);
  }

  async #statBelowPods(path: string): Promise<Stats | undefined> {
    const components = componentsBelow(this.roots.pods, path);
    return inDirectory(this.roots.pods, components.slice(0, -1), (directory) =>
      directory.stat(lastOf(components)),
    );
  }
}

/** The names on the way from the root to the path. Throws for a path that is not below the root, and for `..`. */
function componentsBelow(root: string, path: string): readonly string[] {
  const prefix = `${root}/`;
  const components = path.startsWith(prefix) ? path.slice(prefix.length).split('/') : [];
  if (components.length === 0 || components.some((name) => name === '' || name === '.' || name === '..'))
    throw new Error(`refusing ${JSON.stringify(path)}: it is not below ${root}`);
  return components;
}

const lastOf = (components: readonly string[]): string => components.at(-1) ?? '';

async function wrapped<T>(message: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (cause) {
    if (cause instanceof Error && cause.name === 'AbortError') throw cause;
    throw new Error(message, { cause });
  }
}

async function removePrefixed(
  directory: OpenDirectory,
  prefix: string,
  signal: AbortSignal,
): Promise<number> {
  const start = Buffer.from(prefix);
  let freed = 0;
  for (const { name } of await directory.list()) {
    signal.throwIfAborted();
    if (name.subarray(0, start.length).equals(start)) freed += await removeFile(directory, name);
  }
  return freed;
}
