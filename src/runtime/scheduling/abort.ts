import { setMaxListeners } from 'node:events';
import type { Clock } from './clock.ts';

/** Settles as `promise` does, or rejects with the signal's reason as soon as it aborts: for waits that cannot be cancelled. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const forget = onAbort(signal, () => reject(signal.reason as Error));
    promise.then(resolve, reject).finally(forget);
  });
}

/** The callbacks of a signal; they share one listener. */
interface Callbacks {
  readonly waiting: Set<() => void>;
  readonly listener: () => void;
}

/** Weak: nothing of it outlives the signals. */
const callbacksOf = new WeakMap<AbortSignal, Callbacks>();

/**
 * Calls `callback` when the signal aborts, or at once if it already has. Returns a function that stops listening.
 * Replaces AbortSignal.any, which on Node 20 leaks memory in a long-lived signal for every request, and a listener for each request: an
 * EventTarget visits all its listeners whenever one is added or removed.
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  if (signal.aborted) {
    callback();
    return () => undefined;
  }
  const callbacks = callbacksOf.get(signal) ?? listen(signal);
  // A new function, as the same callback may be added twice.
  const once = (): void => callback();
  callbacks.waiting.add(once);
  return () => {
    // Node keeps a signal with listeners alive.
    if (callbacks.waiting.delete(once) && callbacks.waiting.size === 0) forget(signal, callbacks);
  };
}

function listen(signal: AbortSignal): Callbacks {
  const waiting = new Set<() => void>();
  const listener = (): void => {
    for (const callback of waiting) callback();
  };
  // Other code may add dozens of listeners; Node would warn of a leak.
  setMaxListeners(0, signal);
  signal.addEventListener('abort', listener, { once: true });
  const callbacks = { waiting, listener };
  callbacksOf.set(signal, callbacks);
  return callbacks;
}

function forget(signal: AbortSignal, { listener }: Callbacks): void {
  signal.removeEventListener('abort', listener);
  callbacksOf.delete(signal);
}

/** Ends a wait that the server should have ended. */
export interface Deadline {
  /** Aborts with the outer signal, or at the deadline with its error as the reason. */
  readonly signal: AbortSignal;
  extend(ms: number, late: () => Error): void;
  stop(): void;
}

/** A reason, because without one each `abort()` makes an error with a stack. Nobody reads it. */
const stopped = 'stopped';

/** A deadline `ms` from now on the injected clock; `late` creates its error. Infinity = none. */
export function deadlineAfter(
  clock: Pick<Clock, 'monotonicMs' | 'sleep'>,
  ms: number,
  late: () => Error,
  outer: AbortSignal,
): Deadline {
  const inner = new AbortController();
  const timer = new AbortController();
  let end = { atMs: clock.monotonicMs() + ms, late };
  const forget = onAbort(outer, () => {
    timer.abort(stopped);
    inner.abort(outer.reason);
  });
  const expire = async (): Promise<void> => {
    for (let leftMs = ms; leftMs > 0; leftMs = end.atMs - clock.monotonicMs()) {
      await clock.sleep(leftMs, timer.signal);
      if (timer.signal.aborted) return;
    }
    inner.abort(end.late());
  };
  void expire();
  return {
    signal: inner.signal,
    extend: (laterMs, error) => {
      end = { atMs: clock.monotonicMs() + laterMs, late: error };
    },
    stop: () => {
      forget();
      timer.abort(stopped);
    },
  };
}
