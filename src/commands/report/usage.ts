import type {
  NodeGCReportStatusUsage,
  NodeGCReportStatusUsageFileSystem,
} from '../../api/gen/nodegcreport.gen.ts';
import { isStale, staleMinutes } from '../../api/report/fresh.ts';
import type { ReportedUsage } from '../../kube/cache/reports-with-usage.ts';
import type { PlanFacts } from '../../snapshot/plan-facts.ts';
import { firstOf } from '../../gc/reasons/words.ts';

/** Each is a field of the report, without `Bytes`. */
const diskClasses = ['imagesInUse', 'imagesUnused', 'layers', 'volumes', 'logs', 'orphans', 'other'] as const;

/** The order in which a disk is drawn: classes, used bytes of no known class, bytes that the file system reserves, and free bytes. */
export const diskParts = [...diskClasses, 'unknown', 'reserved', 'free'] as const;
export type DiskPart = (typeof diskParts)[number];

/** A disk and the parts that add up to its capacity. */
export interface UsageBar {
  readonly node: string;
  /** Such as `imagefs`. */
  readonly name: string;
  /** Whether the values are older than 15 minutes. */
  readonly stale: boolean;
  readonly capacityBytes: number;
  /** From 0 to 100: all that is not available. */
  readonly usedPercent: number;
  /** Only those that are not empty. */
  readonly parts: readonly { readonly part: DiskPart; readonly bytes: number }[];
}

/** All pods of a namespace, on all nodes whose pods were measured. */
interface NamespaceUse {
  readonly name: string;
  readonly bytes: number;
  readonly nodes: number;
  /** undefined = unknown, or nothing grows. */
  readonly growthBytesPerHour: number | undefined;
}

/** How a disk fills, in a straight line from now. */
export interface Curve {
  readonly node: string;
  readonly name: string;
  readonly usedPercent: number;
  readonly growthBytesPerHour: number | undefined;
  /** 0 = the time has passed. */
  readonly fullInMs: number;
  /** undefined = unknown. */
  readonly afterCollection: AfterCollection | undefined;
}

interface AfterCollection {
  readonly usedPercent: number;
  /** Infinity = collection keeps up with the growth. */
  readonly fullInMs: number;
}

/** What uses the disks of all nodes, and when they are full. */
export interface UsageData {
  /** Fullest first. */
  readonly disks: readonly UsageBar[];
  /** Largest first. */
  readonly namespaces: readonly NamespaceUse[];
  /** Disks that are full within a week at their present growth, the first one first: agents make no other forecasts. */
  readonly curves: readonly Curve[];
  /** One sentence for each unknown value, with its nodes. */
  readonly unknown: readonly string[];
}

/** Computes the usage from the reports of the nodes; undefined = there is neither a report nor a node. */
export function usageData({ usage = [], nodes }: PlanFacts, now: Date): UsageData | undefined {
  const names = [...(nodes?.values() ?? [])].map(({ name }) => name);
  if (usage.length === 0 && names.length === 0) return undefined;
  const disks = usage.flatMap((report) =>
    (report.usage?.fileSystems ?? []).map((disk) => ({
      node: report.node,
      stale: isStale(report.usage?.measuredTime, now),
      measuredTime: report.usage?.measuredTime,
      disk,
    })),
  );
  return {
    disks: disks.map(barOf).toSorted((a, b) => b.usedPercent - a.usedPercent || byText(a.node, b.node)),
    namespaces: namespacesOf(usage),
    curves: disks.flatMap((one) => curveOf(one, now) ?? []).toSorted((a, b) => a.fullInMs - b.fullInMs),
    unknown: unknownIn(usage, names, now),
  };
}

const byText = (a: string, b: string): number => (a < b ? -1 : 1);

interface DiskOfNode {
  readonly node: string;
  readonly stale: boolean;
  readonly measuredTime: string | undefined;
  readonly disk: NodeGCReportStatusUsageFileSystem;
}

const percentUsed = ({ availableBytes, capacityBytes }: NodeGCReportStatusUsageFileSystem): number =>
  Math.max(0, 100 * (1 - availableBytes / capacityBytes));

function barOf({ node, stale, disk }: DiskOfNode): UsageBar {
  const { name, capacityBytes, usedBytes, availableBytes } = disk;
  const classes = diskClasses.map((part) => ({ part, bytes: disk[`${part}Bytes`] ?? 0 }));
  const parts = [
    ...classes,
    { part: 'unknown' as const, bytes: usedBytes - sum(classes.map(({ bytes }) => bytes)) },
    { part: 'reserved' as const, bytes: capacityBytes - usedBytes - availableBytes },
    { part: 'free' as const, bytes: availableBytes },
  ];
  return {
    node,
    name,
    stale,
    capacityBytes,
    usedPercent: percentUsed(disk),
    parts: parts.filter(({ bytes }) => bytes > 0),
  };
}

function namespacesOf(usage: readonly ReportedUsage[]): readonly NamespaceUse[] {
  const found = Map.groupBy(
    usage.flatMap((report) => report.usage?.namespaces ?? []),
    ({ name }) => name,
  );
  return [...found]
    .map(([name, list]) => {
      const growths = list.flatMap(({ growthBytesPerHour }) => growthBytesPerHour ?? []);
      return {
        name,
        bytes: sum(list.map(({ bytes }) => bytes)),
        nodes: list.length,
        growthBytesPerHour: growths.length === 0 ? undefined : sum(growths),
      };
    })
    .toSorted((a, b) => b.bytes - a.bytes || byText(a.name, b.name));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0);

/** A stale value does not predict when a disk is full. */
function curveOf({ node, stale, measuredTime = '', disk }: DiskOfNode, now: Date): Curve | undefined {
  // The clock of the node may be ahead.
  const from = new Date(Math.max(now.getTime(), Date.parse(measuredTime) || 0));
  const { name, growthBytesPerHour, fullTime } = disk;
  if (stale || fullTime === undefined) return undefined;
  return {
    node,
    name,
    usedPercent: percentUsed(disk),
    growthBytesPerHour,
    fullInMs: msUntil(fullTime, from),
    afterCollection: afterCollection(disk, from),
  };
}

const msUntil = (time: string, now: Date): number => Math.max(0, Date.parse(time) - now.getTime());

/** An agent that knows the collectable bytes and when the disk is full leaves out this later time if there is none. */
function afterCollection(disk: NodeGCReportStatusUsageFileSystem, now: Date): AfterCollection | undefined {
  const { collectableBytes, capacityBytes, fullAfterCollectionTime: time } = disk;
  if (collectableBytes === undefined) return undefined;
  return {
    usedPercent: Math.max(0, percentUsed(disk) - (100 * collectableBytes) / capacityBytes),
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
  ];
}

function podsUnknown({ namespaces, otherNamespaces }: NodeGCReportStatusUsage): readonly string[] {
  if (namespaces === undefined) return ['the report has no usage of namespaces.'];
  return otherNamespaces === undefined ? [] : ['the report lacks the smallest namespaces.'];
}
