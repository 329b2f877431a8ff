import type { GCPolicy } from '../api/gcpolicy.gen.ts';
import { rankPolicies } from '../api/matching.ts';
import type { NodeGCReport, NodeGCReportStatus, NodeGCReportStatusUnit } from '../api/nodegcreport.gen.ts';
import { isInvalid, parsePolicy, type InvalidPolicy, type Policy } from '../api/policy.ts';
import { troublesOf, type Trouble } from './status-trouble.ts';

/** `dustpan status -o json`. Times are RFC 3339, null = not known; figures are those of the last word of controller and agents. */
export interface StatusView {
  readonly apiVersion: 'gc.dustpan.dev/v1alpha1';
  readonly kind: 'Status';
  /** Worst first. */
  readonly trouble: readonly Trouble[];
  readonly totals: StatusTotals;
  /** In the order in which they claim objects. */
  readonly policies: readonly PolicyRow[];
  /** Those in trouble first, then by what can be freed; null = the reports could not be read. */
  readonly nodes: readonly NodeRow[] | null;
}

export interface StatusTotals {
  readonly policies: number;
  readonly nodes: number;
  readonly podsDue: number;
  /** Of those due: by policies that touch nothing. */
  readonly podsDueInDryRun: number;
  readonly podsDeleted: number;
  readonly reclaimableBytes: number;
  readonly reclaimedBytes: number;
}

export interface PolicyRow {
  readonly name: string;
  /** null = the policy cannot be read that far. */
  readonly mode: 'DryRun' | 'Enforce' | null;
  readonly priority: number | null;
  readonly valid: boolean;
  /** null = it says nothing about pods, or no pass was made yet. */
  readonly pods: NonNullable<GCPolicy['status']>['pods'] | null;
  readonly nodes: NonNullable<GCPolicy['status']>['nodes'] | null;
  /** As the reports of its nodes say; where they could not be read, of images alone, as its own status says. null = nothing says. */
  readonly reclaimableBytes: number | null;
  readonly reclaimedBytes: number | null;
  /** Of the last pass that changed a figure: others are not written down. */
  readonly lastPassTime: string | null;
}

export interface NodeRow {
  readonly name: string;
  readonly inTrouble: boolean;
  readonly policy: string | null;
  readonly mode: 'DryRun' | 'Enforce' | null;
  readonly reportTime: string | null;
  readonly imageFsUsedPercent: number | null;
  readonly imagesRemovable: number;
  readonly containersRemovable: number;
  /** Images and logs that nothing but a threshold or a limit keeps. */
  readonly reclaimableBytes: number;
  /** Since the agent started. */
  readonly reclaimedBytes: number;
  readonly storageWarnings: number;
  readonly evictionRequests: number;
  readonly lastPassTime: string | null;
  readonly units: readonly NodeGCReportStatusUnit[];
}

/** What controller and agents have written down, as a person wants to see it: trouble first. `reports` undefined = they could not be read. */
export function statusView(
  policies: readonly GCPolicy[],
  reports: readonly NodeGCReport[] | undefined,
  now: Date,
): StatusView {
  const trouble = troublesOf(policies, reports, now);
  const troubled = new Set(trouble.flatMap(({ kind, names }) => (kind === 'Node' ? names : [])));
  const nodes = reports?.map((report) => nodeRow(report, troubled)).toSorted(byNeed);
  const rows = policyRows(policies, nodes);
  return {
    ...{ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'Status', trouble },
    totals: totalsOf(rows, nodes),
    policies: rows,
    nodes: nodes ?? null,
  };
}

function policyRows(
  policies: readonly GCPolicy[],
  nodes: readonly NodeRow[] | undefined,
): readonly PolicyRow[] {
  const byName = new Map(policies.map((policy) => [policy.metadata?.name ?? '', policy]));
  const ranked = rankPolicies(policies.map((policy) => parsePolicy(policy).policy));
  return ranked.map((policy) => {
    const own = nodes?.filter((node) => node.policy === policy.name);
    return policyRow(policy, byName.get(policy.name)?.status, own);
  });
}

function policyRow(
  policy: Policy | InvalidPolicy,
  status: GCPolicy['status'],
  nodes: readonly NodeRow[] | undefined,
): PolicyRow {
  return {
    ...bytesOf(status?.nodes, nodes),
    name: policy.name,
    mode: isInvalid(policy) ? null : policy.mode,
    priority: policy.priority ?? null,
    valid: !isInvalid(policy),
    pods: status?.pods ?? null,
    nodes: status?.nodes ?? null,
    lastPassTime: status?.lastPassTime ?? null,
  };
}

/** Reports are fresher than what a policy sums up of them. */
function bytesOf(
  summed: NonNullable<GCPolicy['status']>['nodes'],
  nodes: readonly NodeRow[] | undefined,
): Pick<PolicyRow, 'reclaimableBytes' | 'reclaimedBytes'> {
  const isSpoken = summed !== undefined || (nodes ?? []).length > 0;
  if (!isSpoken) return { reclaimableBytes: null, reclaimedBytes: null };
  if (nodes === undefined)
    return {
      reclaimableBytes: orNull(summed?.imageBytesReclaimable),
      reclaimedBytes: orNull(summed?.imageBytesReclaimed),
    };
  return {
    reclaimableBytes: sum(nodes.map((node) => node.reclaimableBytes)),
    reclaimedBytes: sum(nodes.map((node) => node.reclaimedBytes)),
  };
}

type Status = NodeGCReportStatus;

function nodeRow({ metadata, status = {} }: NodeGCReport, troubled: ReadonlySet<string>): NodeRow {
  const name = metadata?.name ?? '';
  return {
    ...{ name, inTrouble: troubled.has(name), reportTime: orNull(status.reportTime) },
    ...governanceOf(status),
    ...removableOf(status),
    ...passesOf(status.units ?? []),
    imageFsUsedPercent: orNull(status.imageFileSystem?.usedPercent),
    storageWarnings: orZero(status.storageWarningCount),
    evictionRequests: orZero(status.evictionRequestCount),
  };
}

const orNull = <T>(value: T | undefined): T | null => value ?? null;
const orZero = (count: number | undefined): number => count ?? 0;

const governanceOf = ({ policy }: Status): Pick<NodeRow, 'policy' | 'mode'> => ({
  policy: orNull(policy?.name),
  mode: orNull(policy?.mode),
});

function removableOf({
  images,
  containers,
  logs,
}: Status): Pick<NodeRow, 'imagesRemovable' | 'containersRemovable' | 'reclaimableBytes'> {
  const removable = images?.removable;
  return {
    imagesRemovable: orZero(removable?.count),
    containersRemovable: orZero(containers?.removable),
    reclaimableBytes: orZero(removable?.bytes) + orZero(logs?.removableBytes),
  };
}

const passesOf = (
  units: readonly NodeGCReportStatusUnit[],
): Pick<NodeRow, 'units' | 'lastPassTime' | 'reclaimedBytes'> => ({
  units,
  lastPassTime: lastOf(units),
  reclaimedBytes: sum(units.map(({ freedBytesTotal }) => orZero(freedBytesTotal))),
});

function lastOf(units: readonly NodeGCReportStatusUnit[]): string | null {
  const times = units.map(({ lastPassTime }) => lastPassTime);
  return times.toSorted((a, b) => Date.parse(b) - Date.parse(a))[0] ?? null;
}

/** What the reports say is fresher than what the policies sum up of them. */
function totalsOf(policies: readonly PolicyRow[], nodes: readonly NodeRow[] | undefined): StatusTotals {
  const summed = (figure: (row: PolicyRow) => number | undefined): number =>
    sum(policies.map((row) => figure(row) ?? 0));
  return {
    policies: policies.length,
    nodes: nodes?.length ?? summed((row) => row.nodes?.desired),
    podsDue: summed((row) => row.pods?.due),
    podsDueInDryRun: summed(({ mode, pods }) => (mode === 'DryRun' ? pods?.due : 0)),
    podsDeleted: summed((row) => row.pods?.deletedTotal),
    reclaimableBytes: nodes
      ? sum(nodes.map((row) => row.reclaimableBytes))
      : summed((row) => row.nodes?.imageBytesReclaimable),
    reclaimedBytes: nodes
      ? sum(nodes.map((row) => row.reclaimedBytes))
      : summed((row) => row.nodes?.imageBytesReclaimed),
  };
}

function byNeed(a: NodeRow, b: NodeRow): number {
  if (a.inTrouble !== b.inTrouble) return a.inTrouble ? -1 : 1;
  return b.reclaimableBytes - a.reclaimableBytes || (a.name < b.name ? -1 : 1);
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
