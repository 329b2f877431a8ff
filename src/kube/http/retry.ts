import type { Clock } from '../../runtime/scheduling/clock.ts';
import { ConnectionError } from './connection-errors.ts';
import { ApiError } from './transport.ts';

const firstBackoffMs = 250;
const maxBackoffMs = 10_000;

/** If the server requests a longer wait, the transport throws the error instead of waiting silently. */
const maxRetryAfterMs = 60_000;

interface RetryOptions {
  /** Number of attempts after the first. */
  readonly retries: number;
  readonly clock: Pick<Clock, 'sleep'>;
  /** Random number in [0, 1). */
  readonly random: () => number;
  /** The transport is closed. */
  readonly isOver: () => boolean;
}

/** Runs `once` until it succeeds, the retries are used up, or the error is not transient. Waits for Retry-After, else with growing pauses. */
export async function retrying<T>(
  once: () => Promise<T>,
  { retries, clock, random, isOver }: RetryOptions,
  signal: AbortSignal,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await once();
    } catch (err) {
      signal.throwIfAborted();
      const waitMs = attempt < retries ? waitAfter(err, attempt, random) : undefined;
      if (waitMs === undefined || isOver()) throw err;
      await clock.sleep(waitMs, signal);
      signal.throwIfAborted();
      if (isOver()) throw err;
    }
  }
}

/** undefined = throw the error. */
function waitAfter(err: unknown, attempt: number, random: () => number): number | undefined {
  if (!isTransient(err)) return undefined;
  const retryAfterMs = err instanceof ApiError ? err.retryAfterMs : undefined;
  if (retryAfterMs === undefined) return backoffMs(attempt, random());
  return retryAfterMs > maxRetryAfterMs ? undefined : retryAfterMs;
}

/** Whether a retry may succeed soon. */
export function isTransient(err: unknown): boolean {
  if (err instanceof ApiError) return err.status === 429 || err.status >= 500;
  return err instanceof ConnectionError && !err.untrusted;
}

/** The wait after attempt `attempt`, for `random` in [0, 1): between half and all of 0.25 s, doubled each time, up to 10 s. */
export function backoffMs(attempt: number, random: number): number {
  const full = Math.min(maxBackoffMs, firstBackoffMs * 2 ** attempt);
  return full * (0.5 + random / 2);
}
