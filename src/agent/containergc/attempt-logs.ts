import type { PodRef } from '../../api/pod-ref.ts';
import type { RuntimeContainer } from '../../cri/runtime.ts';
import type { LogEntry, LogListing } from '../../node/logs/list.ts';
import { ageErrorMs } from '../../runtime/scheduling/jump.ts';
import { attemptsKey } from './containers.ts';
import {
  decide,
  nextPass,
  type AttemptPlace,
  type Because,
  type ContainerDecision,
  type ContainerGcFacts,
  type LogFileTarget,
  type PlanContext,
} from './facts.ts';
import { attemptOfLog, logDirectories, namesBelow, type LogDirectory } from './log-names.ts';
import type { PodsNow } from './pods.ts';

/**
 * Decides about the logs of attempts that the runtime no longer has, in pods that exist. With RestartAllContainers the kubelet removes containers and
 * keeps their logs (`removeContainer`, pkg/kubelet/kuberuntime/kuberuntime_container.go). They are limited as dead attempts are. The newest log of a
 * container is kept: the kubelet counts restarts by it (`calcRestartCountByLogDir`). Each decision is for `N.log` and its rotations.
 */
export function planAttemptLogs(
  facts: ContainerGcFacts,
  listing: LogListing,
  pods: PodsNow,
  context: PlanContext,
): readonly ContainerDecision<LogFileTarget>[] {
  if (context.rule.logs?.orphanedDirectories !== true) return [];
  const listed = Map.groupBy(facts.containers ?? [], attemptsKey);
  return logDirectories(listing).flatMap((directory) => {
    const { pod } = directory;
    if (pod === undefined || !['Exists', 'Finished'].includes(pods.stateOf(pod.uid))) return [];
    return [...logsByContainer(directory, listing)].flatMap(([containerName, logs]) =>
      removedAttempts(logs, listed.get(`${pod.uid}/${containerName}`) ?? []).map((removed) => {
        const { attempt, bytes, place } = removed;
        const path = `${directory.path}/${containerName}/${attempt}.log`;
        const target: LogFileTarget = { kind: 'LogFile', path, pod, containerName, place };
        return decide({ target, policy: context.policy, bytes }, becauseOf(removed, facts, context));
      }),
    );
  });
}

interface AttemptLog {
  readonly container: string;
  readonly attempt: number;
  readonly entry: LogEntry;
}

/** The logs three levels down: pod, container, file. */
function logsByContainer(
  { entries }: LogDirectory,
  { roots }: LogListing,
): ReadonlyMap<string, readonly AttemptLog[]> {
  const logs = entries.flatMap((entry): readonly AttemptLog[] => {
    const [, container = '', name = '', ...deeper] = namesBelow(roots.pods, entry.path);
    const attempt = attemptOfLog(name);
    const isLog = attempt !== undefined && deeper.length === 0 && entry.target === undefined;
    return isLog ? [{ container, attempt, entry }] : [];
  });
  // The plan must not depend on the order of the list.
  return Map.groupBy(logs.toSorted(byPath), ({ container }) => container);
}

const byPath = (a: AttemptLog, b: AttemptLog): number => (a.entry.path < b.entry.path ? -1 : 1);

interface RemovedAttempt {
  readonly attempt: number;
  readonly bytes: number;
  readonly lastWriteMs: number;
  readonly place: AttemptPlace;
  /** Of all attempts, dead or not. */
  readonly isNewest: boolean;
}

/** The attempts of one container of which only logs are left, oldest first. */
function removedAttempts(
  logs: readonly AttemptLog[],
  listed: readonly RuntimeContainer[],
): readonly RemovedAttempt[] {
  const known = new Set(listed.map(({ attempt }) => attempt));
  const unknown = logs.filter(({ attempt }) => !known.has(attempt));
  const removed = Map.groupBy(unknown, ({ attempt }) => attempt);
  const dead = listed.filter(({ state }) => state !== 'Running').map(({ attempt }) => attempt);
  const newestFirst = [...new Set([...dead, ...removed.keys()])].sort((a, b) => b - a);
  const newest = Math.max(...known, ...removed.keys());
  return newestFirst
    .flatMap((attempt, i) => {
      const files = removed.get(attempt);
      if (files === undefined) return [];
      const bytes = files.reduce((sum, { entry }) => sum + entry.bytes, 0);
      const place = { rank: i + 1, attempts: newestFirst.length };
      return [{ attempt, bytes, lastWriteMs: lastWriteMs(files), place, isNewest: attempt === newest }];
    })
    .toReversed();
}

/** Of the `N.log`; the kubelet compresses rotations later. Without it, of the newest rotation. */
function lastWriteMs(logs: readonly AttemptLog[]): number {
  const last = logs.find(({ entry }) => entry.path.endsWith('.log'));
  return last?.entry.mtimeMs ?? Math.max(...logs.map(({ entry }) => entry.mtimeMs));
}

function becauseOf(
  { lastWriteMs, place: { rank }, isNewest }: RemovedAttempt,
  { clockUnsure = false, jumps = [] }: ContainerGcFacts,
  context: PlanContext,
): Because {
  const { minimumAgeMs, maxPerPodContainer = Infinity } = context.rule;
  if (isNewest || rank <= maxPerPodContainer) return { reason: rank === 1 ? 'NewestAttempt' : 'UnderLimit' };
  if (clockUnsure && minimumAgeMs > 0) return { reason: 'ClockUnsure', eligibleAt: nextPass(context) };
  const leastAgeMs = minimumAgeMs + ageErrorMs(lastWriteMs, jumps);
  const eligibleAt = new Date(lastWriteMs + leastAgeMs);
  return eligibleAt.getTime() <= context.now.getTime()
    ? { reason: 'ContainerGone' }
    : { reason: 'TooYoung', sinceMs: lastWriteMs, leastAgeMs, mayStart: false, eligibleAt };
}

/** What is removed with all logs of its attempt. */
export interface RemovedAttempts {
  readonly removedContainers: readonly RuntimeContainer[];
  /** Only their logs are left. */
  readonly removedAttempts: readonly LogFileTarget[];
}

/** Bytes of the logs that are removed with these containers. */
export function bytesOfLogs(listing: LogListing, containers: readonly RuntimeContainer[]): number {
  const isRemoved = removedWithAttempt(listing, { removedContainers: containers, removedAttempts: [] });
  return logDirectories(listing)
    .flatMap((directory) => directory.entries.filter((entry) => isRemoved(entry, directory)))
    .reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Returns whether a log is removed with its container, or with the other logs of its attempt. */
export function removedWithAttempt(
  { roots }: LogListing,
  { removedContainers, removedAttempts }: RemovedAttempts,
): (entry: Pick<LogEntry, 'path'>, of: Pick<LogDirectory, 'pod'>) => boolean {
  const keyOf = (path: string, pod: PodRef | undefined): string => {
    const [, container = '', name = ''] = namesBelow(roots.pods, path);
    return `${pod?.uid ?? ''}/${container}/${attemptOfLog(name) ?? ''}`;
  };
  const keys = new Set([
    ...removedContainers.map((one) => `${attemptsKey(one)}/${one.attempt}`),
    ...removedAttempts.map(({ path, pod }) => keyOf(path, pod)),
  ]);
  return ({ path }, { pod }) => keys.has(keyOf(path, pod));
}
