import { setTimeout as sleep } from 'node:timers/promises';

/** Options of `expect.poll` for conditions that may take long on a busy machine. Most start kubectl or crictl each time: more often, they alone keep a core busy. */
export const eventually = { timeout: 180_000, interval: 1_000 };

/** The same for a condition that must be noticed at once, and is read without a new process. */
export const promptly = { ...eventually, interval: 50 };

/** Polls until the condition holds; throws with its description after the timeout. */
export async function waitUntil(
  description: string,
  holds: () => boolean | Promise<boolean>,
  { timeout = eventually.timeout, interval = eventually.interval } = {},
): Promise<void> {
  const deadline = performance.now() + timeout;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`not within ${timeout} ms: ${description}`);
    await sleep(interval);
  }
}
