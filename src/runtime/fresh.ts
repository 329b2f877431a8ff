import type { Clock } from './clock.ts';

/** An answer that is asked for again when it is older than allowed, counted from the question; a failure is never remembered. */
export class Fresh<T> {
  readonly #ask: (signal: AbortSignal) => Promise<T>;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #maxAgeMs: number;
  #known: { readonly at: number; readonly answer: T } | undefined;

  constructor(
    ask: (signal: AbortSignal) => Promise<T>,
    { clock, maxAgeMs }: { readonly clock: Pick<Clock, 'monotonicMs'>; readonly maxAgeMs: number },
  ) {
    this.#ask = ask;
    this.#clock = clock;
    this.#maxAgeMs = maxAgeMs;
  }

  async get(signal: AbortSignal): Promise<T> {
    const at = this.#clock.monotonicMs();
    if (this.#known !== undefined && at - this.#known.at < this.#maxAgeMs) return this.#known.answer;
    const answer = await this.#ask(signal);
    this.#known = { at, answer };
    return answer;
  }
}
