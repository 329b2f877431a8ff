import { mkdir, mkdtemp, readdir, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { errorCode } from '../../runtime/errors.ts';
import { UsageError } from '../cli/exit.ts';
import { snapshotLists } from './kinds.ts';

interface SnapshotPlace {
  /** As the user wrote it. */
  readonly directory: string;
  /** A snapshot that is there is replaced. */
  readonly force: boolean;
}

/** A snapshot on its way: it stands beside its place, and gets its name only when it is whole. */
export class SnapshotDirectory {
  readonly #place: SnapshotPlace;
  readonly #target: string;
  readonly #temporary: string;

  private constructor(place: SnapshotPlace, target: string, temporary: string) {
    this.#place = place;
    this.#target = target;
    this.#temporary = temporary;
  }

  /** Throws UsageError where a snapshot must not go. */
  static async begin(place: SnapshotPlace): Promise<SnapshotDirectory> {
    const target = await targetOf(place);
    try {
      await mkdir(dirname(target), { recursive: true });
      const temporary = await mkdtemp(`${target}.tmp-`);
      return new SnapshotDirectory(place, target, temporary);
    } catch (cause) {
      throw new Error(`making a directory beside ${place.directory}`, { cause });
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

  /** Gives the snapshot its name; a snapshot that stood there goes only then. */
  async finish(): Promise<void> {
    const { directory } = this.#place;
    const isReplacing = (await contentsOf(await targetOf(this.#place)))?.length;
    try {
      if (isReplacing) await this.#replace();
      else await rename(this.#temporary, this.#target);
    } catch (cause) {
      throw new Error(`giving the snapshot its name ${directory}`, { cause });
    }
  }

  /** Takes away what was written. */
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

/** The absolute path, links resolved; throws UsageError unless there is nothing, an empty directory, or a snapshot that may be replaced. */
async function targetOf({ directory, force }: SnapshotPlace): Promise<string> {
  const path = await realpath(resolve(directory)).catch(() => resolve(directory));
  const say = (problem: string): UsageError => new UsageError([`snapshot: ${directory} ${problem}`]);
  // Its name would go to another directory, and the shell would stay in the old one.
  if (`${process.cwd()}/`.startsWith(`${path === '/' ? '' : path}/`))
    throw say('is where you are; name a directory that is yet to be made');
  const found = await contentsOf(path).catch((err: unknown) => {
    throw say(isNoDirectory(err) ? 'is no directory' : 'cannot be read');
  });
  if (found === undefined || found.length === 0) return path;
  if (!force) throw say('is not empty; --force replaces a snapshot that is there');
  const stranger = await strangerIn(path, found);
  if (stranger !== undefined)
    throw say(`holds ${stranger}, which is no part of a snapshot: it is not replaced`);
  return path;
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

const clusterFiles: ReadonlySet<string> = new Set(snapshotLists.map(({ name }) => name));
const nodeFiles: ReadonlySet<string> = new Set([
  ...['images', 'containers', 'sandboxes', 'info', 'imagefs', 'stats', 'state', 'logs', 'loglisting'],
]);

/** What must not be lost by mistake: the first thing that no snapshot has. */
async function strangerIn(path: string, names: readonly string[]): Promise<string | undefined> {
  const stranger = names.find((name) => name !== 'nodes' && !isPart(name, clusterFiles));
  if (stranger !== undefined || !names.includes('nodes')) return stranger;
  for (const node of await readdir(join(path, 'nodes'))) {
    const within = await readdir(join(path, 'nodes', node)).catch(() => ['']);
    const other = within.find((name) => !isPart(name, nodeFiles));
    if (other !== undefined) return join('nodes', node, other);
  }
  return undefined;
}

const isPart = (name: string, known: ReadonlySet<string>): boolean =>
  /\.(json|yaml)$/.test(name) && known.has(basename(name).replace(/\.(json|yaml)$/, ''));

const isNoDirectory = (err: unknown): boolean => errorCode(err) === 'ENOTDIR';
