import type { Clock } from '../../runtime/scheduling/clock.ts';
import { untilAborted } from './abort.ts';
import { TokenBucket } from './token-bucket.ts';

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
