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
import type { UnmatchedEntries } from '../../api/report/node-pass.ts';
import type { NodeReportFacts } from '../../kube/cache/node-report-facts.ts';
import type { NodeFacts } from '../../kube/cache/objects.ts';

/** status.nodes of a GCPolicy: sums of the reports of the governed nodes. */
export interface NodeRollup {
  /** Nodes that the policy governs, with or without a report. */
  readonly desired: number;
  /** Governed nodes with a recent report under the current generation. */
  readonly upToDate: number;
  readonly degraded: number;
  readonly keepListAtRisk: number;
  /** Nodes on which a large removal of images waits. */
  readonly holding: number;
  readonly imagesRemovable: number;
  readonly imageBytesReclaimable: number;
  /** As each report counts them, since its totalsSince. */
  readonly imageBytesReclaimed: number;
  readonly containersRemovable: number;
  readonly storageWarnings: number;
  readonly evictionRequests: number;
}

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
  const rollups = new Map<string, NodeRollup>();
  for (const policy of ranked)
    if (!isInvalid(policy) && policy.nodes !== undefined) rollups.set(policy.uid, none);
  for (const [policy, report] of governedNodes(ranked, observed, now)) {
    const rollup = rollups.get(policy.uid);
    if (rollup !== undefined) rollups.set(policy.uid, add(rollup, countsOf(report, policy)));
  }
  return rollups;
}

/** Each governed node: its policy, and its report if that is recent. */
function governedNodes(
  ranked: readonly (Policy | InvalidPolicy)[],
  { nodes, reports }: ObservedNodes,
  now: Date,
): readonly (readonly [Policy | InvalidPolicy, NodeReportFacts | undefined])[] {
  const fresh = reports.filter(({ reportedAtMs }) => isFresh(reportedAtMs, now));
  const byNode = new Map(fresh.map((one) => [one.name, one]));
  const governorOf = nodeMatcher(ranked);
  return nodes.flatMap(({ name, labels }) => {
    const policy = governorOf(labels);
    return policy === undefined ? [] : [[policy, byNode.get(name)] as const];
  });
}

/** How far an entry of nodes.imageGC.remove is: numbers of governed nodes. A node may be both in `inUse` and in `kept`. */
export interface RemovalProgress {
  readonly image: string;
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
  const governed = listing.length === 0 ? [] : governedNodes(ranked, observed, now);
  return new Map(
    listing.map(({ uid, entries }) => {
      const reports = governed.flatMap(([policy, report]) => (policy.uid === uid ? [report] : []));
      return [uid, entries.map(({ image }) => progressOf(image, uid, reports))];
    }),
  );
}

export const removeEntriesOf = (policy: Policy | InvalidPolicy): readonly RemoveEntry[] =>
  isInvalid(policy) ? [] : (policy.nodes?.imageGC?.remove ?? []);

/** Only a report that names this policy counts. */
function progressOf(
  image: string,
  uid: string,
  reports: readonly (NodeReportFacts | undefined)[],
): RemovalProgress {
  const left = reports.flatMap((report) => {
    const entry = report?.removeList.find((one) => one.image === image);
    return report?.policyUid === uid && entry !== undefined ? [entry] : [];
  });
  return {
    image,
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
  // Their agents remove nothing, and compare nothing.
  const unlabelled = nodes.filter((node) => !hasKeepLabel(node));
  const governed = listing.length === 0 ? [] : governedNodes(ranked, { nodes: unlabelled, reports }, now);
  return new Map(
    listing.flatMap(({ policy, lists }) => {
      const own = governed.filter(([{ uid }]) => uid === policy.uid);
      const known = own.flatMap(([, report]) => (isCurrent(report, policy) ? (report.unmatched ?? []) : []));
      const isWhole = own.length > 0 && known.length === own.length;
      return isWhole ? [[policy.uid, { nodes: own.length, lists: unmatchedByAll(lists, known) }]] : [];
    }),
  );
}

type PatternLists = ReturnType<typeof patternLists>;

const hasPatterns = (lists: PatternLists): boolean => patternListNames.some((list) => lists[list].length > 0);

const isCurrent = (
  report: NodeReportFacts | undefined,
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

const none: NodeRollup = {
  desired: 0,
  upToDate: 0,
  degraded: 0,
  keepListAtRisk: 0,
  holding: 0,
  imagesRemovable: 0,
  imageBytesReclaimable: 0,
  imageBytesReclaimed: 0,
  containersRemovable: 0,
  storageWarnings: 0,
  evictionRequests: 0,
};

/** The counts of one node. Removable objects count only if the report names this policy: under another policy the agent applied other rules. */
function countsOf(
  report: NodeReportFacts | undefined,
  policy: Pick<Policy, 'uid' | 'generation'>,
): NodeRollup {
  if (report === undefined) return { ...none, desired: 1 };
  const seen = { ...none, desired: 1, degraded: Number(report.degraded) };
  if (report.policyUid !== policy.uid) return seen;
  return {
    ...seen,
    upToDate: Number(report.policyGeneration === policy.generation),
    keepListAtRisk: Number(report.keepListAtRisk),
    holding: Number(report.holding),
    imagesRemovable: report.imagesRemovable,
    imageBytesReclaimable: report.imageBytesRemovable,
    imageBytesReclaimed: report.imageBytesFreed,
    containersRemovable: report.containersRemovable,
    storageWarnings: report.storageWarnings,
    evictionRequests: report.evictionRequests,
  };
}

const maxCount = 2 ** 31 - 1;
const count = (sum: number): number => Math.min(sum, maxCount);
const bytes = (sum: number): number => Math.min(sum, Number.MAX_SAFE_INTEGER);

/** Within the bounds of the CRD: the API server would reject the whole status for one value above them. */
const add = (a: NodeRollup, b: NodeRollup): NodeRollup => ({
  desired: count(a.desired + b.desired),
  upToDate: count(a.upToDate + b.upToDate),
  degraded: count(a.degraded + b.degraded),
  keepListAtRisk: count(a.keepListAtRisk + b.keepListAtRisk),
  holding: count(a.holding + b.holding),
  imagesRemovable: count(a.imagesRemovable + b.imagesRemovable),
  imageBytesReclaimable: bytes(a.imageBytesReclaimable + b.imageBytesReclaimable),
  imageBytesReclaimed: bytes(a.imageBytesReclaimed + b.imageBytesReclaimed),
  containersRemovable: count(a.containersRemovable + b.containersRemovable),
  storageWarnings: count(a.storageWarnings + b.storageWarnings),
  evictionRequests: count(a.evictionRequests + b.evictionRequests),
});
