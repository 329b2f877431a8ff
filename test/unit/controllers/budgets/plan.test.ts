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

const namespaces = [namespace('a', { tier: 'gold' }), namespace('b'), namespace('c')];

const node = (name: string, pool = 'general'): BudgetNode => ({ name, labels: { pool } });
const perNode20 = budgetPolicy([budget({ perNode: 20 })]);
const cluster100 = budgetPolicy([budget({ cluster: 100 })]);
const gold = labelled('tier', 'gold');

interface Given {
  /** `n1 a:25 b:3, n2@20 a:1, n3<19`: the nodes, each with the namespaces that it reports and their GiB; the usage of n2 is 20 minutes old, n3 does not list namespaces of up to 19 GiB. */
  readonly usage: string;
  /** Default: those that report. */
  readonly nodes?: readonly BudgetNode[] | undefined;
  readonly policies?: readonly (Policy | InvalidPolicy)[];
  readonly memory?: BudgetMemory;
}

type Rest = Omit<Given, 'usage'>;

const plan = ({ usage, ...rest }: Given): BudgetPlan =>
  planOf(
    usage.split(', ').map((text) => {
      const [, name = '', age = 0, unlisted = 0] = /^(\w+)(?:@([\d.]+))?(?:<(\d+))?/.exec(text) ?? [];
      const used = [...text.matchAll(/(\w+):([\d.]+)/g)].map(([, of = '', size]) => [of, Number(size)]);
      const options = { ageMinutes: Number(age), unlistedAtMost: Number(unlisted) };
      return usageReport(name, Object.fromEntries(used) as Record<string, number>, options);
    }),
    rest,
  );

const planOf = (
  reports: readonly UsageReport[],
  { policies = [perNode20], memory = noMemory, nodes = reports.map(({ name }) => node(name)) }: Rest = {},
): BudgetPlan => planBudgets({ policies, nodes, namespaces, reports, memory }, now);

/** The policy `pool`, of the nodes in this pool. */
const inPool = (pool: string, sizes: Parameters<typeof budget>[0]): Policy =>
  budgetPolicy([budget(sizes)], { nodeSelector: labelled('pool', pool) }, pool);

const invalid: InvalidPolicy = {
  ...{ name: 'nodes', uid: 'uid-nodes', generation: 1, priority: 0, problems: ['x'] },
  ...selectingAll,
};

const warned = ({ warnings }: BudgetPlan): string =>
  warnings
    .map(({ use }) => `${use.policy.name} ${use.scope} ${use.namespace.name} ${use.usedBytes / gib}`)
    .join(', ');
const conditionOf = ({ reports }: BudgetPlan): string | undefined => reports.get('uid-nodes')?.status;

describe('a namespace exceeds a budget', () => {
  const both = budgetPolicy([budget({ perNode: 20, cluster: 30 })]);
  const byTier = [budget({ perNode: 50, selector: gold }), budget({ perNode: 20 }), budget({ perNode: 1 })];
  const small = [node('n1'), node('n2', 'small')];

  test.each<[name: string, usage: string, warned: string, rest?: Rest]>([
    ['on a node, above it', 'n1 a:20.5 b:3', 'nodes node a 20.5'],
    ['not at exactly the budget', 'n1 a:20', ''],
    [
      'on several nodes, with one warning about the node with the most',
      'n1 a:25, n2 a:30, n3 a:22',
      'nodes node a 30',
    ],
    ['of all nodes, by the sum', 'n1 a:60, n2 a:41 b:80', 'nodes cluster a 101', { policies: [cluster100] }],
    [
      'of both kinds, with a warning for each, the largest excess first',
      'n1 a:25, n2 a:24',
      'nodes cluster a 49, nodes node a 25',
      { policies: [both] },
    ],
    [
      'by the first entry that selects it, even if a later one is smaller',
      'n1 a:40 b:21 c:5',
      'nodes node b 21',
      { policies: [budgetPolicy(byTier)] },
    ],
    [
      'not if no entry selects it',
      'n1 b:40',
      '',
      { policies: [budgetPolicy([budget({ perNode: 20, selector: gold })])] },
    ],
    [
      'not if the policy excludes it',
      'n1 a:40 b:30',
      'nodes node b 30',
      { policies: [budgetPolicy([budget({ perNode: 20 })], { excludeNamespaces: new Set(['a']) })] },
    ],
    [
      'not on a node that does not exist any more',
      'n1 a:90, n2 a:90',
      '',
      { nodes: [node('n1')], policies: [cluster100] },
    ],
    [
      'under each policy by its own nodes: the first that selects a node governs it alone',
      'n1 a:15, n2 a:13',
      'small node a 13, nodes node a 15',
      {
        nodes: small,
        policies: [inPool('small', { perNode: 10 }), budgetPolicy([budget({ perNode: 12, cluster: 16 })])],
      },
    ],
    [
      'not on nodes that an invalid policy may select',
      'n1 a:40',
      '',
      { policies: [{ ...invalid, name: 'first', uid: 'uid-first' }, perNode20] },
    ],
    ['not by a report that is too old', 'n1@15.1 a:40', ''],
    ['by a report of 15 minutes', 'n1@15 a:40', 'nodes node a 40'],
    ['by a sum without reports that are too old', 'n1 a:60, n2@16 a:60', '', { policies: [cluster100] }],
  ])('%s', (_, usage, expected, rest) => {
    expect(warned(plan({ usage, ...rest }))).toBe(expected);
  });
});

describe('a second pass', () => {
  const { memory } = plan({ usage: 'n1 a:25' });

  test.each([
    { name: 'warns not again', size: 26, condition: 'True' },
    { name: 'keeps the excess at 90 %', size: 18, condition: 'True' },
    { name: 'ends the excess below 90 %', size: 17.9, condition: 'False' },
  ])('$name', ({ size, condition }) => {
    const second = plan({ usage: `n1 a:${size}`, memory });
    expect(second.warnings).toEqual([]);
    expect(conditionOf(second)).toBe(condition);
  });

  test('warns again when the excess had ended', () => {
    const ended = plan({ usage: 'n1 a:17', memory });
    expect(ended.memory).toEqual(noMemory);
    expect(warned(plan({ usage: 'n1 a:21', memory: ended.memory }))).toBe('nodes node a 21');
  });

  test.each([
    { name: 'larger, ends the excess', perNode: 26, expected: '', condition: 'False' },
    { name: 'smaller, begins another', perNode: 10, expected: 'nodes node a 25', condition: 'True' },
  ])('with another budget, $name', ({ perNode, expected, condition }) => {
    const second = plan({
      usage: 'n1 a:25',
      policies: [budgetPolicy([budget({ perNode })])],
      memory,
    });
    expect(warned(second)).toBe(expected);
    expect(conditionOf(second)).toBe(condition);
  });

  const old = 'at most 25.0 GiB (125 % of 20Gi) by the last reports. The usage on 1 node is unknown';

  test.each<[name: string, usage: string, message: string]>([
    ['the report is too old', 'n1@20 a:25, n2 a:1', old],
    [
      'the report does not list the namespace, which may use as much as those listed',
      'n1<19 b:19',
      'at most 19.0 GiB (95 % of 20Gi) by the last reports. On 1 node not all namespaces are known',
    ],
  ])('an excess remains while %s', (_, usage, message) => {
    const second = plan({ usage, memory });
    expect(warned(second)).toBe('');
    expect(conditionOf(second)).toBe('True');
    expect(second.near.filter(({ namespace: { name } }) => name === 'a')).toEqual([]);
    expect(second.reports.get('uid-nodes')?.message).toContain(`namespace a perhaps still, with ${message}`);
  });

  test.each([
    ['nobody has reported for a day that it has not', 'n1@1500 a:25, n2 a:1'],
    ['the node is gone', 'n2 a:1'],
    ['no report lists the namespace, and all are complete', 'n1'],
    ['the namespace is not listed, and uses less than those listed', 'n1<17 b:17'],
  ])('an excess ends when %s', (_, usage) => {
    const second = plan({ usage, memory });
    expect([conditionOf(second), second.memory]).toEqual(['False', noMemory]);
  });

  test.each([
    ['remains by the old part of the sum', 'n1@20 a:70, n2 a:40', 'True'],
    ['ends without it', 'n1@20 a:70, n2 a:10', 'False'],
    ['remains by what may be used on nodes that do not list it', 'n1<9 a:70, n2<20 b:20', 'True'],
    ['ends with less there', 'n1<30 a:70, n2<19 b:20', 'False'],
  ])('an excess of all nodes %s', (_, usage, expected) => {
    const policies = [cluster100];
    const first = plan({ usage: 'n1 a:110', policies });
    expect(conditionOf(plan({ usage, policies, memory: first.memory }))).toBe(expected);
  });
});

describe('the condition', () => {
  const unknown = 'The usage on 1 node is unknown or older than 15 minutes';

  test.each<Given & { readonly name: string; readonly expected: string; readonly message: string }>([
    {
      name: 'True, with the worst three',
      usage: 'n1 a:24 b:40 c:22, n2@60 a:90',
      policies: [budgetPolicy([budget({ perNode: 20, cluster: 21 })])],
      expected: 'True NamespaceOverBudget',
      message:
        'Over budget: namespace b, 40.0 GiB on node n1 (200 % of 20Gi); namespace b, 40.0 GiB on 1 node (190 % of 21Gi); ' +
        `namespace a, 24.0 GiB on node n1 (120 % of 20Gi); 3 more. ${unknown}`,
    },
    {
      name: 'False, with nodes whose usage is old, without a report, or cut off',
      nodes: ['n1', 'n2', 'n3'].map((name) => node(name)),
      usage: 'n1<1, n2@16<1',
      expected: 'False WithinBudgets',
      message:
        'No namespace is known to exceed its budget. The usage on 2 nodes is unknown or older than 15 minutes. ' +
        'On 1 node not all namespaces are known',
    },
    {
      name: 'Unknown without any recent report',
      usage: 'n1@16 a:30',
      expected: 'Unknown UsageUnknown',
      message: 'No node that this policy governs has reported the usage of namespaces in the last 15 minutes',
    },
  ])('is $name', ({ expected, message, ...given }) => {
    const report = plan(given).reports.get('uid-nodes');
    expect([`${report?.status} ${report?.reason}`, report?.message]).toEqual([expected, message]);
  });

  test.each([
    { name: 'without budgets', of: budgetPolicy([]) },
    { name: 'without rules for nodes', of: policy() },
    { name: 'that is invalid', of: invalid },
  ])('is absent for a policy $name', ({ of }) => {
    const { reports, counts } = plan({ usage: 'n1 a:99', policies: [of] });
    expect(reports).toEqual(new Map());
    expect(counts).toEqual([]);
  });
});

describe('the largest pods', () => {
  const pods = { 'a/a': 1, 'b/x': 40, 'a/b': 2, 'a/c': 3, 'a/d': 4, 'a/e': 5 };
  const reports = [
    usageReport('n1', { a: 24 }, { pods }),
    usageReport('n2', { a: 21 }, { pods: { 'a/f': 9 } }),
    usageReport('n3', { a: 90 }, { pods: { 'a/old': 90 }, ageMinutes: 60 }),
  ];
  const named = ({ warnings }: BudgetPlan): readonly string[] =>
    warnings.flatMap((warning) => warning.pods.map(({ name }) => name));

  test('are those of all nodes that have reported, at most five', () => {
    const policies = [budgetPolicy([budget({ cluster: 20 })])];
    expect(named(planOf(reports, { policies }))).toEqual(['f', 'e', 'd', 'c', 'b']);
  });

  test('are named in the Event, which is in the namespace', () => {
    const [warning] = planOf(reports).warnings;
    expect(warning && namespaceOverBudget(warning)).toEqual({
      regarding: { apiVersion: 'v1', kind: 'Namespace', namespace: 'a', name: 'a', uid: 'uid-a' },
      type: 'Warning',
      reason: 'NamespaceOverBudget',
      action: 'WatchBudgets',
      note:
        'Namespace a uses 24.0 GiB on node n1, more than its budget per node, 20Gi (policy nodes). It exceeds the budget on 1 more node. ' +
        'Largest pods: e 5.0 GiB, d 4.0 GiB, c 3.0 GiB, b 2.0 GiB, a 1.0 GiB. dustpan evicts nothing for a budget.',
      occasion: 'nodes node',
    });
  });
});

describe('limits', () => {
  const many = Array.from({ length: 200 }, (_, i) => namespace(`ns-${i}`));
  const reports = many.map(({ name }, i) => usageReport(`n${i}`, { [name]: i }));
  const nodes = reports.map(({ name }) => node(name));
  const made = (memory: BudgetMemory): BudgetPlan =>
    planBudgets({ policies: [perNode20], nodes, namespaces: many, reports, memory }, now);

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
    const { near } = plan({ usage: 'n1 c:17 b:16 a:17' });
    expect(near.map(({ namespace: { name } }) => name)).toEqual(['a', 'c']);
  });
});
