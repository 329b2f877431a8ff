import type { NodeGCReportStatus } from '../../api/gen/nodegcreport.gen.ts';
import { hasNewRequests, isStorageNews, storageFigures } from './storage-change.ts';

interface ChangeGiven {
  readonly now: Date;
  /** From 0 to below 1, drawn anew after each write: thousands of agents must not write in step. */
  readonly jitter: number;
}

/** A report is never older than this by much: the controller does not count one of 15 min any more. */
const quietMs = 5 * 60_000;
/** The part of it by which a quiet write may be later. */
const jitterPart = 0.2;
/** Figures change all the time somewhere; a node tells so once a minute at most. */
const figuresMs = 60_000;

/** Whether a report that may be written now is to be: at once when something turned, within a minute when figures changed by more than noise, else every 5 min. */
export function isWorthWriting(
  previous: NodeGCReportStatus | undefined,
  next: NodeGCReportStatus,
  { now, jitter }: ChangeGiven,
): boolean {
  if (previous === undefined) return true;
  const ageMs = now.getTime() - Date.parse(previous.reportTime ?? '');
  if (isOld(ageMs, jitter) || hasNewRequests(previous, next)) return true;
  // An agent that has just started again knows less than its last report says.
  if (isBeforeFirstPass(next)) return false;
  if (substance(previous) !== substance(next) || isStorageNews(previous, next)) return true;
  return ageMs >= figuresMs && (acts(previous) !== acts(next) || figuresDiffer(previous, next));
}

/** Unreadable, or from the future after a step of the clock: the age says nothing then. */
const isOld = (ageMs: number, jitter: number): boolean =>
  !(ageMs >= 0) || ageMs >= quietMs * (1 + jitterPart * jitter);

const isBeforeFirstPass = ({ conditions = [] }: NodeGCReportStatus): boolean =>
  conditions.some(({ type, reason }) => type === 'Degraded' && reason === 'NoPassYet');

/** What somebody may wait for. Times alone are no change. */
function substance({ agentVersion, policy, runtime, conditions = [] }: NodeGCReportStatus): string {
  const told = conditions.map(({ type, status, reason }) => [type, status, reason]);
  const { name, uid, observedGeneration, mode } = policy ?? {};
  return JSON.stringify([
    agentVersion,
    [name, uid, observedGeneration, mode],
    [runtime?.name, runtime?.version],
    told,
  ]);
}

/** What was removed, what went wrong, and how local storage stands. */
function acts(status: NodeGCReportStatus): string {
  const { units = [], conditions = [] } = status;
  const done = units.map(({ name, removedTotal, freedBytesTotal, errors, message }) => [
    ...[name, removedTotal, freedBytesTotal],
    ...[errors, message],
  ]);
  return JSON.stringify([done, conditions.map(({ message }) => message), storageFigures(status)]);
}

function figuresDiffer(previous: NodeGCReportStatus, next: NodeGCReportStatus): boolean {
  const [before, after] = [figuresOf(previous), figuresOf(next)];
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].some((name) => isBeyondNoise(name, before.get(name), after.get(name)));
}

/** Every number of the inventories by its path. */
function figuresOf(status: NodeGCReportStatus): ReadonlyMap<string, number> {
  const { imageFileSystem, images, containers, sandboxes, logs, orphans } = status;
  const found = new Map<string, number>();
  const collect = (path: string, value: unknown): void => {
    if (typeof value === 'number') found.set(path, value);
    else if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) collect(`${path}.${key}`, inner);
  };
  collect('', { imageFileSystem, images, containers, sandboxes, logs, orphans });
  return found;
}

const noise = {
  percent: { atLeast: 3, part: 0 },
  bytes: { atLeast: 256 * 1024 * 1024, part: 0.1 },
  count: { atLeast: 5, part: 0.2 },
} as const;

function isBeyondNoise(name: string, before: number | undefined, after: number | undefined): boolean {
  if (before === undefined || after === undefined) return before !== after;
  const { atLeast, part } = noise[kindOf(name)];
  return Math.abs(after - before) > Math.max(atLeast, part * Math.max(before, after));
}

function kindOf(name: string): keyof typeof noise {
  if (name.endsWith('Percent')) return 'percent';
  return /bytes$/i.test(name) ? 'bytes' : 'count';
}
