import type { Clock } from '../../src/runtime/scheduling/clock.ts';

interface Sleeper {
  readonly untilMs: number;
  wake(): void;
}

/** A ManualClock whose `advance` also waits until the woken code has settled. */
export class SettlingClock implements Clock {
  readonly #start: number;
  readonly #sleepers = new Set<Sleeper>();
  #elapsedMs = 0;

  constructor(start = new Date('2026-01-15T12:00:00Z')) {
    this.#start = start.getTime();
  }

  now(): Date {
    return new Date(this.#start + this.#elapsedMs);
  }

  monotonicMs(): number {
    return this.#elapsedMs;
  }

  /** How many are asleep. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (ms <= 0 || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const sleeper = {
        untilMs: this.#elapsedMs + ms,
        wake: () => {
          signal.removeEventListener('abort', sleeper.wake);
          this.#sleepers.delete(sleeper);
          resolve();
        },
      };
      signal.addEventListener('abort', sleeper.wake);
      this.#sleepers.add(sleeper);
    });
  }

  /** Advances the time, wakes due sleepers and waits until they settle. */
  async advance(ms: number): Promise<void> {
    this.#elapsedMs += ms;
    for (const sleeper of [...this.#sleepers]) if (sleeper.untilMs <= this.#elapsedMs) sleeper.wake();
    await settled();
  }
}

/** Resolves when no code can continue without time or I/O. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
