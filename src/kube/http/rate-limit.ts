import type { Clock } from '../../runtime/scheduling/clock.ts';
import { untilAborted } from '../../runtime/scheduling/abort.ts';

export interface Rate {
  readonly burst: number;
  readonly perMs: number;
}

/** A burst, then a steady rate. Times are monotonic milliseconds. */
export class TokenBucket {
  readonly #rate: Rate;
  #tokens: number;
  #filledAtMs: number;

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

interface RateLimitOptions {
  /** Requests per second in the long run; 0 or less = no limit. */
  readonly qps: number;
  /** Requests that are allowed at once after a pause; at least 1. */
  readonly burst: number;
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
}

/** A token bucket as `--kube-api-qps` and `--kube-api-burst` describe it. First come, first served. */
export class RateLimit {
  readonly #bucket: TokenBucket | undefined;
  readonly #clock: RateLimitOptions['clock'];
  #queue: Promise<void> = Promise.resolve();

  constructor({ qps, burst, clock }: RateLimitOptions) {
    this.#clock = clock;
    const rate = { burst: Math.max(1, burst), perMs: qps / 1000 };
    this.#bucket = qps > 0 ? new TokenBucket(rate, clock.monotonicMs()) : undefined;
  }

  /** Resolves when the caller may send; rejects with the signal's reason, without using up a token, when aborted. */
  async acquire(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const bucket = this.#bucket;
    if (bucket === undefined) return;
    const acquired = this.#queue.then(() => this.#take(bucket, signal));
    this.#queue = acquired.catch(() => undefined);
    await untilAborted(acquired, signal);
  }

  async #take(bucket: TokenBucket, signal: AbortSignal): Promise<void> {
    for (;;) {
      signal.throwIfAborted();
      const waitMs = bucket.waitMs(this.#clock.monotonicMs());
      if (waitMs === 0) break;
      await this.#clock.sleep(waitMs, signal);
    }
    bucket.take();
  }
}
