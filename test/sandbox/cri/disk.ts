import type { ImageStore } from './image-store.ts';
import type { PodStore } from './pod-store.ts';

export interface DiskOptions {
  readonly capacityBytes?: number;
  /** Taken by other things than images and writable layers. */
  readonly otherBytes?: number;
  readonly inodes?: number;
}

/** Figures of the node's image file system, as statfs would give them. */
interface DiskFigures {
  readonly capacityBytes: number;
  readonly availableBytes: number;
  readonly usedBytes: number;
  readonly inodes: number;
  readonly inodesFree: number;
}

const defaultCapacityBytes = 10_000_000_000;
const defaultInodes = 1_000_000;
const inodesPerImage = 100;
const blockBytes = 4096;

/** The image file system: what stands on it follows from images and containers, and may be more than it holds only by the test's own will. */
export class SimulatedDisk {
  capacityBytes: number;
  otherBytes: number;
  readonly #inodes: number;
  readonly #images: ImageStore;
  readonly #pods: PodStore;

  constructor(options: DiskOptions, images: ImageStore, pods: PodStore) {
    this.capacityBytes = options.capacityBytes ?? defaultCapacityBytes;
    this.otherBytes = options.otherBytes ?? 0;
    this.#inodes = options.inodes ?? defaultInodes;
    this.#images = images;
    this.#pods = pods;
  }

  get figures(): DiskFigures {
    const usedBytes = this.otherBytes + this.#sum(this.#packed()) + this.snapshotBytes;
    return {
      capacityBytes: this.capacityBytes,
      usedBytes,
      availableBytes: Math.max(0, this.capacityBytes - usedBytes),
      inodes: this.#inodes,
      inodesFree: this.#inodes - this.snapshotInodes,
    };
  }

  /** In the form of `fs.statfs(path, { bigint: true })`. */
  statfs(): Record<'type' | 'bsize' | 'blocks' | 'bfree' | 'bavail' | 'files' | 'ffree', bigint> {
    const { capacityBytes, availableBytes, inodes, inodesFree } = this.figures;
    const free = BigInt(Math.floor(availableBytes / blockBytes));
    return {
      type: 0xef53n,
      bsize: BigInt(blockBytes),
      blocks: BigInt(Math.floor(capacityBytes / blockBytes)),
      bfree: free,
      bavail: free,
      files: BigInt(inodes),
      ffree: BigInt(inodesFree),
    };
  }

  /** Unpacked layers, of images that are there and of those only containers still hold, and writable layers: what ImageFsInfo counts. */
  get snapshotBytes(): number {
    const writable = [...this.#pods.containers.values()].map(({ writableBytes }) => writableBytes ?? 0);
    return this.#sum(this.#unpacked()) + writable.reduce((sum, bytes) => sum + bytes, 0);
  }

  get snapshotInodes(): number {
    return this.#unpacked().size * inodesPerImage + this.#pods.containers.size;
  }

  #packed(): ReadonlyMap<string, number> {
    return new Map(this.#images.all.map(({ id, sizeBytes }) => [id, sizeBytes]));
  }

  #unpacked(): ReadonlyMap<string, number> {
    const held = [...this.#pods.containers.values()].map(
      ({ imageId, unpackedBytes }) => [imageId, unpackedBytes] as const,
    );
    return new Map([
      ...held,
      ...this.#images.all.map(({ id, unpackedBytes }) => [id, unpackedBytes] as const),
    ]);
  }

  #sum(bytes: ReadonlyMap<string, number>): number {
    return [...bytes.values()].reduce((sum, one) => sum + one, 0);
  }
}
