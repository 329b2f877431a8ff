import type { Clock } from '../../runtime/scheduling/clock.ts';
import { untilAborted } from './abort.ts';

/** Lets requests through at a limited rate, first come, first served. */
export interface RateLimit {
  /** Resolves when it is the caller's turn; rejects with the signal's reason, without using up a turn, when aborted. */
  take(signal: AbortSignal): Promise<void>;
}

interface RateLimitOptions {
  /** Turns per second in the long run; 0 or less = no limit. */
  readonly qps: number;
  /** Turns that may be taken at once after a rest; at least 1. */
  readonly burst: number;
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
}

/** A token bucket as `--kube-api-qps` and `--kube-api-burst` describe it. */
export function createRateLimit(options: RateLimitOptions): RateLimit {
  return options.qps > 0 ? new TokenBucket(options) : unlimited;
}

const unlimited: RateLimit = {
  take: (signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) reject(signal.reason as Error);
      else resolve();
    }),
};

class TokenBucket implements RateLimit {
  readonly #ratePerMs: number;
  readonly #burst: number;
  readonly #clock: RateLimitOptions['clock'];
  #tokens: number;
  #filledAtMs: number;
  #queue: Promise<void> = Promise.resolve();

  constructor({ qps, burst, clock }: RateLimitOptions) {
    this.#ratePerMs = qps / 1000;
    this.#burst = Math.max(1, burst);
    this.#clock = clock;
    this.#tokens = this.#burst;
    this.#filledAtMs = clock.monotonicMs();
  }

  take(signal: AbortSignal): Promise<void> {
    const turn = this.#queue.then(() => this.#takeNow(signal));
    this.#queue = turn.catch(() => undefined);
    return untilAborted(turn, signal);
  }

  async #takeNow(signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      this.#fill();
      if (this.#tokens >= 1) break;
      await this.#clock.sleep(Math.ceil((1 - this.#tokens) / this.#ratePerMs), signal);
    }
    this.#tokens -= 1;
  }

  #fill(): void {
    const nowMs = this.#clock.monotonicMs();
    this.#tokens = Math.min(this.#burst, this.#tokens + (nowMs - this.#filledAtMs) * this.#ratePerMs);
    this.#filledAtMs = nowMs;
  }
}
