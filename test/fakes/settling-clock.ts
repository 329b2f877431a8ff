import type { Clock } from '../../src/runtime/scheduling/clock.ts';
import { ManualClock } from './manual-clock.ts';

/** A ManualClock whose `advance` also waits until the woken code has settled. */
export class SettlingClock implements Clock {
  readonly #clock: ManualClock;

  constructor(start?: Date) {
    this.#clock = new ManualClock(start);
  }

  now(): Date {
    return this.#clock.now();
  }

  monotonicMs(): number {
    return this.#clock.monotonicMs();
  }

  /** The number of sleepers. */
  get sleeping(): number {
    return this.#clock.sleeping.length;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return ms <= 0 ? Promise.resolve() : this.#clock.sleep(ms, signal);
  }

  /** Advances the time, wakes due sleepers and waits until they settle. */
  async advance(ms: number): Promise<void> {
    this.#clock.advance(ms);
    await settled();
  }
}

/** Resolves when no code can continue without time or I/O. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
