import type { GCPolicy } from '../../api/gen/gcpolicy.gen.ts';
import { rankPolicies } from '../../api/policy/matching.ts';
import type { NodeGCReport } from '../../api/gen/nodegcreport.gen.ts';
import { isInvalid, type InvalidPolicy, type Policy } from '../../api/policy/policy.ts';
import { parsePolicy } from '../../api/policy/policy-spec.ts';
import { troublesOf } from './trouble.ts';

/** `dustpan status -o json`: the values that controller and agents recorded last. Times are RFC 3339, null = not known. */
export type StatusView = ReturnType<typeof statusView>;

/** Problems worst first, policies in the order in which they claim objects. `reports` undefined = they could not be read. */
export function statusView(
  policies: readonly GCPolicy[],
  reports: readonly NodeGCReport[] | undefined,
  now: Date,
) {
  const trouble = troublesOf(policies, reports, now);
  const troubled = new Set(trouble.flatMap(({ kind, names }) => (kind === 'Node' ? names : [])));
  const nodes = reports?.map((report) => nodeRow(report, troubled)).toSorted(byNeed);
  const stored = new Map(policies.map((policy) => [policy.metadata?.name ?? '', policy]));
  const rows = rankPolicies(policies.map((policy) => parsePolicy(policy).policy)).map((policy) => {
    const own = nodes?.filter((node) => node.policy === policy.name);
    return policyRow(policy, stored.get(policy.name) ?? {}, own);
  });
  return {
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    kind: 'Status',
    trouble,
    totals: totalsOf(rows, nodes),
    policies: rows,
    /** Nodes with problems first, then by the bytes that can be freed. */
    nodes: nodes ?? null,
  };
}

type NodeRow = ReturnType<typeof nodeRow>;
type PolicyRow = ReturnType<typeof policyRow>;

const orNull = <T>(value: T | undefined): T | null => value ?? null;
const orZero = (count: number | undefined): number => count ?? 0;
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

function earliest(times: readonly (string | null | undefined)[]): string | null {
  const known = times.filter((time) => typeof time === 'string');
  return orNull(known.toSorted((a, b) => Date.parse(a) - Date.parse(b))[0]);
}

function policyRow(
  policy: Policy | InvalidPolicy,
  { metadata, status }: Pick<GCPolicy, 'metadata' | 'status'>,
  nodes: readonly NodeRow[] | undefined,
) {
  return {
    name: policy.name,
    mode: isInvalid(policy) ? null : policy.mode,
    priority: orNull(policy.priority),
    valid: !isInvalid(policy),
    /** pods.deletedTotal counts from it. */
    createdTime: orNull(metadata?.creationTimestamp),
    pods: orNull(status?.pods),
    nodes: orNull(status?.nodes),
    ...bytesOf(status?.nodes, nodes),
    /** The last pass when the status was written. */
    lastPassTime: orNull(status?.lastPassTime),
  };
}

/** Reports are fresher than the sums in the status of the policy, and contain logs. null = nothing reports. */
function bytesOf(sums: NonNullable<GCPolicy['status']>['nodes'], nodes: readonly NodeRow[] | undefined) {
  if (nodes === undefined || (nodes.length === 0 && sums === undefined))
    return {
      reclaimableBytes: orNull(sums?.imageBytesReclaimable),
      reclaimedBytes: orNull(sums?.imageBytesReclaimed),
    };
  return {
    reclaimableBytes: sum(nodes.map((node) => node.reclaimableBytes)),
    reclaimedBytes: sum(nodes.map((node) => node.reclaimedBytes)),
  };
}

function nodeRow({ metadata, status = {} }: NodeGCReport, troubled: ReadonlySet<string>) {
  const { policy, units = [] } = status;
  const name = metadata?.name ?? '';
  const passes = units.map(({ lastPassTime }) => lastPassTime);
  return {
    name,
    inTrouble: troubled.has(name),
    policy: orNull(policy?.name),
    mode: orNull(policy?.mode),
    reportTime: orNull(status.reportTime),
    imageFsUsedPercent: orNull(status.imageFileSystem?.usedPercent),
    ...removableOf(status),
    reclaimedBytes: sum(units.map(({ freedBytesTotal }) => orZero(freedBytesTotal))),
    /** null = older agents, which count from their start. */
    reclaimedSince: earliest(units.map(({ totalsSince }) => totalsSince)),
    storageWarnings: orZero(status.storageWarningCount),
    evictionRequests: orZero(status.evictionRequestCount),
    /** Disks and memory; empty without a policy for node pressure. */
    signals: status.signals ?? [],
    lastPassTime: orNull(passes.toSorted((a, b) => Date.parse(b) - Date.parse(a))[0]),
    units,
  };
}

function removableOf({ images, containers, logs }: NonNullable<NodeGCReport['status']>) {
  const { count = 0, bytes = 0 } = images?.removable ?? {};
  return {
    imagesRemovable: count,
    containersRemovable: orZero(containers?.removable),
    /** Images and logs that only a threshold or a limit keeps. */
    reclaimableBytes: bytes + orZero(logs?.removableBytes),
  };
}

function totalsOf(policies: readonly PolicyRow[], nodes: readonly NodeRow[] | undefined) {
  const summed = (value: (row: PolicyRow) => number | undefined): number =>
    sum(policies.map((row) => orZero(value(row))));
  const ofNodes = (
    value: (row: NodeRow) => number,
    stored: (row: PolicyRow) => number | undefined,
  ): number => (nodes === undefined ? summed(stored) : sum(nodes.map(value)));
  return {
    policies: policies.length,
    nodes: ofNodes(
      () => 1,
      (row) => row.nodes?.desired,
    ),
    podsDue: summed((row) => row.pods?.due),
    /** The part that DryRun policies select. */
    podsDueInDryRun: summed(({ mode, pods }) => (mode === 'DryRun' ? pods?.due : 0)),
    podsDeleted: summed((row) => row.pods?.deletedTotal),
    podsDeletedSince: earliest(policies.map(({ pods, createdTime }) => (pods === null ? null : createdTime))),
    reclaimableBytes: ofNodes(
      (row) => row.reclaimableBytes,
      (row) => row.nodes?.imageBytesReclaimable,
    ),
    reclaimedBytes: ofNodes(
      (row) => row.reclaimedBytes,
      (row) => row.nodes?.imageBytesReclaimed,
    ),
    reclaimedSince: earliest((nodes ?? []).map((row) => row.reclaimedSince)),
  };
}

function byNeed(a: NodeRow, b: NodeRow): number {
  if (a.inTrouble !== b.inTrouble) return a.inTrouble ? -1 : 1;
  return b.reclaimableBytes - a.reclaimableBytes || (a.name < b.name ? -1 : 1);
}
