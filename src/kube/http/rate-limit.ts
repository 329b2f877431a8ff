import type { Clock } from '../../runtime/scheduling/clock.ts';
import { untilAborted } from './abort.ts';

interface RateLimitOptions {
  /** Requests per second in the long run; 0 or less = no limit. */
  readonly qps: number;
  /** Requests that are allowed at once after a pause; at least 1. */
  readonly burst: number;
  readonly clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
}

/** A token bucket as `--kube-api-qps` and `--kube-api-burst` describe it. First come, first served. */
export class RateLimit {
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

  /** Resolves when the caller may send; rejects with the signal's reason, without using up a token, when aborted. */
  async acquire(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (this.#ratePerMs <= 0) return;
    const acquired = this.#queue.then(() => this.#acquireNext(signal));
    this.#queue = acquired.catch(() => undefined);
    await untilAborted(acquired, signal);
  }

  async #acquireNext(signal: AbortSignal): Promise<void> {
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
