/** Whether namespaces exceed their budgets under one policy, for its status. */
export interface BudgetsReport {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}
