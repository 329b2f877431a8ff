import type {
  NodeGCReportStatusUsage,
  NodeGCReportStatusUsageNamespace,
} from '../../api/gen/nodegcreport.gen.ts';
import { isStale } from '../../api/report/fresh.ts';
import type { ReportedUsage } from '../../kube/cache/reports-with-usage.ts';
import type { TopQuestion } from './command.ts';

/** What is read for a question. */
export interface TopFacts {
  readonly reports: readonly ReportedUsage[];
  /** All nodes of the cluster; undefined = they may not be listed. */
  readonly nodes: ReadonlySet<string> | undefined;
  /** The objects that `--selector` selects: names of nodes or namespaces, UIDs of pods; undefined = all. */
  readonly selected: ReadonlySet<string> | undefined;
  /** For namespaces and pods; undefined = all. */
  readonly namespace: string | undefined;
}

/** A node in question. */
export interface TopNode {
  readonly name: string;
  readonly hasReport: boolean;
  /** undefined = it has no agent, or an older one, or one that has not measured yet. */
  readonly usage: NodeGCReportStatusUsage | undefined;
  /** Of the values; without values of the report. RFC 3339. */
  readonly time: string | undefined;
  readonly stale: boolean;
}

/** The nodes in question: those with a report, then those without. */
export function nodesInQuestion(
  { reports, nodes, selected }: TopFacts,
  { kind, nodes: names }: Pick<TopQuestion, 'kind' | 'nodes'>,
  now: Date,
): readonly TopNode[] {
  const ofNodes = kind === 'nodes' || kind === 'images' ? selected : undefined;
  const reported = reports.map(({ node, usage, reportTime }) => {
    const time = usage?.measuredTime ?? reportTime;
    return { name: node, hasReport: true, usage, time, stale: isStale(time, now) };
  });
  const known = new Set(reports.map(({ node }) => node));
  const silent = [...(nodes ?? [])]
    .filter((name) => !known.has(name))
    .map((name) => ({ name, hasReport: false, usage: undefined, time: undefined, stale: false }));
  return [...reported, ...silent].filter(
    ({ name }) => (names?.includes(name) ?? true) && (ofNodes?.has(name) ?? true),
  );
}

/** Clocks that are synchronized differ by less. */
const toleranceMs = 60_000;

/** Whether a time is in the future: a clock is wrong, so its age is unknown. */
export const isAhead = (time: string | undefined, now: Date): boolean =>
  time !== undefined && Date.parse(time) - now.getTime() > toleranceMs;

type Namespaces = readonly NodeGCReportStatusUsageNamespace[];

/** undefined = there is none. A report lists the largest first. */
export const largest = (namespaces: Namespaces): Namespaces[number] | undefined => namespaces[0];

/** The namespace that grows fastest; undefined = none is known to grow. */
export const fastest = (namespaces: Namespaces): Namespaces[number] | undefined =>
  namespaces
    .filter(({ growthBytesPerHour = 0 }) => growthBytesPerHour > 0)
    .toSorted((a, b) => (b.growthBytesPerHour ?? 0) - (a.growthBytesPerHour ?? 0))[0];
