import { podUidOf, type PodRef } from '../../api/pod-ref.ts';
import type { LogsPolicy } from '../../api/policy/policy.ts';
import type { RuntimeContainer } from '../../cri/runtime.ts';
import type { LogEntry, LogListing } from '../../node/logs/list.ts';
import { planAttemptLogs, removedWithAttempt, type RemovedAttempts } from './attempt-logs.ts';
import {
  decide,
  isKept,
  isRemoval,
  type Because,
  type ContainerDecision,
  type ContainerGcFacts,
  type JudgedContainer,
  type LogDirectoryTarget,
  type LogFileTarget,
  type LogLinkTarget,
  type PlanContext,
} from './facts.ts';
import {
  containerIdOfLink,
  isKubeletsLink,
  logDirectories,
  namesBelow,
  resolvedTarget,
  rotatedAt,
  type LogDirectory,
} from './log-names.ts';
import { holdOf, quarantined, type PodsNow } from './pods.ts';

/** Decides about log directories, links in /var/log/containers and rotated logs; `containers` are the decisions about these. */
export function planLogs(
  facts: ContainerGcFacts,
  containers: readonly ContainerDecision<JudgedContainer>[],
  pods: PodsNow,
  context: PlanContext,
): readonly ContainerDecision[] {
  if (facts.logs === undefined) return [];
  const kept = containers.filter(isKept).map(({ target }) => target.container);
  const directories = planDirectories(facts, facts.logs, { pods, kept }, context);
  const removed = directories.filter(isRemoval).map(({ target }) => target);
  const links = planLinks(
    facts.logs,
    facts.containers,
    new Set(removed.flatMap((one) => one.links)),
    context,
  );
  const attempts = planAttemptLogs(facts, facts.logs, pods, context);
  const rotated = planRotatedLogs(
    facts.logs,
    {
      pods,
      removedDirectories: new Set(removed.map(({ path }) => path)),
      removedContainers: containers.filter(isRemoval).map(({ target }) => target.container),
      removedAttempts: attempts.filter(isRemoval).map(({ target }) => target),
      runtimeKnown: facts.containers !== undefined && facts.sandboxes !== undefined,
    },
    context,
  );
  return [...directories, ...links, ...attempts, ...rotated];
}

/** Removes the log directories of gone pods, unless the plan keeps a container of the pod: somebody may need its logs. */
function planDirectories(
  facts: ContainerGcFacts,
  listing: LogListing,
  { pods, kept }: { readonly pods: PodsNow; readonly kept: readonly RuntimeContainer[] },
  context: PlanContext,
): readonly ContainerDecision<LogDirectoryTarget>[] {
  const inUse = new Set(kept.flatMap((container) => podUidOf(container) ?? []));
  const unknown = facts.pods === undefined ? 'PodsUnknown' : 'ContainersUnknown';
  const kind = 'LogDirectory';
  const becauseOf = (pod: PodRef | undefined): Because => {
    if (context.rule.logs?.orphanedDirectories !== true) return { reason: 'RuleOff' };
    if (pod === undefined) return { reason: 'NotKubelets' };
    const podState = pods.stateOf(pod.uid);
    const hold = holdOf(podState);
    if (hold !== undefined) return hold;
    if (podState === 'Quarantined') return quarantined(context);
    if (podState === 'Unknown') return { reason: unknown };
    return { reason: podState !== 'Gone' || inUse.has(pod.uid) ? 'InUse' : 'OrphanedLogs' };
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
  containers: readonly RuntimeContainer[] | undefined,
  removed: ReadonlySet<string>,
  { policy, rule }: PlanContext,
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

/** The results of the previous steps of the plan. */
interface Previous extends RemovedAttempts {
  readonly pods: PodsNow;
  readonly removedDirectories: ReadonlySet<string>;
  /** Sandboxes and containers are listed; without them a static pod cannot be recognized. */
  readonly runtimeKnown: boolean;
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
      return planRotatedOf(directory, rotated, rotatedKeptOutright(directory, previous, context), context);
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
  kept: Because | undefined,
  { policy, rule: { logs: limits }, now }: PlanContext,
): readonly RotatedLog[] {
  const limited = rotated.filter((entry) => !isBeingCompressed(entry, now));
  const over = kept === undefined && limits !== undefined ? overLimits(limited, limits) : new Set<LogEntry>();
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
function rotatedKeptOutright(
  { pod }: LogDirectory,
  { pods, runtimeKnown }: Previous,
  { rule: { logs } }: PlanContext,
): Because | undefined {
  if (logs?.maxRotatedPerContainer === undefined && logs?.maxBytesPerPod === undefined)
    return { reason: 'RuleOff' };
  if (pod === undefined) return { reason: 'NotKubelets' };
  if (!runtimeKnown) return { reason: 'ContainersUnknown' };
  return pods.rotationHold(pod.uid);
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
  { maxRotatedPerContainer = Infinity, maxBytesPerPod = Infinity }: LogsPolicy,
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
