import { lstatSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { measure, type WalkBounds, type Walked } from './storage-walk.ts';

/**
 * What is to be measured. `each`: everything right below a directory by itself; `logs`: the files of a pod's log directory and those of its
 * containers' directories, but no directory itself; `mount`: a volume that has a file system of its own.
 */
export interface StorageJob {
  readonly key: string;
  readonly path: string;
  readonly kind: 'whole' | 'each' | 'logs' | 'mount';
}

/** What a thread that walks says of one job. */
export interface StorageJobResult {
  readonly key: string;
  readonly walked: Walked;
  /** Of kinds `each` and `logs`: by the name of the directory; files stand under the empty name. */
  readonly parts: readonly (readonly [name: string, bytes: number])[];
  /** Unix milliseconds when it was measured. */
  readonly atMs: number;
  readonly tookMs: number;
}

/** Messages to the thread and from it. */
export interface StorageRound {
  readonly jobs: readonly StorageJob[];
}
export interface StorageProgress {
  readonly results: readonly StorageJobResult[];
  /** The round is over. */
  readonly isDone: boolean;
}

/** Does one job; never throws. */
export function doJob(
  { path, kind }: StorageJob,
  bounds: WalkBounds,
): Pick<StorageJobResult, 'walked' | 'parts'> {
  if (kind === 'each' || kind === 'logs') return partsOf(path, kind, bounds);
  if (kind === 'mount' && !isMount(path)) return { walked: notMounted, parts: [] };
  return { walked: measure(path, bounds), parts: [] };
}

const notMounted: Walked = {
  kind: 'unknown',
  problem: 'it is not mounted here (a pod needs mountPropagation: HostToContainer for that)',
};

/** What is missing is no trouble: `measure` says that. */
function isMount(path: string): boolean {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats?.dev !== lstatSync(dirname(path)).dev;
  } catch {
    return true;
  }
}

function partsOf(
  path: string,
  kind: 'each' | 'logs',
  bounds: WalkBounds,
): Pick<StorageJobResult, 'walked' | 'parts'> {
  const parts = new Map<string, number>();
  const add = (name: string, bytes: number): void => void parts.set(name, (parts.get(name) ?? 0) + bytes);
  try {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const below = join(path, entry.name);
      const isLogs = kind === 'logs' && entry.isDirectory();
      const walked = isLogs ? filesIn(below, bounds) : measure(below, bounds);
      if (walked.kind === 'unknown') return { walked, parts: [] };
      if (walked.kind === 'measured') add(entry.isDirectory() ? entry.name : '', walked.bytes);
    }
  } catch {
    // `measure` tells a directory that is not there from one that may not be read.
    return { walked: measure(path, bounds), parts: [] };
  }
  const bytes = [...parts.values()].reduce((sum, one) => sum + one, 0);
  return { walked: { kind: 'measured', bytes }, parts: [...parts] };
}

/** As the kubelet counts logs: what lies deeper belongs to nobody. */
function filesIn(path: string, bounds: WalkBounds): Walked {
  let bytes = 0;
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    const walked = measure(join(path, entry.name), bounds);
    if (walked.kind === 'unknown') return walked;
    if (walked.kind === 'measured') bytes += walked.bytes;
  }
  return { kind: 'measured', bytes };
}
