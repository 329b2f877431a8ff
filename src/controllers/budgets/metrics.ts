import type { Registry } from 'prom-client';
import { metricRows } from '../../runtime/serving/metric-rows.ts';
import type { BudgetPlan } from './facts.ts';

export type BudgetMetrics = ReturnType<typeof budgetMetrics>;

/** The metrics of this unit. */
export function budgetMetrics(registry: Registry) {
  const { gauge } = metricRows(registry);
  return {
    ratio: gauge(
      'namespace_budget_used_ratio',
      'Usage of local storage by a namespace, as a part of its budget: on the node with the most, or on all nodes of the policy. By recent reports; only above 0.8, and only the 64 largest.',
      'policy',
      'namespace',
      'scope',
    ),
    exceeded: gauge(
      'namespace_budgets_exceeded',
      'Namespaces that exceed their budget, or have exceeded it and are not known to be below 90 % of it.',
      'policy',
      'scope',
    ),
  };
}

/** Sets the gauges for this plan, and removes all others. */
export function showBudgets(
  { ratio, exceeded }: BudgetMetrics,
  { near, counts }: Pick<BudgetPlan, 'near' | 'counts'>,
): void {
  ratio.reset();
  exceeded.reset();
  for (const { policy, namespace, scope, usedBytes, limitBytes } of near)
    ratio.set({ policy: policy.name, namespace: namespace.name, scope }, usedBytes / limitBytes);
  for (const { policy, scope, exceeded: count } of counts) exceeded.set({ policy, scope }, count);
}
