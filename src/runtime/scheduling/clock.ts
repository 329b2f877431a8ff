import { setTimeout as delay } from 'node:timers/promises';

export interface Clock {
  now(): Date;
  /** Milliseconds that only ever grow: for deadlines and leases, which a changed wall clock must not move. */
  monotonicMs(): number;
  /** Resolves after `ms`, or at once when `signal` aborts. Never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
};
