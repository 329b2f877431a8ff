import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CountAndBytes } from '../../api/report/node-pass.ts';
import { listOrphanPlaces, type OrphanRoots } from './orphans-listing.ts';
import {
  knownPodUids,
  planOrphans,
  planUnclaimed,
  type OrphanPaths,
  type OrphansFound,
  type KnownPods,
} from './orphans.ts';
import { diskUsage, readMountpoints } from './usage.ts';
import { within } from '../disk/within.ts';

interface OrphanFinderOptions {
  readonly roots: OrphanRoots;
  readonly deadline?: () => AbortSignal;
}

/** A search takes milliseconds if there are no orphans; this is for a node full of them, or a disk that hangs. */
const timeoutMs = 60_000;
/** Entries that one search may count, over all orphans. */
const maxEntries = 20_000;

/** Finds resources of unknown pods. It removes nothing. */
export class OrphanFinder {
  readonly #options: OrphanFinderOptions;
  #before: OrphanPaths | undefined;
  /** Reads under way, also after a timeout. */
  #pending = 0;

  constructor(options: OrphanFinderOptions) {
    this.#options = options;
  }

  /**
   * Returns the resources that were unclaimed in the last search and are now; undefined in the first search, and while the pods are not known.
   * `readPods` is called after the listing, so that a new pod is known when its directory is listed.
   */
  async find(
    readPods: (signal: AbortSignal) => Promise<KnownPods | undefined>,
    signal: AbortSignal,
  ): Promise<OrphansFound | undefined> {
    if (this.#pending > 0) throw new Error('searching orphaned resources: the last search still hangs');
    const listed = await this.#withDeadline(listOrphanPlaces(this.#options.roots), signal);
    const pods = await readPods(signal);
    if (pods === undefined) return undefined;
    const unclaimed = planUnclaimed(listed, knownPodUids(pods));
    const before = this.#before;
    this.#before = unclaimed;
    return (
      before && (await this.#withDeadline(this.#measure(planOrphans(unclaimed, before), signal), signal))
    );
  }

  #withDeadline<T>(reading: Promise<T>, signal: AbortSignal): Promise<T> {
    const { deadline = () => AbortSignal.timeout(timeoutMs) } = this.#options;
    const late = (): Error => new Error('searching orphaned resources: no response, a disk hangs');
    this.#pending += 1;
    const counted = reading.finally(() => {
      this.#pending -= 1;
    });
    return within(counted, { deadline: deadline(), late }, signal);
  }

  async #measure(orphans: OrphanPaths, signal: AbortSignal): Promise<OrphansFound> {
    const { podDirectories, logDirectories, podCgroups } = orphans;
    const mountpoints = await readMountpoints();
    let entriesLeft = maxEntries;
    const sizeOf = async (paths: readonly string[]): Promise<CountAndBytes> => {
      let bytes = 0;
      for (const path of paths) {
        const usage = await diskUsage(path, { maxEntries: entriesLeft, mountpoints }, signal);
        entriesLeft = Math.max(0, entriesLeft - usage.entries);
        bytes += usage.bytes;
      }
      return { count: paths.length, bytes };
    };
    return {
      podDirectories: podDirectories && (await sizeOf(podDirectories)),
      logDirectories: logDirectories && (await sizeOf(logDirectories)),
      podCgroups: podCgroups && (await chargedMemory(podCgroups)),
    };
  }
}

/** In cgroup v2 and v1. */
const memoryFiles = ['memory.current', 'memory.usage_in_bytes'];

async function chargedMemory(cgroups: readonly string[]): Promise<CountAndBytes> {
  let bytes = 0;
  for (const path of cgroups) bytes += await memoryOf(path);
  return { count: cgroups.length, bytes };
}

/** Returns 0 if memory is not counted, or the cgroup is gone meanwhile. */
async function memoryOf(cgroup: string): Promise<number> {
  for (const file of memoryFiles) {
    const bytes = Number(await readFile(join(cgroup, file), 'utf8').catch(() => undefined));
    if (Number.isFinite(bytes)) return bytes;
  }
  return 0;
}
