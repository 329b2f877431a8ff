/** The reflector's waits of client-go: 0.8 s doubling to 30 s, each stretched by up to its own length. */
export const reflectorBackoff: BackoffOptions = { initialMs: 800, maxMs: 30_000, resetAfterMs: 120_000 };

interface BackoffOptions {
  readonly initialMs: number;
  readonly maxMs: number;
  /** So long without a call means healthy: the next wait is the first again. */
  readonly resetAfterMs: number;
}

/** Exponential waits with jitter, so that many clients of a restarted server do not come back together. */
export class Backoff {
  readonly #options: BackoffOptions;
  readonly #random: () => number;
  #failures = 0;
  #lastMs = Number.NEGATIVE_INFINITY;

  constructor(options: BackoffOptions, random: () => number) {
    this.#options = options;
    this.#random = random;
  }

  /** How long to wait after a failure at `nowMs` (monotonic). */
  next(nowMs: number): number {
    const { initialMs, maxMs, resetAfterMs } = this.#options;
    if (nowMs - this.#lastMs > resetAfterMs) this.#failures = 0;
    const ms = Math.min(initialMs * 2 ** this.#failures, maxMs) * (1 + this.#random());
    this.#failures += 1;
    this.#lastMs = nowMs + ms;
    return ms;
  }
}
