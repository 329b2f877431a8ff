import type { Cluster } from '../cluster/servers/cluster.ts';
import { startOf } from './process-usage.ts';

/** Makes a Go program tell each run of its garbage collector, in a line of its log. */
export const tellsGc = { GODEBUG: 'gctrace=1' };

/** How many of a kind had happened at a moment of `performance.now()`. */
export interface Mark {
  readonly atMs: number;
  readonly done: number;
}

/** What happened between the ends of the first and the last run of a collector. */
export interface WholeCycles {
  readonly cycles: number;
  readonly done: number;
  readonly seconds: number;
}

/** Per second, from the first mark to the last. */
export function rateOf(marks: readonly Mark[]): number {
  const [first, last] = [marks[0], marks.at(-1)];
  return first && last ? ((last.done - first.done) * 1_000) / (last.atMs - first.atMs) : NaN;
}

/** Per second, of what happened in them all; NaN where there is none. */
export function wholeRate(all: readonly (WholeCycles | undefined)[]): number {
  const some = all.filter((one) => one !== undefined);
  const total = (of: (one: WholeCycles) => number): number => sum(some.map(of));
  return total(({ done }) => done) / total(({ seconds }) => seconds);
}

/** What of it fell into whole cycles of the API server's garbage collector. */
export const cyclesWithin = async (
  marks: readonly Mark[],
  cluster: Pick<Cluster, 'logs' | 'pid'>,
): Promise<WholeCycles | undefined> => wholeCycles(marks, await gcEnds(cluster));

/** When each run of the API server's garbage collector ended, in order, as `performance.now()` counts. */
async function gcEnds(cluster: Pick<Cluster, 'logs' | 'pid'>): Promise<readonly number[]> {
  const pid = cluster.pid('api');
  if (pid === undefined) throw new Error('the API server does not run');
  const startedAtMs = startOf(pid);
  const ends = endsIn(await cluster.logs('api', allLines)).map((sinceStartMs) => startedAtMs + sinceStartMs);
  if (ends.length === 0) throw new Error('the API server does not tell of its garbage collector');
  return ends;
}

const allLines = Infinity;

/** Of each run in the log: milliseconds from the start of the program to the end of the run. */
function endsIn(log: string): readonly number[] {
  const lines = log.matchAll(/^gc \d+ @([\d.]+)s \d+%: ([\d.+]+) ms clock/gm);
  const msOf = (phases: string): number => sum(phases.split('+').map(Number));
  return Array.from(lines, ([, begin = '', phases = '']) => Number(begin) * 1_000 + msOf(phases));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0);

/** Of marks in order. undefined where no cycle lies within them. */
function wholeCycles(marks: readonly Mark[], ends: readonly number[]): WholeCycles | undefined {
  const [from = Infinity, to = -Infinity] = [marks[0]?.atMs, marks.at(-1)?.atMs];
  const within = ends.filter((atMs) => atMs >= from && atMs <= to);
  const [first, last] = [within[0], within.at(-1)];
  if (first === undefined || last === undefined || first === last) return undefined;
  const done = doneAt(marks, last) - doneAt(marks, first);
  return { cycles: within.length - 1, done, seconds: (last - first) / 1_000 };
}

/** As if between two marks all went evenly. */
function doneAt(marks: readonly Mark[], atMs: number): number {
  const next = marks.findIndex((mark) => mark.atMs >= atMs);
  const [before, after] = [marks[next - 1], marks[next]];
  if (!after) throw new Error('after the last mark');
  if (!before) return after.done;
  return before.done + ((after.done - before.done) * (atMs - before.atMs)) / (after.atMs - before.atMs);
}
