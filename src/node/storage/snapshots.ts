import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContainerRuntime } from '../../cri/runtime.ts';
import { errorCode } from '../../runtime/errors.ts';
import { within } from '../disk/within.ts';

interface SnapshotDirectoriesOptions {
  readonly runtime: Pick<ContainerRuntime, 'fileSystems'>;
  readonly deadline?: () => AbortSignal;
}

/** One directory is read in milliseconds; a disk that needs longer hangs. */
const timeoutMs = 30_000;

/** Counts the directories of containerd's overlayfs. It only needs to read one directory. */
export class SnapshotDirectories {
  readonly #options: SnapshotDirectoriesOptions;
  /** True while the disk is read, also after a timeout. */
  #pending = false;

  constructor(options: SnapshotDirectoriesOptions) {
    this.#options = options;
  }

  /** Returns undefined with another runtime or snapshotter, and if the directory cannot be read. */
  async count(signal: AbortSignal): Promise<number | undefined> {
    if (this.#pending) throw new Error('counting directories of snapshots: the last time still hangs');
    const [first, ...more] = (await this.#options.runtime.fileSystems(signal)).images;
    if (first === undefined || more.length > 0 || !isOverlayfs(first.mountpoint)) return undefined;
    const { deadline = () => AbortSignal.timeout(timeoutMs) } = this.#options;
    const late = (): Error => new Error('counting directories of snapshots: no response, the disk hangs');
    return within(this.#read(join(first.mountpoint, 'snapshots')), { deadline: deadline(), late }, signal);
  }

  async #read(path: string): Promise<number | undefined> {
    this.#pending = true;
    try {
      // A snapshot that is being made has another name until it is complete.
      return (await readdir(path)).filter((name) => /^\d+$/.test(name)).length;
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
