import { setTimeout as delay } from 'node:timers/promises';

export interface Clock {
  now(): Date;
  /** Milliseconds of a monotonic clock, for deadlines and leases: a change of the wall clock does not affect them. */
  monotonicMs(): number;
  /** Resolves after `ms`, or when `signal` aborts. Never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => undefined),
};
