import { podRefOf } from '../../api/pod-ref.ts';
import type { LogsPolicy } from '../../api/policy/policy.ts';
import type { RuntimeContainer } from '../../cri/runtime.ts';
import type { ContainerReason } from '../../gc/reasons/containers.ts';
import type { LogEntry, LogListing } from '../../node/logs/list.ts';
import { decide, type Because, type ContainerDecision, type LogFileTarget } from './decisions.ts';
import type { Given, Ruled } from './facts.ts';
import { logDirectories, type LogDirectory } from './log-directories.ts';
import { attemptOfLog, isRotated, namesBelow, rotatedAt } from './log-names.ts';
import { groupedBy } from './order.ts';
import { holdOf, type PodsNow } from './pods.ts';

/** What the other steps leave to the rotated logs. */
interface RotatedContext {
  readonly pods: PodsNow;
  /** Paths of directories that go as a whole. */
  readonly goneDirectories: ReadonlySet<string>;
  /** Containers that go: their logs go with them. */
  readonly removed: readonly RuntimeContainer[];
  /** Whether sandboxes and containers were seen: without them a static pod cannot be recognized. */
  readonly runtimeKnown: boolean;
}

/** Decides about each rotated log, oldest first: removes those over the count per container, then those over the bytes per pod; never a live log. */
export function planRotatedLogs(
  listing: LogListing,
  context: RotatedContext,
  ruled: Ruled,
): readonly ContainerDecision<LogFileTarget>[] {
  const goes = goesWithContainer(listing, context.removed);
  return logDirectories(listing)
    .filter(({ path }) => !context.goneDirectories.has(path))
    .flatMap((directory) => {
      const entries = directory.entries.filter((entry) => !goes(entry, directory));
      return planDirectory({ ...directory, entries }, { listing, context, ruled });
    })
    .toSorted(byOldest)
    .map(({ decision }) => decision);
}

interface Dated {
  readonly entry: LogEntry;
  readonly decision: ContainerDecision<LogFileTarget>;
}

interface Scene {
  readonly listing: LogListing;
  readonly context: RotatedContext;
  readonly ruled: Ruled;
}

function planDirectory(directory: LogDirectory, { listing, context, ruled }: Scene): readonly Dated[] {
  const { policy, rule } = ruled;
  const rotated = directory.entries.filter((entry) => isRotatedLog(entry, listing));
  const kept = keptOutright(directory, context, ruled);
  const limited = rotated.filter((entry) => !isBeingCompressed(entry, ruled));
  const over =
    kept === undefined && rule.logs !== undefined
      ? overLimits(directory, limited, rule.logs)
      : new Set<LogEntry>();
  const evidence = { limits: rule.logs };
  return rotated.map((entry) => {
    const { path, bytes } = entry;
    const because: Because<ContainerReason> =
      over.has(entry) && !isStillLive(entry, ruled)
        ? { reason: 'RotatedLog', evidence }
        : (kept ?? { reason: 'UnderLimit', evidence });
    const target: LogFileTarget = { kind: 'LogFile', path, pod: undefined };
    return { entry, decision: decide({ target, policy, bytes }, because) };
  });
}

function keptOutright(
  { pod }: LogDirectory,
  { pods, runtimeKnown }: RotatedContext,
  { rule: { logs } }: Ruled,
): Because<ContainerReason> | undefined {
  if (logs?.maxRotatedPerContainer === undefined && logs?.maxBytesPerPod === undefined)
    return { reason: 'RuleOff', evidence: { kind: 'LogFile', isWhole: false } };
  if (pod === undefined) return { reason: 'NotKubelets', evidence: undefined };
  if (!runtimeKnown) return { reason: 'ContainersUnknown', evidence: undefined };
  const hold = holdOf(pods.standing(pod.uid));
  return hold && { reason: hold, evidence: { pod } };
}

/** A log is three levels down: pod, container, file. */
const isRotatedLog = ({ path, target }: LogEntry, { roots }: LogListing): boolean => {
  const [, , name, ...deeper] = namesBelow(roots.pods, path);
  return target === undefined && name !== undefined && deeper.length === 0 && isRotated(name);
};

/** The kubelet compresses into a `.tmp` and rotates every ten seconds; what it left alone for so long is forgotten. */
const compressingMs = 600_000;
const isBeingCompressed = ({ path, mtimeMs }: LogEntry, { now }: Pick<Given, 'now'>): boolean =>
  path.endsWith('.tmp') && mtimeMs > now.getTime() - compressingMs;
/** It renames a log before the runtime opens a new one, and back again when the runtime does not: until then it is the live one. */
const reopeningMs = 30_000;
const isStillLive = ({ mtimeMs }: LogEntry, { now }: Pick<Given, 'now'>): boolean =>
  mtimeMs > now.getTime() - reopeningMs;

function overLimits(
  { entries }: LogDirectory,
  rotated: readonly LogEntry[],
  { maxRotatedPerContainer, maxBytesPerPod = Infinity }: LogsPolicy,
): ReadonlySet<LogEntry> {
  const containers = groupedBy(rotated, ({ path }) => path.slice(0, path.lastIndexOf('/')));
  const over = new Set(
    [...containers.values()].flatMap((logs) =>
      logs.toSorted(byAge).slice(0, Math.max(0, logs.length - (maxRotatedPerContainer ?? Infinity))),
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

function goesWithContainer(
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

/** By the name: the kubelet compresses a log when it rotates the next, and that one was written to before. */
function byAge(a: LogEntry, b: LogEntry): number {
  const [first, second] = [rotatedAt(a.path), rotatedAt(b.path)];
  if (first !== second) return first < second ? -1 : 1;
  return a.mtimeMs - b.mtimeMs || (a.path < b.path ? -1 : 1);
}

const byOldest = (a: Dated, b: Dated): number => byAge(a.entry, b.entry);
