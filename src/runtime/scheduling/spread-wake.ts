import type { Clock } from './clock.ts';
import type { Wake } from './wake.ts';

interface SpreadWakeOptions {
  readonly clock: Clock;
  /** A number from 0 to below 1. */
  readonly random: () => number;
  /** Longest delay. */
  readonly spreadMs: number;
  /** Ordered as their loops start. */
  readonly wakes: readonly Wake[];
}

/** Delays a wake by a random time, so that thousands of processes do not act on an event at once; triggers during the delay are merged. */
export class SpreadWake {
  readonly #options: SpreadWakeOptions;
  #isHeld = false;

  constructor(options: SpreadWakeOptions) {
    this.#options = options;
  }

  /** Whether a delayed wake is pending. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  trigger(signal: AbortSignal): void {
    const { random, spreadMs } = this.#options;
    this.hold(random() * spreadMs, signal);
  }

  /** Triggers with a given delay. */
  hold(ms: number, signal: AbortSignal): void {
    if (this.#isHeld || signal.aborted) return;
    this.#isHeld = true;
    void this.#release(ms, signal);
  }

  async #release(ms: number, signal: AbortSignal): Promise<void> {
    const { clock, wakes } = this.#options;
    await clock.sleep(ms, signal);
    this.#isHeld = false;
    for (const wake of wakes) wake.trigger();
  }
}
