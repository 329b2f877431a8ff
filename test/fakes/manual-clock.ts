import type { Clock } from '../../src/runtime/scheduling/clock.ts';
import { FakeClock } from './clock.ts';

/** Sleeps end when the test lets time pass: for code that waits and works at the same time. */
export class ManualClock extends FakeClock implements Clock {
  readonly #sleepers = new Set<{ readonly untilMs: number; readonly ms: number; wake(): void }>();

  /** The requested durations of current sleeps, shortest first. */
  get sleeping(): readonly number[] {
    return [...this.#sleepers].map(({ ms }) => ms).toSorted((a, b) => a - b);
  }

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const sleeper = { untilMs: this.monotonicMs() + ms, ms, wake };
      const sleepers = this.#sleepers;
      function wake(): void {
        sleepers.delete(sleeper);
        resolve();
      }
      sleepers.add(sleeper);
      signal?.addEventListener('abort', wake, { once: true });
      if (signal?.aborted) wake();
    });
  }

  override advance(ms: number): void {
    super.advance(ms);
    for (const sleeper of [...this.#sleepers]) {
      if (sleeper.untilMs <= this.monotonicMs()) sleeper.wake();
    }
  }
}

/** Lets everything that is ready run, until `condition` holds; no time passes. */
export async function until(condition: () => boolean): Promise<void> {
  for (let turns = 0; !condition(); turns += 1) {
    if (turns > 1000) throw new Error(`never happened: ${condition.toString()}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
