import type { Clock } from '../runtime/scheduling/clock.ts';
import type { NodePassReport } from './pass.ts';
import { hasOutlasted } from './runtime-failures.ts';

/** The runtime does not work longer on a request. An object that is listed after this time was not removed by it, and its later end has another cause. */
const believedMs = 10 * 60_000;

interface Late<D> {
  readonly removal: D;
  /** Monotonic milliseconds. */
  readonly untilMs: number;
}

/** Remembers removals whose request outlasted its deadline: the runtime may complete one later, and then nothing else would record it. */
export class LateRemovals<D> {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #removals = new Map<string, Late<D>>();
  #unreported = 0;

  constructor(clock: Pick<Clock, 'monotonicMs'>) {
    this.#clock = clock;
  }

  async awaited<T>(id: string, removal: D, request: Promise<T>): Promise<T> {
    this.#removals.delete(id);
    try {
      return await request;
    } catch (err) {
      if (hasOutlasted(err))
        this.#removals.set(id, { removal, untilMs: this.#clock.monotonicMs() + believedMs });
      throw err;
    }
  }

  /** Records the removals whose objects are gone. Forgets them, and those of objects that are listed for too long. */
  settle(exists: (id: string) => boolean, record: (removal: D) => void): void {
    for (const [id, { removal, untilMs }] of this.#removals) {
      const isGone = !exists(id);
      if (!isGone && this.#clock.monotonicMs() < untilMs) continue;
      this.#removals.delete(id);
      if (!isGone) continue;
      record(removal);
      this.#unreported += 1;
    }
  }

  /** Adds the late removals since the last report to a report. */
  addedTo(report: NodePassReport): NodePassReport {
    const removed = report.removed + this.#unreported;
    this.#unreported = 0;
    return { ...report, removed };
  }
}
