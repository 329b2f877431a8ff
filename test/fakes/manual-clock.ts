import type { Clock } from '../../src/runtime/scheduling/clock.ts';
import { FakeClock } from './clock.ts';

/** Sleeps end when a test advances the time: for code that waits and works at the same time. */
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
        signal?.removeEventListener('abort', wake);
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

/** Runs ready code until the condition holds; no time passes. */
export async function until(condition: () => boolean): Promise<void> {
  for (let attempts = 0; !condition(); attempts += 1) {
    if (attempts > 1000) throw new Error(`never happened: ${condition.toString()}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
