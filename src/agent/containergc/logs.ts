import { podUidOf, type PodRef } from '../../api/pod-ref.ts';
import type { LogsPolicy } from '../../api/policy/policy.ts';
import type { RuntimeContainer } from '../../cri/runtime.ts';
import type { LogEntry, LogListing } from '../../node/logs/list.ts';
import { attemptsKey } from './containers.ts';
import {
  decide,
  isKept,
  isRemoval,
  keptBecauseOfWrite,
  type AttemptPlace,
  type Because,
  type ContainerDecision,
  type JudgedContainer,
  type KeptBecause,
  type LogDirectoryTarget,
  type LogFileTarget,
  type LogLinkTarget,
  type PlanContext,
} from './facts.ts';
import {
  attemptOfLog,
  containerIdOfLink,
  isKubeletsLink,
  logDirectories,
  namesBelow,
  resolvedTarget,
  rotatedAt,
  type LogDirectory,
} from './log-names.ts';
import { keptUntilGone } from './pods.ts';

/** Decides about log directories, links in /var/log/containers and rotated logs; `containers` are the decisions about these. */
export function planLogs(
  containers: readonly ContainerDecision<JudgedContainer>[],
  context: PlanContext,
): readonly ContainerDecision[] {
  const { logs } = context.facts;
  if (logs === undefined) return [];
  const kept = containers.filter(isKept).map(({ target }) => target.container);
  const directories = planDirectories(logs, kept, context);
  const removed = directories.filter(isRemoval).map(({ target }) => target);
  const links = planLinks(logs, new Set(removed.flatMap((directory) => directory.links)), context);
  const attempts = planAttemptLogs(logs, context);
  const rotated = planRotatedLogs(
    logs,
    {
      removedDirectories: new Set(removed.map(({ path }) => path)),
      removedContainers: containers.filter(isRemoval).map(({ target }) => target.container),
      removedAttempts: attempts.filter(isRemoval).map(({ target }) => target),
    },
    context,
  );
  return [...directories, ...links, ...attempts, ...rotated];
}

/** Removes the log directories of gone pods, unless the plan keeps a container of the pod: somebody may need its logs. */
function planDirectories(
  listing: LogListing,
  kept: readonly RuntimeContainer[],
  context: PlanContext,
): readonly ContainerDecision<LogDirectoryTarget>[] {
  const inUse = new Set(kept.flatMap((container) => podUidOf(container) ?? []));
  const unknown = context.facts.pods === undefined ? 'PodsUnknown' : 'ContainersUnknown';
  const kind = 'LogDirectory';
  const becauseOf = (pod: PodRef | undefined): Because => {
    if (context.rule.logs?.orphanedDirectories !== true) return { reason: 'RuleOff' };
    if (pod === undefined) return { reason: 'NotKubelets' };
    const keptBecause = keptUntilGone(context.pods.stateOf(pod.uid), context, unknown);
    return keptBecause ?? { reason: inUse.has(pod.uid) ? 'InUse' : 'OrphanedLogs' };
  };
  const targets = linkTargets(listing);
  return logDirectories(listing).map(({ path, pod, bytes }) => {
    const links = targets.filter(({ target }) => target.startsWith(`${path}/`)).map((link) => link.path);
    return decide({ target: { kind, path, pod, links }, policy: context.policy, bytes }, becauseOf(pod));
  });
}

const linkTargets = ({ roots, entries }: LogListing): readonly { path: string; target: string }[] =>
  entries
    .flatMap(({ path, target }) =>
      target === undefined ? [] : [{ path, target: resolvedTarget(path, target) }],
    )
    .filter(({ path }) => namesBelow(roots.containers, path).length === 1)
    .sort(byPath);

/** Removes the broken `*.log` links in /var/log/containers, unless their container may still write; those in `removed` are removed with their directory. */
function planLinks(
  listing: LogListing,
  removed: ReadonlySet<string>,
  { facts: { containers }, policy, rule }: PlanContext,
): readonly ContainerDecision<LogLinkTarget>[] {
  const targetOf = targetFinder(listing);
  const becauseOf = (link: LogEntry, target: LinkTarget): Because => {
    if (target === 'exists') return { reason: 'InUse' };
    if (rule.logs?.brokenLinks !== true) return { reason: 'RuleOff' };
    if (target === 'outside' && !isKubeletsLink(link.path)) return { reason: 'NotKubelets' };
    if (containers === undefined) return { reason: 'ContainersUnknown' };
    return { reason: mayNeedLink(link.path, containers, target === 'outside') ? 'InUse' : 'BrokenLink' };
  };
  return listing.entries
    .filter((entry) => isLink(entry, listing) && !removed.has(entry.path))
    .toSorted(byPath)
    .map((link) => {
      const leadsTo = targetOf(link);
      const isOutside = leadsTo === 'outside';
      const target: LogLinkTarget = { kind: 'LogLink', path: link.path, pod: undefined, isOutside };
      return decide({ target, policy }, becauseOf(link, leadsTo));
    });
}

const isLink = ({ path, target }: LogEntry, { roots }: LogListing): boolean =>
  target !== undefined && path.endsWith('.log') && namesBelow(roots.containers, path).length === 1;

type LinkTarget = 'exists' | 'missing' | 'outside';

/** Returns a function that finds out where a link leads. The listing does not show whether a target outside the root of the pods exists. */
function targetFinder({ roots, directories, entries, complete }: LogListing): (link: LogEntry) => LinkTarget {
  const listed = new Map(entries.map((entry) => [entry.path, entry]));
  const isDirectory = new Set(directories);
  const isOutside = (path: string): boolean => namesBelow(roots.pods, path).length === 0;
  return ({ path, target = '' }) => {
    const resolved = resolvedTarget(path, target);
    const next = listed.get(resolved);
    // With Docker the log below the root of the pods is a link, too.
    if (
      isOutside(resolved) ||
      (next?.target !== undefined && isOutside(resolvedTarget(resolved, next.target)))
    )
      return 'outside';
    return next === undefined && complete && !isDirectory.has(resolved) ? 'missing' : 'exists';
  };
}

/**
 * Whether the container of a link may need it. Rotation renames its log before it creates the new one, so the link of a container that has not
 * exited is broken for a moment. A target outside may exist as long as the runtime has the container.
 */
export function mayNeedLink(
  link: string,
  containers: readonly RuntimeContainer[],
  isOutside: boolean,
): boolean {
  const id = containerIdOfLink(link);
  return (
    id !== undefined &&
    containers.some((one) => one.id.startsWith(id) && (isOutside || one.state !== 'Exited'))
  );
}

const byPath = (a: { readonly path: string }, b: { readonly path: string }): number =>
  a.path < b.path ? -1 : 1;

/**
 * Decides about the logs of attempts that the runtime no longer has, in pods that exist. With RestartAllContainers the kubelet removes containers and
 * keeps their logs (`removeContainer`, pkg/kubelet/kuberuntime/kuberuntime_container.go). They are limited as dead attempts are. The newest log of a
 * container is kept: the kubelet counts restarts by it (`calcRestartCountByLogDir`). Each decision is for `N.log` and its rotations.
 */
function planAttemptLogs(
  listing: LogListing,
  context: PlanContext,
): readonly ContainerDecision<LogFileTarget>[] {
  const { facts, pods } = context;
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
        return decide({ target, policy: context.policy, bytes }, attemptBecause(removed, context));
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
  return Map.groupBy(
    logs.toSorted((a, b) => byPath(a.entry, b.entry)),
    ({ container }) => container,
  );
}

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

function attemptBecause(
  { lastWriteMs, place: { rank }, isNewest }: RemovedAttempt,
  context: PlanContext,
): Because {
  const { minimumAgeMs, maxPerPodContainer = Infinity } = context.rule;
  if (isNewest || rank <= maxPerPodContainer) return { reason: rank === 1 ? 'NewestAttempt' : 'UnderLimit' };
  return keptBecauseOfWrite(lastWriteMs, minimumAgeMs, context) ?? { reason: 'ContainerGone' };
}

/** What is removed with all logs of its attempt. */
interface RemovedAttempts {
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
function removedWithAttempt(
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

/** The results of the previous steps of the plan. */
interface Previous extends RemovedAttempts {
  readonly removedDirectories: ReadonlySet<string>;
}

/** Decides about each rotated log, oldest first: removes those over the count per container, then those over the bytes per pod; never a live log. */
function planRotatedLogs(
  listing: LogListing,
  previous: Previous,
  context: PlanContext,
): readonly ContainerDecision<LogFileTarget>[] {
  const isRemoved = removedWithAttempt(listing, previous);
  return logDirectories(listing)
    .filter(({ path }) => !previous.removedDirectories.has(path))
    .flatMap((directory) => {
      const rotated = directory.entries.filter(
        (entry) => !isRemoved(entry, directory) && isRotatedLog(entry, listing),
      );
      return planRotatedOf(directory, rotated, context);
    })
    .toSorted((a, b) => byAge(a.entry, b.entry))
    .map(({ decision }) => decision);
}

interface RotatedLog {
  readonly entry: LogEntry;
  readonly decision: ContainerDecision<LogFileTarget>;
}

function planRotatedOf(
  directory: LogDirectory,
  rotated: readonly LogEntry[],
  context: PlanContext,
): readonly RotatedLog[] {
  const { policy, rule, now } = context;
  const kept = rotatedKeptBecause(directory, context);
  const limited = rotated.filter((entry) => !isBeingCompressed(entry, now));
  const over = kept === undefined ? overLimits(limited, rule.logs) : new Set<LogEntry>();
  return rotated.map((entry) => {
    const { path, bytes } = entry;
    const isDue = over.has(entry) && !isStillLive(entry, now);
    const [containerName = ''] = namesBelow(directory.path, path);
    const target: LogFileTarget = {
      kind: 'LogFile',
      path,
      pod: directory.pod,
      containerName,
      place: undefined,
    };
    const because: Because = kept ?? { reason: isDue ? 'RotatedLog' : 'UnderLimit' };
    return { entry, decision: decide({ target, policy, bytes }, because) };
  });
}

/** Why all rotated logs of a pod are kept; undefined = the limits decide. */
function rotatedKeptBecause(
  { pod }: LogDirectory,
  { facts: { containers, sandboxes }, pods, rule: { logs } }: PlanContext,
): KeptBecause | undefined {
  if (logs?.maxRotatedPerContainer === undefined && logs?.maxBytesPerPod === undefined)
    return { reason: 'RuleOff' };
  if (pod === undefined) return { reason: 'NotKubelets' };
  // Without them a static pod cannot be recognized.
  if (containers === undefined || sandboxes === undefined) return { reason: 'ContainersUnknown' };
  return pods.rotatedKeptBecause(pod.uid);
}

/** A log is three levels down: pod, container, file. */
const isRotatedLog = ({ path, target }: LogEntry, { roots }: LogListing): boolean =>
  target === undefined && namesBelow(roots.pods, path).length === 3 && rotatedAt(path) !== '';

/** The kubelet compresses a log into a `.tmp` and rotates every ten seconds; it has abandoned one of this age. */
const compressingMs = 600_000;
const isBeingCompressed = ({ path, mtimeMs }: LogEntry, now: Date): boolean =>
  path.endsWith('.tmp') && mtimeMs > now.getTime() - compressingMs;
/** The kubelet renames a log before the runtime opens a new one, and renames it back if the runtime does not: until then it is the live log. */
const reopeningMs = 30_000;
const isStillLive = ({ mtimeMs }: LogEntry, now: Date): boolean => mtimeMs > now.getTime() - reopeningMs;

/** The limit in bytes counts only logs that may be removed: a large log of a container would otherwise cost all rotated ones. */
function overLimits(
  rotated: readonly LogEntry[],
  { maxRotatedPerContainer = Infinity, maxBytesPerPod = Infinity }: Partial<LogsPolicy> = {},
): ReadonlySet<LogEntry> {
  const containers = Map.groupBy(rotated, ({ path }) => path.slice(0, path.lastIndexOf('/')));
  const over = new Set(
    [...containers.values()].flatMap((logs) =>
      logs.toSorted(byAge).slice(0, Math.max(0, logs.length - maxRotatedPerContainer)),
    ),
  );
  let bytes = rotated.reduce((sum, entry) => sum + (over.has(entry) ? 0 : entry.bytes), 0);
  for (const entry of rotated.filter((log) => !over.has(log)).sort(byAge)) {
    if (bytes <= maxBytesPerPod) break;
    over.add(entry);
    bytes -= entry.bytes;
  }
  return over;
}

/** By the timestamp in the name: the kubelet compresses a log only when it rotates the next, so the older log can have the newer mtime. */
function byAge(a: LogEntry, b: LogEntry): number {
  const [first, second] = [rotatedAt(a.path), rotatedAt(b.path)];
  if (first !== second) return first < second ? -1 : 1;
  return a.mtimeMs - b.mtimeMs || (a.path < b.path ? -1 : 1);
}
