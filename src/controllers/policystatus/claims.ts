import type { PolicyPassReport } from '../../api/report/pass-report.ts';
import type { InvalidPolicy, Policy } from '../../api/policy/policy.ts';
import { printable } from '../../runtime/text/printable.ts';
import type { NodeRollup } from './nodes.ts';

type Claim = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

/** What the conditions of a policy say now, without their history. */
export function claims(facts: StatusFacts): readonly Claim[] {
  const { policy, report } = facts;
  const accepted = acceptedClaim(policy);
  const degraded = degradedClaim(facts);
  const enforcing = enforcingClaim(policy, report);
  return [readyClaim(accepted, degraded), accepted, enforcing, degraded];
}

function readyClaim(accepted: Claim, degraded: Claim): Claim {
  if (accepted.status !== 'True') return { ...accepted, type: 'Ready' };
  if (degraded.status === 'True') return { ...degraded, type: 'Ready', status: 'False' };
  return { type: 'Ready', status: 'True', reason: 'AsPlanned', message: 'The policy is followed' };
}

function acceptedClaim(policy: Policy | InvalidPolicy): Claim {
  if (!('problems' in policy))
    return { type: 'Accepted', status: 'True', reason: 'Valid', message: 'The policy can be followed' };
  const message = `Nothing is collected where this policy may govern: ${policy.problems.join('; ')}`;
  return { type: 'Accepted', status: 'False', reason: 'InvalidPolicy', message: cut(printable(message)) };
}

function enforcingClaim(policy: Policy | InvalidPolicy, report: PolicyPassReport | undefined): Claim {
  const type = 'Enforcing';
  if ('problems' in policy)
    return { type, status: 'False', reason: 'InvalidPolicy', message: 'The policy cannot be followed' };
  if (policy.mode === 'Enforce')
    return { type, status: 'True', reason: 'ModeEnforce', message: 'What is due is removed' };
  const due = report === undefined ? '' : `; ${report.due} pods would be deleted now`;
  return { type, status: 'False', reason: 'ModeDryRun', message: `Nothing is removed in mode DryRun${due}` };
}

function degradedClaim({ policy, report, nodes }: StatusFacts): Claim {
  const type = 'Degraded';
  if ('problems' in policy) return noPassYet;
  const trouble = podTrouble(report) ?? nodeTrouble(nodes);
  if (trouble !== undefined) return { type, status: 'True', ...trouble };
  if (policy.pods === undefined && policy.nodes !== undefined) return nodesOnlyClaim(nodes);
  if (report === undefined) return noPassYet;
  return { type, status: 'False', reason: 'AsPlanned', message: 'The last pass did what it planned' };
}

const noPassYet: Claim = {
  type: 'Degraded',
  status: 'Unknown',
  reason: 'NoPassYet',
  message: 'No pass has been made under this policy yet',
};

type Trouble = Pick<Claim, 'reason' | 'message'> | undefined;

function podTrouble(report: PolicyPassReport | undefined): Trouble {
  if (report?.trippedPercent !== undefined) {
    const message = `Nodes missing: ${report.missingNodes}, ${Math.round(report.trippedPercent)} % of all: orphans are kept`;
    return { reason: 'Tripped', message };
  }
  if (report === undefined) return undefined;
  if (report.failed > 0)
    return { reason: 'DeletesFailed', message: `${report.failed} deletions failed in the last pass` };
  if (report.clockUnsure === 0) return undefined;
  const message = `${report.clockUnsure} deletions by ttl were called off: the controller's clock differs from the API server's`;
  return { reason: 'ClockUnsure', message };
}

function nodeTrouble(nodes: NodeRollup | undefined): Trouble {
  if (nodes === undefined || nodes.degraded === 0) return undefined;
  const message = `${nodes.degraded} of ${nodes.desired} nodes are degraded, their NodeGCReports say why`;
  return { reason: 'NodesDegraded', message };
}

/** No pass of the controller is ever made under such a policy. */
function nodesOnlyClaim(nodes: NodeRollup | undefined): Claim {
  if (nodes === undefined || (nodes.desired > 0 && nodes.upToDate === 0)) {
    const message = 'No node has reported under this policy yet';
    return { type: 'Degraded', status: 'Unknown', reason: 'NoReportYet', message };
  }
  const message = 'The nodes that report did what they planned';
  return { type: 'Degraded', status: 'False', reason: 'AsPlanned', message };
}

/** metav1.Condition allows 32768; nobody reads that much. */
const cut = (message: string): string => (message.length > 1024 ? `${message.slice(0, 1023)}…` : message);

/** metav1.Condition. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration: number;
}

export interface StatusFacts {
  readonly policy: Policy | InvalidPolicy;
  /** The status as stored; undefined before the first write. */
  readonly stored: PolicyStatus | undefined;
  /** The last pass under this policy; undefined before the first, and for policies that say nothing about pods. */
  readonly report: PolicyPassReport | undefined;
  /** Deleted since the stored total was written. */
  readonly deletedSince: number;
  /** undefined = not known, or nothing said about nodes. */
  readonly nodes?: NodeRollup | undefined;
}

/** status of a GCPolicy, as far as the controller writes it. */
export interface PolicyStatus {
  readonly observedGeneration: number;
  readonly conditions: readonly Condition[];
  readonly lastPassTime?: string;
  readonly pods?: PodRollup;
  /** null takes away what is stored, as a policy that says nothing about nodes any more needs it. */
  readonly nodes?: NodeRollup | null;
}

export interface PodRollup {
  readonly governed: number;
  readonly terminated: number;
  readonly due: number;
  readonly waiting: number;
  readonly held: number;
  readonly missingNodes: number;
  readonly errorsLastPass: number;
  /** Deleted under this policy since it was created. */
  readonly deletedTotal: number;
}
