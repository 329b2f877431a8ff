import { setTimeout as sleep } from 'node:timers/promises';
import { usageOf, type Usage } from '../process.ts';

/** How a controller worked off its backlog, measured from outside. */
export interface Clearing {
  /** Until etcd has lost the first pod. */
  readonly cpuSecondsToFirstDelete: number;
  /** Pods deleted after that, and the time this took. */
  readonly count: number;
  readonly seconds: number;
  readonly usage: Usage;
}

interface Backlog {
  readonly due: number;
  /** Counts in etcd, so that no controller's own count is trusted. */
  readonly countLeft: () => Promise<number>;
  /** The rate is measured for at most this time. */
  readonly atMostSeconds: number;
}

const timeoutMs = 300_000;
/** A count takes etcd up to 4 ms of CPU time, as much as a delete takes in total. */
const intervalMs = 250;

/** Observes a controller from its start until the backlog is gone, or long enough to know its rate. */
export async function watchClearing(
  process: { readonly pid: number | undefined },
  { due, countLeft, atMostSeconds }: Backlog,
): Promise<Clearing> {
  const observe = async (isDone: (left: number, atMs: number) => boolean): Promise<Observation> => {
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const left = await countLeft();
      const atMs = performance.now();
      if (isDone(left, atMs)) return { left, atMs, usage: usageOf(process.pid) };
      if (atMs > deadline) throw new Error(`${left} of ${due} pods are left after ${timeoutMs} ms`);
      await sleep(intervalMs);
    }
  };
  const first = await observe((left) => left < due);
  const last = await observe((left, atMs) => left === 0 || atMs - first.atMs > atMostSeconds * 1_000);
  return {
    cpuSecondsToFirstDelete: first.usage.cpuSeconds,
    count: first.left - last.left,
    seconds: (last.atMs - first.atMs) / 1_000,
    usage: last.usage,
  };
}

interface Observation {
  readonly left: number;
  readonly atMs: number;
  readonly usage: Usage;
}
