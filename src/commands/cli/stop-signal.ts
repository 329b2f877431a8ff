/** Aborts at the first SIGTERM or SIGINT; the second one ends the process at once. */
export function stopSignal(onStop: (name: string) => void): AbortSignal {
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const)
    process.once(name, () => {
      onStop(name);
      stop.abort();
    });
  return stop.signal;
}
