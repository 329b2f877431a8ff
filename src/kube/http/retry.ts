import type { Clock } from '../../runtime/scheduling/clock.ts';
import { ConnectionError } from './connection-errors.ts';
import { Backoff } from '../../runtime/scheduling/backoff.ts';
import { ApiError, maxRetryAfterMs } from './transport.ts';

/** Half of 0.25 s, doubled up to half of 10 s, each extended by up to its own length. */
const retryBackoff = { firstMs: 125, longestMs: 5_000, resetAfterMs: Infinity };

interface RetryOptions {
  readonly retries: number;
  readonly clock: Pick<Clock, 'sleep'>;
  readonly random: () => number;
  readonly isOver: (err: unknown) => boolean;
}

/** Runs `once` until it succeeds, the retries are used up, or the error is not transient. Waits for Retry-After, else with growing pauses. */
export async function retrying<T>(
  once: () => Promise<T>,
  { retries, clock, random, isOver }: RetryOptions,
  signal: AbortSignal,
): Promise<T> {
  const backoff = new Backoff(retryBackoff, random);
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await once();
    } catch (err) {
      signal.throwIfAborted();
      const waitMs = attempt < retries ? waitAfter(err, backoff) : undefined;
      if (waitMs === undefined || isOver(err)) throw err;
      await clock.sleep(waitMs, signal);
      signal.throwIfAborted();
      if (isOver(err)) throw err;
    }
  }
}

/** undefined = throw the error: the server requests the longest wait, or the error would be the same. */
function waitAfter(err: unknown, backoff: Backoff): number | undefined {
  if (!isTransient(err)) return undefined;
  const retryAfterMs = err instanceof ApiError ? err.retryAfterMs : undefined;
  if (retryAfterMs === undefined) return backoff.next(0);
  return retryAfterMs === maxRetryAfterMs ? undefined : retryAfterMs;
}

export function isTransient(err: unknown): boolean {
  if (err instanceof ApiError) return err.status === 429 || err.status >= 500;
  return err instanceof ConnectionError && !err.untrusted;
}
