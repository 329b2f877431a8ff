import { expect, test } from 'vitest';
import type { BudgetsReport } from '../../../../src/api/report/budgets-report.ts';
import { planStatus, writeAfterMs } from '../../../../src/controllers/policystatus/plan.ts';
import type { PolicyStatus } from '../../../../src/controllers/policystatus/status.ts';
import { nodesRules, now, policy } from '../../../builders.ts';
import { budget } from '../budgets/builders.ts';
import { broken, conditions } from './builders.ts';

const withBudgets = policy({
  pods: undefined,
  nodes: nodesRules({ namespaceBudgets: [budget({ perNode: 20 })] }),
});
const exceeded: BudgetsReport = { status: 'True', reason: 'NamespaceOverBudget', message: 'team-a' };

const status = (
  budgets: BudgetsReport | undefined,
  { of = withBudgets, stored }: { of?: typeof withBudgets | typeof broken; stored?: PolicyStatus } = {},
): PolicyStatus => planStatus({ policy: of, stored, report: undefined, deletedSince: 0, budgets }, now);

const claimed = (made: PolicyStatus): readonly string[] =>
  conditions(made).filter((one) => one.startsWith('BudgetsExceeded'));

test.each([
  { name: 'the last pass', made: status(exceeded), expected: ['BudgetsExceeded=True NamespaceOverBudget'] },
  { name: 'no pass yet', made: status(undefined), expected: ['BudgetsExceeded=Unknown NotCompared'] },
  {
    name: 'no pass of this controller: as it was',
    made: status(undefined, { stored: status(exceeded) }),
    expected: ['BudgetsExceeded=True NamespaceOverBudget'],
  },
  {
    name: 'a policy without budgets, which had some',
    made: status(undefined, { of: policy({ nodes: nodesRules() }), stored: status(exceeded) }),
    expected: [],
  },
  { name: 'a policy without rules for nodes', made: status(undefined, { of: policy() }), expected: [] },
  { name: 'an invalid policy', made: status(exceeded, { of: broken }), expected: [] },
])('the condition: $name', ({ made, expected }) => {
  expect(claimed(made)).toEqual(expected);
});

test.each([
  { name: 'another status at once', next: { ...exceeded, status: 'False' as const }, afterMs: 0 },
  { name: 'another reason after 30 s', next: { ...exceeded, reason: 'Other' }, afterMs: 30_000 },
  {
    name: 'another message, which has sizes, after 5 min',
    next: { ...exceeded, message: 'team-b' },
    afterMs: 300_000,
  },
  { name: 'nothing if nothing changed', next: exceeded, afterMs: undefined },
])('is written: $name', ({ next, afterMs }) => {
  expect(writeAfterMs(status(next), status(exceeded))).toBe(afterMs);
});
