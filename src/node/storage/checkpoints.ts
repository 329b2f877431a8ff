import { lstat, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '../../runtime/errors.ts';
import { within } from '../disk/within.ts';
import { inDirectory, textOf } from '../logs/directory.ts';
import { removeFile } from '../logs/remove-tree.ts';
import { mountOf, readMounts, type Mount } from './mounts.ts';
import { realPath } from './orphans.ts';
import { obstacleOf, type DirectoryRemoval } from './pod-directory.ts';

/** An entry of the kubelet's directory of checkpoints. */
export interface CheckpointFile {
  readonly path: string;
  /** false = a link, a directory or something else. */
  readonly isFile: boolean;
  /** On disk. */
  readonly bytes: number;
  /** When it was last written, in Unix milliseconds. */
  readonly writtenMs: number;
}

export interface CheckpointListing {
  readonly files: readonly CheckpointFile[];
  /** false = there are more entries than are read. */
  readonly complete: boolean;
  /** Nothing can be removed, because the directory is mounted read-only. */
  readonly isReadOnly: boolean;
  /** The directory has a file system of its own. */
  readonly isApart: boolean;
}

export type CheckpointRemoval =
  DirectoryRemoval | { readonly kind: 'keep'; readonly reason: 'TooYoung' | 'NotKubelets' };

export type NodeCheckpoints = Pick<CheckpointDirectory, keyof CheckpointDirectory>;

interface CheckpointDirectoryOptions {
  /** The kubelet's root directory. */
  readonly kubeletRoot: string;
  readonly mounts?: () => Promise<readonly Mount[]>;
  readonly maxEntries?: number;
}

const timeoutMs = 60_000;
const done: CheckpointRemoval = { kind: 'done', freedBytes: 0 };

/** The directory in which the kubelet stores checkpoints of containers (`getCheckpointsDir`, pkg/kubelet/kubelet_getters.go); Linux only. */
export class CheckpointDirectory {
  readonly #options: CheckpointDirectoryOptions;
  readonly #root: string;
  /** Reads under way, also after a timeout. */
  #pending = 0;

  constructor(options: CheckpointDirectoryOptions) {
    this.#options = options;
    this.#root = join(options.kubeletRoot, 'checkpoints');
  }

  /** Rejects if the directory cannot be read. A directory that does not exist is empty: a kubelet that can store checkpoints creates it when it starts. */
  async list(signal: AbortSignal): Promise<CheckpointListing> {
    if (this.#pending > 0) throw new Error('listing checkpoints: the last listing still hangs');
    const late = (): Error => new Error('listing checkpoints: no response, a disk hangs');
    this.#pending += 1;
    const counted = this.#list().finally(() => {
      this.#pending -= 1;
    });
    return await within(counted, { deadline: AbortSignal.timeout(timeoutMs), late }, signal);
  }

  async #list(): Promise<CheckpointListing> {
    // Some seconds of reading.
    const { kubeletRoot, mounts = readMounts, maxEntries = 10_000 } = this.#options;
    try {
      const { dev } = await stat(kubeletRoot);
      const root = await realPath(this.#root);
      const isApart = (await stat(root)).dev !== dev;
      const files: CheckpointFile[] = [];
      let complete = true;
      await inDirectory(root, [], async (directory) => {
        for await (const entry of directory.entries()) {
          complete = files.length < maxEntries;
          if (!complete) break;
          const found = await directory.stat(entry.name);
          // A name that is not UTF-8 is none of the kubelet's.
          const name = textOf(entry.name);
          if (found === undefined || name === undefined) continue;
          const { mtimeMs: writtenMs, blocks } = found;
          files.push({ path: join(root, name), isFile: found.isFile(), bytes: 512 * blocks, writtenMs });
        }
      });
      return { files, complete, isReadOnly: mountOf(root, await mounts())?.isReadOnly !== false, isApart };
    } catch (err) {
      if (errorCode(err) === 'ENOENT' && (await this.#isAbsent()))
        return { files: [], complete: true, isReadOnly: false, isApart: false };
      throw new Error(`listing ${this.#root}`, { cause: err });
    }
  }

  /** Not so behind a link that leads out of what the agent has mounted, nor without the root directory of the kubelet. */
  async #isAbsent(): Promise<boolean> {
    const entry = await lstat(this.#root).catch(errorCode);
    return entry === 'ENOENT' && (await stat(this.#options.kubeletRoot).catch(() => undefined)) !== undefined;
  }

  /** Removes a file as it was listed, and keeps it if it was written since. Rejects for a path that is not directly in the directory. */
  async remove({ path, bytes, writtenMs }: CheckpointFile): Promise<CheckpointRemoval> {
    const root = await realPath(this.#root);
    if (dirname(path) !== root) throw new Error(`refusing ${JSON.stringify(path)}: it is not in ${root}`);
    const name = basename(path);
    const removal = await inDirectory(root, [], async (directory): Promise<CheckpointRemoval> => {
      const found = await directory.stat(name);
      if (found === undefined) return done;
      if (!found.isFile()) return { kind: 'keep', reason: 'NotKubelets' };
      if (512 * found.blocks !== bytes || found.mtimeMs !== writtenMs)
        return { kind: 'keep', reason: 'TooYoung' };
      try {
        await removeFile(directory, name);
        return { kind: 'done', freedBytes: bytes };
      } catch (err) {
        const reason = obstacleOf(err);
        if (reason === undefined) throw err;
        return { kind: 'keep', reason };
      }
    });
    return removal ?? done;
  }
}
