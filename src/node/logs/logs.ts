import { listLogs, type LogListing, type LogRoots } from './list.ts';
import { HeldDirectory, type Name } from './directory.ts';
import { componentsBelow, lastOf, resolveLink } from './path.ts';

/**
 * The container logs of this node. Paths are absolute and must lie below their root; what is missing counts as removed. No link is ever
 * followed and no mount point crossed: such a removal rejects.
 */
export interface NodeLogs {
  readonly roots: LogRoots;
  list(signal: AbortSignal): Promise<LogListing>;
  /** A pod's whole log directory; answers the bytes that its files had. */
  removeDirectory(path: string, signal: AbortSignal): Promise<number>;
  /** A rotated log: never a name that ends in `.log`. */
  removeRotated(path: string, signal: AbortSignal): Promise<number>;
  /** The log of a container and all its rotations: every name in its directory that begins as it (pkg/kubelet/kuberuntime/kuberuntime_container.go, removeContainerLog), literally. */
  removeContainerLog(path: string, signal: AbortSignal): Promise<number>;
  /** Only a link below the root of the containers that leads to nothing below the root of the pods; false = it is none, or there is none. */
  removeBrokenLink(path: string, signal: AbortSignal): Promise<boolean>;
}

/** Deeper than any log is: who nests further wants to keep us busy. */
const maxDepth = 32;

/** NodeLogs on the local file system; Linux only. */
export class LocalLogs implements NodeLogs {
  readonly roots: LogRoots;
  readonly #maxEntries: number;

  constructor(roots: LogRoots, { maxEntries = 50_000 }: { readonly maxEntries?: number } = {}) {
    this.roots = roots;
    this.#maxEntries = maxEntries;
  }

  async list(signal: AbortSignal): Promise<LogListing> {
    return doing('listing logs', () => listLogs(this.roots, this.#maxEntries, signal));
  }

  async removeDirectory(path: string, signal: AbortSignal): Promise<number> {
    return doing(`removing log directory ${path}`, async () => {
      const components = componentsBelow(this.roots.pods, path);
      if (components.length !== 1) throw new Error('it is no directory of a pod');
      const freed = await this.#below(this.roots.pods, components, (pod) =>
        removeTree(pod, maxDepth, signal),
      );
      await this.#below(this.roots.pods, [], (root) => root.removeEmpty(lastOf(components)));
      return freed ?? 0;
    });
  }

  async removeRotated(path: string, signal: AbortSignal): Promise<number> {
    return doing(`removing rotated log ${path}`, async () => {
      signal.throwIfAborted();
      const components = componentsBelow(this.roots.pods, path);
      if (components.length !== 3 || path.endsWith('.log')) throw new Error('it is no rotated log');
      const name = lastOf(components);
      const freed = await this.#below(this.roots.pods, components.slice(0, -1), (directory) =>
        removeFile(directory, name),
      );
      return freed ?? 0;
    });
  }

  async removeContainerLog(path: string, signal: AbortSignal): Promise<number> {
    return doing(`removing container log ${path}`, async () => {
      const components = componentsBelow(this.roots.pods, path);
      if (components.length < 2) throw new Error('it is no log of a container');
      const freed = await this.#below(this.roots.pods, components.slice(0, -1), (directory) =>
        removePrefixed(directory, lastOf(components), signal),
      );
      return freed ?? 0;
    });
  }

  async removeBrokenLink(path: string, signal: AbortSignal): Promise<boolean> {
    return doing(`removing log link ${path}`, async () => {
      signal.throwIfAborted();
      const components = componentsBelow(this.roots.containers, path);
      if (components.length !== 1) throw new Error('it is no link of a container');
      const name = lastOf(components);
      const removed = await this.#below(this.roots.containers, [], async (root) => {
        const stat = await root.stat(name);
        const target = stat?.isSymbolicLink() === true ? await root.linkTarget(name) : undefined;
        if (target === undefined || !(await this.#isMissing(resolveLink(path, target)))) return false;
        return root.unlink(name);
      });
      return removed ?? false;
    });
  }

  /** Only what lies below the root of the pods can be judged: other directories may exist on the node and not here. */
  async #isMissing(target: string): Promise<boolean> {
    if (!target.startsWith(`${this.roots.pods}/`)) return false;
    const components = componentsBelow(this.roots.pods, target);
    const found = await this.#below(this.roots.pods, [], () => Promise.resolve(true));
    if (found === undefined) return false;
    const stat = await this.#below(this.roots.pods, components.slice(0, -1), (directory) =>
      directory.stat(lastOf(components)),
    );
    return stat === undefined;
  }

  /** Opens one directory after the other below the root; undefined = one of them is missing. */
  async #below<T>(
    root: string,
    components: readonly string[],
    act: (directory: HeldDirectory) => Promise<T>,
  ): Promise<T | undefined> {
    let held = await HeldDirectory.root(root);
    for (const name of components) {
      const parent = held;
      if (parent === undefined) return undefined;
      held = await parent.child(name).finally(() => parent.close());
    }
    const last = held;
    return last === undefined ? undefined : act(last).finally(() => last.close());
  }
}

async function doing<T>(what: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (cause) {
    if (cause instanceof Error && cause.name === 'AbortError') throw cause;
    throw new Error(what, { cause });
  }
}

async function removeTree(directory: HeldDirectory, depthLeft: number, signal: AbortSignal): Promise<number> {
  let freed = 0;
  for (const entry of await directory.list()) {
    signal.throwIfAborted();
    freed += entry.isDirectory()
      ? await removeBranch(directory, { name: entry.name, depthLeft }, signal)
      : await removeFile(directory, entry.name);
  }
  return freed;
}

async function removeBranch(
  parent: HeldDirectory,
  { name, depthLeft }: { readonly name: Name; readonly depthLeft: number },
  signal: AbortSignal,
): Promise<number> {
  if (depthLeft === 0) throw new Error('too many levels of directories');
  const child = await parent.child(name);
  if (child === undefined) return 0;
  const freed = await removeTree(child, depthLeft - 1, signal).finally(() => child.close());
  await parent.removeEmpty(name);
  return freed;
}

async function removeFile(directory: HeldDirectory, name: Name): Promise<number> {
  const stat = await directory.stat(name);
  if (stat === undefined) return 0;
  if (stat.isDirectory()) throw new Error(`${String(name)} is a directory`);
  return (await directory.unlink(name)) ? stat.size : 0;
}

async function removePrefixed(
  directory: HeldDirectory,
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
