import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContainerRuntime } from '../../cri/runtime.ts';
import { errorCode } from '../../runtime/errors.ts';
import { SnapshotOwners, type OwnersRuntime } from './snapshots-owners.ts';
import { planSurplus, type SnapshotLook, type SnapshotsFound } from './snapshots.ts';
import { within } from '../disk/within.ts';

interface SnapshotFinderOptions {
  readonly runtime: OwnersRuntime & Pick<ContainerRuntime, 'fileSystems'>;
  readonly deadline?: () => AbortSignal;
}

/** One directory, read in milliseconds; a disk that takes longer hangs. */
const timeoutMs = 30_000;

/** Counts the snapshots of containerd's overlayfs that have no owner. It removes nothing, and needs no more than to read one directory. */
export class SnapshotFinder {
  readonly #options: SnapshotFinderOptions;
  readonly #owners: SnapshotOwners;
  #before: SnapshotLook | undefined;
  /** Kept while the disk is read, also when nobody waits for it any more. */
  #pending = false;

  constructor(options: SnapshotFinderOptions) {
    this.#options = options;
    this.#owners = new SnapshotOwners(options.runtime);
  }

  /**
   * What had no owner in the last look and in this one; undefined in the first look, with another runtime or snapshotter, where the directory may
   * not be read, and as long as the runtime does not say which layers its images have.
   */
  async find(signal: AbortSignal): Promise<SnapshotsFound | undefined> {
    if (this.#pending) throw new Error('looking for snapshots: the last look hangs still');
    const directories = await this.#directories(signal);
    // After the directories: what is made meanwhile then has an owner too many rather than one too few.
    const owners = directories && (await this.#owners.list(signal));
    if (directories === undefined || owners === undefined) return undefined;
    const look = { directories, owners };
    const before = this.#before;
    this.#before = look;
    return before && { count: planSurplus(look, before) };
  }

  async #directories(signal: AbortSignal): Promise<ReadonlySet<string> | undefined> {
    const [first, ...more] = (await this.#options.runtime.fileSystems(signal)).images;
    // With a second snapshotter nobody could say in which of them an image has its layers.
    if (first === undefined || more.length > 0 || !isOverlayfs(first.mountpoint)) return undefined;
    const { deadline = () => AbortSignal.timeout(timeoutMs) } = this.#options;
    const late = (): Error => new Error('looking for snapshots: no answer, the disk hangs');
    return within(this.#read(join(first.mountpoint, 'snapshots')), { deadline: deadline(), late }, signal);
  }

  async #read(path: string): Promise<ReadonlySet<string> | undefined> {
    this.#pending = true;
    try {
      // One that is being made has another name until it is whole.
      return new Set((await readdir(path)).filter((name) => /^\d+$/.test(name)));
    } catch (err) {
      if (isOutOfSight(errorCode(err))) return undefined;
      throw new Error(`listing ${path}`, { cause: err });
    } finally {
      this.#pending = false;
    }
  }
}

/** containerd names the file system after its plugin. */
const isOverlayfs = (mountpoint: string): boolean =>
  /\/io\.containerd\.snapshotter\.v1\.overlayfs\/?$/.test(mountpoint);

/** Not mounted into our container, or not for us to read. */
const isOutOfSight = (code: string | undefined): boolean =>
  code === 'ENOENT' || code === 'EACCES' || code === 'EPERM';
