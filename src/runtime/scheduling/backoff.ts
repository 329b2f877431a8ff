interface Pauses {
  readonly firstMs: number;
  readonly longestMs?: number;
  /** How many times longer each pause is than the one before. Default 2. */
  readonly growth?: number;
}

/** The pause after so many failures in a row that came before the last one. */
export const pauseAfter = (before: number, { firstMs, longestMs = Infinity, growth = 2 }: Pauses): number =>
  Math.min(longestMs, firstMs * growth ** before);

/** Waits of client-go's reflector: 0.8 s, doubled up to 30 s, each extended by up to its own length. */
export const reflectorBackoff: BackoffOptions = { firstMs: 800, longestMs: 30_000, resetAfterMs: 120_000 };

interface BackoffOptions extends Pauses {
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
    if (nowMs - this.#lastMs > this.#options.resetAfterMs) this.#failures = 0;
    const ms = pauseAfter(this.#failures, this.#options) * (1 + this.#random());
    this.#failures += 1;
    this.#lastMs = nowMs + ms;
    return ms;
  }
}
