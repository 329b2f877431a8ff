import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readFileSync,
  type Dir,
  type Stats,
} from 'node:fs';
import { errorCode } from '../runtime/errors.ts';

/** What became of measuring a path. `missing`: there is no such thing; `unknown`: it is there, but could not be measured whole. */
export type Walked =
  | { readonly kind: 'measured'; readonly bytes: number }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unknown'; readonly problem: string };

export interface WalkBounds {
  /** Of one measurement. */
  readonly maxEntries: number;
  /** Called with the number of entries seen since the last call; it may wait. */
  readonly pace: (entries: number) => void;
  /** Never touched: one that hangs would hold us for ever. */
  readonly mountpoints: ReadonlySet<string>;
}

/** lstat counts in these, whatever the file system's blocks are. */
const blockBytes = 512;
/** Each level holds two file descriptors; who nests further wants to keep us busy. */
const maxDepth = 128;
/** Files with several names, which must be remembered: some megabytes. */
const maxLinked = 100_000;
/** Often enough to keep the pace. */
const paceEntries = 256;
/** Names are bytes: in this encoding each has a text, and it gives them back. */
const bytes = 'latin1';

/** A directory that was swapped for a link is an error, not a way out. */
const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

interface Level {
  readonly fd: number;
  readonly directory: Dir;
  readonly path: string;
}

/**
 * Adds up a file or directory as du and the kubelet do: allocated bytes, a file with several names once, no link followed, no other file
 * system entered. Synchronous: for a thread of its own. Names are resolved below directories that are held open (Linux' /proc/self/fd),
 * so that nothing outside can be reached, whatever happens to a path meanwhile.
 */
export function measure(path: string, bounds: WalkBounds): Walked {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return { kind: 'missing' };
    return { kind: 'measured', bytes: new Walk(bounds).run(path, stats) };
  } catch (err) {
    return isGone(err) ? { kind: 'missing' } : { kind: 'unknown', problem: problemOf(err) };
  }
}

class Walk {
  readonly #bounds: WalkBounds;
  readonly #linked = new Set<number>();
  readonly #levels: Level[] = [];
  #device = 0;
  #entries = 0;
  #bytes = 0;

  constructor(bounds: WalkBounds) {
    this.#bounds = bounds;
  }

  run(path: string, stats: Stats): number {
    this.#device = stats.dev;
    this.#count(stats);
    try {
      if (stats.isDirectory()) this.#enter(path, path);
      for (let level = this.#levels.at(-1); level !== undefined; level = this.#levels.at(-1))
        this.#step(level);
      this.#bounds.pace(this.#entries % paceEntries);
    } finally {
      while (this.#levels.length > 0) this.#leave();
    }
    return this.#bytes;
  }

  #step(level: Level): void {
    const entry = level.directory.readSync();
    if (entry === null) {
      this.#leave();
      return;
    }
    const path = `${level.path}/${entry.name}`;
    if (this.#bounds.mountpoints.has(path)) return;
    const held = Buffer.from(`/proc/self/fd/${level.fd}/${entry.name}`, bytes);
    const stats = lstatSync(held, { throwIfNoEntry: false });
    if (stats?.dev !== this.#device) return;
    this.#count(stats);
    if (stats.isDirectory()) this.#enter(held, path);
  }

  #count({ nlink, ino, blocks }: Stats): void {
    this.#entries += 1;
    if (this.#entries > this.#bounds.maxEntries)
      throw new Error(`more than ${this.#bounds.maxEntries} entries`);
    if (this.#entries % paceEntries === 0) this.#bounds.pace(paceEntries);
    if (nlink > 1 && this.#isKnown(ino)) return;
    this.#bytes += blocks * blockBytes;
  }

  #isKnown(inode: number): boolean {
    if (this.#linked.has(inode)) return true;
    if (this.#linked.size >= maxLinked) throw new Error(`more than ${maxLinked} files with several names`);
    this.#linked.add(inode);
    return false;
  }

  #enter(at: string | Buffer, path: string): void {
    if (this.#levels.length >= maxDepth) throw new Error(`more than ${maxDepth} levels of directories`);
    const fd = opened(at);
    if (fd === undefined) return;
    try {
      // Something was mounted there meanwhile.
      if (fstatSync(fd).dev !== this.#device) {
        closeSync(fd);
        return;
      }
      const directory = opendirSync(`/proc/self/fd/${fd}`, { encoding: bytes, bufferSize: 64 });
      this.#levels.push({ fd, directory, path });
    } catch (err) {
      closeSync(fd);
      throw err;
    }
  }

  #leave(): void {
    const level = this.#levels.pop();
    if (level === undefined) return;
    level.directory.closeSync();
    closeSync(level.fd);
  }
}

/** undefined = it is gone, or no directory any more. */
function opened(path: string | Buffer): number | undefined {
  try {
    return openSync(path, flags);
  } catch (err) {
    if (isGone(err) || errorCode(err) === 'ELOOP') return undefined;
    throw err;
  }
}

const isGone = (err: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(errorCode(err) ?? '');

/** Without the path below /proc, which tells nobody anything. */
function problemOf(err: unknown): string {
  const code = errorCode(err);
  if (code === 'EACCES' || code === 'EPERM')
    return 'it may not be read (a pod needs the capability DAC_READ_SEARCH for that)';
  return code ?? (err instanceof Error ? err.message : String(err));
}

/** Everything that is mounted inside a volume, by paths as `measure` makes them; the volume itself may be a mount. */
export function mountsInVolumes(file = '/proc/self/mountinfo'): ReadonlySet<string> {
  const found = new Set<string>();
  for (const line of readFileSync(file, bytes).split('\n')) {
    const path = line.split(' ', 5)[4] ?? '';
    if (!/\/kubernetes\.io~empty-dir\/[^/]+\//.test(path)) continue;
    found.add(path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8))));
  }
  return found;
}
