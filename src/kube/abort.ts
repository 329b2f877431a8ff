import { setMaxListeners } from 'node:events';

/** Settles as `promise` does, or rejects with the signal's reason at once when it aborts: for waits that cannot be cancelled themselves. */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { aborted, forget } = rejectOnAbort(signal);
  try {
    return await Promise.race([aborted, promise]);
  } finally {
    forget();
  }
}

function rejectOnAbort(signal: AbortSignal): { aborted: Promise<never>; forget: () => void } {
  let forget = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    forget = onAbort(signal, () => {
      reject(signal.reason as Error);
    });
  });
  return { aborted, forget };
}

/**
 * Calls `act` when the signal aborts; returns how to stop listening.
 * Used instead of AbortSignal.any, which on Node 20 leaves something behind in a long-lived signal for every request.
 */
export function onAbort(signal: AbortSignal, act: () => void): () => void {
  // A pass has dozens of requests under way on one signal; Node's warning would call that a leak.
  setMaxListeners(0, signal);
  signal.addEventListener('abort', act, { once: true });
  if (signal.aborted) act();
  return () => {
    signal.removeEventListener('abort', act);
  };
}
