import { declaredTotal } from '../../api/declared-storage.ts';
import { storageParts, usageOfPod, type StoragePod } from '../../api/local-storage.ts';
import type { Marks, PartMarks, Peak, Peaks, WorkloadMarks } from '../../node/disk/marks-format.ts';
import { sum } from '../../runtime/sum.ts';
import type { MeasuredUsage, UsageFacts } from './facts.ts';

export const noMarks: Marks = { observedMs: 0, workloads: [], dropped: [] };

const dayMs = 24 * 60 * 60_000;
/** Besides the present one, which is not over. */
const wholeDays = 7;
/** A longer pause between two measurements was not watched. */
const longestStepMs = 5 * 60_000;
/** More than a node has pods; those of which a pod used least are dropped. */
const maxWorkloads = 512;
/** Two or three are usual. */
const maxParts = 16;

/** A pod of the node, with what is measured of it now. */
export interface WatchedPod {
  readonly pod: StoragePod;
  /** Of the whole pod; undefined = nothing is measured. */
  readonly bytes: number | undefined;
  /** By `partKey`; a part that is not measured completely is missing. */
  readonly parts: ReadonlyMap<string, number>;
}

type PartName = Pick<PartMarks, 'kind' | 'name'>;
const partKey = ({ kind, name }: PartName): string => `${kind === 'volume' ? kind : 'container'}/${name}`;

/** undefined = the pods, or what they use, are not known. */
export function watchedPods(
  { kubelet, pods }: Pick<UsageFacts, 'kubelet' | 'pods'>,
  { pods: uses }: Pick<MeasuredUsage, 'pods'>,
): readonly WatchedPod[] | undefined {
  if (kubelet === undefined || pods === undefined || uses === undefined) return undefined;
  const sizes = new Map(uses.map(({ pod, bytes }) => [pod.uid, bytes]));
  return pods.map((pod) => {
    const usage = usageOfPod(kubelet, pod);
    const [bytes, total] = [sizes.get(pod.uid), usage?.total?.bytes];
    const known = usage === undefined ? [] : storageParts(pod.storage, usage);
    const containers = (usage?.containers ?? []).flatMap(({ name, layer, logs }) =>
      layer === undefined || logs === undefined
        ? []
        : [[partKey({ kind: 'container', name }), layer.bytes + logs.bytes] as const],
    );
    const volumes = pod.storage.emptyDirs.flatMap(({ name, isMemory }) => {
      const measured = isMemory ? undefined : usage?.volumes.get(name);
      return measured === undefined ? [] : [[partKey({ kind: 'volume', name }), measured.bytes] as const];
    });
    const measured = sum(known.map((part) => part.measured?.bytes ?? 0));
    return {
      pod,
      // The kubelet also counts files such as those of a ConfigMap.
      bytes: bytes === undefined ? undefined : Math.max(bytes, total ?? 0, measured),
      parts: new Map([...containers, ...volumes]),
    };
  });
}

/** Adds a measurement of all pods of the node, `elapsedMs` (by a monotonic clock) after the last one. */
export function observeMarks(before: Marks, pods: readonly WatchedPod[], elapsedMs: number): Marks {
  const observedMs = before.observedMs + Math.round(Math.min(Math.max(0, elapsedMs), longestStepMs));
  const day = Math.floor(observedMs / dayMs);
  const known = new Map(before.workloads.map((one) => [keyOf(one), one]));
  const present = Map.groupBy(pods, ({ pod }) => keyOf({ namespace: pod.namespace, ...pod.workload }));
  const absent = [...known].flatMap(([key, one]) =>
    present.has(key) || isUnique(one) ? [] : [expired(one, day)],
  );
  const watched = [...present].flatMap(
    ([key, own]) => folded(known.get(key), own, { observedMs, day }) ?? [],
  );
  const workloads = [...watched, ...absent]
    .filter(({ peaks }) => peaks.length > 0)
    .toSorted((a, b) => highestOf(b.peaks) - highestOf(a.peaks));
  const unlisted = workloads.slice(maxWorkloads).map(({ peaks }) => ({ day, bytes: highestOf(peaks) }));
  return {
    observedMs,
    workloads: workloads.slice(0, maxWorkloads),
    dropped: unlisted.reduce(raised, within(before.dropped, day)),
  };
}

export const keyOf = ({
  namespace,
  kind,
  name,
}: Pick<WorkloadMarks, 'namespace' | 'kind' | 'name'>): string => `${namespace}/${kind}/${name}`;

/** No other pod takes its place: nobody needs its marks when it is gone. */
const isUnique = ({ kind }: WorkloadMarks): boolean => kind === 'Pod';

/** 0 = never measured. */
export const highestOf = ([first]: Peaks): number => first?.bytes ?? 0;

const within = (peaks: Peaks, day: number): Peaks => peaks.filter((one) => one.day >= day - wholeDays);

/** With the new peak; it makes those that are not higher superfluous. */
const raised = (peaks: Peaks, peak: Peak): Peaks => {
  const higher = peaks.filter(({ bytes }) => bytes > peak.bytes);
  return higher.at(-1)?.day === peak.day ? higher : [...higher, peak];
};

const expired = (one: WorkloadMarks, day: number): WorkloadMarks => ({
  ...one,
  peaks: within(one.peaks, day),
  parts: one.parts.map((part) => ({ ...part, peaks: within(part.peaks, day) })),
});

/** A container's logs alone reach this. */
const leastBytes = 64 * 1024 ** 2;

/** Whether somebody may have to act: it uses much, or half of a limit. */
const standsOut = (one: WorkloadMarks): boolean =>
  highestOf(one.peaks) >= leastBytes ||
  [one, ...one.parts].some(({ limit = 0, peaks }) => limit > 0 && 2 * highestOf(peaks) >= limit);

interface ListedMarks {
  readonly listed: readonly WorkloadMarks[];
  /** The others, and the highest bytes of one of their pods. */
  readonly others: { readonly count: number; readonly highestBytes: number };
}

/** The largest workloads that stand out. */
export function listedMarks({ workloads, dropped }: Marks, most: number): ListedMarks {
  const listed = workloads.filter(standsOut).slice(0, most);
  const shown = new Set(listed);
  const others = workloads.filter((one) => !shown.has(one));
  const sizes = [...others.map(({ peaks }) => highestOf(peaks)), highestOf(dropped)];
  return { listed, others: { count: others.length, highestBytes: Math.max(...sizes) } };
}

/** For how long a workload was watched, at most a week; without one, the pods of the node. */
export const watchedSeconds = (
  { observedMs }: Pick<Marks, 'observedMs'>,
  { sinceMs }: Pick<WorkloadMarks, 'sinceMs'> = { sinceMs: 0 },
): number => Math.floor(Math.min(observedMs - sinceMs, wholeDays * dayMs) / 1000);

interface Moment {
  readonly observedMs: number;
  readonly day: number;
}

/** undefined = nothing of it has been measured yet. */
function folded(
  before: WorkloadMarks | undefined,
  pods: readonly WatchedPod[],
  { observedMs, day }: Moment,
): WorkloadMarks | undefined {
  const measured = pods.flatMap(({ pod, bytes }) =>
    bytes === undefined ? [] : [{ day, bytes, pod: pod.name }],
  );
  // Usually the newest of them; only while its template changes do they differ.
  const newest = pods.at(-1)?.pod;
  if (newest === undefined || (before === undefined && measured.length === 0)) return before;
  const peaksBefore = new Map(before?.parts.map((part) => [partKey(part), part.peaks]));
  const declared = [
    ...new Map(pods.flatMap(({ pod }) => partsOf(pod)).map((part) => [partKey(part), part])).values(),
  ];
  const parts = declared.slice(0, maxParts).map((part) => {
    const key = partKey(part);
    const sizes = pods.flatMap((one) => one.parts.get(key) ?? []).map((bytes) => ({ day, bytes }));
    return { ...part, peaks: sizes.reduce(raised, within(peaksBefore.get(key) ?? [], day)) };
  });
  const hasNew = parts.some(({ peaks, ...part }) => {
    const earlier = peaksBefore.get(partKey(part)) ?? [];
    return peaks.length > 0 && earlier.length === 0;
  });
  return {
    namespace: newest.namespace,
    ...newest.workload,
    sinceMs: before === undefined || hasNew ? observedMs : before.sinceMs,
    limit: declaredTotal(newest.storage, 'limit')?.bytes,
    request: declaredTotal(newest.storage, 'request')?.bytes,
    peaks: measured.reduce(raised, within(before?.peaks ?? [], day)),
    parts,
    otherParts: declared.length - parts.length,
  };
}

/** Without volumes in memory, and without init containers, whose usage counts for the pod alone. */
const partsOf = ({ storage: { containers, initContainers, emptyDirs } }: StoragePod) => [
  ...containers.map(({ name, limit, request }) => ({
    kind: 'container' as const,
    name,
    limit: limit?.bytes,
    request: request?.bytes,
  })),
  ...initContainers
    .filter(({ restartable }) => restartable)
    .map(({ name, limit, request }) => ({
      kind: 'sidecar' as const,
      name,
      limit: limit?.bytes,
      request: request?.bytes,
    })),
  ...emptyDirs
    .filter(({ isMemory }) => !isMemory)
    .map(({ name, limit }) => ({
      kind: 'volume' as const,
      name,
      limit: limit?.bytes,
      request: undefined,
    })),
];
