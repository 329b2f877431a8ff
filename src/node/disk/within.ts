import { onAbort } from '../../runtime/scheduling/abort.ts';

interface Deadline {
  readonly deadline: AbortSignal;
  readonly late: () => Error;
}

/** Settles as `promise` does; rejects with `late()` at the deadline, and with the signal's reason when it aborts. For file I/O, which cannot be cancelled. */
export async function within<T>(
  promise: Promise<T>,
  { deadline, late }: Deadline,
  signal: AbortSignal,
): Promise<T> {
  // It may still fail when nobody waits for it any more.
  promise.catch(() => undefined);
  const forget: (() => void)[] = [];
  const aborted = (one: AbortSignal, reason: () => Error): Promise<never> =>
    new Promise((_, reject) => {
      forget.push(onAbort(one, () => reject(reason())));
    });
  try {
    return await Promise.race([
      aborted(signal, () => signal.reason as Error),
      promise,
      aborted(deadline, late),
    ]);
  } finally {
    for (const each of forget) each();
  }
}
