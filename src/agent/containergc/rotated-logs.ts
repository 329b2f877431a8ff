import type { LogsPolicy } from '../../api/policy.ts';
import type { ContainerKeepReason } from '../../api/reasons.ts';
import type { RuntimeContainer } from '../../cri/runtime.ts';
import type { LogEntry, LogListing } from '../../node/logs.ts';
import { keep, remove, type Decision, type Given, type LogFileObject } from './facts.ts';
import { logDirectories, type LogDirectory } from './log-directories.ts';
import { attemptOfLog, isRotated, namesBelow, rotatedAt } from './log-names.ts';
import { groupedBy } from './order.ts';
import { holdOf, podRefOf, type Standing } from './pods.ts';

/** What the other steps leave to the rotated logs. */
interface RotatedContext {
  readonly standing: (uid: string) => Standing;
  /** Paths of directories that go as a whole. */
  readonly goneDirectories: ReadonlySet<string>;
  /** Containers that go: their logs go with them. */
  readonly removed: readonly RuntimeContainer[];
  /** Whether sandboxes and containers were seen: without them a static pod cannot be told. */
  readonly runtimeKnown: boolean;
}

/** Decides about each rotated log, oldest first: those over the count per container, then those over the bytes per pod. Live logs never go. */
export function planRotatedLogs(
  listing: LogListing,
  context: RotatedContext,
  given: Given,
): readonly Decision<LogFileObject>[] {
  const goes = goesWithContainer(listing, context.removed);
  return logDirectories(listing)
    .filter(({ path }) => !context.goneDirectories.has(path))
    .flatMap((directory) => {
      const entries = directory.entries.filter((entry) => !goes(entry, directory));
      return planDirectory({ ...directory, entries }, { listing, context, given });
    })
    .toSorted(byOldest)
    .map(({ decision }) => decision);
}

interface Dated {
  readonly entry: LogEntry;
  readonly decision: Decision<LogFileObject>;
}

interface Scene {
  readonly listing: LogListing;
  readonly context: RotatedContext;
  readonly given: Given;
}

function planDirectory(directory: LogDirectory, { listing, context, given }: Scene): readonly Dated[] {
  const rotated = directory.entries.filter((entry) => isRotatedLog(entry, listing));
  const verdict = keptOutright(directory, context, given);
  const over =
    verdict === undefined && given.policy.logs !== undefined
      ? overLimits(
          directory,
          rotated.filter((entry) => !isBeingCompressed(entry, given)),
          given.policy.logs,
        )
      : new Set<LogEntry>();
  return rotated.map((entry) => {
    const object: LogFileObject = { kind: 'logFile', path: entry.path };
    const { bytes } = entry;
    const decision =
      over.has(entry) && !isStillLive(entry, given)
        ? remove(object, 'RotatedLog', { bytes })
        : keep(object, verdict ?? 'UnderLimit', { bytes });
    return { entry, decision };
  });
}

function keptOutright(
  { pod }: LogDirectory,
  { standing, runtimeKnown }: RotatedContext,
  { policy: { logs } }: Given,
): ContainerKeepReason | undefined {
  if (logs?.maxRotatedPerContainer === undefined && logs?.maxBytesPerPod === undefined) return 'RuleOff';
  if (pod === undefined) return 'NotKubelets';
  if (!runtimeKnown) return 'ContainersUnknown';
  return holdOf(standing(pod.uid));
}

/** A log is three levels down: pod, container, file. */
const isRotatedLog = ({ path, target }: LogEntry, { roots }: LogListing): boolean => {
  const [, , name, ...deeper] = namesBelow(roots.pods, path);
  return target === undefined && name !== undefined && deeper.length === 0 && isRotated(name);
};

/** The kubelet compresses into a `.tmp` and rotates every ten seconds; what it left alone for so long is forgotten. */
const compressingMs = 600_000;
const isBeingCompressed = ({ path, mtimeMs }: LogEntry, { now }: Given): boolean =>
  path.endsWith('.tmp') && mtimeMs > now.getTime() - compressingMs;
/** It renames a log before the runtime opens a new one, and back again when the runtime does not: until then it is the live one. */
const reopeningMs = 30_000;
const isStillLive = ({ mtimeMs }: LogEntry, { now }: Given): boolean => mtimeMs > now.getTime() - reopeningMs;

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
