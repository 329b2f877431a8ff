import { setImmediate } from 'node:timers/promises';

/** Lets lease, probes and watches continue. */
export const yieldToEventLoop = (): Promise<void> => setImmediate();

/** A few milliseconds of work. */
const slice = 500;

/**
 * Calls `each` for every item and yields to the event loop in between, so that lease, probes and watches continue. Takes no signal: it waits
 * for no I/O, and results are reported even during a shutdown.
 */
export async function inSlices<T>(items: Iterable<T>, each: (item: T) => void): Promise<void> {
  let done = 0;
  for (const item of items) {
    each(item);
    if (++done % slice === 0) await yieldToEventLoop();
  }
}

/** Takes the steps one by one, and yields to the event loop in between. */
export async function inSteps<T>(steps: Generator<void, T>): Promise<T> {
  let step = steps.next();
  while (step.done !== true) {
    await yieldToEventLoop();
    step = steps.next();
  }
  return step.value;
}
