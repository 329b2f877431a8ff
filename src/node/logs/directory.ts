import { isUtf8 } from 'node:buffer';
import { constants, readFileSync, type Dirent, type Stats } from 'node:fs';
import { lstat, open, readdir, readlink, rmdir, unlink, type FileHandle } from 'node:fs/promises';
import { errorCode } from '../../runtime/errors.ts';

/** O_NOFOLLOW: a directory that was swapped for a link is an error, not a way out of the root. */
const rootFlags = constants.O_RDONLY | constants.O_DIRECTORY;
const childFlags = rootFlags | constants.O_NOFOLLOW;

/** A name that is no UTF-8 can only be told as its bytes: read as text it would name something else. */
export type Name = string | Buffer;

/** The name as text; undefined = it is none. */
export const textOf = (bytes: Buffer): string | undefined => (isUtf8(bytes) ? bytes.toString() : undefined);

/** Where a directory is: bind mounts of one file system share a device, so the mount counts too. */
interface Place {
  readonly device: number;
  readonly mount: string;
}

/**
 * A directory held open. Names are resolved below the handle (Linux' /proc/self/fd: Node has no openat), one component at a time, and
 * never through a link or into another mount, whatever happens to the path meanwhile.
 */
export class HeldDirectory {
  readonly #handle: FileHandle;
  readonly #place: Place;

  private constructor(handle: FileHandle, place: Place) {
    this.#handle = handle;
    this.#place = place;
  }

  /** The root itself is trusted: it may be a link. undefined = there is none. */
  static async root(path: string): Promise<HeldDirectory | undefined> {
    return missingOk(async () => HeldDirectory.#hold(await open(path, rootFlags), undefined));
  }

  /** undefined = there is none. Rejects for a link, a file, a mount point. */
  async child(name: Name): Promise<HeldDirectory | undefined> {
    return missingOk(async () => HeldDirectory.#hold(await open(this.#at(name), childFlags), this.#place));
  }

  static async #hold(handle: FileHandle, parent: Place | undefined): Promise<HeldDirectory> {
    try {
      const place = await placeOf(handle);
      if (parent !== undefined && (place.device !== parent.device || place.mount !== parent.mount))
        throw new Error('refusing to cross a mount point');
      return new HeldDirectory(handle, place);
    } catch (err) {
      await handle.close();
      throw err;
    }
  }

  list(): Promise<Dirent<Buffer>[]> {
    return readdir(procPath(this.#handle), { withFileTypes: true, encoding: 'buffer' });
  }

  /** Of the name itself, not of what a link leads to; undefined = there is none. */
  stat(name: Name): Promise<Stats | undefined> {
    return missingOk(() => lstat(this.#at(name)));
  }

  /** As written in the link; undefined = gone meanwhile, or no text. */
  linkTarget(name: Name): Promise<string | undefined> {
    return missingOk(async () => textOf(await readlink(this.#at(name), 'buffer')));
  }

  /** A link goes itself, not what it leads to. False = was gone already. */
  async unlink(name: Name): Promise<boolean> {
    return (await missingOk(() => unlink(this.#at(name)).then(() => true))) ?? false;
  }

  async removeEmpty(name: Name): Promise<void> {
    await missingOk(() => rmdir(this.#at(name)));
  }

  close(): Promise<void> {
    return this.#handle.close();
  }

  #at(name: Name): Buffer {
    return Buffer.concat([Buffer.from(`${procPath(this.#handle)}/`), checkedName(name)]);
  }
}

const procPath = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;

async function placeOf(handle: FileHandle): Promise<Place> {
  const { dev } = await handle.stat();
  // Of the kernel's memory, where nothing hangs; waiting for it would be a third of the CPU of a listing.
  const info = readFileSync(`/proc/self/fdinfo/${handle.fd}`, 'utf8');
  return { device: dev, mount: /^mnt_id:\s*(\d+)/m.exec(info)?.[1] ?? '' };
}

/** A name is one component of a path, never a path. */
function checkedName(name: Name): Buffer {
  const bytes = Buffer.from(name);
  const plain = bytes.toString('latin1');
  if (plain === '' || plain === '.' || plain === '..' || /[/\0]/.test(plain))
    throw new Error(`refusing the name ${JSON.stringify(bytes.toString())}`);
  return bytes;
}

async function missingOk<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return undefined;
    throw err;
  }
}
