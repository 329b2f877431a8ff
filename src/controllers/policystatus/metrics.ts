import { Gauge, type Registry } from 'prom-client';
import type { PolicyStatus } from './status.ts';

export type PolicyStatusMetrics = ReturnType<typeof policyStatusMetrics>;

/** The conditions of the policies as metrics. */
export function policyStatusMetrics(registry: Registry) {
  return {
    conditions: new Gauge({
      name: 'dustpan_policy_condition',
      help: '[ALPHA] 1 for the current status of a condition of a GCPolicy.',
      labelNames: ['policy', 'type', 'status'],
      registers: [registry],
    }),
  };
}

/** Sets the gauge for these policies, by name, and removes all others. */
export function showConditions(
  metrics: PolicyStatusMetrics,
  policies: ReadonlyMap<string, PolicyStatus['conditions']>,
): void {
  metrics.conditions.reset();
  for (const [policy, conditions] of policies)
    for (const { type, status } of conditions) metrics.conditions.set({ policy, type, status }, 1);
}
