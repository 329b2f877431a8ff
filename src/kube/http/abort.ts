import { setMaxListeners } from 'node:events';
import type { Clock } from '../../runtime/scheduling/clock.ts';

/** Settles as `promise` does, or rejects with the signal's reason at once when it aborts: for waits that cannot be cancelled themselves. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const forget = onAbort(signal, () => {
      reject(signal.reason as Error);
    });
    promise.then(resolve, reject).finally(forget);
  });
}

/** What is to be done when a signal aborts; one listener stands for all of it. */
interface Acts {
  readonly waiting: Set<() => void>;
  readonly listener: () => void;
}

/** Belongs to the signals, as a field of theirs would: nothing of it outlives them. */
const actsOf = new WeakMap<AbortSignal, Acts>();

/**
 * Calls `act` when the signal aborts, or at once when it has; returns how to stop listening.
 * Used instead of AbortSignal.any, which on Node 20 leaves something behind in a long-lived signal for every request, and of a listener for each
 * request: an EventTarget walks through all it has whenever one is added or removed.
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  if (signal.aborted) {
    act();
    return () => undefined;
  }
  const acts = actsOf.get(signal) ?? listen(signal);
  // Of its own: the same function may be handed in twice.
  const once = (): void => {
    act();
  };
  acts.waiting.add(once);
  return () => {
    // A signal with listeners is kept alive by Node.
    if (acts.waiting.delete(once) && acts.waiting.size === 0) forget(signal, acts);
  };
}

function listen(signal: AbortSignal): Acts {
  const waiting = new Set<() => void>();
  const acts: Acts = {
    waiting,
    listener: () => {
      for (const act of waiting) act();
    },
  };
  // Others may listen to it by themselves; Node's warning would call dozens a leak.
  setMaxListeners(0, signal);
  signal.addEventListener('abort', acts.listener, { once: true });
  actsOf.set(signal, acts);
  return acts;
}

function forget(signal: AbortSignal, { listener }: Acts): void {
  signal.removeEventListener('abort', listener);
  actsOf.delete(signal);
}

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
