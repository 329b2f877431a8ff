import { createHash } from 'node:crypto';
import type { ContainerRuntime, RuntimeContainer } from '../../cri/runtime.ts';

export type OwnersRuntime = Pick<
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
