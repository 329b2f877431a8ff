/** Waits of client-go's reflector: 0.8 s, doubled up to 30 s, each extended by up to its own length. */
export const reflectorBackoff: BackoffOptions = { initialMs: 800, maxMs: 30_000, resetAfterMs: 120_000 };

interface BackoffOptions {
  readonly initialMs: number;
  readonly maxMs: number;
  /** After this time without a failure the next wait is the first again. */
  readonly resetAfterMs: number;
}

/** Exponential waits with jitter, so that the clients of a restarted server do not reconnect all at once. */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #random: () => number;
  #failures = 0;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(options: BackoffOptions, random: () => number) {
    this.#options = options;
    this.#random = random;
  }

  /** Returns the wait after a failure at `nowMs` (monotonic). */
  next(nowMs: number): number {
    const { initialMs, maxMs, resetAfterMs } = this.#options;
    if (nowMs - this.#lastMs > resetAfterMs) this.#failures = 0;
    const ms = Math.min(initialMs * 2 ** this.#failures, maxMs) * (1 + this.#random());
    this.#failures += 1;
    this.#lastMs = nowMs + ms;
    return ms;
  }
}
