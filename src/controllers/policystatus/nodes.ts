import { nodeMatcher } from '../../api/policy/matching.ts';
import { isInvalid, type InvalidPolicy, type Policy } from '../../api/policy/policy.ts';
import type { NodeReportFacts } from '../../kube/cache/node-report-facts.ts';
import type { NodeFacts } from '../../kube/cache/objects.ts';

/** status.nodes of a GCPolicy: figures of the reports of the governed nodes. */
export interface NodeRollup {
  /** Nodes that the policy governs, whether they report or not. */
  readonly desired: number;
  /** Of those, the ones that reported lately and under the current generation. */
  readonly upToDate: number;
  readonly degraded: number;
  readonly keepListAtRisk: number;
  readonly imagesRemovable: number;
  readonly imageBytesReclaimable: number;
  /** As the agents count since they started. */
  readonly imageBytesReclaimed: number;
  readonly containersRemovable: number;
  readonly storageWarnings: number;
  readonly evictionRequests: number;
}

interface NodeWorld {
  readonly nodes: Iterable<Pick<NodeFacts, 'name' | 'labels'>>;
  readonly reports: Iterable<NodeReportFacts>;
}

/** An agent reports every 5 min; one that was silent for three times that does not count as reporting. */
const staleMs = 15 * 60_000;

/** Adds up, by the UID of the policy, what the nodes that it governs report; policies that say nothing about nodes have no figures. */
export function rollUpNodes(
  ranked: readonly (Policy | InvalidPolicy)[],
  { nodes, reports }: NodeWorld,
  now: Date,
): ReadonlyMap<string, NodeRollup> {
  const byNode = new Map([...reports].filter((one) => isFresh(one, now)).map((one) => [one.name, one]));
  const rollups = new Map<string, NodeRollup>();
  for (const policy of ranked)
    if (!isInvalid(policy) && policy.nodes !== undefined) rollups.set(policy.uid, none);
  const governorOf = nodeMatcher(ranked);
  for (const { name, labels } of nodes) {
    const policy = governorOf(labels);
    const rollup = rollups.get(policy?.uid ?? '');
    if (policy !== undefined && rollup !== undefined)
      rollups.set(policy.uid, add(rollup, figuresOf(byNode.get(name), policy)));
  }
  return rollups;
}

const isFresh = ({ reportedAtMs }: NodeReportFacts, now: Date): boolean =>
  reportedAtMs !== undefined && now.getTime() - reportedAtMs <= staleMs;

const none: NodeRollup = {
  desired: 0,
  upToDate: 0,
  degraded: 0,
  keepListAtRisk: 0,
  imagesRemovable: 0,
  imageBytesReclaimable: 0,
  imageBytesReclaimed: 0,
  containersRemovable: 0,
  storageWarnings: 0,
  evictionRequests: 0,
};

/** What a report says about removable things it says under the policy that it names, but for a report that asks for an eviction before the passes have followed: under another one it says nothing about ours. */
function figuresOf(
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

/** Within the bounds of crds/: one figure beyond would have the whole status refused. */
const add = (a: NodeRollup, b: NodeRollup): NodeRollup => ({
  desired: count(a.desired + b.desired),
  upToDate: count(a.upToDate + b.upToDate),
  degraded: count(a.degraded + b.degraded),
  keepListAtRisk: count(a.keepListAtRisk + b.keepListAtRisk),
  imagesRemovable: count(a.imagesRemovable + b.imagesRemovable),
  imageBytesReclaimable: bytes(a.imageBytesReclaimable + b.imageBytesReclaimable),
  imageBytesReclaimed: bytes(a.imageBytesReclaimed + b.imageBytesReclaimed),
  containersRemovable: count(a.containersRemovable + b.containersRemovable),
  storageWarnings: count(a.storageWarnings + b.storageWarnings),
  evictionRequests: count(a.evictionRequests + b.evictionRequests),
});
