import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../cluster/cluster.ts';
import { cpuBetween, cpuParts, type CpuParts } from './cpu-parts.ts';
import type { Mark } from './gc-cycles.ts';
import { usageOf, type Usage } from './process-usage.ts';

/** What a collector did with its backlog, as seen from outside. */
export interface Clearing {
  /** From the start of the process until the store has lost its first pod; what it had used of the CPU until then. */
  readonly firstDeleteSeconds: number;
  readonly cpuSecondsToFirstDelete: number;
  readonly deletesPerSecond: number;
  readonly deleted: number;
  /** Of those, while the rate and the CPU time were measured. */
  readonly measured: number;
  /** How it went on meanwhile. */
  readonly marks: readonly Mark[];
  /** Of the process, while it cleared. */
  readonly cpuSecondsOfDeleting: number;
  /** Of everything else, meanwhile. */
  readonly othersCpuSeconds: CpuParts;
  readonly usage: Usage;
}

interface Watched {
  readonly cluster: Pick<Cluster, 'pid'>;
  readonly startedAtMs: number;
  /** undefined as long as it has not begun. */
  readonly pid: () => number | undefined;
  readonly countLeft: () => Promise<number>;
  readonly due: number;
  /** The rate is measured over this long at most. */
  readonly atMostSeconds: number;
  readonly lookEveryMs?: number;
}

interface Look {
  readonly atMs: number;
  readonly left: number;
  readonly usage: Usage;
}

/** Follows a collector from its start until the backlog is gone, or long enough to know its rate. */
export async function watchClearing(watched: Watched): Promise<Clearing> {
  const { due, startedAtMs, atMostSeconds } = watched;
  const first = await lookUntil(watched, ({ left }) => left < due);
  const before = cpuParts(watched.cluster);
  const marks: Mark[] = [];
  const last = await lookUntil(watched, ({ left, atMs }) => {
    marks.push({ atMs, done: first.left - left });
    return left === 0 || atMs - first.atMs > atMostSeconds * 1_000;
  });
  return {
    marks,
    firstDeleteSeconds: (first.atMs - startedAtMs) / 1_000,
    cpuSecondsToFirstDelete: first.usage.cpuSeconds,
    deletesPerSecond: (first.left - last.left) / ((last.atMs - first.atMs) / 1_000),
    deleted: due - last.left,
    measured: first.left - last.left,
    cpuSecondsOfDeleting: last.usage.cpuSeconds - first.usage.cpuSeconds,
    othersCpuSeconds: cpuBetween(before, cpuParts(watched.cluster)),
    usage: last.usage,
  };
}

const patienceMs = 300_000;

async function lookUntil(watched: Watched, isDone: (look: Look) => boolean): Promise<Look> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const pid = watched.pid();
    const left = pid === undefined ? undefined : await watched.countLeft();
    if (pid !== undefined && left !== undefined) {
      const look = { atMs: performance.now(), left, usage: usageOf(pid) };
      if (isDone(look)) return look;
    }
    if (performance.now() > deadline) throw new Error(`no progress in ${patienceMs} ms`);
    await sleep(watched.lookEveryMs ?? 50);
  }
}
