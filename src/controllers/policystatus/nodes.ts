import type { GCPolicyStatusNodes } from '../../api/gen/gcpolicy.gen.ts';
import { hasKeepLabel, nodeMatcher } from '../../api/policy/matching.ts';
import {
  hasEnded,
  isInvalid,
  type InvalidPolicy,
  type Policy,
  type RemoveEntry,
} from '../../api/policy/policy.ts';
import { patternListNames, patternLists } from '../../api/policy/unmatched.ts';
import { isFresh } from '../../api/report/fresh.ts';
import type { NodeReportFacts, UnmatchedEntries } from '../../kube/cache/node-report-facts.ts';
import type { NodeFacts } from '../../kube/cache/objects.ts';

/** status.nodes of a GCPolicy: sums of the reports of the governed nodes. */
export type NodeRollup = Readonly<Record<keyof GCPolicyStatusNodes, number>>;

/** Arrays: an iterator of a cache would be empty for the second reader. */
interface ObservedNodes {
  readonly nodes: readonly Pick<NodeFacts, 'name' | 'labels'>[];
  readonly reports: readonly NodeReportFacts[];
}

/** Adds up the reports of the nodes that each policy governs, by UID of the policy; only for policies with rules for nodes. */
export function rollUpNodes(
  ranked: readonly (Policy | InvalidPolicy)[],
  observed: ObservedNodes,
  now: Date,
): ReadonlyMap<string, NodeRollup> {
  const reportsOf = governedNodes(ranked, observed, now);
  return new Map(
    ranked.flatMap((policy) =>
      isInvalid(policy) || policy.nodes === undefined
        ? []
        : [[policy.uid, rollUp(policy, reportsOf(policy.uid))]],
    ),
  );
}

/** Removable objects count only if the report names this policy: under another policy the agent applied other rules. */
function rollUp({ uid, generation }: Policy, reports: readonly RecentReport[]): NodeRollup {
  const recent = reports.filter((report) => report !== undefined);
  const underPolicy = recent.filter(({ policyUid }) => policyUid === uid);
  const sum = (count: (report: NodeReportFacts) => number | boolean): number =>
    underPolicy.reduce((total, report) => total + Number(count(report)), 0);
  return {
    desired: reports.length,
    upToDate: sum(({ policyGeneration }) => policyGeneration === generation),
    degraded: recent.filter(({ degraded }) => degraded).length,
    keepListAtRisk: sum(({ keepListAtRisk }) => keepListAtRisk),
    holding: sum(({ holding }) => holding),
    imagesRemovable: sum(({ imagesRemovable }) => imagesRemovable),
    imageBytesReclaimable: sum(({ imageBytesRemovable }) => imageBytesRemovable),
    imageBytesReclaimed: sum(({ imageBytesFreed }) => imageBytesFreed),
    containersRemovable: sum(({ containersRemovable }) => containersRemovable),
    storageWarnings: sum(({ storageWarnings }) => storageWarnings),
    evictionRequests: sum(({ evictionRequests }) => evictionRequests),
  };
}

/** The report of a governed node; undefined = it has none that is recent. */
type RecentReport = NodeReportFacts | undefined;

/** Returns a function that finds the reports of the nodes that a policy governs, by its UID. */
function governedNodes(
  ranked: readonly (Policy | InvalidPolicy)[],
  { nodes, reports }: ObservedNodes,
  now: Date,
): (uid: string) => readonly RecentReport[] {
  const fresh = reports.filter(({ reportedAtMs }) => isFresh(reportedAtMs, now));
  const byNode = new Map(fresh.map((report) => [report.name, report]));
  const governorOf = nodeMatcher(ranked);
  const governed = Map.groupBy(nodes, ({ labels }) => governorOf(labels)?.uid);
  return (uid) => (governed.get(uid) ?? []).map(({ name }) => byNode.get(name));
}

/** How far an entry of nodes.imageGC.remove is: numbers of governed nodes. A node may be both in `inUse` and in `kept`. */
export interface RemovalProgress {
  readonly image: string;
  /** A node reports that the entry has matched an image, also one that is removed by now. */
  readonly matched: boolean;
  readonly nodes: number;
  /** None of the images is left. */
  readonly gone: number;
  readonly inUse: number;
  readonly kept: number;
  /** Nodes of which all images left have no tag: these may be others. */
  readonly untagged: number;
  /** No recent report about the entry. */
  readonly unknown: number;
}

/** The progress of the entries of nodes.imageGC.remove that have not ended, by UID of the policy. */
export function rollUpRemovals(
  ranked: readonly (Policy | InvalidPolicy)[],
  observed: ObservedNodes,
  now: Date,
): ReadonlyMap<string, readonly RemovalProgress[]> {
  const listing = ranked.flatMap((policy) => {
    const entries = removeEntriesOf(policy).filter((entry) => !hasEnded(entry, now));
    return entries.length === 0 ? [] : [{ uid: policy.uid, entries }];
  });
  if (listing.length === 0) return new Map();
  const reportsOf = governedNodes(ranked, observed, now);
  return new Map(
    listing.map(({ uid, entries }) => {
      const reports = reportsOf(uid);
      return [uid, entries.map(({ image }) => progressOf(image, uid, reports))];
    }),
  );
}

export const removeEntriesOf = (policy: Policy | InvalidPolicy): readonly RemoveEntry[] =>
  isInvalid(policy) ? [] : (policy.nodes?.imageGC?.remove ?? []);

/** Only a report that names this policy counts. */
function progressOf(image: string, uid: string, reports: readonly RecentReport[]): RemovalProgress {
  const left = reports.flatMap((report) => {
    const entry = report?.removeList.find((one) => one.image === image);
    return report?.policyUid === uid && entry !== undefined ? [entry] : [];
  });
  return {
    image,
    matched: left.some(({ matched }) => matched),
    nodes: reports.length,
    gone: left.filter(({ inUse, kept, untagged }) => inUse + kept + untagged === 0).length,
    inUse: left.filter(({ inUse }) => inUse > 0).length,
    kept: left.filter(({ kept }) => kept > 0).length,
    untagged: left.filter(({ inUse, kept, untagged }) => inUse + kept === 0 && untagged > 0).length,
    unknown: reports.length - left.length,
  };
}

/** Patterns of nodes.imageGC that match no image on any governed node. */
export interface UnmatchedImages {
  /** Number of the governed nodes, but for those with the keep label. */
  readonly nodes: number;
  readonly lists: readonly { readonly list: string; readonly patterns: readonly string[] }[];
}

/** By UID of the policy. A policy is missing while one of its nodes has no fresh report under its present generation. */
export function rollUpUnmatched(
  ranked: readonly (Policy | InvalidPolicy)[],
  { nodes, reports }: ObservedNodes,
  now: Date,
): ReadonlyMap<string, UnmatchedImages> {
  const listing = ranked.flatMap((policy) => {
    const rule = isInvalid(policy) ? undefined : policy.nodes?.imageGC;
    const lists = rule && patternLists(rule);
    return lists && hasPatterns(lists) ? [{ policy, lists }] : [];
  });
  if (listing.length === 0) return new Map();
  // Their agents remove nothing, and compare nothing.
  const unlabelled = nodes.filter((node) => !hasKeepLabel(node));
  const reportsOf = governedNodes(ranked, { nodes: unlabelled, reports }, now);
  return new Map(
    listing.flatMap(({ policy, lists }) => {
      const governed = reportsOf(policy.uid);
      const known = governed.flatMap((report) => (isCurrent(report, policy) ? (report.unmatched ?? []) : []));
      const isWhole = governed.length > 0 && known.length === governed.length;
      return isWhole ? [[policy.uid, { nodes: governed.length, lists: unmatchedByAll(lists, known) }]] : [];
    }),
  );
}

type PatternLists = ReturnType<typeof patternLists>;

const hasPatterns = (lists: PatternLists): boolean => patternListNames.some((list) => lists[list].length > 0);

const isCurrent = (
  report: RecentReport,
  { uid, generation }: Pick<Policy, 'uid' | 'generation'>,
): report is NodeReportFacts => report?.policyUid === uid && report.policyGeneration === generation;

function unmatchedByAll(
  lists: PatternLists,
  reported: readonly UnmatchedEntries[],
): UnmatchedImages['lists'] {
  const unmatched = patternListNames.map((list) => {
    // Many nodes share one array.
    const distinct = [...new Set(reported.map((entries) => entries[list]))];
    const patterns = lists[list].filter((_, index) => distinct.every((indexes) => indexes.includes(index)));
    return { list, patterns };
  });
  return unmatched.filter(({ patterns }) => patterns.length > 0);
}
