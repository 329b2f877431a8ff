import { setImmediate } from 'node:timers/promises';
import type { Clock } from './clock.ts';

/** Lets lease, probes and watches continue. */
export const yieldToEventLoop = (): Promise<void> => setImmediate();

/** A few milliseconds of work. */
const slice = 500;

/** Calls `each` for every item, in steps. */
export function* eachInSteps<T>(items: Iterable<T>, each: (item: T) => void): Generator<void, void> {
  let done = 0;
  for (const item of items) {
    each(item);
    if (++done % slice === 0) yield;
  }
}

/** Takes the steps one by one, and yields to the event loop in between, so that lease, probes and watches continue. */
export async function inSteps<T>(
  steps: Generator<void, T>,
  clock: Pick<Clock, 'monotonicMs'>,
): Promise<{ readonly result: T; readonly busyMs: number }> {
  let busyMs = 0;
  for (;;) {
    const startMs = clock.monotonicMs();
    const step = steps.next();
    busyMs += clock.monotonicMs() - startMs;
    if (step.done === true) return { result: step.value, busyMs };
    await yieldToEventLoop();
  }
}

/** Calls `each` for every item in steps. Takes no signal: it waits for no I/O, and results are reported even during a shutdown. */
export async function inSlices<T>(items: Iterable<T>, each: (item: T) => void): Promise<void> {
  const steps = eachInSteps(items, each);
  while (steps.next().done !== true) await yieldToEventLoop();
}
