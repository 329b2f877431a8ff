import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../cluster/servers/cluster.ts';
import { cpuBetween, cpuParts, type CpuParts } from './cpu-parts.ts';
import { rateOf, type Mark } from './gc-cycles.ts';
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
}

interface Look {
  readonly atMs: number;
  readonly left: number;
  readonly usage: Usage;
}

/** Follows a collector from its start until the backlog is gone, or long enough to know its rate; the marks say how it went on. */
export async function watchClearing(
  watched: Watched,
): Promise<{ readonly clearing: Clearing; readonly marks: readonly Mark[] }> {
  const { due, startedAtMs, atMostSeconds } = watched;
  const first = await lookUntil(watched, ({ left }) => left < due);
  const before = cpuParts(watched.cluster);
  const marks: Mark[] = [{ atMs: first.atMs, done: 0 }];
  const last = await lookUntil(watched, ({ left, atMs }) => {
    marks.push({ atMs, done: first.left - left });
    return left === 0 || atMs - first.atMs > atMostSeconds * 1_000;
  });
  const clearing: Clearing = {
    firstDeleteSeconds: (first.atMs - startedAtMs) / 1_000,
    cpuSecondsToFirstDelete: first.usage.cpuSeconds,
    deletesPerSecond: rateOf(marks),
    deleted: due - last.left,
    measured: first.left - last.left,
    cpuSecondsOfDeleting: last.usage.cpuSeconds - first.usage.cpuSeconds,
    othersCpuSeconds: cpuBetween(before, cpuParts(watched.cluster)),
    usage: last.usage,
  };
  return { clearing, marks };
}

const patienceMs = 300_000;
/** Each look has etcd count what is left, up to 4 ms of its CPU time: as much as a delete takes of all. */
const lookMs = { atEdges: 100, amid: 1_000 };
/** Of what was due: this near to the end a look decides when that was. */
const endShare = 0.05;

const isAmid = (left: number, due: number): boolean => left < due && left > due * endShare;

async function lookUntil(watched: Watched, isDone: (look: Look) => boolean): Promise<Look> {
  const { due } = watched;
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const pid = watched.pid();
    const left = pid === undefined ? undefined : await watched.countLeft();
    if (pid !== undefined && left !== undefined) {
      const look = { atMs: performance.now(), left, usage: usageOf(pid) };
      if (isDone(look)) return look;
    }
    if (performance.now() > deadline) throw new Error(`no progress in ${patienceMs} ms`);
    await sleep(isAmid(left ?? due, due) ? lookMs.amid : lookMs.atEdges);
  }
}
