import { ConnectionError } from './connection-errors.ts';
import { ApiError } from './transport.ts';

const firstBackoffMs = 250;
const maxBackoffMs = 10_000;

/** A server that asks for more patience than this gets its error reported instead of a silent wait. */
export const maxRetryAfterMs = 60_000;

/** The same request may do better in a moment. */
export function isTransient(err: unknown): boolean {
  if (err instanceof ApiError) return err.status === 429 || err.status >= 500;
  return err instanceof ConnectionError && !err.untrusted;
}

/** How long to wait before try `attempt` + 1, given a `random` in [0, 1): between half and all of 0.25 s, doubled each time, to 10 s. */
export function backoffMs(attempt: number, random: number): number {
  const full = Math.min(maxBackoffMs, firstBackoffMs * 2 ** attempt);
  return full * (0.5 + random / 2);
}
