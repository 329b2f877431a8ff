import type {
  NodeGCReportStatusUsage,
  NodeGCReportStatusUsageFileSystem,
  NodeGCReportStatusUsageNamespace,
  NodeGCReportStatusUsagePod,
  NodeGCReportStatusUsageVolume,
  NodeGCReportStatusUsageWorkload,
} from '../../api/gen/nodegcreport.gen.ts';
import { declaredTotal } from '../../api/declared-storage.ts';
import { isFinished } from '../../api/pod-phase.ts';
import { sum } from '../../runtime/sum.ts';
import { metaTime } from '../../runtime/text/rfc3339.ts';
import type { StoragePod } from '../../api/local-storage.ts';
import type { ImageInventory } from '../imagegc/facts.ts';
import type { Marks, WorkloadMarks } from '../../node/disk/marks-format.ts';
import type { DiskUse, MeasuredUsage, NamespaceUse, PodUse, VolumeUse } from './facts.ts';
import {
  forecastOf,
  maxNamespaces,
  namespaceGrowth,
  volumeForecast,
  workloadGrowth,
  type DiskForecast,
  type UsageHistory,
} from './forecast.ts';
import { highestOf, keyOf, listedMarks, watchedSeconds } from './marks.ts';
import { explainForecast } from './words.ts';

interface ObservedUsage {
  readonly measured: MeasuredUsage;
  readonly history: UsageHistory;
  readonly marks: Marks;
  readonly images: ImageInventory | undefined;
  /** Pods that ran in the last passes, but of which nothing, or not all was measured. */
  readonly unmeasured: readonly StoragePod[];
  /** The pods bound to the node; undefined = unknown. */
  readonly bound: readonly StoragePod[] | undefined;
  /** Pods that it may have, without finished ones; undefined = unknown. */
  readonly podSlots: number | undefined;
  /** What could not be read, one line each. */
  readonly unknown: readonly string[];
  readonly lists: ReportLists;
}

/** `short`: while no disk is nearly full or will be, only the largest three of each list. `shortWithBudgets`: the same, but namespaces are listed as in a full one, because the controller adds up those that are listed. */
export type ReportLists = 'full' | 'short' | 'shortWithBudgets';

/** Full reports of as many nodes have some 90 MB in etcd. */
const manyNodes = 2_000;

/** `auto`: short while the policies govern many nodes, as their statuses say. */
export function reportLists(
  setting: 'auto' | 'full' | 'short',
  known: {
    readonly governedNodes: number;
    readonly mayHaveBudgets: boolean;
  },
): ReportLists {
  const isShort = setting === 'short' || (setting === 'auto' && known.governedNodes > manyNodes);
  if (!isShort) return 'full';
  return known.mayHaveBudgets ? 'shortWithBudgets' : 'short';
}

/** Entries of each list; the others are counted. The lists of a full one are as long as the CRD permits. */
type Lengths = Readonly<Record<'pods' | 'namespaces' | 'workloads' | 'volumes' | 'images', number>>;

const lengths: Readonly<Record<ReportLists, Lengths>> = {
  full: { pods: 20, namespaces: maxNamespaces, workloads: 20, volumes: 20, images: 64 },
  short: { pods: 3, namespaces: 3, workloads: 3, volumes: 3, images: 3 },
  shortWithBudgets: { pods: 3, namespaces: maxNamespaces, workloads: 3, volumes: 3, images: 3 },
};

/** Above it, a policy removes images by default. */
const nearlyFullPercent = 80;

const isNearlyFull = ({ usedBytes, capacityBytes, inodesPercent = 0 }: DiskUse): boolean =>
  100 * usedBytes >= nearlyFullPercent * capacityBytes || inodesPercent >= nearlyFullPercent;

export interface UsagePlan {
  readonly usage: NodeGCReportStatusUsage;
  /** The disk that is full first after collection; undefined = none will be, or this is unknown. */
  readonly fullFirst: { readonly seconds: number; readonly note: string } | undefined;
}

export function planUsage({
  measured,
  history,
  marks,
  images,
  unmeasured,
  bound,
  podSlots,
  unknown,
  lists,
}: ObservedUsage): UsagePlan {
  const { at, disks, pods, namespaces, places } = measured;
  const forecasts = disks.map((disk) => ({ disk, forecast: forecastOf(disk, history, measured) }));
  const filling = forecasts
    .flatMap(({ disk, forecast }) => {
      const note = explainForecast(disk, forecast);
      const { fullSeconds = Infinity, fullAfterCollectionSeconds: seconds } = forecast;
      return note === undefined ? [] : [{ note, seconds, fullSeconds }];
    })
    .toSorted((a, b) => a.fullSeconds - b.fullSeconds);
  const [first] = filling
    .flatMap(({ note, seconds }) =>
      seconds === undefined || seconds === Infinity ? [] : [{ note, seconds }],
    )
    .toSorted((a, b) => a.seconds - b.seconds);
  const most = lengths[filling.length > 0 || disks.some(isNearlyFull) ? 'full' : lists];
  const { listed, others } = listedMarks(marks, most.workloads);
  return {
    usage: {
      measuredTime: metaTime(at),
      unknown: unknown.length === 0 ? undefined : unknown.join('; '),
      forecast: filling[0]?.note,
      fileSystems: forecasts.map(({ disk, forecast }) => diskOf(disk, forecast, at)),
      podCount: pods?.length,
      podSlots,
      podSlotsTaken: bound?.filter((pod) => !isFinished(pod)).length,
      volumeCount: pods && sum(pods.map(({ pod }) => volumesOnDisk(pod))),
      volumesLowerBound: hasUnmeasuredVolume(measured),
      pods: pods && listedPods(pods, places, most.pods).map((use) => podOf(use, places)),
      namespaces: pods && namespaces.slice(0, most.namespaces).map((one) => namespaceOf(one, history)),
      otherNamespaces: countOf(namespaces.slice(most.namespaces)),
      workloads: listed.map((one) => workloadOf(one, { measured, history, marks })),
      watchedSeconds: boundSeconds({ measured, marks, unmeasured }),
      otherWorkloads: others.highestBytes === 0 ? undefined : others,
      ...listedVolumes(measured, history, most.volumes),
      ...(images && listedImages(images, most.images)),
    },
    fullFirst: first,
  };
}

const volumesOnDisk = ({ storage }: StoragePod): number =>
  storage.emptyDirs.filter(({ isMemory }) => !isMemory).length;

/** undefined = no. */
function hasUnmeasuredVolume({
  pods = [],
  partial,
}: Pick<MeasuredUsage, 'pods' | 'partial'>): true | undefined {
  const known = new Map(pods.map((use) => [use.pod.uid, use.partial]));
  const isUnmeasured = (pod: StoragePod): boolean => known.get(pod.uid)?.has('volumesBytes') ?? true;
  return partial.some((pod) => volumesOnDisk(pod) > 0 && isUnmeasured(pod)) ? true : undefined;
}

const diskOf = (
  { name, capacityBytes, availableBytes, usedBytes, classes, collectableBytes, collectable }: DiskUse,
  { bytesPerHour, fullSeconds, fullAfterCollectionSeconds, errorPercent }: DiskForecast,
  at: Date,
): NodeGCReportStatusUsageFileSystem => ({
  name,
  capacityBytes,
  availableBytes,
  usedBytes,
  collectableBytes,
  collectable,
  ...classes,
  growthBytesPerHour: bytesPerHour,
  fullTime: timeIn(fullSeconds, at),
  fullAfterCollectionTime: timeIn(fullAfterCollectionSeconds, at),
  forecastErrorPercent: errorPercent && Math.round(errorPercent),
});

const longestSeconds = 10 * 365 * 86_400;

/** undefined for a time that is not known, or too far away to mean anything. */
const timeIn = (seconds: number | undefined, at: Date): string | undefined =>
  seconds === undefined || seconds > longestSeconds
    ? undefined
    : metaTime(new Date(at.getTime() + seconds * 1000));

/** Those that the kubelet would evict first are listed, however small. */
const firstPlaces = 3;

function listedPods(
  pods: readonly PodUse[],
  places: MeasuredUsage['places'],
  most: number,
): readonly PodUse[] {
  const isFirst = ({ pod }: PodUse): boolean => (places?.get(pod.uid) ?? Infinity) <= firstPlaces;
  const first = pods.filter(isFirst);
  const others = pods.filter((use) => !isFirst(use)).slice(0, Math.max(0, most - first.length));
  const listed = new Set([...first, ...others]);
  return pods.filter((use) => listed.has(use));
}

const podOf = ({ pod, ...use }: PodUse, places: MeasuredUsage['places']): NodeGCReportStatusUsagePod => ({
  namespace: pod.namespace,
  name: pod.name,
  uid: pod.uid,
  ...sizesOf(use),
  limitBytes: declaredTotal(pod.storage, 'limit')?.bytes,
  requestBytes: declaredTotal(pod.storage, 'request')?.bytes,
  priority: pod.priority,
  evictionPlace: places?.get(pod.uid),
});

const listedImages = ({ listed, unlisted }: ImageInventory, most: number) => ({
  images: listed.slice(0, most),
  otherImages: countOf(listed.slice(most), unlisted),
});

/** undefined = there are no others. */
function countOf(
  cut: readonly { readonly bytes: number }[],
  others?: { readonly count: number; readonly bytes: number },
) {
  if (cut.length === 0) return others;
  const { count, bytes } = others ?? { count: 0, bytes: 0 };
  return { count: count + cut.length, bytes: bytes + sum(cut.map((one) => one.bytes)) };
}

function listedVolumes({ volumes, at }: MeasuredUsage, history: UsageHistory, most: number) {
  // A claim may be nearly full, or be full soon, on a node whose disks are not.
  const isFilling = (one: VolumeUse): boolean => volumeForecast(one, history).fullSeconds !== undefined;
  const isUrgent = (one: VolumeUse): boolean => (one.fullPercent ?? 0) >= nearlyFullPercent || isFilling(one);
  const urgent = new Set(volumes?.filter(isUrgent).slice(0, lengths.full.volumes));
  const calm = volumes?.filter((one) => !urgent.has(one)).slice(0, Math.max(0, most - urgent.size));
  const listed = new Set([...urgent, ...(calm ?? [])]);
  const others = volumes?.filter((one) => !listed.has(one)) ?? [];
  const percents = others.flatMap(({ fullPercent }) => fullPercent ?? []);
  return {
    volumes: volumes?.filter((one) => listed.has(one)).map((one) => volumeOf(one, history, at)),
    otherVolumes:
      others.length === 0
        ? undefined
        : {
            count: others.length,
            highestPercent: percents.length === 0 ? undefined : Math.ceil(Math.max(...percents)),
            unknownCount: others.length - percents.length || undefined,
            fillingCount: others.filter(isFilling).length || undefined,
          },
  };
}

function volumeOf(volume: VolumeUse, history: UsageHistory, at: Date): NodeGCReportStatusUsageVolume {
  const { kind, namespace, pod, name, pods, usedBytes, limitBytes, usedPercent, inodesPercent, atMs } =
    volume;
  const { bytesPerHour, fullSeconds } = volumeForecast(volume, history);
  return {
    kind,
    namespace,
    pod,
    name,
    pods,
    usedBytes,
    limitBytes,
    usedPercent: usedPercent && Math.round(usedPercent),
    inodesPercent: inodesPercent && Math.round(inodesPercent),
    growthBytesPerHour: bytesPerHour,
    fullTime: timeIn(fullSeconds, at),
    measuredTime: atMs === undefined ? undefined : metaTime(new Date(atMs)),
  };
}

const sizesOf = ({ bytes, classes, partial }: Pick<PodUse, 'bytes' | 'classes' | 'partial'>) => ({
  bytes,
  ...classes,
  lowerBound: partial.size > 0 ? true : undefined,
});

const namespaceOf = (
  { name, pods, ...use }: NamespaceUse,
  history: UsageHistory,
): NodeGCReportStatusUsageNamespace => ({
  name,
  pods,
  ...sizesOf(use),
  growthBytesPerHour: namespaceGrowth(name, history),
});

/** For how long no workload has used more than the marks have; undefined = one with a running pod may have. */
const boundSeconds = ({
  measured,
  marks,
  unmeasured,
}: Pick<ObservedUsage, 'measured' | 'marks' | 'unmeasured'>): number | undefined =>
  measured.pods !== undefined && unmeasured.every((pod) => marks.workloads.some((one) => isOf(pod, one)))
    ? watchedSeconds(marks)
    : undefined;

const isOf = ({ namespace, workload }: StoragePod, one: WorkloadMarks): boolean =>
  keyOf({ namespace, ...workload }) === keyOf(one);

/** The marks of a workload; what its pods use now is absent if it is unknown. */
function workloadOf(
  one: WorkloadMarks,
  { measured, history, marks }: Pick<ObservedUsage, 'measured' | 'history' | 'marks'>,
): NodeGCReportStatusUsageWorkload {
  const { namespace, kind, name, peaks, parts, otherParts } = one;
  const now = measured.workloads.find((use) => keyOf(use) === keyOf(one));
  const isMeasured = measured.pods !== undefined && !measured.partial.some((pod) => isOf(pod, one));
  const absent = isMeasured ? 0 : undefined;
  return {
    namespace,
    kind,
    name,
    pods: now?.pods ?? absent,
    bytes: now?.bytes ?? absent,
    lowerBound: now?.isPartial === true ? true : undefined,
    growthBytesPerHour: workloadGrowth(one, history),
    highestBytes: highestOf(peaks),
    highestPod: peaks[0]?.pod,
    watchedSeconds: watchedSeconds(marks, one),
    requestBytes: one.request,
    limitBytes: one.limit,
    parts: parts.map((part) => ({
      kind: part.kind,
      name: part.name,
      highestBytes: part.peaks[0]?.bytes,
      requestBytes: part.request,
      limitBytes: part.limit,
    })),
    otherParts: otherParts === 0 ? undefined : otherParts,
  };
}
