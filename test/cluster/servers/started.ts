const running: AsyncDisposable[] = [];

/** Ends it with the file of tests that has started it, unless it has ended before: the last first. */
export function endedWithFile<T extends AsyncDisposable>(started: T): T {
  running.push(started);
  return started;
}

/** Ends what this file has started; what has ended already stays as it is. */
export async function endAll(): Promise<void> {
  for (const started of running.splice(0).toReversed()) await started[Symbol.asyncDispose]();
}
