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
  #isDelaying = false;

  constructor(options: SpreadWakeOptions) {
    this.#options = options;
  }

  get isDelaying(): boolean {
    return this.#isDelaying;
  }

  trigger(signal: AbortSignal): void {
    const { random, spreadMs } = this.#options;
    this.delay(random() * spreadMs, signal);
  }

  delay(ms: number, signal: AbortSignal): void {
    if (this.#isDelaying || signal.aborted) return;
    this.#isDelaying = true;
    void this.#release(ms, signal);
  }

  async #release(ms: number, signal: AbortSignal): Promise<void> {
    const { clock, wakes } = this.#options;
    await clock.sleep(ms, signal);
    this.#isDelaying = false;
    for (const wake of wakes) wake.trigger();
  }
}
