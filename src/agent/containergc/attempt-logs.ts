import type { PodRef } from '../../api/pod-ref.ts';
import type { RuntimeContainer } from '../../cri/runtime.ts';
import type { ContainerEvidence, ContainerReason } from '../../gc/reasons/containers.ts';
import type { LogEntry, LogListing } from '../../node/logs/list.ts';
import { ageErrorMs } from '../../runtime/scheduling/jump.ts';
import { attemptsKey } from './containers.ts';
import {
  decide,
  nextPass,
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
    return [...logsByContainer(directory, listing)].flatMap(([container, logs]) =>
      removedAttempts(logs, listed.get(`${pod.uid}/${container}`) ?? []).map((removed) => {
        const { attempt, bytes, place, attempts } = removed;
        const path = `${directory.path}/${container}/${attempt}.log`;
        const evidence = { pod, container, place, attempts, total: attempts, limits: context.rule };
        const because = becauseOf(removed, evidence, facts, context);
        return decide({ target: { kind: 'LogFile', path, pod }, policy: context.policy, bytes }, because);
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
  /** Among the dead attempts of the container, from 1 for the newest. */
  readonly place: number;
  readonly attempts: number;
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
      const place = { place: i + 1, attempts: newestFirst.length, isNewest: attempt === newest };
      return [{ attempt, bytes, lastWriteMs: lastWriteMs(files), ...place }];
    })
    .toReversed();
}

/** Of the `N.log`; the kubelet compresses rotations later. Without it, of the newest rotation. */
function lastWriteMs(logs: readonly AttemptLog[]): number {
  const last = logs.find(({ entry }) => entry.path.endsWith('.log'));
  return last?.entry.mtimeMs ?? Math.max(...logs.map(({ entry }) => entry.mtimeMs));
}

function becauseOf(
  { lastWriteMs, place, isNewest }: RemovedAttempt,
  evidence: ContainerEvidence['ContainerGone'],
  { clockUnsure = false, jumps = [] }: ContainerGcFacts,
  context: PlanContext,
): Because<ContainerReason> {
  const { minimumAgeMs, maxPerPodContainer = Infinity } = context.rule;
  if (isNewest || place <= maxPerPodContainer)
    return { reason: place === 1 ? 'NewestAttempt' : 'UnderLimit', evidence };
  if (clockUnsure && minimumAgeMs > 0)
    return { reason: 'ClockUnsure', evidence: undefined, eligibleAt: nextPass(context) };
  const eligibleAtMs = lastWriteMs + minimumAgeMs + ageErrorMs(lastWriteMs, jumps);
  if (eligibleAtMs <= context.now.getTime()) return { reason: 'ContainerGone', evidence };
  const young = { sinceMs: lastWriteMs, isLog: true, eligibleAtMs, minimumAgeMs, mayStart: false };
  return { reason: 'TooYoung', evidence: young, eligibleAt: new Date(eligibleAtMs) };
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
