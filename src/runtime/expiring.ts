import type { Clock } from './scheduling/clock.ts';

/** A cache whose entries each expire after their own time; with more than `limit` entries it drops the oldest. */
export class Expiring<T> {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #limit: number;
  readonly #known = new Map<string, { readonly untilMs: number; readonly value: T }>();

  constructor(clock: Pick<Clock, 'monotonicMs'>, limit: number) {
    this.#clock = clock;
    this.#limit = limit;
  }

  get(key: string): T | undefined {
    const known = this.#known.get(key);
    return known !== undefined && this.#clock.monotonicMs() < known.untilMs ? known.value : undefined;
  }

  remember(key: string, value: T, ttlMs: number): void {
    this.#known.delete(key);
    this.#known.set(key, { untilMs: this.#clock.monotonicMs() + ttlMs, value });
    const [oldest] = this.#known.keys();
    if (this.#known.size > this.#limit && oldest !== undefined) this.#known.delete(oldest);
  }
}
