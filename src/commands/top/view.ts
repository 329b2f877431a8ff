import type { NodeGCReportStatusUsage } from '../../api/gen/nodegcreport.gen.ts';
import { isCritical } from '../../api/critical-pod.ts';
import { firstValues, staleMinutes } from '../../api/report/fresh.ts';
import { sum } from '../../runtime/sum.ts';
import type { TopQuestion } from './command.ts';
import { isYoung, workloadRows, type WorkloadRow } from './workloads.ts';
import { diskSummary, nextStep, type DiskRow, type DiskSummary } from './disk.ts';
import {
  byFullness,
  fullestFirst,
  imageRows,
  namespaceRows,
  nodeRow,
  podRows,
  reportedNode,
  sortedBy,
  sortValues,
  volumeRows,
  type FileSystemRow,
  type ImageRow,
  type NamespaceRow,
  type NodeRow,
  type PodRow,
  type TopFacts,
  type TopNode,
  type VolumeRow,
} from './rows.ts';

/** `dustpan top -o json`: the usage that agents reported last. Times are RFC 3339; what is unknown is absent. */
export type TopView = TopRows & {
  readonly apiVersion: 'gc.dustpan.dev/v1alpha1';
  readonly notes: readonly TopNote[];
  /** Of the nodes of `--node`; without it, for nodes those of the three that are full first. */
  readonly forecasts: ReturnType<typeof forecastsOf>;
};

type TopRows =
  | TopDisk
  | { readonly kind: 'TopNodes'; readonly items: readonly NodeRow[] }
  | { readonly kind: 'TopNamespaces'; readonly items: readonly NamespaceRow[]; readonly rest: Rest }
  | {
      readonly kind: 'TopWorkloads';
      readonly items: readonly WorkloadRow[];
      /** Those of which no pod has used much, of all namespaces; a workload counts once for each node. */
      readonly rest: { readonly count: number; readonly highestBytes: number };
    }
  | { readonly kind: 'TopPods'; readonly items: readonly PodRow[]; readonly rest: Rest }
  | {
      readonly kind: 'TopVolumes';
      readonly items: readonly VolumeRow[];
      readonly rest: OtherVolumes;
    }
  | { readonly kind: 'TopImages'; readonly items: readonly ImageRow[]; readonly rest: Rest };

/** The smaller objects that reports have no room for; a namespace or an image counts once for each node. */
interface Rest {
  /** Absent if unknown. */
  readonly count: number | undefined;
  /** Absent if unknown. */
  readonly bytes: number | undefined;
}

/** The volumes that reports have no room for, of all namespaces; a claim counts once for each node. */
interface OtherVolumes {
  readonly count: number;
  /** Of those whose percentage is known; absent if none is. */
  readonly highestPercent: number | undefined;
  /** Those of which it is unknown how full they are. */
  readonly unknownCount: number;
  /** Those known to be full within a week. */
  readonly fillingCount: number;
}

/** Of all nodes in question, then of each one. */
export interface TopDisk extends Omit<DiskSummary, 'kinds'> {
  readonly kind: 'TopDisk';
  readonly items: readonly DiskRow[];
  /** Those that are counted, the fullest first. */
  readonly fileSystems: readonly ({ readonly node: string } & Pick<
    FileSystemRow,
    'name' | 'capacityBytes' | 'usedBytes' | 'usedPercent'
  >)[];
  readonly byNode: readonly { readonly node: string; readonly items: readonly DiskRow[] }[];
  /** Absent if nothing is known to use a disk. */
  readonly next: ReturnType<typeof nextStep>;
}

export function topView(facts: TopFacts, question: TopQuestion, now: Date): TopView {
  const nodes = nodesInQuestion(facts, question, now);
  return {
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    ...rowsOf(nodes, facts, question),
    notes: [...notesOf(nodes, facts, now), ...kindNotes(nodes, question)],
    forecasts: forecastsOf(nodes, question),
  };
}

/** The nodes in question: those with a report, then those without. */
function nodesInQuestion(
  { reports, nodes, selected }: TopFacts,
  { kind, nodes: names }: TopQuestion,
  now: Date,
): readonly TopNode[] {
  const ofNodes = kind === 'namespaces' || kind === 'pods' ? undefined : selected;
  const reported = reports.map((report) => reportedNode(report, now));
  const known = new Set(reports.map(({ node }) => node));
  const silent = [...(nodes ?? [])]
    .filter((name) => !known.has(name))
    .map((name) => ({ name, hasReport: false, usage: undefined, time: undefined, stale: false }));
  return [...reported, ...silent].filter(
    ({ name }) => (names?.includes(name) ?? true) && (ofNodes?.has(name) ?? true),
  );
}

function diskRows(nodes: readonly TopNode[], { sortBy, nodes: names }: TopQuestion): TopDisk {
  const { kinds, ...sums } = diskSummary(nodes);
  const itemsOf = (rows: readonly DiskRow[]): readonly DiskRow[] =>
    sortBy === 'kind' ? rows : sortedBy(rows, sortValues.disk, sortBy);
  const measured = nodes.filter(({ usage }) => usage?.fileSystems !== undefined);
  const fileSystems = measured
    .filter(({ stale }) => !stale)
    .flatMap(({ name: node, usage }) =>
      fullestFirst(usage?.fileSystems ?? []).map(({ name, capacityBytes, usedBytes, usedPercent }) => ({
        node,
        name,
        capacityBytes,
        usedBytes,
        usedPercent,
      })),
    )
    .toSorted(byFullness);
  return {
    kind: 'TopDisk',
    ...sums,
    items: itemsOf(kinds),
    fileSystems,
    byNode: measured.map((node) => ({ node: node.name, items: itemsOf(diskSummary([node]).kinds) })),
    next: nextStep({ ...sums, kinds }, names),
  };
}

function rowsOf(nodes: readonly TopNode[], facts: TopFacts, question: TopQuestion): TopRows {
  const { kind, sortBy } = question;
  const usages = nodes.flatMap(({ usage }) => usage ?? []);
  switch (kind) {
    case 'disk':
      return diskRows(nodes, question);
    case 'nodes':
      return { kind: 'TopNodes', items: sortedBy(nodes.map(nodeRow), sortValues.nodes, sortBy) };
    case 'namespaces': {
      // It is unknown which of the others the filter selects.
      const isFiltered = facts.namespace !== undefined || facts.selected !== undefined;
      const rest = added(isFiltered ? [] : usages.map(({ otherNamespaces }) => otherNamespaces));
      const items = sortedBy(namespaceRows(nodes, facts), sortValues.namespaces, sortBy);
      return { kind: 'TopNamespaces', items, rest };
    }
    case 'workloads': {
      const items = sortedBy(workloadRows(nodes, facts.namespace), sortValues.workloads, sortBy);
      const others = usages.flatMap(({ otherWorkloads }) => otherWorkloads ?? []);
      const rest = {
        count: sum(others.map(({ count = 0 }) => count)),
        highestBytes: Math.max(0, ...others.map(({ highestBytes = 0 }) => highestBytes)),
      };
      return { kind: 'TopWorkloads', items, rest };
    }
    case 'pods': {
      const items = sortedBy(podRows(nodes, facts), sortValues.pods, sortBy);
      return { kind: 'TopPods', items, rest: restOfPods(items, usages, facts) };
    }
    case 'volumes': {
      const others = usages.flatMap(({ otherVolumes }) => otherVolumes ?? []);
      const percents = others.flatMap(({ highestPercent }) => highestPercent ?? []);
      const rest = {
        count: sum(others.map(({ count = 0 }) => count)),
        highestPercent: percents.length === 0 ? undefined : Math.max(...percents),
        unknownCount: sum(others.map(({ unknownCount = 0 }) => unknownCount)),
        fillingCount: sum(others.map(({ fillingCount = 0 }) => fillingCount)),
      };
      const items = sortedBy(volumeRows(nodes, facts), sortValues.volumes, sortBy);
      return { kind: 'TopVolumes', items, rest };
    }
    case 'images': {
      const rest = added(usages.map(({ otherImages }) => otherImages));
      return { kind: 'TopImages', items: sortedBy(imageRows(nodes), sortValues.images, sortBy), rest };
    }
  }
}

/** Absent numbers are those of nodes that list everything. */
interface Part {
  readonly count?: number | undefined;
  readonly bytes?: number | undefined;
}

const added = (parts: readonly (Part | undefined)[]) => ({
  count: sum(parts.map((part) => part?.count ?? 0)),
  bytes: sum(parts.map((part) => part?.bytes ?? 0)),
});

/** The sizes of pods that are selected by their labels are unknown if they are not listed. */
function restOfPods(
  items: readonly PodRow[],
  usages: readonly NodeGCReportStatusUsage[],
  { namespace, selected }: TopFacts,
): Rest {
  if (selected !== undefined) return { count: Math.max(0, selected.size - items.length), bytes: undefined };
  const isListed = (usage: NodeGCReportStatusUsage): boolean =>
    usage.otherNamespaces === undefined || (usage.namespaces ?? []).some(({ name }) => name === namespace);
  if (namespace !== undefined && !usages.every(isListed)) return { count: undefined, bytes: undefined };
  const all = added(usages.map((usage) => measuredPods(usage, namespace)));
  const listed = added(items);
  return {
    count: Math.max(0, all.count - items.length),
    bytes: Math.max(0, all.bytes - listed.bytes),
  };
}

/** `namespace` undefined = of all. */
function measuredPods(
  { podCount, namespaces = [], otherNamespaces }: NodeGCReportStatusUsage,
  namespace: string | undefined,
): Part {
  if (namespace === undefined)
    return { count: podCount, bytes: added([...namespaces, otherNamespaces]).bytes };
  const one = namespaces.find(({ name }) => name === namespace);
  return { count: one?.pods, bytes: one?.bytes };
}

const mostForecasts = 3;

/** Those of the nodes that are full first. */
function forecastsOf(nodes: readonly TopNode[], { kind, nodes: names }: TopQuestion) {
  const forecasts = sortedBy(nodes.map(nodeRow), sortValues.nodes, 'full').map(
    ({ name, measuredTime, stale, forecast, fileSystems }) => ({
      node: name,
      measuredTime,
      /** Whether it is older than 15 minutes. */
      stale,
      /** Absent if unknown, or if no disk is full within a week. */
      forecast,
      /** Of the fullest disk that grows; absent if none is known to grow. */
      growthBytesPerHour: fileSystems.flatMap((disk) => disk.growthBytesPerHour ?? [])[0],
    }),
  );
  if (names !== undefined) return forecasts;
  const current = forecasts.filter(({ forecast, stale }) => forecast !== undefined && !stale);
  return kind === 'nodes' ? current.slice(0, mostForecasts) : [];
}

interface TopNote {
  readonly reason: keyof typeof messages | 'PartlyUnknown';
  /** Empty = all of the nodes. */
  readonly nodes: readonly string[];
  readonly message: string;
}

const messages = {
  NoReport: `There is no report: no agent runs, or none has reported yet. ${firstValues}`,
  NodesUnknown: 'You may not list nodes: nodes without an agent are not shown.',
  NoAgent: 'No agent has reported, so the usage is unknown.',
  NoUsage: 'The report has no usage: the agent has just started, or has an older version.',
  Stale: `The values are older than ${staleMinutes} minutes: does the agent run, and is its clock right?`,
  NoMarks: 'The report has no high-water marks: the agent has an older version.',
  FewMarks:
    'The agent has watched for less than a day, or has not measured a running pod: what workloads that it does not list have used is unknown.',
  NoVolumes: 'The report has no volumes: they are not measured yet, or the agent has an older version.',
  NoPlaces:
    'The order of eviction is unknown: at least one pod is not measured, such as a new or a pending one; or all pods have finished.',
  ClockAhead: 'The clock of the node is ahead of the clock here: the age of the values is unknown.',
} as const;

/** What is unknown; nodes of which the same is unknown are in one note. */
function notesOf(nodes: readonly TopNode[], facts: TopFacts, now: Date): readonly TopNote[] {
  const ofAll = [
    ...(nodes.length === 0 ? (['NoReport'] as const) : []),
    ...(facts.nodes === undefined ? (['NodesUnknown'] as const) : []),
  ].map((reason) => ({ reason, nodes: [], message: messages[reason] }));
  const found = nodes.flatMap((node) => ofNode(node, now).map((note) => ({ note, node: node.name })));
  const groups = Map.groupBy(found, ({ note: { reason, message } }) => `${reason} ${message}`);
  const ofNodes = [...groups.values()].flatMap((group) =>
    group
      .slice(0, 1)
      .map(({ note: { reason, message } }) => ({ reason, nodes: group.map(({ node }) => node), message })),
  );
  return [...ofAll, ...ofNodes];
}

/** What a report may lack, and the kind that needs it. */
const lacks = [
  ['workloads', 'NoMarks', ({ workloads }: NodeGCReportStatusUsage) => workloads === undefined],
  ['workloads', 'FewMarks', isYoung],
  ['volumes', 'NoVolumes', ({ volumes }: NodeGCReportStatusUsage) => volumes === undefined],
  ['pods', 'NoPlaces', hasNoPlaces],
] as const;

/** A report lists the first places, however small the pods are. */
function hasNoPlaces({ pods = [] }: NodeGCReportStatusUsage): boolean {
  const evictable = pods.filter(({ priority }) => !isCritical({ configHash: undefined, priority }));
  return evictable.length > 0 && evictable.every(({ evictionPlace }) => evictionPlace === undefined);
}

const kindNotes = (nodes: readonly TopNode[], { kind }: TopQuestion): readonly TopNote[] =>
  lacks.flatMap(([of, reason, isLacking]) => {
    const lacking = nodes.filter(({ usage }) => of === kind && usage !== undefined && isLacking(usage));
    const names = lacking.map(({ name }) => name);
    return names.length === 0 ? [] : [{ reason, nodes: names, message: messages[reason] }];
  });

function ofNode({ hasReport, usage, time, stale }: TopNode, now: Date): readonly Omit<TopNote, 'nodes'>[] {
  const reasons: readonly (keyof typeof messages)[] = hasReport
    ? [
        ...(usage === undefined ? (['NoUsage'] as const) : []),
        ...(stale ? (['Stale'] as const) : []),
        ...(isAhead(time, now) ? (['ClockAhead'] as const) : []),
      ]
    : ['NoAgent'];
  const unknown = usage?.unknown;
  return [
    ...reasons.map((reason) => ({ reason, message: messages[reason] })),
    ...(unknown === undefined ? [] : [{ reason: 'PartlyUnknown', message: `Unknown: ${unknown}.` } as const]),
  ];
}

/** Clocks that are synchronized differ by less. */
const toleranceMs = 60_000;

/** Whether a time is in the future: a clock is wrong, so its age is unknown. */
export const isAhead = (time: string | undefined, now: Date): boolean =>
  time !== undefined && Date.parse(time) - now.getTime() > toleranceMs;
