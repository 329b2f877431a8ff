import type { BudgetsReport } from '../../api/report/budgets-report.ts';
import { quantityText } from '../../runtime/text/quantity.ts';
import { shortSizeText } from '../../runtime/text/size-text.ts';
import type { BudgetUse, BudgetWarning } from './facts.ts';
import type { PolicyTally } from './tally.ts';

/** The note of the Event: usage, budget, and the largest pods. */
export function warningText({ use, pods }: BudgetWarning): string {
  const { namespace, limitBytes, policy, scope } = use;
  const budget = scope === 'node' ? 'per node' : 'for all nodes';
  const sentences = [
    `Namespace ${namespace.name} uses ${usedText(use)}, more than its budget ${budget}, ${quantityText(limitBytes)} (policy ${policy.name}).`,
    ...(scope === 'node' && use.nodes > 1
      ? [`It exceeds the budget on ${countText(use.nodes - 1, 'more node')}.`]
      : []),
    ...(pods.length === 0 ? [] : [`Largest pods: ${pods.map(podText).join(', ')}.`]),
    'dustpan evicts nothing for a budget.',
  ];
  return sentences.join(' ');
}

const podText = ({ name, bytes }: BudgetWarning['pods'][number]): string => `${name} ${shortSizeText(bytes)}`;

const usedText = ({ scope, usedBytes, node, nodes }: BudgetUse): string =>
  `${shortSizeText(usedBytes)} on ${scope === 'node' ? `node ${node}` : countText(nodes, 'node')}`;

/** The condition BudgetsExceeded of a policy. `exceeded`: the worst first. */
export function budgetsReport(
  { readings }: Pick<PolicyTally, 'readings'>,
  exceeded: readonly BudgetUse[],
): BudgetsReport {
  const unknown = unknownTexts(readings);
  if (exceeded.length > 0)
    return {
      status: 'True',
      reason: 'NamespaceOverBudget',
      message: [exceededText(exceeded), ...unknown].join('. '),
    };
  if (readings.every(({ recent }) => recent === undefined))
    return {
      status: 'Unknown',
      reason: 'UsageUnknown',
      message: 'No node that this policy governs has reported the usage of namespaces in the last 15 minutes',
    };
  return {
    status: 'False',
    reason: 'WithinBudgets',
    message: ['No namespace is known to exceed its budget', ...unknown].join('. '),
  };
}

const maxListed = 3;

/** The worst excesses, and the number of the others. */
function exceededText(exceeded: readonly BudgetUse[]): string {
  const rest = exceeded.length - maxListed;
  const listed = [...exceeded.slice(0, maxListed).map(useText), ...(rest > 0 ? [`${rest} more`] : [])];
  return `Over budget: ${listed.join('; ')}`;
}

function useText(use: BudgetUse): string {
  const { namespace, usedBytes, limitBytes, mayHaveEnded } = use;
  const part = `${Math.round((usedBytes / limitBytes) * 100)} % of ${quantityText(limitBytes)}`;
  return mayHaveEnded
    ? `namespace ${namespace.name} perhaps still, with at most ${shortSizeText(usedBytes)} (${part}) by the last reports`
    : `namespace ${namespace.name}, ${usedText(use)} (${part})`;
}

/** Sentences about the nodes whose usage is not, or not completely, known. */
function unknownTexts(readings: PolicyTally['readings']): readonly string[] {
  const unknown = readings.filter(({ recent }) => recent === undefined).length;
  const cut = readings.filter(({ recent }) => (recent?.unlistedAtMostBytes ?? 0) > 0).length;
  return [
    ...(unknown === 0
      ? []
      : [`The usage on ${countText(unknown, 'node')} is unknown or older than 15 minutes`]),
    ...(cut === 0 ? [] : [`On ${countText(cut, 'node')} not all namespaces are known`]),
  ];
}

const countText = (count: number, one: string): string => `${count} ${one}${count === 1 ? '' : 's'}`;
