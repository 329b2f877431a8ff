import type { ContainerRuntime, RuntimeContainer } from '../../cri/runtime.ts';
import { chainIds } from './snapshots.ts';

export type OwnersRuntime = Pick<
  ContainerRuntime,
  'listImages' | 'imageLayers' | 'listContainers' | 'containerStatus' | 'listSandboxes'
>;

/** About a second's worth of the runtime's time; what is left over waits for the next look. */
const maxQuestions = 250;

/**
 * Whatever the runtime should keep a snapshot for: each layer once, a writable one for each container and sandbox, one for each image that is
 * mounted as a volume of a pod. Layers and volumes are asked for once.
 */
export class SnapshotOwners {
  readonly #runtime: OwnersRuntime;
  readonly #maxQuestions: number;
  /** Chain IDs by image; an image that is removed keeps its layers as long as there is a container of it. */
  readonly #layers = new Map<string, readonly string[]>();
  /** By sandbox: a mount outlives the container that it was made for. */
  readonly #mounts = new Map<string, Set<string>>();
  /** The containers whose mounts are known. */
  readonly #asked = new Set<string>();
  #questions = 0;

  constructor(runtime: OwnersRuntime, limit = maxQuestions) {
    this.#runtime = runtime;
    this.#maxQuestions = limit;
  }

  /** Undefined as long as there is an image or a container of which not all is known. */
  async list(signal: AbortSignal): Promise<ReadonlySet<string> | undefined> {
    const images = await this.#runtime.listImages(signal);
    const containers = await this.#runtime.listContainers(signal);
    const sandboxes = await this.#runtime.listSandboxes(signal);
    const imageIds = new Set([...images.map(({ id }) => id), ...containers.map(imageOf)]);
    forget(this.#layers, imageIds);
    forget(this.#asked, idsOf(containers));
    forget(this.#mounts, idsOf(sandboxes));
    this.#questions = 0;
    const isComplete =
      (await this.#learnLayers(imageIds, signal)) && (await this.#learnMounts(containers, signal));
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

  async #learnLayers(imageIds: ReadonlySet<string>, signal: AbortSignal): Promise<boolean> {
    let isComplete = true;
    for (const id of imageIds) {
      if (this.#layers.has(id)) continue;
      const diffIds = this.#mayAsk() ? await this.#runtime.imageLayers(id, signal) : undefined;
      if (diffIds === undefined) isComplete = false;
      else this.#layers.set(id, chainIds(diffIds));
    }
    return isComplete;
  }

  async #learnMounts(containers: readonly RuntimeContainer[], signal: AbortSignal): Promise<boolean> {
    for (const { id, sandboxId } of containers) {
      if (this.#asked.has(id)) continue;
      if (!this.#mayAsk()) return false;
      const { mountedImages = [] } = (await this.#runtime.containerStatus(id, signal)) ?? {};
      this.#asked.add(id);
      if (mountedImages.length === 0) continue;
      this.#mounts.set(sandboxId, new Set([...(this.#mounts.get(sandboxId) ?? []), ...mountedImages]));
    }
    return true;
  }

  #mayAsk(): boolean {
    this.#questions += 1;
    return this.#questions <= this.#maxQuestions;
  }
}

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
