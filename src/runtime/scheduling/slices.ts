import { setImmediate as turnOfOthers } from 'node:timers/promises';

/** Some milliseconds of work at most. */
const slice = 500;

/**
 * Does something with each item, however many there are, without holding up everything else meanwhile (lease, probes, watches).
 * No signal: it waits for no I/O, and what was done is told even while we are stopping.
 */
export async function inSlices<T>(items: Iterable<T>, each: (item: T) => void): Promise<void> {
  let done = 0;
  for (const item of items) {
    each(item);
    if (++done % slice === 0) await turnOfOthers();
  }
}
