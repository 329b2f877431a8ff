import { expect, test } from 'vitest';
import { policyManifest } from '../../manifests.ts';
import { until } from '../built.ts';
import { ControllerEnvironment } from './environment.ts';

const gib = 2 ** 30;

/** A node with its report: team-a uses so many GiB. */
function report({ api }: ControllerEnvironment, node: string, size: number): void {
  const at = new Date().toISOString();
  const bytes = size * gib;
  const usage = {
    measuredTime: at,
    namespaces: [{ name: 'team-a', pods: 1, bytes }],
    pods: [{ namespace: 'team-a', name: `ci-${node}`, uid: `uid-${node}`, bytes }],
  };
  api.store.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: node } });
  api.store.apply({
    ...{ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'NodeGCReport', metadata: { name: node } },
    status: { reportTime: at, usage },
  });
}

/** The first words of the Events about namespaces over their budgets, sorted. */
const warningsIn = ({ api }: ControllerEnvironment): readonly string[] =>
  api.store
    .list('Event')
    .filter(({ metadata, reason }) => metadata.namespace === 'team-a' && reason === 'NamespaceOverBudget')
    .map(({ note }) => String(note).split(',')[0] ?? '')
    .sort();

const ratio = 'dustpan_namespace_budget_used_ratio{policy="default",namespace="team-a",scope="node"}';

test('a namespace over its budgets has Events in it, a condition of the policy and a metric, as long as there are budgets', async () => {
  await using bed = await ControllerEnvironment.open();
  const { store } = bed.api;
  const applyNodes = (rules: object) => store.apply(policyManifest('default', { nodes: rules }));
  store.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team-a' } });
  report(bed, 'node-1', 24);
  report(bed, 'node-2', 8);
  applyNodes({ namespaceBudgets: [{ namespaceSelector: {}, perNode: '20Gi', cluster: '30Gi' }] });
  const controller = bed.start();
  await until('both excesses have their Event', () => warningsIn(bed).length === 2);
  expect(warningsIn(bed)).toEqual([
    'Namespace team-a uses 24.0 GiB on node node-1',
    'Namespace team-a uses 32.0 GiB on 2 nodes',
  ]);
  await until('the condition is True', () => bed.condition('BudgetsExceeded') === 'True NamespaceOverBudget');
  expect(await controller.sample(ratio)).toBe(1.2);

  applyNodes({});
  await until('the condition is gone', () => bed.condition('BudgetsExceeded') === undefined);
  await until('the metric is gone', async () => (await controller.sample(ratio)) === undefined);
  expect(bed.writes).toEqual([]);
});
