import type { ContainerRuntime, RuntimeContainer } from './runtime.ts';

/** Ids or references of the images that containers have mounted, by container id. */
export type MountedImages = ReadonlyMap<string, readonly string[]>;

/**
 * Reads the image volumes of containers in any state, as the kubelet does (handleImageVolumes in pkg/kubelet/images/image_gc_manager.go). The mounts of a
 * container never change, so each is read once.
 */
export class ImageMounts {
  readonly #runtime: Pick<ContainerRuntime, 'containerStatus'>;
  #known: MountedImages = new Map();

  constructor(runtime: Pick<ContainerRuntime, 'containerStatus'>) {
    this.#runtime = runtime;
  }

  async read(containers: readonly RuntimeContainer[], signal: AbortSignal): Promise<MountedImages> {
    const mounted = new Map<string, readonly string[]>();
    for (const { id } of containers) mounted.set(id, this.#known.get(id) ?? (await this.#of(id, signal)));
    this.#known = mounted;
    return mounted;
  }

  async #of(id: string, signal: AbortSignal): Promise<readonly string[]> {
    const status = await this.#runtime.containerStatus(id, signal);
    return status?.mountedImages ?? [];
  }
}
