import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import type { BudgetsReport } from '../../../../src/api/report/budgets-report.ts';
import type { Policy } from '../../../../src/api/policy/policy.ts';
import { BudgetController } from '../../../../src/controllers/budgets/controller.ts';
import { budgetMetrics } from '../../../../src/controllers/budgets/metrics.ts';
import type { NodeReportFacts } from '../../../../src/kube/cache/node-report-facts.ts';
import type { NamespaceFacts, NodeFacts } from '../../../../src/kube/cache/objects.ts';
import { node } from '../../../builders.ts';
import { FakeClock } from '../../../fakes/clock.ts';
import { FakeRecorder } from '../../../fakes/cluster.ts';
import { RecordingLogger } from '../../../fakes/recording-logger.ts';
import { report } from '../policystatus/builders.ts';
import { budget, budgetPolicy, namespace, usageReport } from './builders.ts';

class Environment {
  readonly clock = new FakeClock();
  readonly recorder = new FakeRecorder();
  readonly registry = new Registry();
  readonly nodeReports = {
    items: new Map<string, NodeReportFacts>(),
    synced: true,
    hasUsage: true,
    needed: [] as boolean[],
    keepUsage(isNeeded: boolean): boolean {
      this.needed.push(isNeeded);
      return this.hasUsage;
    },
  };
  readonly namespaces = { items: new Map<string, NamespaceFacts>(), synced: true };
  readonly nodes = { items: new Map<string, NodeFacts>([['n1', node('node-1')]]), synced: true };
  readonly policies = { synced: true };
  readonly policySet = { ranked: [budgetPolicy([budget({ perNode: 20 })])] as readonly Policy[] };
  readonly passes: ReadonlyMap<string, BudgetsReport>[] = [];
  readonly controller = new BudgetController({
    nodeReports: this.nodeReports,
    namespaces: this.namespaces,
    nodes: this.nodes,
    policySet: this.policySet,
    policies: this.policies,
    recorder: this.recorder,
    clock: this.clock,
    metrics: budgetMetrics(this.registry),
    onPass: (reports) => this.passes.push(reports),
    log: new RecordingLogger(),
  });

  constructor() {
    const teamA = { ...namespace('team-a'), resourceVersion: '1' };
    this.namespaces.items.set(teamA.uid, teamA);
    this.use(25);
  }

  /** The usage of team-a on node-1. */
  use(size: number): void {
    const { usage } = usageReport('node-1', { 'team-a': size });
    this.nodeReports.items.set('r1', report('node-1', { usage }));
  }

  async series(): Promise<readonly string[]> {
    const lines = (await this.registry.metrics()).split('\n');
    return lines.filter((line) => line.startsWith('dustpan_'));
  }
}

test('without budgets it needs no usage, not even reports, and has no series', async () => {
  const environment = new Environment();
  environment.controller.reconcile();
  environment.policySet.ranked = [budgetPolicy([])];
  environment.nodeReports.synced = false;
  environment.controller.reconcile();
  expect(environment.nodeReports.needed).toEqual([true, false]);
  expect(environment.passes.at(-1)).toEqual(new Map());
  expect(await environment.series()).toEqual([]);
});

test.each([
  { name: 'the policies', forget: ({ policies }: Environment) => (policies.synced = false) },
  { name: 'the reports', forget: ({ nodeReports }: Environment) => (nodeReports.synced = false) },
  { name: 'the usage in reports', forget: ({ nodeReports }: Environment) => (nodeReports.hasUsage = false) },
  { name: 'the nodes', forget: ({ nodes }: Environment) => (nodes.synced = false) },
  { name: 'the namespaces', forget: ({ namespaces }: Environment) => (namespaces.synced = false) },
])('while $name are not known, all remains as it was', async ({ forget }) => {
  const environment = new Environment();
  environment.controller.reconcile();
  const before = await environment.series();
  environment.use(10);
  forget(environment);
  environment.controller.reconcile();
  expect(environment.passes).toHaveLength(1);
  expect(await environment.series()).toEqual(before);
});
