import { mkdir, mkdtemp, readdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import paths, { basename, dirname, join, resolve } from 'node:path';
import { errorCode } from '../../runtime/errors.ts';
import { clusterFiles, nodeFiles } from '../../snapshot/file-names.ts';
import { UsageError } from '../../process/exit.ts';
import type { SnapshotPods } from './kinds.ts';

interface SnapshotPlace {
  /** As on the command line. */
  readonly directory: string;
  readonly force: boolean;
}

/** A snapshot that is being written to a temporary directory, which gets its final name once it is complete. */
export class SnapshotDirectory {
  readonly #place: SnapshotPlace;
  readonly #target: string;
  readonly #temporary: string;

  private constructor(place: SnapshotPlace, target: string, temporary: string) {
    this.#place = place;
    this.#target = target;
    this.#temporary = temporary;
  }

  /** Throws UsageError for a directory that must not be created or replaced. */
  static async begin(place: SnapshotPlace): Promise<SnapshotDirectory> {
    const target = await targetOf(place);
    try {
      await mkdir(dirname(target), { recursive: true });
      const temporary = await mkdtemp(`${target}.tmp-`);
      return new SnapshotDirectory(place, target, temporary);
    } catch (cause) {
      throw new Error(`creating a directory beside ${place.directory}`, { cause });
    }
  }

  pathOf(file: string): string {
    return join(this.#temporary, file);
  }

  async write(file: string, text: string): Promise<void> {
    const path = this.pathOf(file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { mode: 0o600 });
  }

  /** Records when the snapshot was taken, and which pods it has. */
  async record(takenAt: Date, pods: SnapshotPods): Promise<void> {
    const record = { apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'Snapshot', takenAt, ...pods };
    await this.write(`${recordFile}.json`, `${JSON.stringify(record)}\n`);
  }

  /** Gives the snapshot its final name, and removes the snapshot that it replaces. */
  async finish(): Promise<void> {
    const { directory } = this.#place;
    const isReplacing = (await contentsOf(await targetOf(this.#place)))?.length;
    try {
      if (isReplacing) await this.#replace();
      else await rename(this.#temporary, this.#target);
    } catch (cause) {
      throw new Error(`renaming the snapshot to ${directory}`, { cause });
    }
  }

  async discard(): Promise<void> {
    await rm(this.#temporary, { recursive: true, force: true });
  }

  async #replace(): Promise<void> {
    const old = `${this.#temporary}.old`;
    await rename(this.#target, old);
    try {
      await rename(this.#temporary, this.#target);
    } catch (err) {
      await rename(old, this.#target);
      throw err;
    }
    await rm(old, { recursive: true });
  }
}

/** The absolute path, links resolved; throws UsageError unless it does not exist, is empty, or is a snapshot that may be replaced. */
async function targetOf({ directory, force }: SnapshotPlace): Promise<string> {
  const target = await realpath(resolve(directory)).catch(() => resolve(directory));
  const usageError = (problem: string): UsageError => new UsageError([`DIR ${directory} ${problem}`]);
  // The renamed directory would remain the current directory of the shell.
  if (isWithin(process.cwd(), target))
    throw usageError('is the current directory or contains it; name another one');
  const found = await contentsOf(target).catch((err: unknown) => {
    throw usageError(errorCode(err) === 'ENOTDIR' ? 'is not a directory' : 'cannot be read');
  });
  if (found === undefined || found.length === 0) return target;
  if (!force) throw usageError('is not empty; --force replaces an existing snapshot');
  const foreign = await foreignFile(target, found);
  if (foreign !== undefined)
    throw usageError(`contains ${foreign}, which is not part of a snapshot: it is not replaced`);
  return target;
}

/** Whether an absolute path is the directory, or is in it. */
export function isWithin(
  inner: string,
  directory: string,
  on: Pick<typeof paths, 'relative' | 'isAbsolute' | 'sep'> = paths,
): boolean {
  const way = on.relative(directory, inner);
  return !on.isAbsolute(way) && way.split(on.sep)[0] !== '..';
}

/** undefined = there is no such directory. */
async function contentsOf(path: string): Promise<readonly string[] | undefined> {
  try {
    return await readdir(path);
  } catch (err) {
    if (errorCode(err) === 'ENOENT') return undefined;
    throw err;
  }
}

/** When the snapshot was taken, and which pods it has. */
const recordFile = 'snapshot';
const filesOfCluster: ReadonlySet<string> = new Set([recordFile, ...clusterFiles]);
const filesOfNode: ReadonlySet<string> = new Set(nodeFiles);

/** The first file that no snapshot has, and that must not be lost by mistake. */
async function foreignFile(path: string, names: readonly string[]): Promise<string | undefined> {
  const foreign = names.find((name) => name !== 'nodes' && !isPart(name, filesOfCluster));
  if (foreign !== undefined || !names.includes('nodes')) return foreign;
  for (const node of await readdir(join(path, 'nodes'))) {
    const within = await readdir(join(path, 'nodes', node)).catch(() => ['']);
    const other = within.find((name) => !isPart(name, filesOfNode));
    if (other !== undefined) return join('nodes', node, other);
  }
  return undefined;
}

const isPart = (name: string, known: ReadonlySet<string>): boolean =>
  /\.(json|yaml)$/.test(name) && known.has(basename(name).replace(/\.(json|yaml)$/, ''));
