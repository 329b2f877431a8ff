import type { GCPolicyStatus, GCPolicyStatusCondition } from '../../api/gen/gcpolicy.gen.ts';
import type { BudgetsReport } from '../../api/report/budgets-report.ts';
import type { Right } from '../../api/policy/needs.ts';
import type { PolicyPassReport } from '../../api/report/pass-report.ts';
import type { InvalidPolicy, Policy } from '../../api/policy/policy.ts';
import type { Cluster } from '../../api/policy/unmatched.ts';
import type { StaleCache } from '../../kube/cache/staleness.ts';
import type { NodeRollup, RemovalProgress, UnmatchedImages } from './nodes.ts';

export interface StatusFacts {
  readonly policy: Policy | InvalidPolicy;
  /** The status as stored; undefined before the first write. */
  readonly stored: PolicyStatus | undefined;
  /** The last pass under this policy, perhaps of an earlier generation; undefined before the first, and without rules for pods. */
  readonly report: PolicyPassReport | undefined;
  /** Pods deleted since the stored total was written. */
  readonly deletedSince: number;
  /** What keeps the controller from knowing or doing what the policy needs; empty = nothing. */
  readonly obstacles: Obstacles;
  /** What selectors can select; undefined = not known. */
  readonly selectable?: Pick<Cluster, 'nodes' | 'namespaces'> | undefined;
  /** undefined = not known, or the policy has no rules for nodes. */
  readonly nodes?: NodeRollup | undefined;
  /** Of the entries of nodes.imageGC.remove that have not ended; undefined = not known. */
  readonly removals?: readonly RemovalProgress[] | undefined;
  /** undefined = not known, or the policy has no patterns. */
  readonly unmatched?: UnmatchedImages | undefined;
  /** undefined = not judged yet, or the policy has no budgets. */
  readonly budgets?: BudgetsReport | undefined;
}

/** Only what the policy needs. */
export interface Obstacles {
  readonly missingRights: readonly Right[];
  /** No review has decided about them yet. */
  readonly unknownRights: readonly Right[];
  /** Caches that have not been current for two minutes. */
  readonly staleCaches: readonly Pick<StaleCache, 'resource' | 'error'>[];
}

/** The whole status of a GCPolicy: a write replaces it. */
export interface PolicyStatus extends GCPolicyStatus {
  readonly observedGeneration: number;
  readonly conditions: GCPolicyStatusCondition[];
}

/** A condition without its type and its history. */
export type Claim = Pick<GCPolicyStatusCondition, 'status' | 'reason' | 'message'>;

export const yes = (reason: string, message: string): Claim => ({ status: 'True', reason, message });
export const no = (reason: string, message: string): Claim => ({ status: 'False', reason, message });
export const unknown = (reason: string, message: string): Claim => ({ status: 'Unknown', reason, message });

export const noPassYet = unknown('NoPassYet', 'No pass has completed under this policy yet');
export const invalid = no('InvalidPolicy', 'The policy is invalid');
