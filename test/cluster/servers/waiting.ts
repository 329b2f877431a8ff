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

/** Reads until the value has not changed for so long, and returns it. */
export async function settled<T>(
  read: () => Promise<T>,
  quietMs: number,
  { timeout, interval } = eventually,
): Promise<T> {
  let last = await read();
  let since = performance.now();
  const deadline = since + timeout;
  while (performance.now() - since < quietMs) {
    if (performance.now() > deadline) throw new Error(`no rest within ${timeout} ms`);
    await sleep(interval);
    const now = await read();
    if (JSON.stringify(now) !== JSON.stringify(last)) since = performance.now();
    last = now;
  }
  return last;
}
