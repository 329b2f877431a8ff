/** The time a wait has, and what to say when it is over. */
interface Patience {
  readonly deadline: AbortSignal;
  readonly late: () => Error;
}

/** Settles as `promise` does, rejects with `late()` once the deadline is over and with the signal's reason when it aborts: for file I/O, which nothing can cancel. */
export async function within<T>(
  promise: Promise<T>,
  { deadline, late }: Patience,
  signal: AbortSignal,
): Promise<T> {
  // What is no longer waited for may still fail.
  promise.catch(() => undefined);
  const forget: (() => void)[] = [];
  const ended = (one: AbortSignal, reason: () => Error): Promise<never> =>
    new Promise((_, reject) => {
      const act = (): void => {
        reject(reason());
      };
      one.addEventListener('abort', act, { once: true });
      forget.push(() => {
        one.removeEventListener('abort', act);
      });
      if (one.aborted) act();
    });
  try {
    return await Promise.race([ended(signal, () => signal.reason as Error), promise, ended(deadline, late)]);
  } finally {
    for (const one of forget) one();
  }
}
