import type {
  NodeGCReportStatusUsage,
  NodeGCReportStatusUsageFileSystem,
  NodeGCReportStatusUsageNamespace,
  NodeGCReportStatusUsagePod,
} from '../../api/gen/nodegcreport.gen.ts';
import { isStale } from '../../api/report/fresh.ts';
import type { ObjectCounts, ReportedUsage } from '../../kube/cache/reports-with-usage.ts';
import { sum, sumIfKnown } from '../../runtime/sum.ts';
import type { DiskRow } from './disk.ts';
import type { WorkloadRow } from './workloads.ts';
import { byText } from '../../runtime/text/by-text.ts';

export interface TopFacts {
  readonly reports: readonly ReportedUsage[];
  /** All nodes of the cluster; undefined = they may not be listed. */
  readonly nodes: ReadonlySet<string> | undefined;
  /** The objects that `--selector` selects: names of nodes or namespaces, UIDs of pods; undefined = all. */
  readonly selected: ReadonlySet<string> | undefined;
  /** For namespaces and pods; undefined = all. */
  readonly namespace: string | undefined;
}

export interface TopNode {
  readonly name: string;
  readonly hasReport: boolean;
  /** undefined = it has no agent, or an older one, or one that has not measured yet. */
  readonly usage: NodeGCReportStatusUsage | undefined;
  readonly counts?: ObjectCounts | undefined;
  /** Of the values; without values of the report. RFC 3339. */
  readonly time: string | undefined;
  readonly stale: boolean;
}

/** The usage in the report of a node. */
export function reportedNode({ node, usage, counts, reportTime }: ReportedUsage, now: Date): TopNode {
  const time = usage?.measuredTime ?? reportTime;
  return { name: node, hasReport: true, usage, counts, time, stale: isStale(time, now) };
}

type Filter = Pick<TopFacts, 'namespace' | 'selected'>;

// The rows of -o json. What is unknown is absent; `stale`: a value is older than 15 minutes.

export type NodeRow = ReturnType<typeof nodeRow>;
export type FileSystemRow = ReturnType<typeof fileSystemRow>;

export function nodeRow({ name, usage, stale }: TopNode) {
  const { measuredTime, fileSystems = [], namespaces = [], otherNamespaces, unknown, forecast } = usage ?? {};
  const { podCount, podSlots, podSlotsTaken, volumesLowerBound } = usage ?? {};
  return {
    name,
    measuredTime,
    stale,
    /** What its agent could not read. */
    unknown,
    forecast,
    podCount,
    podSlots,
    podSlotsTaken,
    /** Whether an emptyDir is not measured; absent if not. */
    volumesLowerBound,
    fileSystems: fullestFirst(fileSystems),
    largestNamespace: largest(namespaces),
    /** Absent if the report does not list all: another one may grow faster. */
    fastestNamespace: otherNamespaces === undefined ? fastest(namespaces) : undefined,
  };
}

export const fullestFirst = (fileSystems: readonly NodeGCReportStatusUsageFileSystem[]) =>
  fileSystems.map(fileSystemRow).toSorted(byFullness);

type Fullness = Pick<FileSystemRow, 'usedPercent'>;
export const byFullness = (a: Fullness, b: Fullness): number => (b.usedPercent ?? -1) - (a.usedPercent ?? -1);

function fileSystemRow(disk: NodeGCReportStatusUsageFileSystem) {
  const { capacityBytes, availableBytes, fullTime, fullAfterCollectionTime, collectableBytes } = disk;
  const hasForecast = fullTime !== undefined && collectableBytes !== undefined;
  return {
    ...disk,
    /** As the kubelet counts: 100 = no byte is available. */
    usedPercent:
      capacityBytes === 0
        ? undefined
        : Math.max(0, Math.round((100 * (capacityBytes - availableBytes)) / capacityBytes)),
    /** Whether collection removes what grows, so that the disk does not fill up. */
    collectionKeepsUp: hasForecast ? fullAfterCollectionTime === undefined : undefined,
  };
}

type Namespaces = readonly NodeGCReportStatusUsageNamespace[];

/** A report lists the largest first. */
export const largest = (namespaces: Namespaces): Namespaces[number] | undefined => namespaces[0];

/** undefined = none is known to grow. */
export const fastest = (namespaces: Namespaces): Namespaces[number] | undefined =>
  namespaces
    .filter(({ growthBytesPerHour = 0 }) => growthBytesPerHour > 0)
    .toSorted((a, b) => (b.growthBytesPerHour ?? 0) - (a.growthBytesPerHour ?? 0))[0];

export type NamespaceRow = ReturnType<typeof namespaceRows>[number];

export function namespaceRows(nodes: readonly TopNode[], { namespace, selected }: Filter) {
  const parts = nodes.flatMap(({ usage, stale }) =>
    (usage?.namespaces ?? [])
      .filter(({ name }) => name === (namespace ?? name) && (selected?.has(name) ?? true))
      .map((part) => ({ ...part, measuredTime: usage?.measuredTime, stale })),
  );
  const incomplete = nodes
    .filter(({ usage }) => usage?.namespaces === undefined || usage.otherNamespaces !== undefined)
    .map(({ usage }) => new Set(usage?.namespaces?.map(({ name }) => name)));
  return [...Map.groupBy(parts, ({ name }) => name)].map(([name, group]) => {
    const growth = sum(group.map(({ growthBytesPerHour = 0 }) => growthBytesPerHour));
    return {
      name,
      /** Nodes on which it is listed. */
      nodes: group.length,
      pods: sum(group.map(({ pods }) => pods)),
      bytes: sum(group.map(({ bytes }) => bytes)),
      layersBytes: sumIfKnown(group.map(({ layersBytes }) => layersBytes)),
      volumesBytes: sumIfKnown(group.map(({ volumesBytes }) => volumesBytes)),
      logsBytes: sumIfKnown(group.map(({ logsBytes }) => logsBytes)),
      /** Absent if unknown, or if nothing grows. */
      growthBytesPerHour: growth > 0 ? growth : undefined,
      /** Whether a node may have more of it: one that lists no namespaces, or not all, or has not measured all of its pods. */
      lowerBound:
        group.some(({ lowerBound }) => lowerBound) || incomplete.some((listed) => !listed.has(name)),
      /** The earliest of its nodes. */
      measuredTime: timesOf(group.map(({ measuredTime }) => measuredTime))[0],
      stale: group.some(({ stale }) => stale),
    };
  });
}

export type PodRow = ReturnType<typeof podRows>[number];

export const podRows = (nodes: readonly TopNode[], { namespace, selected }: Filter) =>
  nodes.flatMap(({ name: node, usage, stale }) =>
    (usage?.pods ?? [])
      .filter((pod) => pod.namespace === (namespace ?? pod.namespace) && (selected?.has(pod.uid) ?? true))
      .map((pod) => ({
        ...pod,
        node,
        /** Of the limit; absent if a container has none. */
        usedPercent: percentOf(pod),
        rankedBytes: rankedBytes(pod, usage?.fileSystems),
        measuredTime: usage?.measuredTime,
        stale,
      })),
  );

/** What the kubelet compares with the request when its disk is full: without writable layers, if they are on the disk of images. undefined = unknown. */
function rankedBytes(
  { bytes, volumesBytes, logsBytes }: NodeGCReportStatusUsagePod,
  fileSystems: readonly NodeGCReportStatusUsageFileSystem[] = [],
): number | undefined {
  const nodefs = fileSystems.find(({ name }) => name === 'nodefs');
  if (nodefs === undefined) return undefined;
  return nodefs.layersBytes === undefined ? sumIfKnown([volumesBytes, logsBytes]) : bytes;
}

/** A limit of 0 is exceeded by any byte. */
function percentOf({ bytes, limitBytes }: NodeGCReportStatusUsagePod): number | undefined {
  if (limitBytes === undefined) return undefined;
  return limitBytes === 0 ? 100 : Math.round((100 * bytes) / limitBytes);
}

export type VolumeRow = ReturnType<typeof volumeRows>[number];

/** A claim on several nodes is one file system: its row has the newest values. */
export function volumeRows(nodes: readonly TopNode[], { namespace }: Pick<Filter, 'namespace'>) {
  const listed = nodes.flatMap(({ name: node, usage, stale }) =>
    (usage?.volumes ?? [])
      .filter((volume) => volume.namespace === (namespace ?? volume.namespace))
      .map(({ pods = 1, measuredTime = usage?.measuredTime, ...values }) => ({
        on: { node, pods },
        values: {
          ...values,
          /** Of the measurement of the kubelet. */
          measuredTime,
          /** That of a server that is not available may be older than the report. */
          stale: stale || isStale(measuredTime, new Date(usage?.measuredTime ?? '')),
        },
      })),
  );
  const groups = Map.groupBy(listed, ({ values: { kind, namespace: of, pod, name } }) =>
    [kind, of, kind === 'pvc' ? '' : pod, name].join('/'),
  );
  const incomplete = nodes
    .filter(({ usage }) => usage?.volumes === undefined || usage.otherVolumes !== undefined)
    .map(({ name }) => name);
  return [...groups.values()].flatMap((all) => {
    const current = all.some(({ values }) => !values.stale) ? all.filter(({ values }) => !values.stale) : all;
    const newestFirst = current.toSorted((a, b) => ageOf(a.values) - ageOf(b.values));
    const nodesOf = newestFirst.map(({ on }) => on.node);
    const pods = sum(current.map(({ on }) => on.pods));
    return newestFirst.slice(0, 1).map(({ values }) => ({
      ...values,
      pods,
      /** That of the values first. */
      nodes: nodesOf,
      /** Whether more pods may mount the claim: on a node that lists no volumes, or not all. */
      lowerBound: values.kind === 'pvc' && incomplete.some((name) => all.every(({ on }) => on.node !== name)),
    }));
  });
}

const ageOf = ({ measuredTime }: { readonly measuredTime: string | undefined }): number =>
  -Date.parse(measuredTime ?? '');

const largestOf = (sizes: readonly (number | undefined)[]): number | undefined =>
  sizes.reduce((largest, size) => (size === undefined ? largest : Math.max(size, largest ?? 0)), undefined);

export type ImageRow = ReturnType<typeof imageRows>[number];

export function imageRows(nodes: readonly TopNode[]) {
  const copies = nodes.flatMap(({ name: node, usage, stale }) =>
    (usage?.images ?? []).map(({ id, name, inUse, isKept = false, unusedSince, ...sizes }) => ({
      id,
      name,
      measuredTime: usage?.measuredTime,
      stale,
      /** `kept`: a pin or the policy protects it. */
      on: { node, ...sizes, inUse, kept: isKept, unusedSince },
    })),
  );
  const incomplete = nodes
    .filter(({ usage }) => usage?.images === undefined || usage.otherImages !== undefined)
    .map(({ name }) => name);
  return [...Map.groupBy(copies, ({ id }) => id)].map(([id, group]) => {
    const on = group.map((copy) => copy.on);
    const removable = on.filter(({ inUse, kept }) => !inUse && !kept);
    return {
      id,
      /** A tag, else a digest. */
      name: group.find(({ name }) => name !== undefined)?.name,
      /** Of one copy; the largest, if they differ. */
      sizeBytes: Math.max(...on.map(({ bytes }) => bytes)),
      /** Of one copy, what no other image has, and its packed layers; absent where an agent does not know them. */
      uniqueBytes: largestOf(on.map(({ uniqueBytes }) => uniqueBytes)),
      packedBytes: largestOf(on.map(({ packedBytes }) => packedBytes)),
      /** Why a removal may free less or more than that. */
      inexactBecause: on.find(({ inexactBecause }) => inexactBecause !== undefined)?.inexactBecause,
      bytes: sum(on.map(({ bytes }) => bytes)),
      /** What the removal of this image alone frees: of the copies that nothing uses, and that neither a pin nor the policy protects. */
      gainBytes: sum(removable.map(({ bytes, uniqueBytes = bytes }) => uniqueBytes)),
      /** Whether a node may have another copy: one that lists no images, or not all. */
      lowerBound: incomplete.some((name) => on.every(({ node }) => node !== name)),
      /** Since when the copies that are unused now are all unused; absent if all are in use. */
      unusedSince: timesOf(on.map(({ unusedSince }) => unusedSince)).at(-1),
      /** The earliest of its nodes. */
      measuredTime: timesOf(group.map(({ measuredTime }) => measuredTime))[0],
      stale: group.some(({ stale }) => stale),
      nodes: on,
    };
  });
}

const timesOf = (times: readonly (string | undefined)[]): readonly string[] =>
  times.filter((time) => time !== undefined).toSorted((a, b) => Date.parse(a) - Date.parse(b));

/** The value by which a row is sorted: larger numbers first, then texts in their order; undefined = unknown, last. */
type SortValue = number | string | undefined;

type SortValues<R> = Readonly<Record<string, (row: R) => SortValue>>;

const earlierFirst = (time: string | undefined): number | undefined =>
  time === undefined ? undefined : -Date.parse(time);

/** Of the fullest file system. */
const fullest =
  <T>(read: (disk: FileSystemRow) => T) =>
  ({ fileSystems: [first] }: NodeRow): T | undefined =>
    first && read(first);

/** The values of `--sort-by` for each kind, the default first. */
export const sortValues = {
  disk: {
    kind: () => 0,
    bytes: ({ bytes }) => bytes,
    reclaimable: ({ reclaimableBytes }) => reclaimableBytes,
  } satisfies SortValues<DiskRow>,
  nodes: {
    percent: fullest(({ usedPercent }) => usedPercent),
    bytes: fullest(({ usedBytes }) => usedBytes),
    growth: fullest(({ growthBytesPerHour }) => growthBytesPerHour),
    full: ({ fileSystems }) => earlierFirst(timesOf(fileSystems.map(({ fullTime }) => fullTime))[0]),
    'full-after-collection': ({ fileSystems }) =>
      earlierFirst(timesOf(fileSystems.map(({ fullAfterCollectionTime }) => fullAfterCollectionTime))[0]),
    age: ({ measuredTime }) => earlierFirst(measuredTime),
    name: ({ name }) => name,
  } satisfies SortValues<NodeRow>,
  namespaces: {
    bytes: ({ bytes }) => bytes,
    layers: ({ layersBytes }) => layersBytes,
    volumes: ({ volumesBytes }) => volumesBytes,
    logs: ({ logsBytes }) => logsBytes,
    growth: ({ growthBytesPerHour }) => growthBytesPerHour,
    pods: ({ pods }) => pods,
    nodes: ({ nodes }) => nodes,
    age: ({ measuredTime }) => earlierFirst(measuredTime),
    name: ({ name }) => name,
  } satisfies SortValues<NamespaceRow>,
  workloads: {
    highest: ({ highestBytes }) => highestBytes,
    bytes: ({ bytes }) => bytes,
    percent: ({ highestPercent }) => highestPercent,
    growth: ({ growthBytesPerHour }) => growthBytesPerHour,
    pods: ({ pods }) => pods,
    nodes: ({ nodes }) => nodes,
    name: ({ namespace, name, kind }) => `${namespace}/${name}/${kind}`,
  } satisfies SortValues<WorkloadRow>,
  pods: {
    bytes: ({ bytes }) => bytes,
    layers: ({ layersBytes }) => layersBytes,
    volumes: ({ volumesBytes }) => volumesBytes,
    logs: ({ logsBytes }) => logsBytes,
    percent: ({ usedPercent }) => usedPercent,
    eviction: ({ evictionPlace }) => evictionPlace && -evictionPlace,
    node: ({ node }) => node,
    age: ({ measuredTime }) => earlierFirst(measuredTime),
    name: ({ namespace, name }) => `${namespace}/${name}`,
  } satisfies SortValues<PodRow>,
  volumes: {
    percent: ({ usedPercent, inodesPercent }) => largestOf([usedPercent, inodesPercent]),
    bytes: ({ usedBytes }) => usedBytes,
    limit: ({ limitBytes }) => limitBytes,
    growth: ({ growthBytesPerHour }) => growthBytesPerHour,
    full: ({ fullTime }) => earlierFirst(fullTime),
    pod: ({ namespace, pod }) => `${namespace}/${pod}`,
    age: ({ measuredTime }) => earlierFirst(measuredTime),
    name: ({ namespace, name }) => `${namespace}/${name}`,
  } satisfies SortValues<VolumeRow>,
  images: {
    bytes: ({ bytes }) => bytes,
    size: ({ sizeBytes }) => sizeBytes,
    gain: ({ gainBytes }) => gainBytes,
    nodes: ({ nodes }) => nodes.length,
    'unused-since': ({ unusedSince }) => earlierFirst(unusedSince),
    name: ({ name }) => name,
  } satisfies SortValues<ImageRow>,
};

/** Sorts by a value, then by name. */
export function sortedBy<R extends { readonly name?: string | undefined }>(
  rows: readonly R[],
  values: SortValues<R>,
  field: string,
): readonly R[] {
  const valueOf = values[field];
  if (valueOf === undefined) throw new Error(`rows have no field ${field}`);
  return rows.toSorted((a, b) => byValue(valueOf(a), valueOf(b)) || byText(a.name ?? '', b.name ?? ''));
}

function byValue(a: SortValue, b: SortValue): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  return typeof a === 'number' && typeof b === 'number' ? b - a : byText(String(a), String(b));
}
