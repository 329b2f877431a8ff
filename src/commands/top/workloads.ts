import type {
  NodeGCReportStatusUsageWorkload,
  NodeGCReportStatusUsageWorkloadPart,
} from '../../api/gen/nodegcreport.gen.ts';
import type { ReportedUsage } from '../../kube/cache/reports-with-usage.ts';
import { sum, sumIfKnown } from '../../runtime/sum.ts';

/** What is unknown is absent; `stale`: a value is older than 15 minutes. */
export interface WorkloadRow {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  /** Of all nodes on which it is listed. */
  readonly pods: number | undefined;
  readonly bytes: number | undefined;
  readonly growthBytesPerHour: number | undefined;
  /** The nodes that list it with pods. */
  readonly nodes: number;
  /** Whether there may be more of these: a node does not list it, but may have it. */
  readonly lowerBound: boolean;
  /** Of one pod, in seven days of watching. */
  readonly highestBytes: number;
  readonly highestPod: string | undefined;
  /** What a pod may have used on a node that has marks, but does not list the workload. */
  readonly unlistedBytes: number;
  /** Whether what a pod may have used on a node is unknown: the node has no marks, or does not list the workload and was watched for less than a day. */
  readonly hasUnknownNodes: boolean;
  /** Whether a pod may have used more. */
  readonly highestLowerBound: boolean;
  /** The longest of its nodes. */
  readonly watchedSeconds: number;
  readonly requestBytes: number | undefined;
  readonly limitBytes: number | undefined;
  /** Of the limit; absent if there is none. */
  readonly highestPercent: number | undefined;
  readonly parts: readonly NodeGCReportStatusUsageWorkloadPart[];
  readonly otherParts: number;
  /** Images or writable layers of a node have a disk of their own: there the kubelet counts only logs for a container. */
  readonly dedicatedImageFs: boolean;
  /** The earliest of its nodes. */
  readonly measuredTime: string | undefined;
  readonly stale: boolean;
}

interface MarkedNode extends Pick<ReportedUsage, 'usage'> {
  readonly name: string;
  readonly stale: boolean;
}

interface Listed {
  readonly node: MarkedNode;
  readonly workload: NodeGCReportStatusUsageWorkload;
}

/** The workloads of a namespace (undefined = all) over all nodes: what pods use now adds up, and the highest is that of one pod. */
export function workloadRows(
  nodes: readonly MarkedNode[],
  namespace: string | undefined,
): readonly WorkloadRow[] {
  const listed = nodes.flatMap((node) =>
    (node.usage?.workloads ?? [])
      .filter((workload) => workload.namespace === (namespace ?? workload.namespace))
      .map((workload) => ({ node, workload })),
  );
  const unmarked = nodes.filter(({ usage }) => usage?.workloads === undefined);
  const young = nodes.filter(({ usage }) => isYoung(usage));
  // The first one that does not list a workload has its upper bound.
  const others = nodes
    .map(({ name, usage }) => ({ name, bytes: usage?.otherWorkloads?.highestBytes ?? 0 }))
    .toSorted((a, b) => b.bytes - a.bytes);
  const keyOf = ({ workload: one }: Listed): string => `${one.namespace}/${one.kind}/${one.name}`;
  return [...Map.groupBy(listed, keyOf).values()].flatMap((group) => {
    const own = new Set(group.map(({ node }) => node.name));
    const unlistedBytes = others.find(({ name }) => !own.has(name))?.bytes ?? 0;
    const lowerBound = unmarked.length > 0 || unlistedBytes > 0;
    const hasUnknownNodes = unmarked.length > 0 || young.some(({ name }) => !own.has(name));
    return rowOf(group, { unlistedBytes, hasUnknownNodes, lowerBound });
  });
}

export const daySeconds = 86_400;

/** Whether the marks say nothing of a workload that they do not list: before, or in pods that were not measured, it may have used any bytes. */
export const isYoung = (usage: ReportedUsage['usage']): boolean =>
  usage?.workloads !== undefined && (usage.watchedSeconds ?? 0) < daySeconds;

function rowOf(
  group: readonly Listed[],
  {
    unlistedBytes,
    hasUnknownNodes,
    lowerBound,
  }: Pick<WorkloadRow, 'unlistedBytes' | 'hasUnknownNodes' | 'lowerBound'>,
): WorkloadRow | [] {
  const all = group.map(({ workload }) => workload).toSorted((a, b) => b.highestBytes - a.highestBytes);
  const [highest] = all;
  if (highest === undefined) return [];
  const { namespace, kind, name, highestBytes, highestPod } = highest;
  const limitBytes = largest(all, ({ limitBytes: limit }) => limit);
  const growth = sum(all.map(({ growthBytesPerHour = 0 }) => growthBytesPerHour));
  return {
    namespace,
    kind,
    name,
    pods: sumIfKnown(all.map(({ pods }) => pods)),
    bytes: sumIfKnown(all.map(({ bytes }) => bytes)),
    growthBytesPerHour: growth > 0 ? growth : undefined,
    nodes: all.filter(({ pods = 0 }) => pods > 0).length,
    lowerBound: lowerBound || all.some((one) => one.lowerBound),
    highestBytes,
    highestPod,
    unlistedBytes,
    hasUnknownNodes,
    highestLowerBound: hasUnknownNodes || unlistedBytes > highestBytes,
    watchedSeconds: Math.max(...all.map(({ watchedSeconds }) => watchedSeconds)),
    requestBytes: largest(all, ({ requestBytes }) => requestBytes),
    limitBytes,
    highestPercent:
      limitBytes === undefined || limitBytes === 0
        ? undefined
        : Math.round((100 * highestBytes) / limitBytes),
    parts: partsOf(all),
    otherParts: Math.max(...all.map(({ otherParts = 0 }) => otherParts)),
    dedicatedImageFs: group.some(({ node }) =>
      (node.usage?.fileSystems ?? []).some((disk) => disk.name === 'imagefs'),
    ),
    measuredTime: group
      .flatMap(({ node }) => node.usage?.measuredTime ?? [])
      .toSorted((a, b) => Date.parse(a) - Date.parse(b))[0],
    stale: group.some(({ node }) => node.stale),
  };
}

type Workloads = readonly NodeGCReportStatusUsageWorkload[];

/** Of the parts of all nodes: during a rollout their pods may differ. */
function partsOf(all: Workloads): readonly NodeGCReportStatusUsageWorkloadPart[] {
  const parts = all.flatMap((workload) => workload.parts ?? []);
  return [...Map.groupBy(parts, ({ kind, name }) => `${kind}/${name}`).values()].flatMap((same) =>
    same.slice(0, 1).map(({ kind, name }) => ({
      kind,
      name,
      highestBytes: largest(same, ({ highestBytes }) => highestBytes),
      requestBytes: largest(same, ({ requestBytes }) => requestBytes),
      limitBytes: largest(same, ({ limitBytes }) => limitBytes),
    })),
  );
}

/** undefined = all are unknown. */
function largest<T>(all: readonly T[], read: (one: T) => number | undefined): number | undefined {
  const known = all.flatMap((one) => read(one) ?? []);
  return known.length === 0 ? undefined : Math.max(...known);
}

/** As kubectl takes it; none of a static pod. */
export const workloadNames = (row: Pick<WorkloadRow, 'kind' | 'name' | 'namespace'>): readonly string[] =>
  row.kind === 'StaticPod' ? [] : [`${workloadText(row)} -n ${row.namespace}`];

/** `deployment/web`, as kubectl names it. */
export const workloadText = ({ kind, name }: Pick<WorkloadRow, 'kind' | 'name'>): string =>
  `${kind.toLowerCase()}/${name}`;
