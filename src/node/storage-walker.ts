import { Worker } from 'node:worker_threads';
import type { Clock } from '../runtime/clock.ts';
import type { StorageJob, StorageJobResult, StorageProgress, StorageRound } from './storage-jobs.ts';

export interface StorageWalkerOptions {
  readonly clock: Clock;
  /** The built src/node/storage-worker.ts. */
  readonly workerFile?: URL;
  /** How long a look waits for a round to end before it makes do with older figures. */
  readonly patienceMs?: number;
}

/** Beside the bundle; whoever runs the sources names another. */
const builtWorker = new URL('./storage-worker.js', import.meta.url);
const defaultPatienceMs = 5_000;
/** The thread counts entries and remembers inodes; more than this would be a defect. */
const resourceLimits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 1 };
/** What took long rests for so many times as long, so that the disk is not busy with it all the time. */
const restFactor = 10;
const maxRestMs = 2 * 60_000;
/** Older figures are no figures. */
const staleMs = 5 * 60_000;

/** One worker; a round at a time. */
class Thread {
  readonly #worker: Worker;
  #ended: ((failure: Error | undefined) => void) | undefined;
  /** Settled once the round under way is over; undefined between rounds. */
  round: Promise<void> | undefined;
  /** It answers no more. */
  hasEnded = false;

  constructor(workerFile: URL, onResults: (results: readonly StorageJobResult[]) => void) {
    this.#worker = new Worker(workerFile, { resourceLimits, name: 'storage' });
    // It must not keep the process from ending.
    this.#worker.unref();
    this.#worker.on('message', ({ results, isDone }: StorageProgress) => {
      onResults(results);
      if (isDone) this.#ended?.(undefined);
    });
    this.#worker.on('error', (cause) => this.#ended?.(new Error('walking local storage', { cause })));
    this.#worker.on('exit', () => {
      this.hasEnded = true;
      this.#ended?.(new Error('walking local storage: the thread has ended'));
    });
  }

  start(jobs: readonly StorageJob[]): Promise<void> {
    this.round = new Promise((resolve, reject) => {
      this.#ended = (failure) => {
        this.#ended = undefined;
        if (failure === undefined) resolve();
        else reject(failure);
        this.round = undefined;
      };
    });
    this.#worker.postMessage({ jobs } satisfies StorageRound);
    return this.round;
  }

  async end(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** Measures in a thread of its own, which lives from the first look until `close`. */
export class StorageWalker {
  readonly #options: StorageWalkerOptions;
  #known = new Map<string, StorageJobResult>();
  #thread: Thread | undefined;

  constructor(options: StorageWalkerOptions) {
    this.#options = options;
  }

  /** What is known of the jobs once a round is over, or of the last ones when that takes long. Rejects when the thread has died. */
  async look(
    jobs: readonly StorageJob[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, StorageJobResult>> {
    signal.throwIfAborted();
    this.#forgetOthers(jobs);
    // Between two rounds nobody would hear of its end.
    if (this.#thread?.hasEnded === true) this.#thread = undefined;
    const thread = (this.#thread ??= this.#start());
    await this.#patiently(thread.round ?? this.#round(thread, jobs), signal);
    signal.throwIfAborted();
    return this.#known;
  }

  /** Ends the thread, in the middle of whatever it does. A later look starts another. */
  async close(): Promise<void> {
    const thread = this.#thread;
    this.#thread = undefined;
    this.#known.clear();
    await thread?.end();
  }

  /** What waits longest comes first. */
  #due(jobs: readonly StorageJob[]): readonly StorageJob[] {
    const nowMs = this.#options.clock.now().getTime();
    const measuredMs = ({ key }: StorageJob): number => this.#known.get(key)?.atMs ?? 0;
    return jobs.filter(({ key }) => this.#isRested(key, nowMs)).sort((a, b) => measuredMs(a) - measuredMs(b));
  }

  #isRested(key: string, nowMs: number): boolean {
    const last = this.#known.get(key);
    if (last === undefined) return true;
    const ageMs = nowMs - last.atMs;
    // Once the clock was set back, figures of before would rest until it is where it was.
    return ageMs < 0 || ageMs >= Math.min(last.tookMs * restFactor, maxRestMs);
  }

  #forgetOthers(jobs: readonly StorageJob[]): void {
    const wanted = new Set(jobs.map(({ key }) => key));
    const nowMs = this.#options.clock.now().getTime();
    for (const [key, { atMs }] of this.#known)
      if (!wanted.has(key) || Math.abs(nowMs - atMs) > staleMs) this.#known.delete(key);
  }

  async #patiently(round: Promise<void>, signal: AbortSignal): Promise<void> {
    const { clock, patienceMs = defaultPatienceMs } = this.#options;
    const over = new AbortController();
    const stop = (): void => {
      over.abort();
    };
    signal.addEventListener('abort', stop, { once: true });
    try {
      await Promise.race([round, clock.sleep(patienceMs, over.signal)]);
    } finally {
      signal.removeEventListener('abort', stop);
      stop();
    }
  }

  #start(): Thread {
    const thread = new Thread(this.#options.workerFile ?? builtWorker, (results) => {
      // Of a thread that was ended, and perhaps replaced.
      if (this.#thread !== thread) return;
      for (const result of results) this.#known.set(result.key, result);
    });
    return thread;
  }

  #round(thread: Thread, jobs: readonly StorageJob[]): Promise<void> {
    const round = thread.start(this.#due(jobs));
    // Perhaps nobody waits any more.
    round.catch(() => {
      if (this.#thread === thread) this.#thread = undefined;
    });
    return round;
  }
}
