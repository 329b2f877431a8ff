import type { Clock } from './clock.ts';
import type { Wake } from './wake.ts';

interface SpreadWakeOptions {
  readonly clock: Clock;
  /** A number from 0 to below 1. */
  readonly random: () => number;
  /** The longest a wake is held back. */
  readonly spreadMs: number;
  /** In the order in which they are to begin. */
  readonly wakes: readonly Wake[];
}

/** Holds a wake back for a random time, so that what thousands of processes learn at once does not make them act at once; triggers meanwhile add none. */
export class SpreadWake {
  readonly #options: SpreadWakeOptions;
  #isHeld = false;

  constructor(options: SpreadWakeOptions) {
    this.#options = options;
  }

  /** A wake is on its way. */
  get isHeld(): boolean {
    return this.#isHeld;
  }

  trigger(signal: AbortSignal): void {
    const { random, spreadMs } = this.#options;
    this.hold(random() * spreadMs, signal);
  }

  /** As a trigger, for a time that was drawn already. */
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
