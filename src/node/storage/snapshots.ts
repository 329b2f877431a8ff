import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContainerRuntime, RuntimeContainer } from '../../cri/runtime.ts';
import { errorCode } from '../../runtime/errors.ts';
import { within } from '../disk/within.ts';

export interface SnapshotsFound {
  readonly count: number;
}

export interface SnapshotState {
  /** The names of their directories; a runtime never uses a name twice. */
  readonly directories: ReadonlySet<string>;
  /** Everything that should have a snapshot, each with a unique name. */
  readonly owners: ReadonlySet<string>;
}

interface SnapshotFinderOptions {
  readonly runtime: OwnersRuntime & Pick<ContainerRuntime, 'fileSystems'>;
  readonly deadline?: () => AbortSignal;
}

/** One directory is read in milliseconds; a disk that needs longer hangs. */
const timeoutMs = 30_000;

/** Counts the snapshots of containerd's overlayfs that have no owner. It removes nothing, and only needs to read one directory. */
export class SnapshotFinder {
  readonly #options: SnapshotFinderOptions;
  readonly #owners: SnapshotOwners;
  #before: SnapshotState | undefined;
  /** True while the disk is read, also after a timeout. */
  #pending = false;

  constructor(options: SnapshotFinderOptions) {
    this.#options = options;
    this.#owners = new SnapshotOwners(options.runtime);
  }

  /**
   * Counts the snapshots that had no owner in the last search and have none now. Returns undefined in the first search, with another runtime or
   * snapshotter, if the directory cannot be read, and while the runtime does not report the layers of its images.
   */
  async find(signal: AbortSignal): Promise<SnapshotsFound | undefined> {
    if (this.#pending) throw new Error('searching snapshots: the last search still hangs');
    const directories = await this.#directories(signal);
    // After the directories: a snapshot that is made meanwhile then adds an owner, never a directory without one.
    const owners = directories && (await this.#owners.list(signal));
    if (directories === undefined || owners === undefined) return undefined;
    const now = { directories, owners };
    const before = this.#before;
    this.#before = now;
    return before && { count: planSurplus(now, before) };
  }

  async #directories(signal: AbortSignal): Promise<ReadonlySet<string> | undefined> {
    const [first, ...more] = (await this.#options.runtime.fileSystems(signal)).images;
    // Two snapshotters: either may have the layers of an image.
    if (first === undefined || more.length > 0 || !isOverlayfs(first.mountpoint)) return undefined;
    const { deadline = () => AbortSignal.timeout(timeoutMs) } = this.#options;
    const late = (): Error => new Error('searching snapshots: no response, the disk hangs');
    return within(this.#read(join(first.mountpoint, 'snapshots')), { deadline: deadline(), late }, signal);
  }

  async #read(path: string): Promise<ReadonlySet<string> | undefined> {
    this.#pending = true;
    try {
      // A snapshot that is being made has another name until it is complete.
      return new Set((await readdir(path)).filter((name) => /^\d+$/.test(name)));
    } catch (err) {
      if (isInaccessible(errorCode(err))) return undefined;
      throw new Error(`listing ${path}`, { cause: err });
    } finally {
      this.#pending = false;
    }
  }
}

/** containerd names the file system after its plugin. */
const isOverlayfs = (mountpoint: string): boolean =>
  /\/io\.containerd\.snapshotter\.v1\.overlayfs\/?$/.test(mountpoint);

/** Not mounted into our container, or not readable. */
const isInaccessible = (code: string | undefined): boolean =>
  code === 'ENOENT' || code === 'EACCES' || code === 'EPERM';

/**
 * Returns how many snapshots at least have no owner. Directory names do not show their owner, so snapshots can only be counted: the minimum of
 * both searches and of what existed in both, because pulls and removals happen between the searches.
 */
export function planSurplus(now: SnapshotState, before: SnapshotState): number {
  const lasting = {
    directories: inBoth(now.directories, before.directories),
    owners: inBoth(now.owners, before.owners),
  };
  const surplus = [now, before, lasting].map(({ directories, owners }) => directories.size - owners.size);
  return Math.max(0, Math.min(...surplus));
}

const inBoth = (some: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlySet<string> =>
  new Set([...some].filter((one) => others.has(one)));

type OwnersRuntime = Pick<
  ContainerRuntime,
  'listImages' | 'imageLayers' | 'listContainers' | 'containerStatus' | 'listSandboxes'
>;

/** Requests per search, about one second of the runtime's time; the next search continues. */
const maxRequests = 250;

/**
 * Everything that should have a snapshot: each layer once, one writable layer for each container and sandbox, and one for each image that is
 * mounted as a volume of a pod. Layers and volumes are requested once.
 */
export class SnapshotOwners {
  readonly #runtime: OwnersRuntime;
  readonly #maxRequests: number;
  /** Chain IDs by image; a removed image keeps its layers as long as it has a container. */
  readonly #layers = new Map<string, readonly string[]>();
  /** Keyed by sandbox, because a mount outlives its container. */
  readonly #mounts = new Map<string, Set<string>>();
  readonly #inspected = new Set<string>();
  #requests = 0;

  constructor(runtime: OwnersRuntime, limit = maxRequests) {
    this.#runtime = runtime;
    this.#maxRequests = limit;
  }

  /** Returns undefined while the layers of an image or the mounts of a container are not known. */
  async list(signal: AbortSignal): Promise<ReadonlySet<string> | undefined> {
    const images = await this.#runtime.listImages(signal);
    const containers = await this.#runtime.listContainers(signal);
    const sandboxes = await this.#runtime.listSandboxes(signal);
    const imageIds = new Set([...images.map(({ id }) => id), ...containers.map(imageOf)]);
    forget(this.#layers, imageIds);
    forget(this.#inspected, idsOf(containers));
    forget(this.#mounts, idsOf(sandboxes));
    this.#requests = 0;
    const isComplete =
      (await this.#readLayers(imageIds, signal)) && (await this.#readMounts(containers, signal));
    if (!isComplete) return undefined;
    return new Set([
      ...[...this.#layers.values()].flat(),
      ...idsOf(containers),
      ...idsOf(sandboxes),
      ...[...this.#mounts].flatMap(([sandbox, mounted]) =>
        [...mounted].map((image) => `${sandbox} ${image}`),
      ),
    ]);
  }

  async #readLayers(imageIds: ReadonlySet<string>, signal: AbortSignal): Promise<boolean> {
    let isComplete = true;
    for (const id of imageIds) {
      if (this.#layers.has(id)) continue;
      const diffIds = this.#mayRequest() ? await this.#runtime.imageLayers(id, signal) : undefined;
      if (diffIds === undefined) isComplete = false;
      else this.#layers.set(id, chainIds(diffIds));
    }
    return isComplete;
  }

  async #readMounts(containers: readonly RuntimeContainer[], signal: AbortSignal): Promise<boolean> {
    for (const { id, sandboxId } of containers) {
      if (this.#inspected.has(id)) continue;
      if (!this.#mayRequest()) return false;
      const { mountedImages = [] } = (await this.#runtime.containerStatus(id, signal)) ?? {};
      this.#inspected.add(id);
      if (mountedImages.length === 0) continue;
      this.#mounts.set(sandboxId, new Set([...(this.#mounts.get(sandboxId) ?? []), ...mountedImages]));
    }
    return true;
  }

  #mayRequest(): boolean {
    this.#requests += 1;
    return this.#requests <= this.#maxRequests;
  }
}

/** The names that a runtime has for the layers of an image: each includes all layers below it (the image specification's ChainID). */
function chainIds(diffIds: readonly string[]): readonly string[] {
  const chain: string[] = [];
  for (const diffId of diffIds) {
    const below = chain.at(-1);
    chain.push(below === undefined ? diffId : `sha256:${sha256(`${below} ${diffId}`)}`);
  }
  return chain;
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Runtimes before CRI 1.30 leave the newer field empty. */
const imageOf = ({ imageId, imageRef }: RuntimeContainer): string => (imageId === '' ? imageRef : imageId);

const idsOf = (things: readonly { readonly id: string }[]): ReadonlySet<string> =>
  new Set(things.map(({ id }) => id));

function forget(
  known: { keys(): Iterable<string>; delete(key: string): boolean },
  kept: ReadonlySet<string>,
): void {
  for (const key of [...known.keys()]) if (!kept.has(key)) known.delete(key);
}
