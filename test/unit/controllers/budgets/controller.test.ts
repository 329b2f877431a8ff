import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { BudgetsReport } from '../../../../src/api/report/budgets-report.ts';
import type { Policy } from '../../../../src/api/policy/policy.ts';
import { BudgetController } from '../../../../src/controllers/budgets/controller.ts';
import { budgetMetrics } from '../../../../src/controllers/budgets/metrics.ts';
import type { NodeReportFacts } from '../../../../src/kube/cache/node-report-facts.ts';
import { node } from '../../../builders.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeRecorder } from '../../../fakes/cluster.ts';
import { silentLogger } from '../../../fakes/logger.ts';
import { report } from '../policystatus/builders.ts';
import { budget, budgetPolicy, namespace, usageReport } from './builders.ts';

/** The controller of a cluster where team-a uses 25 GiB of its 20 on node-1. */
function environment() {
  const registry = new Registry();
  const needed: boolean[] = [];
  const passes: ReadonlyMap<string, BudgetsReport>[] = [];
  const teamA = { ...namespace('team-a'), resourceVersion: '1' };
  const nodeReports = {
    ...{ items: new Map<string, NodeReportFacts>(), synced: true, hasUsage: true },
    keepUsage: (isNeeded: boolean): boolean => {
      needed.push(isNeeded);
      return nodeReports.hasUsage;
    },
  };
  const use = (size: number): void => {
    const { usage } = usageReport('node-1', { 'team-a': size });
    nodeReports.items.set('r1', report('node-1', { usage }));
  };
  use(25);
  const facts = {
    nodeReports,
    namespaces: { items: new Map([[teamA.uid, teamA]]), synced: true },
    nodes: { items: new Map([['n1', node('node-1')]]), synced: true },
    policies: { synced: true },
    policySet: { ranked: [budgetPolicy([budget({ perNode: 20 })])] as readonly Policy[] },
  };
  const controller = new BudgetController({
    ...{ ...facts, recorder: new FakeRecorder(), clock: new FakeClock(), log: silentLogger },
    metrics: budgetMetrics(registry),
    onPass: (reports) => passes.push(reports),
  });
  const series = async (): Promise<readonly string[]> =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('dustpan_'));
  return { ...facts, needed, passes, use, controller, series };
}

type Environment = ReturnType<typeof environment>;

test('without budgets it needs no usage, not even reports, and has no series', async () => {
  const { controller, policySet, nodeReports, needed, passes, series } = environment();
  controller.reconcile();
  policySet.ranked = [budgetPolicy([])];
  nodeReports.synced = false;
  controller.reconcile();
  expect(needed).toEqual([true, false]);
  expect(passes.at(-1)).toEqual(new Map());
  expect(await series()).toEqual([]);
});

test.each([
  { name: 'the policies', forget: ({ policies }: Environment) => (policies.synced = false) },
  { name: 'the reports', forget: ({ nodeReports }: Environment) => (nodeReports.synced = false) },
  { name: 'the usage in reports', forget: ({ nodeReports }: Environment) => (nodeReports.hasUsage = false) },
  { name: 'the nodes', forget: ({ nodes }: Environment) => (nodes.synced = false) },
  { name: 'the namespaces', forget: ({ namespaces }: Environment) => (namespaces.synced = false) },
])('while $name are not known, a pass waits, and all remains as it was', async ({ forget }) => {
  const cluster = environment();
  cluster.controller.reconcile();
  const before = await cluster.series();
  cluster.use(10);
  forget(cluster);
  expect(cluster.controller.reconcile()).toBe('waiting');
  expect(cluster.passes).toHaveLength(1);
  expect(await cluster.series()).toEqual(before);
});
