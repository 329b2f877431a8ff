// The entry of the thread that walks (node:worker_threads): nothing here waits for the rest of the process, nor makes it wait.
import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { systemClock } from '../runtime/clock.ts';
import { doJob, type StorageJobResult, type StorageProgress, type StorageRound } from './storage-jobs.ts';
import { mountsInVolumes } from './storage-walk.ts';

/** An emptyDir that is larger stays unknown: at this pace it would take a minute. */
const maxEntries = 1_000_000;
const entriesPerSecond = 20_000;
/** Results that wait for each other, at most so long. */
const batch = 64;
const batchMs = 200;
/** On Linux that of this thread alone: everything else on the node goes first. */
const niceness = 10;

const sleeper = new Int32Array(new SharedArrayBuffer(4));

class Pace {
  readonly #startMs = systemClock.monotonicMs();
  #entries = 0;

  spend(entries: number): void {
    this.#entries += entries;
    const aheadMs = (this.#entries / entriesPerSecond) * 1000 - (systemClock.monotonicMs() - this.#startMs);
    if (aheadMs > 1) Atomics.wait(sleeper, 0, 0, aheadMs);
  }
}

function walk({ jobs }: StorageRound, post: (progress: StorageProgress) => void): void {
  const pace = new Pace();
  const bounds = {
    maxEntries,
    mountpoints: mountsInVolumes(),
    pace: (entries: number): void => {
      pace.spend(entries);
    },
  };
  let results: StorageJobResult[] = [];
  let postedMs = systemClock.monotonicMs();
  for (const job of jobs) {
    const startMs = systemClock.monotonicMs();
    const { walked, parts } = doJob(job, bounds);
    const endMs = systemClock.monotonicMs();
    const atMs = systemClock.now().getTime();
    results.push({ key: job.key, walked, parts, atMs, tookMs: endMs - startMs });
    if (results.length < batch && endMs - postedMs < batchMs) continue;
    post({ results, isDone: false });
    [results, postedMs] = [[], endMs];
  }
  post({ results, isDone: true });
}

try {
  setPriority(niceness);
} catch {
  // It is a courtesy.
}
parentPort?.on('message', (round: StorageRound) => {
  walk(round, (progress) => parentPort?.postMessage(progress));
});
