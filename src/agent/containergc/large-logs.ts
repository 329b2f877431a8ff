import { podRefOf, podUidOf, type PodRef } from '../../api/pod-ref.ts';
import type { RuntimeContainer } from '../../cri/runtime.ts';
import { growthPerMinute, observeTrend, type Trend } from '../growth.ts';
import type { LogEntry, LogListing } from '../../node/logs/list.ts';
import type { ContainerGcFacts, LogWarning, PlanContext } from './facts.ts';
import { attemptOfLog, logDirectories, namesBelow, resolvedTarget } from './log-names.ts';

/** The file that a running container writes its log to. */
interface CurrentLog {
  readonly container: RuntimeContainer;
  readonly pod: PodRef;
  readonly path: string;
  readonly bytes: number;
}

type Seen = Pick<ContainerGcFacts, 'containers' | 'logs'>;

/** Warns about running containers whose current log is larger than the policy allows, static and opted-out pods included: a warning removes nothing. */
export function planLargeLogs({ facts, policy, rule }: PlanContext): readonly LogWarning[] {
  const warnBytes = rule.logs?.warnBytesPerContainer;
  if (warnBytes === undefined) return [];
  return currentLogs(facts)
    .filter(({ bytes }) => bytes > warnBytes)
    .map(({ container: { id, name }, pod, path, bytes }) => ({
      unit: 'containergc',
      verdict: 'Warn',
      target: { kind: 'Container', id, name, pod, logPath: path, bytes, warnBytes },
      reason: 'LogTooLarge',
      policy,
      eligibleAt: undefined,
      bytes,
    }));
}

/** The current log of each running container that has one, the largest first. */
export function currentLogs({ containers = [], logs }: Seen): readonly CurrentLog[] {
  if (logs === undefined) return [];
  const written = writtenLogs(logs);
  return containers
    .filter(isRunning)
    .flatMap((container) => {
      const pod = podRefOf(container);
      const file = written.get(keyOf(pod.uid, container.name, container.attempt));
      return file === undefined ? [] : [{ container, pod, path: file.path, bytes: file.bytes }];
    })
    .toSorted((a, b) => b.bytes - a.bytes || (a.path < b.path ? -1 : 1));
}

/** Only those that the kubelet created have logs there. */
const isRunning = (container: RuntimeContainer): boolean =>
  container.state === 'Running' && podUidOf(container) !== undefined;

/** The log that each attempt of a container writes. A link stands for its target; a target that is not listed has no known size. */
function writtenLogs(listing: LogListing): ReadonlyMap<string, LogEntry> {
  const byPath = new Map(listing.entries.map((entry) => [entry.path, entry]));
  const written = new Map<string, LogEntry>();
  for (const { pod, entries } of logDirectories(listing)) {
    for (const entry of entries) {
      const { path, target } = entry;
      const key = keyOfLog(pod, namesBelow(listing.roots.pods, path));
      const file = target === undefined ? entry : byPath.get(resolvedTarget(path, target));
      if (key !== undefined && file !== undefined && file.target === undefined)
        written.set(key, lastChanged(file, written.get(key) ?? file));
    }
  }
  return written;
}

/** undefined = it is no uncompressed log: the kubelet compresses rotated ones. */
function keyOfLog(pod: PodRef | undefined, names: readonly string[]): string | undefined {
  const [, container = '', name = ''] = names;
  const attempt = attemptOfLog(name);
  const isLog = names.length === 3 && attempt !== undefined && !/\.(?:gz|tmp)$/.test(name);
  return isLog && pod !== undefined ? keyOf(pod.uid, container, attempt) : undefined;
}

const keyOf = (podUid: string, container: string, attempt: number): string =>
  `${podUid}/${container}/${attempt}`;

/** The runtime writes the file that changed last: after a failed rotation a rotated one. Of equals, the name without a suffix. */
const lastChanged = (a: LogEntry, b: LogEntry): LogEntry =>
  b.mtimeMs > a.mtimeMs || (b.mtimeMs === a.mtimeMs && b.path.length < a.path.length) ? b : a;

/** What is remembered of the current log of one container. */
interface KnownLog {
  readonly path: string;
  readonly firstMs: number;
  readonly trend: Trend;
  readonly isWarned: boolean;
}

/** By the id of the container. */
export type LogHistory = ReadonlyMap<string, KnownLog>;

export interface RaisedWarning {
  readonly warning: LogWarning;
  /** undefined = the log does not grow. */
  readonly growthBytesPerMinute: number | undefined;
}

interface Observed {
  readonly history: LogHistory;
  readonly raised: readonly RaisedWarning[];
}

interface Pass {
  readonly facts: Seen;
  readonly warnings: readonly LogWarning[];
  /** Monotonic: after a jump of the clock the log would look like one that does not grow. */
  readonly atMs: number;
}

/** A log whose growth is still unknown after this time does not grow. */
const settledMs = 150_000;

/** Updates the history with one pass. A warning is raised once, as soon as the growth of the log is known, and again after the log was smaller. */
export function observeLogs(before: LogHistory, { facts, warnings, atMs }: Pass): Observed {
  const large = new Map(warnings.map((warning) => [warning.target.id, warning]));
  // One listing without a log does not erase what is known of it.
  const running = new Set(facts.containers?.filter(isRunning).map(({ id }) => id));
  const history = new Map([...before].filter(([id]) => running.has(id)));
  const raised: RaisedWarning[] = [];
  for (const log of currentLogs(facts)) {
    const { id } = log.container;
    const known = before.get(id);
    const seen = measured(known, log, atMs);
    const growthBytesPerMinute = growthPerMinute(seen.trend);
    const isSettled = growthBytesPerMinute !== undefined || atMs - seen.firstMs >= settledMs;
    const wasWarned = known?.isWarned === true;
    const warning = large.get(id);
    if (warning !== undefined && isSettled && !wasWarned) raised.push({ warning, growthBytesPerMinute });
    history.set(id, { ...seen, isWarned: warning !== undefined && (wasWarned || isSettled) });
  }
  return { history, raised };
}

/** Another file, or one that became smaller, starts a new trend. */
function measured(
  known: KnownLog | undefined,
  { path, bytes }: CurrentLog,
  atMs: number,
): Omit<KnownLog, 'isWarned'> {
  if (known?.path !== path || bytes < known.trend.latest.bytes)
    return { path, firstMs: atMs, trend: observeTrend(undefined, { atMs, bytes }) };
  return { path, firstMs: known.firstMs, trend: observeTrend(known.trend, { atMs, bytes }) };
}
