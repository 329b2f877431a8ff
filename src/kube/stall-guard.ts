import type { Clock } from '../runtime/clock.ts';
import { onAbort } from './abort.ts';

/** Ends a wait that the other side should have ended itself. */
interface StallGuard {
  /** Aborts with the outer signal, or when the time is up. */
  readonly signal: AbortSignal;
  /** The time was up. */
  stalled(): boolean;
  stop(): void;
}

/** A deadline on the injected clock. */
export function stallGuard(clock: Clock, ms: number, outer: AbortSignal): StallGuard {
  const inner = new AbortController();
  const timer = new AbortController();
  let stalled = false;
  const forget = onAbort(outer, () => {
    timer.abort();
    inner.abort(outer.reason);
  });
  void clock.sleep(ms, timer.signal).then(() => {
    if (timer.signal.aborted) return;
    stalled = true;
    inner.abort();
  });
  return {
    signal: inner.signal,
    stalled: () => stalled,
    stop: () => {
      forget();
      timer.abort();
    },
  };
}
