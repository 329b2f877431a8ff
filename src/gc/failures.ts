import { pauseAfter } from '../runtime/scheduling/backoff.ts';
import type { Outcome } from './decision.ts';

/** What a plan knows about an object whose removal has failed. */
export interface FailedBefore {
  /** In a row. */
  readonly times: number;
  /** Milliseconds until it is tried again, after all others; 0 or less = now. */
  readonly retryInMs: number;
}

/** Puts the objects whose removal has failed last, so that they do not hold up the others. */
export const failedLast = <T>(objects: readonly T[], hasFailed: (object: T) => boolean): readonly T[] => [
  ...objects.filter((object) => !hasFailed(object)),
  ...objects.filter(hasFailed),
];

interface Failure {
  readonly times: number;
  /** Monotonic milliseconds. */
  readonly retryAtMs: number;
}

interface FailureOptions<D> {
  readonly keyOf: (decision: D) => string;
  /** Whether a failure may be due to its object: then the others are tried before it. */
  readonly isOfObject: (error: unknown) => boolean;
}

const pauses = { firstMs: 20_000, longestMs: 15 * 60_000 };

/** Remembers which objects could not be removed: they must not hold up all others. The pause of each doubles with every failure, from 20 s to 15 minutes. */
export class FailureMemory<D> {
  readonly #options: FailureOptions<D>;
  readonly #failures = new Map<string, Failure>();

  constructor(options: FailureOptions<D>) {
    this.#options = options;
  }

  /** The failures as a plan needs them, by key. Forgets objects that no longer exist. */
  known(exists: (key: string) => boolean, monotonicMs: number): ReadonlyMap<string, FailedBefore> {
    for (const key of this.#failures.keys()) if (!exists(key)) this.#failures.delete(key);
    return new Map(
      this.#failures
        .entries()
        .map(([key, { times, retryAtMs }]) => [key, { times, retryInMs: retryAtMs - monotonicMs }]),
    );
  }

  record(outcomes: readonly Outcome<D>[], monotonicMs: number): void {
    for (const outcome of outcomes) {
      const key = this.#options.keyOf(outcome.decision);
      if (outcome.kind !== 'failed') this.#failures.delete(key);
      else if (this.#options.isOfObject(outcome.error)) {
        const times = (this.#failures.get(key)?.times ?? 0) + 1;
        this.#failures.set(key, { times, retryAtMs: monotonicMs + pauseAfter(times - 1, pauses) });
      }
    }
  }
}
