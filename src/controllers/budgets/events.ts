import type { EventSpec } from '../../kube/events/recorder.ts';
import type { BudgetWarning } from './facts.ts';
import { warningText } from './words.ts';

/** A namespace exceeds a budget. The Event is in the namespace itself, where its owners see it. */
export function namespaceOverBudget(warning: BudgetWarning): EventSpec {
  const { namespace, policy, scope } = warning.use;
  const { name, uid } = namespace;
  return {
    regarding: { apiVersion: 'v1', kind: 'Namespace', namespace: name, name, uid },
    type: 'Warning',
    reason: 'NamespaceOverBudget',
    action: 'WatchBudgets',
    note: warningText(warning),
    occasion: `${policy.name} ${scope}`,
  };
}
