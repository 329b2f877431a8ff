export interface Clock {
  now(): Date;
  /** Milliseconds of a monotonic clock, for deadlines and leases: a change of the wall clock does not affect them. */
  monotonicMs(): number;
  /** Resolves after `ms`, at most after 24.8 days, or when `signal` aborts. Never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

/** The longest time of Node's timers, 24.8 days: with a longer one they fire at once. */
const longestTimerMs = 2 ** 31 - 1;

/** Limits the time of a timer of Node to 24.8 days. */
const timerMs = (ms: number): number => Math.min(ms, longestTimerMs);

export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  // Not node:timers/promises: it makes an error with a stack for each timer that is stopped, and each request stops one.
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, signal.aborted ? 0 : timerMs(ms));
      signal.addEventListener('abort', end);
    }),
};
