import type { PolicyPassReport } from '../../api/pass-report.ts';
import type { InvalidPolicy, Policy } from '../../api/policy.ts';

/** status of a GCPolicy, as far as the controller writes it. */
export interface PolicyStatus {
  readonly observedGeneration: number;
  readonly conditions: readonly Condition[];
  readonly lastPassTime?: string;
  readonly pods?: PodRollup;
}

/** metav1.Condition. */
export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration: number;
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

export interface StatusFacts {
  readonly policy: Policy | InvalidPolicy;
  /** The status as stored; undefined before the first write. */
  readonly stored: PolicyStatus | undefined;
  /** The last pass under this policy; undefined before the first, and for policies that say nothing about pods. */
  readonly report: PolicyPassReport | undefined;
  /** Deleted since the stored total was written. */
  readonly deletedSince: number;
}

/** Decides the whole status a policy should have now. lastTransitionTime moves only where a condition's status does. */
export function planStatus({ policy, stored, report, deletedSince }: StatusFacts, now: Date): PolicyStatus {
  const before = new Map(stored?.conditions.map((condition) => [condition.type, condition]));
  const conditions = claims(policy, report).map((claim): Condition => {
    const old = before.get(claim.type);
    const lastTransitionTime =
      old?.status === claim.status ? old.lastTransitionTime : now.toISOString().replace(/\.\d+Z$/, 'Z');
    return { ...claim, lastTransitionTime, observedGeneration: policy.generation };
  });
  if (report === undefined) return { ...stored, observedGeneration: policy.generation, conditions };
  const deletedTotal = (stored?.pods?.deletedTotal ?? 0) + deletedSince;
  return {
    observedGeneration: policy.generation,
    conditions,
    lastPassTime: report.at.toISOString().replace(/\.\d+Z$/, 'Z'),
    pods: rollup(report, deletedTotal),
  };
}

/** What is stored, as far as it can be used; whatever somebody else wrote there must not stop us. */
export function readStatus(stored: unknown): PolicyStatus | undefined {
  if (!isObject(stored) || typeof stored['observedGeneration'] !== 'number') return undefined;
  const conditions = Array.isArray(stored['conditions']) ? stored['conditions'].filter(isCondition) : [];
  const { observedGeneration, pods, lastPassTime } = stored;
  return {
    observedGeneration,
    conditions,
    ...(typeof lastPassTime === 'string' && { lastPassTime }),
    ...(isRollup(pods) && { pods }),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null;
const isCondition = (value: unknown): value is Condition =>
  isObject(value) &&
  ['type', 'status', 'reason', 'message', 'lastTransitionTime'].every(
    (key) => typeof value[key] === 'string',
  );
const isRollup = (value: unknown): value is PodRollup =>
  isObject(value) && typeof value['deletedTotal'] === 'number';

/** Whether anything a reader would act on differs. The time of the last pass alone does not: a quiet cluster gets no writes. */
export function differs(wanted: PolicyStatus, stored: PolicyStatus | undefined): boolean {
  return stored === undefined || substance(wanted) !== substance(stored);
}

/** Whether what differs cannot wait for the next regular write: another spec observed, or a condition that turned. */
export function isUrgent(wanted: PolicyStatus, stored: PolicyStatus | undefined): boolean {
  const turned = (status: PolicyStatus): string =>
    JSON.stringify([status.observedGeneration, status.conditions.map(({ type, status: is }) => [type, is])]);
  return stored === undefined || turned(wanted) !== turned(stored);
}

function substance({ observedGeneration, conditions, pods }: PolicyStatus): string {
  const told = conditions.map(({ type, status, reason, message }) => [type, status, reason, message]);
  return JSON.stringify([observedGeneration, told, pods === undefined ? null : Object.entries(pods).sort()]);
}

const rollup = (report: PolicyPassReport, deletedTotal: number): PodRollup => ({
  governed: report.governed,
  terminated: report.terminated,
  due: report.due,
  waiting: report.waiting,
  held: report.held,
  missingNodes: report.missingNodes,
  errorsLastPass: report.failed,
  deletedTotal,
});

type Claim = Pick<Condition, 'type' | 'status' | 'reason' | 'message'>;

function claims(policy: Policy | InvalidPolicy, report: PolicyPassReport | undefined): Claim[] {
  const accepted = acceptedClaim(policy);
  const degraded = degradedClaim(policy, report);
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
  return { type: 'Accepted', status: 'False', reason: 'InvalidPolicy', message: cut(message) };
}

function enforcingClaim(policy: Policy | InvalidPolicy, report: PolicyPassReport | undefined): Claim {
  const type = 'Enforcing';
  if ('problems' in policy)
    return { type, status: 'False', reason: 'InvalidPolicy', message: 'The policy cannot be followed' };
  if (policy.mode === 'Enforce')
    return { type, status: 'True', reason: 'ModeEnforce', message: 'Pods that are due are deleted' };
  const due = report === undefined ? '' : `; ${report.due} would be deleted now`;
  return { type, status: 'False', reason: 'ModeDryRun', message: `Nothing is deleted in mode DryRun${due}` };
}

function degradedClaim(policy: Policy | InvalidPolicy, report: PolicyPassReport | undefined): Claim {
  const type = 'Degraded';
  if ('problems' in policy || report === undefined)
    return {
      type,
      status: 'Unknown',
      reason: 'NoPassYet',
      message: 'No pass has been made under this policy yet',
    };
  if (report.trippedPercent !== undefined) {
    const message = `Nodes missing: ${report.missingNodes}, ${Math.round(report.trippedPercent)} % of all: orphans are kept`;
    return { type, status: 'True', reason: 'Tripped', message };
  }
  if (report.failed > 0)
    return {
      type,
      status: 'True',
      reason: 'DeletesFailed',
      message: `${report.failed} deletions failed in the last pass`,
    };
  return { type, status: 'False', reason: 'AsPlanned', message: 'The last pass did what it planned' };
}

/** metav1.Condition allows 32768; nobody reads that much. */
const cut = (message: string): string => (message.length > 1024 ? `${message.slice(0, 1023)}…` : message);
