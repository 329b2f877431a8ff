import type {
  DeclaredContainer,
  DeclaredEmptyDir,
  DeclaredInitContainer,
  PodStorageSpec,
  StorageLimit,
} from '../api/local-storage.ts';
import { parseQuantity } from '../runtime/quantity.ts';
import type { NodePodContainer, NodePodQuantity, NodePodSpec } from './gen/node_pod.ts';

const resource = 'ephemeral-storage';
/** Enough for the limits of a node's pods; a full table starts over, so churn cannot make it grow. */
const maxShared = 1024;

const noEmptyDirs: readonly DeclaredEmptyDir[] = Object.freeze([]);
const noContainers: readonly DeclaredInitContainer[] = Object.freeze([]);

/** Reads what a pod's spec says about local storage; equal limits, and equal containers without one, become one value. */
export class StorageSpecs {
  readonly #limits = new Map<string, StorageLimit | undefined>();
  readonly #unlimited = new Map<string, DeclaredContainer>();

  read({ volumes, containers, initContainers, overhead }: NodePodSpec): PodStorageSpec {
    return {
      emptyDirs: this.#emptyDirs(volumes),
      containers: containers.map((one) => this.#container(one)),
      initContainers:
        initContainers.length === 0 ? noContainers : initContainers.map((one) => this.#init(one)),
      overheadBytes: this.#limit(overhead[resource])?.bytes,
    };
  }

  #emptyDirs(volumes: NodePodSpec['volumes']): readonly DeclaredEmptyDir[] {
    const found = volumes.flatMap(({ name, volumeSource }) => {
      const { emptyDir } = volumeSource ?? {};
      if (emptyDir === undefined) return [];
      return [{ name, isMemory: emptyDir.medium !== '', limit: this.#limit(emptyDir.sizeLimit) }];
    });
    return found.length === 0 ? noEmptyDirs : found;
  }

  #container({ name, resources }: NodePodContainer): DeclaredContainer {
    const limit = this.#limit(resources?.limits[resource]);
    return limit === undefined
      ? shared(this.#unlimited, name, () => ({ name, limit: undefined }))
      : { name, limit };
  }

  #init(container: NodePodContainer): DeclaredInitContainer {
    return { ...this.#container(container), restartable: container.restartPolicy === 'Always' };
  }

  /** What is no quantity limits nothing; the API server lets none through. */
  #limit(quantity: NodePodQuantity | undefined): StorageLimit | undefined {
    const text = quantity?.string ?? '';
    if (text === '') return undefined;
    return shared(this.#limits, text, () => {
      const bytes = parseQuantity(text);
      return bytes === undefined ? undefined : { bytes, text };
    });
  }
}

/** Of a pod whose spec is not known. */
export const noStorageSpec: PodStorageSpec = Object.freeze({
  emptyDirs: noEmptyDirs,
  containers: noContainers,
  initContainers: noContainers,
  overheadBytes: undefined,
});

function shared<T>(known: Map<string, T>, key: string, make: () => T): T {
  const before = known.get(key);
  if (before !== undefined) return before;
  if (known.size >= maxShared) known.clear();
  const made = make();
  known.set(key, made);
  return made;
}
