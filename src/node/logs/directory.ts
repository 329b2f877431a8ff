import { isUtf8 } from 'node:buffer';
import { constants, readFileSync, type Dirent, type Stats } from 'node:fs';
import {
  lstat,
  open,
  opendir,
  readdir,
  readFile,
  readlink,
  rmdir,
  unlink,
  type FileHandle,
} from 'node:fs/promises';
import { errorCode } from '../../runtime/errors.ts';

/** O_NOFOLLOW: a directory that was replaced by a link is an error, not a way out of the root. */
const rootFlags = constants.O_RDONLY | constants.O_DIRECTORY;
const childFlags = rootFlags | constants.O_NOFOLLOW;

/** A name that is not UTF-8 remains a Buffer: as text it would name another file. */
export type Name = string | Buffer;

/** Returns the name as text; undefined = it is not UTF-8. */
export const textOf = (bytes: Buffer): string | undefined => (isUtf8(bytes) ? bytes.toString() : undefined);

export class MountCrossing extends Error {
  constructor() {
    super('refusing to cross a mount point');
  }
}

/** Identity of a mount: bind mounts of one file system share the device. */
interface MountId {
  readonly device: number;
  readonly mount: string;
}

/**
 * An open directory. Names are resolved below its handle (Linux' /proc/self/fd: Node has no openat), one component at a time, and never
 * through a link or into another mount, even if the path changes meanwhile.
 */
export class OpenDirectory {
  readonly #handle: FileHandle;
  readonly #mountId: MountId;

  private constructor(handle: FileHandle, mountId: MountId) {
    this.#handle = handle;
    this.#mountId = mountId;
  }

  /** The root itself may be a link. undefined = it does not exist. */
  static async root(path: string): Promise<OpenDirectory | undefined> {
    return missingOk(async () => OpenDirectory.#opened(await open(path, rootFlags), undefined));
  }

  /** undefined = it does not exist. Rejects for a link, a file, a mount point. */
  async child(name: Name): Promise<OpenDirectory | undefined> {
    return missingOk(async () =>
      OpenDirectory.#opened(await open(this.#at(name), childFlags), this.#mountId),
    );
  }

  static async #opened(handle: FileHandle, parent: MountId | undefined): Promise<OpenDirectory> {
    try {
      const mountId = await mountIdOf(handle);
      if (parent !== undefined && (mountId.device !== parent.device || mountId.mount !== parent.mount))
        throw new MountCrossing();
      return new OpenDirectory(handle, mountId);
    } catch (err) {
      await handle.close();
      throw err;
    }
  }

  list(): Promise<Dirent<Buffer>[]> {
    return readdir(procPath(this.#handle), { withFileTypes: true, encoding: 'buffer' });
  }

  /** Lists in small pieces, because a directory may have millions of entries. Removing an entry that was returned does not disturb the rest. */
  async *entries(): AsyncGenerator<Dirent<Buffer>> {
    // The types know no Buffers here, although Node returns them.
    const encoding = 'buffer' as BufferEncoding;
    for await (const entry of await opendir(procPath(this.#handle), { encoding }))
      yield entry as unknown as Dirent<Buffer>;
  }

  /** The text of a small file that is not a link; undefined = it does not exist. */
  read(name: Name): Promise<string | undefined> {
    const flag = constants.O_RDONLY | constants.O_NOFOLLOW;
    return missingOk(() => readFile(this.#at(name), { encoding: 'utf8', flag }));
  }

  /** Does not follow a link; undefined = it does not exist. */
  stat(name: Name): Promise<Stats | undefined> {
    return missingOk(() => lstat(this.#at(name)));
  }

  /** Target as written in the link; undefined = it does not exist, or is not UTF-8. */
  linkTarget(name: Name): Promise<string | undefined> {
    return missingOk(async () => textOf(await readlink(this.#at(name), 'buffer')));
  }

  /** Removes a link itself, not its target. False = it did not exist. */
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

/** Opens one directory after the other below a root and runs `action` on the last; undefined = one of them is missing. */
export async function inDirectory<T>(
  root: string,
  names: readonly string[],
  action: (directory: OpenDirectory) => Promise<T>,
): Promise<T | undefined> {
  let directory = await OpenDirectory.root(root);
  for (const name of names) {
    const parent = directory;
    if (parent === undefined) return undefined;
    directory = await parent.child(name).finally(() => parent.close());
  }
  const last = directory;
  return last === undefined ? undefined : action(last).finally(() => last.close());
}

const procPath = ({ fd }: FileHandle): string => `/proc/self/fd/${fd}`;

async function mountIdOf(handle: FileHandle): Promise<MountId> {
  const { dev } = await handle.stat();
  // Synchronous: procfs never blocks, and an asynchronous read would be a third of the CPU of a listing.
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
