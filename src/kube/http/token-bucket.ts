export interface Rate {
  /** Tokens at most. */
  readonly burst: number;
  /** New tokens per millisecond. */
  readonly perMs: number;
}

/** A burst, then a steady rate. Times are monotonic milliseconds. */
export class TokenBucket {
  readonly #rate: Rate;
  #tokens: number;
  #filledAtMs: number;

  /** Begins full. */
  constructor(rate: Rate, nowMs: number) {
    this.#rate = rate;
    this.#tokens = rate.burst;
    this.#filledAtMs = nowMs;
  }

  /** Milliseconds until there is a token; 0 = there is one. */
  waitMs(nowMs: number): number {
    this.#fill(nowMs);
    return this.#tokens >= 1 ? 0 : Math.ceil((1 - this.#tokens) / this.#rate.perMs);
  }

  /** Takes a token; only where `waitMs` is 0. */
  take(): void {
    this.#tokens -= 1;
  }

  isFull(nowMs: number): boolean {
    this.#fill(nowMs);
    return this.#tokens >= this.#rate.burst;
  }

  #fill(nowMs: number): void {
    const { burst, perMs } = this.#rate;
    this.#tokens = Math.min(burst, this.#tokens + (nowMs - this.#filledAtMs) * perMs);
    this.#filledAtMs = nowMs;
  }
}
