import { hasNamespaceBudgets } from '../../api/policy/matching.ts';
import type { PolicyPassReport } from '../../api/report/pass-report.ts';
import { invalidPolicyText, type InvalidPolicy, type Policy } from '../../api/policy/policy.ts';
import { printable } from '../../runtime/text/printable.ts';
import { holdingClaim } from './hold.ts';
import type { NodeRollup } from './nodes.ts';
import { noPassYet, type Claim, type PolicyStatus, type StatusFacts } from './status.ts';

/** The conditions of a policy, without their transition times. `hold`: of the last pass, or as stored. */
export function claims(facts: StatusFacts, hold: PolicyStatus['hold']): readonly Claim[] {
  const { policy, report } = facts;
  const accepted = acceptedClaim(policy);
  const degraded = degradedClaim(facts);
  const enforcing = enforcingClaim(policy, report);
  const holding = holdingClaim(facts, hold);
  return [readyClaim(accepted, degraded), accepted, enforcing, holding, degraded, ...budgetsClaim(facts)];
}

function readyClaim(accepted: Claim, degraded: Claim): Claim {
  if (accepted.status !== 'True') return { ...accepted, type: 'Ready' };
  if (degraded.status === 'True') return { ...degraded, type: 'Ready', status: 'False' };
  return { type: 'Ready', status: 'True', reason: 'AsPlanned', message: 'The policy is applied as planned' };
}

function acceptedClaim(policy: Policy | InvalidPolicy): Claim {
  if (!('problems' in policy))
    return { type: 'Accepted', status: 'True', reason: 'Valid', message: 'The policy is valid' };
  const message = invalidPolicyText(policy);
  return { type: 'Accepted', status: 'False', reason: 'InvalidPolicy', message: cut(printable(message)) };
}

function enforcingClaim(policy: Policy | InvalidPolicy, report: PolicyPassReport | undefined): Claim {
  const type = 'Enforcing';
  if ('problems' in policy)
    return { type, status: 'False', reason: 'InvalidPolicy', message: 'The policy is invalid' };
  if (policy.mode === 'Enforce')
    return {
      type,
      status: 'True',
      reason: 'ModeEnforce',
      message: 'Mode Enforce: dustpan removes objects that are due',
    };
  const due = report === undefined ? '' : `; ${report.due} pods are due for deletion`;
  return {
    type,
    status: 'False',
    reason: 'ModeDryRun',
    message: `Mode DryRun: dustpan removes nothing${due}`,
  };
}

function degradedClaim({ policy, stored, report, nodes }: StatusFacts): Claim {
  const type = 'Degraded';
  if ('problems' in policy) return noPassYet;
  const trouble = podTrouble(report) ?? leftOpen({ policy, stored, report }) ?? nodeTrouble(nodes);
  if (trouble !== undefined) return { type, status: 'True', ...trouble };
  if (policy.pods === undefined && policy.nodes !== undefined) return nodesOnlyClaim(nodes);
  if (report === undefined) return noPassYet;
  return {
    type,
    status: 'False',
    reason: 'AsPlanned',
    message: 'The last pass did everything that it planned',
  };
}

type Trouble = Pick<Claim, 'reason' | 'message'> | undefined;

function podTrouble(report: PolicyPassReport | undefined): Trouble {
  if (report?.trippedPercent !== undefined) {
    const message = `Nodes missing: ${report.missingNodes}, ${Math.round(report.trippedPercent)} % of all; the circuit breaker is open, and orphaned pods are kept`;
    return { reason: 'Tripped', message };
  }
  if (report === undefined) return undefined;
  if (report.failed > 0)
    return {
      reason: 'DeletesFailed',
      message: `${report.failed} pods that are due could not be deleted; dustpan tries them again, after all others`,
    };
  if (report.unverified > 0)
    return {
      reason: 'NotVerified',
      message: `${report.unverified} deletions were skipped, because the namespaces or nodes of the pods could not be confirmed live`,
    };
  if (report.clockUnsure === 0) return undefined;
  const message = `${report.clockUnsure} deletions by ttl were skipped, because the controller's clock differs from the API server's`;
  return { reason: 'ClockUnsure', message };
}

/** Before the first pass of a controller the circuit breaker remains as the one before has left it: the first pass reads that from the status. */
function leftOpen({ policy, stored, report }: Pick<StatusFacts, 'policy' | 'stored' | 'report'>): Trouble {
  if (report !== undefined || 'problems' in policy || policy.pods === undefined) return undefined;
  const open = stored?.conditions.find(({ type, status }) => type === 'Degraded' && status === 'True');
  return open?.reason === 'Tripped' ? { reason: open.reason, message: open.message } : undefined;
}

function nodeTrouble(nodes: NodeRollup | undefined): Trouble {
  if (nodes === undefined || nodes.degraded === 0) return undefined;
  const message = `${nodes.degraded} of ${nodes.desired} nodes are degraded; see their NodeGCReports`;
  return { reason: 'NodesDegraded', message };
}

/** Whether a namespace exceeds its budget. Absent without a valid policy with budgets; before the first pass of a controller as it was. */
function budgetsClaim({ policy, stored, budgets }: StatusFacts): readonly Claim[] {
  const type = 'BudgetsExceeded';
  if (!hasNamespaceBudgets([policy])) return [];
  if (budgets !== undefined) return [{ type, ...budgets }];
  const before = stored?.conditions.find((condition) => condition.type === type);
  if (before !== undefined)
    return [{ type, status: before.status, reason: before.reason, message: before.message }];
  const message = 'The controller has not compared the usage of namespaces with the budgets yet';
  return [{ type, status: 'Unknown', reason: 'NotCompared', message }];
}

/** A policy without rules for pods: only the reports of nodes count. */
function nodesOnlyClaim(nodes: NodeRollup | undefined): Claim {
  if (nodes === undefined || (nodes.desired > 0 && nodes.upToDate === 0)) {
    const message = 'No node has reported under this policy yet';
    return { type: 'Degraded', status: 'Unknown', reason: 'NoReportYet', message };
  }
  const message = 'The nodes that have reported did everything that they planned';
  return { type: 'Degraded', status: 'False', reason: 'AsPlanned', message };
}

/** metav1.Condition allows 32768 characters; a reader needs fewer. */
const cut = (message: string): string => (message.length > 1024 ? `${message.slice(0, 1023)}…` : message);
