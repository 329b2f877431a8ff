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

/** What the reports of the nodes that a policy governs show. */
export interface NodesSeen {
  readonly counts: NodeRollup;
  /** Of the entries of nodes.imageGC.remove that have not ended. */
  readonly removals: readonly RemovalProgress[];
  /** undefined = the policy has no patterns, or a node has not reported about them. */
  readonly unmatched: UnmatchedImages | undefined;
}

interface GovernedNode {
  readonly node: Pick<NodeFacts, 'name' | 'labels'>;
  /** undefined = none that is recent. */
  readonly report: NodeReportFacts | undefined;
}

/** Compares the reports of the nodes with the policies that govern them, by UID of the policy; only for policies with rules for nodes. */
export function rollUpNodes(
  ranked: readonly (Policy | InvalidPolicy)[],
  {
    nodes,
    reports,
  }: { readonly nodes: Iterable<GovernedNode['node']>; readonly reports: Iterable<NodeReportFacts> },
  now: Date,
): ReadonlyMap<string, NodesSeen> {
  const byNode = new Map<string, NodeReportFacts>();
  for (const report of reports) if (isFresh(report.reportedAtMs, now)) byNode.set(report.name, report);
  const policyOf = nodeMatcher(ranked);
  const byPolicy = Map.groupBy(nodes, ({ labels }) => policyOf(labels)?.uid);
  return new Map(
    ranked.flatMap((policy) => {
      if (isInvalid(policy) || policy.nodes === undefined) return [];
      const governed = (byPolicy.get(policy.uid) ?? []).map((node) => ({
        node,
        report: byNode.get(node.name),
      }));
      const entries = removeEntriesOf(policy).filter((entry) => !hasEnded(entry, now));
      const removals = entries.map(({ image }) => progressOf(image, policy, governed));
      return [
        [
          policy.uid,
          { counts: countsOf(policy, governed), removals, unmatched: unmatchedIn(policy, governed) },
        ],
      ];
    }),
  );
}

/** Removable objects count only if the report names this policy: under another policy the agent applied other rules. */
function countsOf({ uid, generation }: Policy, governed: readonly GovernedNode[]): NodeRollup {
  const recent = governed.flatMap(({ report }) => report ?? []);
  const underPolicy = recent.filter(({ policyUid }) => policyUid === uid);
  const sum = (count: (report: NodeReportFacts) => number | boolean): number =>
    underPolicy.reduce((total, report) => total + Number(count(report)), 0);
  return {
    desired: governed.length,
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

export const removeEntriesOf = (policy: Policy | InvalidPolicy): readonly RemoveEntry[] =>
  isInvalid(policy) ? [] : (policy.nodes?.imageGC?.remove ?? []);

/** Only a report that names this policy counts. */
function progressOf(image: string, { uid }: Policy, governed: readonly GovernedNode[]): RemovalProgress {
  const left = governed.flatMap(({ report }) =>
    report?.policyUid === uid ? (report.removeList.find((entry) => entry.image === image) ?? []) : [],
  );
  return {
    image,
    matched: left.some(({ matched }) => matched),
    nodes: governed.length,
    gone: left.filter(({ inUse, kept, untagged }) => inUse + kept + untagged === 0).length,
    inUse: left.filter(({ inUse }) => inUse > 0).length,
    kept: left.filter(({ kept }) => kept > 0).length,
    untagged: left.filter(({ inUse, kept, untagged }) => inUse + kept === 0 && untagged > 0).length,
    unknown: governed.length - left.length,
  };
}

/** Patterns of nodes.imageGC that match no image on any governed node. */
export interface UnmatchedImages {
  /** Number of the governed nodes, but for those with the keep label. */
  readonly nodes: number;
  readonly lists: readonly { readonly list: string; readonly patterns: readonly string[] }[];
}

/** undefined also while one of the nodes has no fresh report under the present generation of the policy. */
function unmatchedIn(
  { uid, generation, nodes }: Policy,
  governed: readonly GovernedNode[],
): UnmatchedImages | undefined {
  const lists = nodes?.imageGC && patternLists(nodes.imageGC);
  if (lists === undefined || patternListNames.every((list) => lists[list].length === 0)) return undefined;
  // The agents of the others remove nothing, and compare nothing.
  const comparing = governed.filter(({ node }) => !hasKeepLabel(node));
  const known = comparing.flatMap(({ report }) =>
    report?.policyUid === uid && report.policyGeneration === generation ? (report.unmatched ?? []) : [],
  );
  const isWhole = comparing.length > 0 && known.length === comparing.length;
  return isWhole ? { nodes: comparing.length, lists: unmatchedByAll(lists, known) } : undefined;
}

function unmatchedByAll(
  lists: ReturnType<typeof patternLists>,
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
