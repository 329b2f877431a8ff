import { sum } from '../../runtime/sum.ts';
import type { NodeGCReportStatus } from '../../api/gen/nodegcreport.gen.ts';

/** Age at which a report is written although nothing changed: the controller ignores a report that is older than 15 min. */
const quietMs = 5 * 60_000;
/** Part of `quietMs` by which such a write may be later. */
const jitterPart = 0.2;
/** Numbers change all the time: they cause at most one write per minute, and one when the agent stops. */
const numbersMs = (isLast: boolean): number => (isLast ? 0 : 60_000);

interface Occasion {
  readonly now: Date;
  /** Random number from 0 to below 1, drawn after each write: thousands of agents must not write at the same time. */
  readonly jitter: number;
  /** The agent stops: nobody reports its last removals later. */
  readonly isLast: boolean;
}

/** Whether to write the report now: at once after a change of state, within a minute (or before the agent stops) after numbers changed by more than noise, else every 5 min. */
export function isWorthWriting(
  previous: NodeGCReportStatus | undefined,
  next: NodeGCReportStatus,
  { now, jitter, isLast }: Occasion,
): boolean {
  if (previous === undefined) return true;
  const ageMs = now.getTime() - Date.parse(previous.reportTime ?? '');
  if (isOld(ageMs, jitter) || hasNewRequests(previous, next)) return true;
  // After a restart the agent knows less than its last report.
  if (isBeforeFirstPass(next)) return false;
  if (stateOf(previous) !== stateOf(next) || isStorageChange(previous, next)) return true;
  if (ageMs < numbersMs(isLast)) return false;
  return (
    workOf(previous) !== workOf(next) ||
    inventoryDiffers(previous, next) ||
    usageDiffers(previous.usage, next.usage)
  );
}

/** Also true for an unreadable time, and for one in the future after a step of the clock. */
const isOld = (ageMs: number, jitter: number): boolean =>
  !(ageMs >= 0) || ageMs >= quietMs * (1 + jitterPart * jitter);

const isBeforeFirstPass = ({ conditions = [] }: NodeGCReportStatus): boolean =>
  conditions.some(({ type, reason }) => type === 'Degraded' && reason === 'NoPassYet');

/** State that a reader may wait for. Times alone are no change. */
function stateOf({
  agentVersion,
  policy,
  runtime,
  usage,
  images,
  conditions = [],
}: NodeGCReportStatus): string {
  const { name, uid, observedGeneration, mode } = policy ?? {};
  return JSON.stringify([
    agentVersion,
    [name, uid, observedGeneration, mode],
    [runtime?.name, runtime?.version],
    [usage === undefined, usage?.pods === undefined],
    conditions.map(({ type, status, reason }) => [type, status, reason]),
    // Most pulls fit, and end soon.
    images?.pulls?.flatMap(({ image, fit }) => (['Fits', 'Unknown'].includes(fit) ? [] : [image, fit])) ?? [],
  ]);
}

/** Removals, errors, the remove list, whether the unmatched entries are known, local storage, and logs that are too large. */
function workOf(status: NodeGCReportStatus): string {
  const { units = [], images, conditions = [], largestOffenders = [] } = status;
  const largeLogs = largestOffenders.flatMap(({ kind, id }) => (kind === 'LogFile' ? [id] : [])).sort();
  const done = units.map(({ name, removedTotal, freedBytesTotal, errors, message }) => [
    ...[name, removedTotal, freedBytesTotal],
    ...[errors, message],
  ]);
  const messages = conditions.map(({ message }) => message);
  const isKnown = images?.unmatched !== undefined;
  return JSON.stringify([done, images?.removeList, isKnown, messages, storageLevels(status), largeLogs]);
}

function inventoryDiffers(previous: NodeGCReportStatus, next: NodeGCReportStatus): boolean {
  const [before, after] = [numbersOf(previous), numbersOf(next)];
  const names = new Set([...before.keys(), ...after.keys()]);
  return [...names].some((name) => isBeyondNoise(name, before.get(name), after.get(name)));
}

/** Every number of the inventories by its path. */
function numbersOf(status: NodeGCReportStatus): ReadonlyMap<string, number> {
  const { imageFileSystem, sandboxes, logs, checkpoints, orphans } = status;
  const leftovers = { ...status.leftovers, largest: undefined };
  // Indexes are no amounts: a change of them waits for the next write.
  const images = { ...status.images, unmatched: undefined, pulls: undefined };
  const pulledBytes = sum(status.images?.pulls?.map(({ receivedBytes = 0 }) => receivedBytes) ?? []);
  // Not the sizes of removed objects: `workOf` counts removals.
  const { total, removable } = status.containers ?? {};
  const found = new Map<string, number>();
  const collect = (path: string, value: unknown): void => {
    if (typeof value === 'number') found.set(path, value);
    else if (typeof value === 'object' && value !== null)
      for (const [key, inner] of Object.entries(value)) collect(`${path}.${key}`, inner);
  };
  collect('', {
    imageFileSystem,
    images,
    pulledBytes,
    containers: { total, removable },
    sandboxes,
    logs,
    checkpoints,
    orphans,
    leftovers,
  });
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

/** Whether the report requests an eviction that no written report requests by the same policy: the controller evicts only what a report requests. */
export function hasNewRequests(previous: NodeGCReportStatus | undefined, next: NodeGCReportStatus): boolean {
  const { evictionRequests = [], evictionRequestCount = 0 } = next;
  const written = isSamePolicy(previous?.policy, next.policy) ? previous : undefined;
  if (evictionRequestCount > evictionRequests.length)
    return evictionRequestCount > (written?.evictionRequestCount ?? 0);
  const known = new Set((written?.evictionRequests ?? []).map(keyOf));
  return evictionRequests.some((request) => !known.has(keyOf(request)));
}

type NamedPolicy = NodeGCReportStatus['policy'];
const isSamePolicy = (one: NamedPolicy, other: NamedPolicy): boolean =>
  one?.uid === other?.uid && one?.observedGeneration === other?.observedGeneration;

/** Whether an eviction request is new or gone, or a pod has come nearer to a limit. */
export function isStorageChange(previous: NodeGCReportStatus, next: NodeGCReportStatus): boolean {
  return requestsOf(previous) !== requestsOf(next) || isNearer(previous, next);
}

/** Compares only the number of requests if not all are listed, because the listed ones change with every measurement. */
function requestsOf({ evictionRequests = [], evictionRequestCount }: NodeGCReportStatus): string {
  const isComplete = (evictionRequestCount ?? 0) <= evictionRequests.length;
  return isComplete ? evictionRequests.map(keyOf).sort().join() : String(evictionRequestCount);
}

function isNearer(previous: NodeGCReportStatus, next: NodeGCReportStatus): boolean {
  const { storageWarnings = [], storageWarningCount = 0 } = next;
  if (storageWarningCount > storageWarnings.length)
    return storageWarningCount > (previous.storageWarningCount ?? 0);
  const before = new Map(
    (previous.storageWarnings ?? []).map((warning) => [keyOf(warning), warning.percent ?? 0]),
  );
  return storageWarnings.some((warning) => (warning.percent ?? 0) > (before.get(keyOf(warning)) ?? -1));
}

/** Levels of the warnings and times of the requests: the controller accepts a request only while its measurement is recent. */
export function storageLevels({ storageWarnings = [], evictionRequests = [] }: NodeGCReportStatus): string {
  const levels = storageWarnings.map((warning) => `${keyOf(warning)} ${warning.percent ?? 0}`).sort();
  const measured = evictionRequests.map((request) => `${keyOf(request)} ${request.observedTime}`).sort();
  return JSON.stringify([levels, measured]);
}

type Listed = NonNullable<
  NodeGCReportStatus['storageWarnings'] | NodeGCReportStatus['evictionRequests']
>[number];
const keyOf = ({ pod, signal, subject = '' }: Listed): string => `${pod.uid}/${signal}/${subject}`;

/** Whether a size in the usage has changed by more than 5 % of itself and 1 % of the smallest disk (256 MiB, if that is less), or something becomes unknown or known. */
function usageDiffers(previous: Usage, next: Usage): boolean {
  if ((previous?.unknown === undefined) !== (next?.unknown === undefined)) return true;
  const smallest = Math.min(...(next?.fileSystems ?? []).map(({ capacityBytes }) => capacityBytes));
  const atLeast = Math.min(noise.bytes.atLeast, smallest / 100);
  const [before, after] = [sizesOf(previous), sizesOf(next)];
  return [...new Set([...before.keys(), ...after.keys()])].some((name) => {
    const [was, is] = [before.get(name) ?? 0, after.get(name) ?? 0];
    return Math.abs(is - was) > Math.max(atLeast, usagePart * Math.max(was, is));
  });
}

const usagePart = 0.05;

type Usage = NodeGCReportStatus['usage'];

/** Bytes by what uses them. */
function sizesOf({
  fileSystems = [],
  pods = [],
  namespaces = [],
  images = [],
  workloads = [],
  volumes = [],
}: NonNullable<Usage> = {}) {
  const sizes = (name: string, one: object) =>
    Object.entries(one).flatMap(([key, value]) =>
      typeof value === 'number' && key !== 'growthBytesPerHour' && /bytes$/i.test(key)
        ? [[`${name} ${key}`, value] as const]
        : [],
    );
  return new Map([
    ...fileSystems.flatMap((one) => sizes(`disk ${one.name}`, one)),
    ...pods.flatMap((one) => sizes(`pod ${one.uid}`, one)),
    ...namespaces.flatMap((one) => sizes(`namespace ${one.name}`, one)),
    ...images.flatMap((one) => sizes(`image ${one.id}`, one)),
    ...volumes.flatMap((one) => sizes(`volume ${one.kind} ${one.namespace}/${one.pod}/${one.name}`, one)),
    ...workloads.map(
      ({ namespace, kind, name, highestBytes }) =>
        [`workload ${namespace}/${kind}/${name}`, highestBytes] as const,
    ),
  ]);
}
