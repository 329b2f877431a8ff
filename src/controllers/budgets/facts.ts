import type { BudgetsReport } from '../../api/report/budgets-report.ts';
import type { Policy } from '../../api/policy/policy.ts';
import type { RankedPolicies } from '../../api/policy/policy-set.ts';
import type { NodeReportFacts, NamespacesUsage } from '../../kube/cache/node-report-facts.ts';
import type { NamespaceFacts, NodeFacts } from '../../kube/cache/objects.ts';

/** One node, or all nodes that the policy governs. */
export const budgetScopes = ['node', 'cluster'] as const;
export type BudgetScope = (typeof budgetScopes)[number];

export type BudgetNode = Pick<NodeFacts, 'name' | 'labels'>;
export type BudgetNamespace = Pick<NamespaceFacts, 'name' | 'uid' | 'labels'>;
export type UsageReport = Pick<NodeReportFacts, 'name' | 'usage'>;

export interface BudgetFacts {
  readonly policies: RankedPolicies;
  readonly nodes: Iterable<BudgetNode>;
  readonly namespaces: Iterable<BudgetNamespace>;
  readonly reports: Iterable<UsageReport>;
  /** The excesses after the last pass. */
  readonly memory: BudgetMemory;
}

/** The usage of a namespace and its budget. */
export interface BudgetUse {
  readonly policy: Pick<Policy, 'name' | 'uid'>;
  readonly namespace: BudgetNamespace;
  readonly scope: BudgetScope;
  readonly limitBytes: number;
  /** Scope node: on the node with the most. The namespace uses at least this much: a report lists only the largest namespaces. */
  readonly usedBytes: number;
  /** The node with the most. */
  readonly node: string;
  /** Scope node: nodes over the budget. Scope cluster: nodes with any usage. */
  readonly nodes: number;
  /** An excess that may have ended: recent reports do not show it, but others are old or cut off. Then `usedBytes` is the most that is possible. */
  readonly mayHaveEnded: boolean;
}

/** An Event that is due, with the largest known pods of the namespace. */
export interface BudgetWarning {
  readonly use: BudgetUse;
  readonly pods: NamespacesUsage['pods'];
}

/** The excesses that had their Event and have not ended: policy, scope, namespace and size. */
export type BudgetMemory = ReadonlySet<string>;

export const noMemory: BudgetMemory = new Set();

export interface BudgetPlan {
  /** By UID of the policy; only of policies with budgets. */
  readonly reports: ReadonlyMap<string, BudgetsReport>;
  readonly warnings: readonly BudgetWarning[];
  /** The namespaces that use most of their budgets, for the metric. */
  readonly near: readonly BudgetUse[];
  /** Excesses by policy and scope, 0 too. */
  readonly counts: readonly {
    readonly policy: string;
    readonly scope: BudgetScope;
    readonly exceeded: number;
  }[];
  readonly memory: BudgetMemory;
}
