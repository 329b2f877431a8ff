import { podRefOf } from '../../api/pod-ref.ts';
import type { LogsPolicy } from '../../api/policy/policy.ts';
import type { RuntimeContainer } from '../../cri/runtime.ts';
import type { ContainerReason } from '../../gc/reasons/containers.ts';
import type { LogEntry, LogListing } from '../../node/logs/list.ts';
import {
  decide,
  type Because,
  type ContainerDecision,
  type LogFileTarget,
  type PlanContext,
} from './facts.ts';
import { attemptOfLog, logDirectories, namesBelow, rotatedAt, type LogDirectory } from './log-names.ts';
import { holdOf, type PodsNow } from './pods.ts';

/** The results of the previous steps of the plan. */
interface Previous {
  readonly pods: PodsNow;
  readonly removedDirectories: ReadonlySet<string>;
  /** Their logs are removed with them. */
  readonly removedContainers: readonly RuntimeContainer[];
  /** Sandboxes and containers are listed; without them a static pod cannot be recognized. */
  readonly runtimeKnown: boolean;
}

/** Decides about each rotated log, oldest first: removes those over the count per container, then those over the bytes per pod; never a live log. */
export function planRotatedLogs(
  listing: LogListing,
  previous: Previous,
  context: PlanContext,
): readonly ContainerDecision<LogFileTarget>[] {
  const isRemoved = removedWithContainer(listing, previous.removedContainers);
  return logDirectories(listing)
    .filter(({ path }) => !previous.removedDirectories.has(path))
    .flatMap((directory) => {
      const entries = directory.entries.filter((entry) => !isRemoved(entry, directory));
      const rotated = entries.filter((entry) => isRotatedLog(entry, listing));
      const kept = keptOutright(directory, previous, context);
      return planDirectory({ ...directory, entries }, rotated, kept, context);
    })
    .toSorted((a, b) => byAge(a.entry, b.entry))
    .map(({ decision }) => decision);
}

interface RotatedLog {
  readonly entry: LogEntry;
  readonly decision: ContainerDecision<LogFileTarget>;
}

function planDirectory(
  directory: LogDirectory,
  rotated: readonly LogEntry[],
  kept: Because<ContainerReason> | undefined,
  { policy, rule: { logs: limits }, now }: PlanContext,
): readonly RotatedLog[] {
  const limited = rotated.filter((entry) => !isBeingCompressed(entry, now));
  const over =
    kept === undefined && limits !== undefined ? overLimits(directory, limited, limits) : new Set<LogEntry>();
  return rotated.map((entry) => {
    const { path, bytes } = entry;
    const isDue = over.has(entry) && !isStillLive(entry, now);
    const because = kept ?? { reason: isDue ? 'RotatedLog' : 'UnderLimit', evidence: { limits } };
    const target: LogFileTarget = { kind: 'LogFile', path, pod: directory.pod };
    return { entry, decision: decide({ target, policy, bytes }, because) };
  });
}

/** Why all rotated logs of a pod are kept; undefined = the limits decide. */
function keptOutright(
  { pod }: LogDirectory,
  { pods, runtimeKnown }: Previous,
  { rule: { logs } }: PlanContext,
): Because<ContainerReason> | undefined {
  if (logs?.maxRotatedPerContainer === undefined && logs?.maxBytesPerPod === undefined)
    return { reason: 'RuleOff', evidence: { kind: 'LogFile', isWhole: false } };
  if (pod === undefined) return { reason: 'NotKubelets', evidence: undefined };
  if (!runtimeKnown) return { reason: 'ContainersUnknown', evidence: undefined };
  const hold = holdOf(pods.stateOf(pod.uid));
  return hold && { reason: hold, evidence: { pod } };
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

function overLimits(
  { entries }: LogDirectory,
  rotated: readonly LogEntry[],
  { maxRotatedPerContainer = Infinity, maxBytesPerPod = Infinity }: LogsPolicy,
): ReadonlySet<LogEntry> {
  const containers = Map.groupBy(rotated, ({ path }) => path.slice(0, path.lastIndexOf('/')));
  const over = new Set(
    [...containers.values()].flatMap((logs) =>
      logs.toSorted(byAge).slice(0, Math.max(0, logs.length - maxRotatedPerContainer)),
    ),
  );
  let bytes = entries.reduce((sum, entry) => sum + (over.has(entry) ? 0 : entry.bytes), 0);
  for (const entry of rotated.filter((log) => !over.has(log)).sort(byAge)) {
    if (bytes <= maxBytesPerPod) break;
    over.add(entry);
    bytes -= entry.bytes;
  }
  return over;
}

function removedWithContainer(
  { roots }: LogListing,
  removed: readonly RuntimeContainer[],
): (entry: LogEntry, directory: LogDirectory) => boolean {
  const keys = new Set(
    removed.map((container) => `${podRefOf(container).uid}/${container.name}/${container.attempt}`),
  );
  return ({ path }, { pod }) => {
    const [, container = '', name = ''] = namesBelow(roots.pods, path);
    return keys.has(`${pod?.uid ?? ''}/${container}/${attemptOfLog(name) ?? ''}`);
  };
}

/** By the timestamp in the name: the kubelet compresses a log only when it rotates the next, so the older log can have the newer mtime. */
function byAge(a: LogEntry, b: LogEntry): number {
  const [first, second] = [rotatedAt(a.path), rotatedAt(b.path)];
  if (first !== second) return first < second ? -1 : 1;
  return a.mtimeMs - b.mtimeMs || (a.path < b.path ? -1 : 1);
}
