import type { Clock } from '../../runtime/scheduling/clock.ts';
import { ConnectionError } from './connection-errors.ts';
import { ApiError } from './transport.ts';

const firstBackoffMs = 250;
const maxBackoffMs = 10_000;

/** The transport reports the error of a server that asks for a longer wait than this, instead of waiting silently. */
const maxRetryAfterMs = 60_000;

interface RetryOptions {
  /** How often to try again. */
  readonly retries: number;
  readonly clock: Pick<Clock, 'sleep'>;
  /** In [0, 1). */
  readonly random: () => number;
  /** Nothing more is to be sent. */
  readonly isOver: () => boolean;
}

/** Runs `once` until it succeeds, the retries are used up, or the error will not pass. Waits as long as the server asks, else with growing pauses. */
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

/** undefined = report the error instead. */
function waitAfter(err: unknown, attempt: number, random: () => number): number | undefined {
  if (!isTransient(err)) return undefined;
  const askedMs = err instanceof ApiError ? err.retryAfterMs : undefined;
  if (askedMs === undefined) return backoffMs(attempt, random());
  return askedMs > maxRetryAfterMs ? undefined : askedMs;
}

/** Whether the same request may succeed in a moment. */
export function isTransient(err: unknown): boolean {
  if (err instanceof ApiError) return err.status === 429 || err.status >= 500;
  return err instanceof ConnectionError && !err.untrusted;
}

/** The wait before try `attempt` + 1, given a `random` in [0, 1): between half and all of 0.25 s, doubled each time, to 10 s. */
export function backoffMs(attempt: number, random: number): number {
  const full = Math.min(maxBackoffMs, firstBackoffMs * 2 ** attempt);
  return full * (0.5 + random / 2);
}
