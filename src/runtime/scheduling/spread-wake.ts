import type { Clock } from './clock.ts';
import type { Wake } from './wake.ts';

interface SpreadWakeOptions {
  readonly clock: Clock;
  readonly random: () => number;
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

  get isHeld(): boolean {
    return this.#isHeld;
  }

  trigger(signal: AbortSignal): void {
    const { random, spreadMs } = this.#options;
    this.hold(random() * spreadMs, signal);
  }

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
