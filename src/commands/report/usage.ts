import type {
  NodeGCReportStatusUsage,
  NodeGCReportStatusUsageFileSystem,
} from '../../api/gen/nodegcreport.gen.ts';
import type { UsageClass } from '../../agent/usage/facts.ts';
import { classNames } from '../../agent/usage/words.ts';
import { isStale, staleMinutes } from '../../api/report/fresh.ts';
import type { ReportedUsage } from '../../kube/cache/reports-with-usage.ts';
import { longSpanText } from '../../process/table.ts';
import { sum } from '../../runtime/sum.ts';
import { compactQuantityText } from '../../runtime/text/size-text.ts';
import type { PlanFacts } from '../../snapshot/plan-facts.ts';
import { firstOf } from '../../gc/reasons/words.ts';
import { byText } from '../../runtime/text/by-text.ts';
import { suggestionOf } from '../suggest/suggestions.ts';
import { namespaceRows, reportedNode, sortedBy, sortValues } from '../top/rows.ts';
import { workloadRows } from '../top/workloads.ts';

const diskClasses = Object.keys(classNames) as UsageClass[];

/** The order in which a disk is drawn: classes, used bytes of no known class, bytes that the file system reserves, and free bytes. */
export const diskParts = [...diskClasses, 'unknown', 'reserved', 'free'] as const;
type DiskPart = (typeof diskParts)[number];

export type UsageData = NonNullable<ReturnType<typeof usageData>>;
/** A disk and the parts that add up to its capacity. */
export type UsageBar = ReturnType<typeof barOf>;
/** How a disk fills, in a straight line from now. */
export type Curve = NonNullable<ReturnType<typeof curveOf>>;

/** Computes the usage from the reports of the nodes; undefined = there is neither a report nor a node. */
export function usageData({ usage = [], nodes }: PlanFacts, now: Date) {
  const names = [...(nodes?.values() ?? [])].map(({ name }) => name);
  if (usage.length === 0 && names.length === 0) return undefined;
  const reported = usage.map((report) => reportedNode(report, now));
  const disks = reported.flatMap(({ name: node, usage: known }) =>
    (known?.fileSystems ?? []).map((disk) => ({
      node,
      stale: isStale(known?.measuredTime, now),
      measuredTime: known?.measuredTime,
      disk,
    })),
  );
  const workloads = sortedBy(workloadRows(reported, undefined), sortValues.workloads, 'highest');
  return {
    /** Fullest first. */
    disks: disks.map(barOf).toSorted((a, b) => b.usedPercent - a.usedPercent || byText(a.node, b.node)),
    /** Largest first. */
    namespaces: sortedBy(namespaceRows(reported, everywhere), sortValues.namespaces, 'bytes'),
    /** Those of which a pod has used most first. */
    workloads,
    suggestions: workloads.map((row) => suggestionOf(row, undefined)),
    /** Disks that are full within a week at their present growth, the first one first: agents make no other forecasts. */
    curves: disks.flatMap((disk) => curveOf(disk, now) ?? []).toSorted((a, b) => a.fullInMs - b.fullInMs),
    /** One sentence for each unknown value, with its nodes. */
    unknown: unknownIn(usage, names, now),
  };
}

const everywhere = { namespace: undefined, selected: undefined };

interface DiskOfNode {
  readonly node: string;
  readonly stale: boolean;
  readonly measuredTime: string | undefined;
  readonly disk: NodeGCReportStatusUsageFileSystem;
}

const percentUsed = ({ availableBytes, capacityBytes }: NodeGCReportStatusUsageFileSystem): number =>
  Math.max(0, 100 * (1 - availableBytes / capacityBytes));

function barOf({ node, stale, disk }: DiskOfNode) {
  const { name, capacityBytes, usedBytes, availableBytes } = disk;
  const classes = diskClasses.map((part) => ({ part, bytes: disk[part] ?? 0 }));
  const parts = [
    ...classes,
    { part: 'unknown' as const, bytes: usedBytes - sum(classes.map(({ bytes }) => bytes)) },
    { part: 'reserved' as const, bytes: capacityBytes - usedBytes - availableBytes },
    { part: 'free' as const, bytes: availableBytes },
  ];
  return {
    node,
    /** Such as `imagefs`. */
    name,
    stale,
    capacityBytes,
    /** From 0 to 100: all that is not available. */
    usedPercent: percentUsed(disk),
    /** Only those that are not empty. */
    parts: parts.filter(({ bytes }) => bytes > 0),
  };
}

/** A stale value does not predict when a disk is full. */
function curveOf({ node, stale, measuredTime = '', disk }: DiskOfNode, now: Date) {
  // The clock of the node may be ahead.
  const from = new Date(Math.max(now.getTime(), Date.parse(measuredTime) || 0));
  const { name, growthBytesPerHour, fullTime } = disk;
  if (stale || fullTime === undefined) return undefined;
  return {
    node,
    name,
    usedPercent: percentUsed(disk),
    growthBytesPerHour,
    /** 0 = the time has passed. */
    fullInMs: msUntil(fullTime, from),
    /** undefined = unknown. */
    afterCollection: afterCollection(disk, from),
  };
}

const msUntil = (time: string, now: Date): number => Math.max(0, Date.parse(time) - now.getTime());

/** An agent that knows the collectable bytes and when the disk is full leaves out this later time if there is none. */
function afterCollection(disk: NodeGCReportStatusUsageFileSystem, now: Date) {
  const { collectableBytes, capacityBytes, fullAfterCollectionTime: time } = disk;
  if (collectableBytes === undefined) return undefined;
  return {
    usedPercent: Math.max(0, percentUsed(disk) - (100 * collectableBytes) / capacityBytes),
    /** Infinity = collection keeps up with the growth. */
    fullInMs: time === undefined ? Infinity : msUntil(time, now),
  };
}

const maxNames = 3;
const maxSentences = 10;

function unknownIn(usage: readonly ReportedUsage[], nodes: readonly string[], now: Date): readonly string[] {
  const reporting = new Set(usage.map(({ node }) => node));
  const silent = nodes.filter((node) => !reporting.has(node));
  const found = [
    ...silent.map((node) => ({ node, what: 'there is no report.' })),
    ...usage.flatMap((report) => unknownOf(report.usage, now).map((what) => ({ node: report.node, what }))),
  ];
  const groups = [...Map.groupBy(found, ({ what }) => what)].toSorted((a, b) => b[1].length - a[1].length);
  const sentences = groups.slice(0, maxSentences).map(([what, list]) => {
    const names = list.map(({ node }) => node).toSorted();
    return `${firstOf(names, maxNames)}: ${what}`;
  });
  const more = groups.length - sentences.length;
  return more === 0 ? sentences : [...sentences, `And ${more} more.`];
}

function unknownOf(usage: ReportedUsage['usage'], now: Date): readonly string[] {
  if (usage?.fileSystems === undefined) return ['the report has no usage of disks.'];
  return [
    ...(isStale(usage.measuredTime, now) ? [`the values are older than ${staleMinutes} minutes.`] : []),
    ...(usage.unknown === undefined ? [] : [`unknown: ${usage.unknown}.`]),
    ...podsUnknown(usage),
    ...(usage.workloads === undefined ? ['the report has no high-water marks.'] : []),
  ];
}

function podsUnknown({ namespaces, otherNamespaces }: NodeGCReportStatusUsage): readonly string[] {
  if (namespaces === undefined) return ['the report has no usage of namespaces.'];
  return otherNamespaces === undefined ? [] : ['the report lacks the smallest namespaces.'];
}

export const partNames: Readonly<Record<DiskPart, string>> = Object.assign(
  { unknown: 'unknown', reserved: 'reserved', free: 'free' },
  classNames,
);

/** Only the parts that one of the disks has, in the order of the bars. */
export const usedParts = (disks: readonly UsageBar[]): readonly DiskPart[] => {
  const used = new Set(disks.flatMap(({ parts }) => parts.map(({ part }) => part)));
  return diskParts.filter((part) => used.has(part));
};

/** Such as `imagefs`, or `imagefs, stale`. */
export const diskName = ({ name, stale }: UsageBar): string => (stale ? `${name}, stale` : name);

export const percentText = (percent: number): string => `${Math.round(percent)} %`;

/** Empty for a growth that is unknown, or that is none. */
export const growthText = (bytesPerHour: number | undefined): string =>
  bytesPerHour === undefined ? '' : `${compactQuantityText(bytesPerHour)}/h`;

export const fullText = (ms: number): string => (ms === 0 ? 'now' : `in ${longSpanText(ms)}`);

export function afterText(after: Curve['afterCollection']): string {
  if (after === undefined) return 'unknown';
  return after.fullInMs === Infinity ? 'never' : fullText(after.fullInMs);
}
