import { describe, expect, test } from 'vitest';
import type { InvalidPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import {
  noMemory,
  type BudgetMemory,
  type BudgetNode,
  type BudgetPlan,
  type UsageReport,
} from '../../../../src/controllers/budgets/facts.ts';
import { namespaceOverBudget } from '../../../../src/controllers/budgets/events.ts';
import { planBudgets } from '../../../../src/controllers/budgets/plan.ts';
import { labelled, now, policy, selectingAll } from '../../../builders.ts';
import { budget, budgetPolicy, gib, namespace, usageReport } from './builders.ts';

const namespaces = [namespace('team-a', { tier: 'gold' }), namespace('team-b'), namespace('team-c')];

interface Given {
  readonly policies?: readonly (Policy | InvalidPolicy)[];
  readonly memory?: BudgetMemory;
  readonly nodes?: readonly BudgetNode[];
}

const perNode20 = budgetPolicy([budget({ perNode: 20 })]);
const node = (name: string, pool = 'general'): BudgetNode => ({ name, labels: { pool } });
const cluster100 = budgetPolicy([budget({ cluster: 100 })]);

function plan(
  reports: readonly UsageReport[],
  { policies = [perNode20], memory = noMemory, nodes = reports.map(({ name }) => node(name)) }: Given = {},
): BudgetPlan {
  return planBudgets({ policies, nodes, namespaces, reports, memory }, now);
}

/** The policy `pool`, of the nodes in this pool. */
const inPool = (pool: string, sizes: Parameters<typeof budget>[0]): Policy =>
  budgetPolicy([budget(sizes)], { nodeSelector: labelled('pool', pool) }, pool);

const invalid: InvalidPolicy = {
  name: 'nodes',
  uid: 'uid-nodes',
  generation: 1,
  priority: 0,
  problems: ['x'],
  ...selectingAll,
};

const warned = ({ warnings }: BudgetPlan): readonly string[] =>
  warnings.map(({ use }) => `${use.policy.name} ${use.scope} ${use.namespace.name} ${use.usedBytes / gib}`);
const conditionOf = ({ reports }: BudgetPlan, uid = 'uid-nodes'): string | undefined =>
  reports.get(uid)?.status;

describe('a namespace exceeds a budget', () => {
  test.each([
    {
      name: 'on a node, above it',
      reports: [usageReport('n1', { 'team-a': 20.5, 'team-b': 3 })],
      expected: ['nodes node team-a 20.5'],
    },
    { name: 'not at exactly the budget', reports: [usageReport('n1', { 'team-a': 20 })], expected: [] },
    {
      name: 'not by the sum of nodes, if the budget is per node',
      reports: [usageReport('n1', { 'team-a': 15 }), usageReport('n2', { 'team-a': 15 })],
      expected: [],
    },
    {
      name: 'on several nodes, with one warning about the node with the most',
      reports: [
        usageReport('n1', { 'team-a': 25 }),
        usageReport('n2', { 'team-a': 30 }),
        usageReport('n3', { 'team-a': 22 }),
      ],
      expected: ['nodes node team-a 30'],
    },
    {
      name: 'of all nodes, by the sum',
      policies: [cluster100],
      reports: [usageReport('n1', { 'team-a': 60 }), usageReport('n2', { 'team-a': 41, 'team-b': 80 })],
      expected: ['nodes cluster team-a 101'],
    },
    {
      name: 'of both kinds, with a warning for each, the largest excess first',
      policies: [budgetPolicy([budget({ perNode: 20, cluster: 30 })])],
      reports: [usageReport('n1', { 'team-a': 25 }), usageReport('n2', { 'team-a': 24 })],
      expected: ['nodes cluster team-a 49', 'nodes node team-a 25'],
    },
    {
      name: 'by the first entry that selects it, even if a later one is smaller',
      policies: [
        budgetPolicy([
          budget({ perNode: 50, selector: labelled('tier', 'gold') }),
          budget({ perNode: 20 }),
          budget({ perNode: 1 }),
        ]),
      ],
      reports: [usageReport('n1', { 'team-a': 40, 'team-b': 21, 'team-c': 5 })],
      expected: ['nodes node team-b 21'],
    },
    {
      name: 'not if no entry selects it',
      policies: [budgetPolicy([budget({ perNode: 20, selector: labelled('tier', 'gold') })])],
      reports: [usageReport('n1', { 'team-b': 40 })],
      expected: [],
    },
    {
      name: 'not if the policy excludes it',
      policies: [budgetPolicy([budget({ perNode: 20 })], { excludeNamespaces: ['team-a'] })],
      reports: [usageReport('n1', { 'team-a': 40, 'team-b': 30 })],
      expected: ['nodes node team-b 30'],
    },
    {
      name: 'not if it does not exist any more',
      reports: [usageReport('n1', { deleted: 40 })],
      expected: [],
    },
    {
      name: 'not on a node that does not exist any more',
      nodes: [node('n1')],
      policies: [cluster100],
      reports: [usageReport('n1', { 'team-a': 90 }), usageReport('n2', { 'team-a': 90 })],
      expected: [],
    },
    {
      name: 'not on nodes that no policy selects',
      nodes: [node('n1'), node('n2', 'small')],
      policies: [inPool('general', { cluster: 100 })],
      reports: [usageReport('n1', { 'team-a': 90 }), usageReport('n2', { 'team-a': 90 })],
      expected: [],
    },
    {
      name: 'under each policy by its own nodes: the first that selects a node governs it alone',
      nodes: [node('n1'), node('n2', 'small')],
      policies: [inPool('small', { perNode: 10 }), budgetPolicy([budget({ perNode: 12, cluster: 16 })])],
      reports: [usageReport('n1', { 'team-a': 15 }), usageReport('n2', { 'team-a': 13 })],
      expected: ['small node team-a 13', 'nodes node team-a 15'],
    },
    {
      name: 'not on nodes that an invalid policy may select',
      policies: [{ ...invalid, name: 'first', uid: 'uid-first' }, perNode20],
      reports: [usageReport('n1', { 'team-a': 40 })],
      expected: [],
    },
    {
      name: 'in mode Enforce too',
      policies: [{ ...perNode20, mode: 'Enforce' as const }],
      reports: [usageReport('n1', { 'team-a': 21 })],
      expected: ['nodes node team-a 21'],
    },
    {
      name: 'not by a report that is too old',
      reports: [usageReport('n1', { 'team-a': 40 }, { ageMinutes: 15.1 })],
      expected: [],
    },
    {
      name: 'by a report of 15 minutes',
      reports: [usageReport('n1', { 'team-a': 40 }, { ageMinutes: 15 })],
      expected: ['nodes node team-a 40'],
    },
    {
      name: 'by a sum without the reports that are too old',
      policies: [cluster100],
      reports: [usageReport('n1', { 'team-a': 60 }), usageReport('n2', { 'team-a': 60 }, { ageMinutes: 16 })],
      expected: [],
    },
  ])(
    '$name',
    ({ reports, expected, policies = [perNode20], nodes = reports.map(({ name }) => node(name)) }) => {
      expect(warned(plan(reports, { policies, nodes }))).toEqual(expected);
    },
  );
});

describe('a second pass', () => {
  const first = plan([usageReport('n1', { 'team-a': 25 })]);

  test.each([
    { name: 'warns not again', size: 26, condition: 'True' },
    { name: 'keeps the excess at 90 %', size: 18, condition: 'True' },
    { name: 'ends the excess below 90 %', size: 17.9, condition: 'False' },
  ])('$name', ({ size, condition }) => {
    const second = plan([usageReport('n1', { 'team-a': size })], { memory: first.memory });
    expect(second.warnings).toEqual([]);
    expect(conditionOf(second)).toBe(condition);
  });

  test('warns again when the excess had ended', () => {
    const { memory } = plan([usageReport('n1', { 'team-a': 17 })], { memory: first.memory });
    expect(memory).toEqual(noMemory);
    expect(warned(plan([usageReport('n1', { 'team-a': 21 })], { memory }))).toEqual(['nodes node team-a 21']);
  });

  test.each([
    { name: 'larger, ends the excess', perNode: 26, expected: [], condition: 'False' },
    { name: 'smaller, begins another', perNode: 10, expected: ['nodes node team-a 25'], condition: 'True' },
  ])('with another budget, $name', ({ perNode, expected, condition }) => {
    const policies = [budgetPolicy([budget({ perNode })])];
    const second = plan([usageReport('n1', { 'team-a': 25 })], { policies, memory: first.memory });
    expect(warned(second)).toEqual(expected);
    expect(conditionOf(second)).toBe(condition);
  });

  test.each([
    {
      name: 'the report is too old',
      reports: [usageReport('n1', { 'team-a': 25 }, { ageMinutes: 20 })],
      message: 'at most 25.0 GiB (125 % of 20Gi) by the last reports. The usage on 1 node is unknown',
    },
    {
      name: 'it is too old, and another node uses less',
      reports: [usageReport('n1', { 'team-a': 25 }, { ageMinutes: 20 }), usageReport('n2', { 'team-a': 1 })],
      message: 'at most 25.0 GiB (125 % of 20Gi) by the last reports. The usage on 1 node is unknown',
    },
    {
      name: 'the report does not list the namespace, which may use as much as those listed',
      reports: [usageReport('n1', { 'team-b': 19 }, { unlistedAtMost: 19 })],
      message:
        'at most 19.0 GiB (95 % of 20Gi) by the last reports. On 1 node only the 64 largest namespaces are known',
    },
  ])('an excess remains while $name', ({ reports, message }) => {
    const second = plan(reports, { memory: first.memory });
    expect(warned(second)).toEqual([]);
    expect(conditionOf(second)).toBe('True');
    expect(second.near.filter(({ namespace: { name } }) => name === 'team-a')).toEqual([]);
    expect(second.reports.get('uid-nodes')?.message).toContain(
      `namespace team-a perhaps still, with ${message}`,
    );
  });

  test.each([
    {
      name: 'nobody has reported for a day that it has not',
      reports: [
        usageReport('n1', { 'team-a': 25 }, { ageMinutes: 25 * 60 }),
        usageReport('n2', { 'team-a': 1 }),
      ],
    },
    { name: 'the node is gone', reports: [usageReport('n2', { 'team-a': 1 })] },
    { name: 'no report lists the namespace, and all are complete', reports: [usageReport('n1', {})] },
    {
      name: 'the namespace is not listed, and uses less than those listed',
      reports: [usageReport('n1', { 'team-b': 17 }, { unlistedAtMost: 17 })],
    },
  ])('an excess ends when $name', ({ reports }) => {
    const second = plan(reports, { memory: first.memory });
    expect([conditionOf(second), second.memory]).toEqual(['False', noMemory]);
  });

  test.each([
    {
      name: 'remains by the old part of the sum',
      reports: [usageReport('n1', { 'team-a': 70 }, { ageMinutes: 20 }), usageReport('n2', { 'team-a': 40 })],
      expected: 'True',
    },
    {
      name: 'ends without it',
      reports: [usageReport('n1', { 'team-a': 70 }, { ageMinutes: 20 }), usageReport('n2', { 'team-a': 10 })],
      expected: 'False',
    },
    {
      name: 'remains by the possible usage on nodes that do not list the namespace',
      reports: [
        usageReport('n1', { 'team-a': 70 }, { unlistedAtMost: 9 }),
        usageReport('n2', { 'team-b': 20 }, { unlistedAtMost: 20 }),
      ],
      expected: 'True',
    },
    {
      name: 'ends with less there',
      reports: [
        usageReport('n1', { 'team-a': 70 }, { unlistedAtMost: 30 }),
        usageReport('n2', { 'team-b': 20 }, { unlistedAtMost: 19 }),
      ],
      expected: 'False',
    },
  ])('an excess of all nodes $name', ({ reports, expected }) => {
    const policies = [cluster100];
    const { memory } = plan([usageReport('n1', { 'team-a': 110 })], { policies });
    expect(conditionOf(plan(reports, { policies, memory }))).toBe(expected);
  });
});

describe('the condition', () => {
  test.each([
    {
      name: 'True, with the worst three',
      reports: [
        usageReport('n1', { 'team-a': 24, 'team-b': 40, 'team-c': 22 }),
        usageReport('n2', { 'team-a': 90 }, { ageMinutes: 60 }),
      ],
      policies: [budgetPolicy([budget({ perNode: 20, cluster: 21 })])],
      expected: [
        'True NamespaceOverBudget',
        'Over budget: namespace team-b, 40.0 GiB on node n1 (200 % of 20Gi); namespace team-b, 40.0 GiB on 1 node (190 % of 21Gi); ' +
          'namespace team-a, 24.0 GiB on node n1 (120 % of 20Gi); 3 more. ' +
          'The usage on 1 node is unknown or older than 15 minutes',
      ],
    },
    {
      name: 'False',
      reports: [usageReport('n1', { 'team-a': 1 })],
      expected: ['False WithinBudgets', 'No namespace is known to exceed its budget'],
    },
    {
      name: 'False, with nodes whose usage is unknown: old, never measured, without a report, or cut off',
      nodes: ['n1', 'n2', 'n3', 'n4'].map((name) => node(name)),
      reports: [
        usageReport('n1', {}, { unlistedAtMost: 1 }),
        { name: 'n2', usage: undefined },
        usageReport('n3', {}, { ageMinutes: 16, unlistedAtMost: 1 }),
      ],
      expected: [
        'False WithinBudgets',
        'No namespace is known to exceed its budget. The usage on 3 nodes is unknown or older than 15 minutes. ' +
          'On 1 node only the 64 largest namespaces are known',
      ],
    },
    {
      name: 'Unknown without any recent report',
      reports: [usageReport('n1', { 'team-a': 30 }, { ageMinutes: 16 })],
      expected: [
        'Unknown UsageUnknown',
        'No node that this policy governs has reported the usage of namespaces in the last 15 minutes',
      ],
    },
  ])(
    'is $name',
    ({ reports, policies = [perNode20], nodes = reports.map(({ name }) => node(name)), expected }) => {
      const { status, reason, message } = plan(reports, { policies, nodes }).reports.get('uid-nodes') ?? {};
      expect([`${status} ${reason}`, message]).toEqual(expected);
    },
  );

  test.each([
    { name: 'without budgets', of: budgetPolicy([]) },
    { name: 'without rules for nodes', of: policy() },
    { name: 'that is invalid', of: invalid },
  ])('is absent for a policy $name', ({ of }) => {
    const { reports, counts } = plan([usageReport('n1', { 'team-a': 99 })], { policies: [of] });
    expect(reports).toEqual(new Map());
    expect(counts).toEqual([]);
  });
});

describe('the largest pods', () => {
  const pods = { 'team-a/a': 1, 'team-b/x': 40, 'team-a/b': 2, 'team-a/c': 3, 'team-a/d': 4, 'team-a/e': 5 };
  const reports = [
    usageReport('n1', { 'team-a': 24 }, { pods }),
    usageReport('n2', { 'team-a': 21 }, { pods: { 'team-a/f': 9 } }),
    usageReport('n3', { 'team-a': 90 }, { pods: { 'team-a/old': 90 }, ageMinutes: 60 }),
  ];
  const named = ({ warnings }: BudgetPlan): readonly string[] =>
    warnings.flatMap((warning) => warning.pods.map(({ name }) => name));

  test('are those of the node with the most', () => {
    expect(named(plan(reports))).toEqual(['e', 'd', 'c', 'b', 'a']);
  });

  test('are those of all nodes that have reported, at most five', () => {
    const policies = [budgetPolicy([budget({ cluster: 20 })])];
    expect(named(plan(reports, { policies }))).toEqual(['f', 'e', 'd', 'c', 'b']);
  });

  test('are named in the Event, which is in the namespace', () => {
    const [warning] = plan(reports).warnings;
    expect(warning && namespaceOverBudget(warning)).toEqual({
      regarding: {
        apiVersion: 'v1',
        kind: 'Namespace',
        namespace: 'team-a',
        name: 'team-a',
        uid: 'uid-team-a',
      },
      type: 'Warning',
      reason: 'NamespaceOverBudget',
      action: 'WatchBudgets',
      note:
        'Namespace team-a uses 24.0 GiB on node n1, more than its budget per node, 20Gi (policy nodes). It exceeds the budget on 1 more node. ' +
        'Largest pods: e 5.0 GiB, d 4.0 GiB, c 3.0 GiB, b 2.0 GiB, a 1.0 GiB. dustpan evicts nothing for a budget.',
      occasion: 'nodes node',
    });
  });

  test('are left out if none is listed', () => {
    const [warning] = plan([usageReport('n1', { 'team-a': 120 }), usageReport('n2', { 'team-a': 1 })], {
      policies: [cluster100],
    }).warnings;
    expect(warning && namespaceOverBudget(warning).note).toBe(
      'Namespace team-a uses 121.0 GiB on 2 nodes, more than its budget for all nodes, 100Gi (policy nodes). dustpan evicts nothing for a budget.',
    );
  });
});

describe('limits', () => {
  const many = Array.from({ length: 200 }, (_, i) => namespace(`ns-${i}`));
  const reports = many.map(({ name }, i) => usageReport(`n${i}`, { [name]: i }));
  const made = (memory: BudgetMemory): BudgetPlan =>
    planBudgets(
      {
        policies: [perNode20],
        nodes: reports.map(({ name }) => node(name)),
        namespaces: many,
        reports,
        memory,
      },
      now,
    );

  test('a pass warns about the worst 64, the next one about others', () => {
    const first = made(noMemory);
    const second = made(first.memory);
    expect([first, second].map(({ warnings }) => warnings.map(({ use }) => use.namespace.name))).toEqual(
      [199, 135].map((worst) => Array.from({ length: 64 }, (_, i) => `ns-${worst - i}`)),
    );
    expect(made(made(second.memory).memory).warnings).toEqual([]);
  });

  test('the metric has the 64 that use most, the count all', () => {
    const { near, counts } = made(noMemory);
    expect(near.map(({ namespace: { name } }) => name)).toEqual(
      Array.from({ length: 64 }, (_, i) => `ns-${199 - i}`),
    );
    expect(counts).toEqual([
      { policy: 'nodes', scope: 'node', exceeded: 179 },
      { policy: 'nodes', scope: 'cluster', exceeded: 0 },
    ]);
  });

  test('the metric has only namespaces above 80 %, equal ones by name', () => {
    const { near } = plan([usageReport('n1', { 'team-c': 17, 'team-b': 16, 'team-a': 17 })]);
    expect(near.map(({ namespace: { name } }) => name)).toEqual(['team-a', 'team-c']);
  });
});
