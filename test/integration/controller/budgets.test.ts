import { expect, test } from 'vitest';
import { policyManifest } from '../../manifests.ts';
import { until } from '../built.ts';
import { ControllerEnvironment } from './environment.ts';

const gib = 2 ** 30;

const budgets = {
  excludeNamespaces: ['kube-system'],
  namespaceBudgets: [
    { namespaceSelector: { matchLabels: { tier: 'large' } }, perNode: '40Gi' },
    {
      namespaceSelector: { matchExpressions: [{ key: 'tier', operator: 'DoesNotExist' }] },
      perNode: '20Gi',
      cluster: '30Gi',
    },
  ],
};

const applyNodes = (bed: ControllerEnvironment, rules: object): void => {
  bed.api.store.apply(policyManifest('default', { nodes: rules }));
};

/** A node with its report: namespaces with their GiB. */
function report({ api }: ControllerEnvironment, node: string, used: Readonly<Record<string, number>>): void {
  const at = new Date().toISOString();
  const namespaces = Object.entries(used).map(([name, size]) => ({ name, pods: 1, bytes: size * gib }));
  const pods = namespaces.map(({ name, bytes }) => ({
    ...{ namespace: name, name: `ci-${node}`, uid: `${name}-${node}`, bytes },
  }));
  api.store.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: node } });
  api.store.apply({
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    kind: 'NodeGCReport',
    metadata: { name: node },
    status: { reportTime: at, usage: { measuredTime: at, namespaces, pods } },
  });
}

/** The objects of the Events, with the first words of their notes. */
const warningsIn = ({ api }: ControllerEnvironment): readonly object[] =>
  api.store
    .list('Event')
    .filter(({ reason }) => reason === 'NamespaceOverBudget')
    .map(({ metadata, regarding, note }) => ({
      in: metadata.namespace,
      regarding,
      note: String(note).split(',')[0],
    }));

const ratio = (namespace: string, scope: string): string =>
  `dustpan_namespace_budget_used_ratio{policy="default",namespace="${namespace}",scope="${scope}"}`;

test('a namespace over its budgets has an Event in it, a condition of the policy and a metric, as long as there are budgets', async () => {
  await using bed = await ControllerEnvironment.open();
  const { store } = bed.api;
  for (const name of ['team-a', 'team-large', 'kube-system'])
    store.apply({
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name, labels: name === 'team-large' ? { tier: 'large' } : {} },
    });
  report(bed, 'node-1', { 'team-a': 24, 'team-large': 39, 'kube-system': 90 });
  report(bed, 'node-2', { 'team-a': 8 });
  applyNodes(bed, {});
  const controller = bed.start();
  await until('the policy has a status', () => bed.condition('Accepted') !== undefined);
  expect(bed.condition('BudgetsExceeded')).toBeUndefined();

  applyNodes(bed, budgets);
  await until('both excesses have their Event', () => warningsIn(bed).length === 2);
  const uid = store.get('Namespace', 'team-a')?.metadata.uid;
  const regarding = { apiVersion: 'v1', kind: 'Namespace', namespace: 'team-a', name: 'team-a', uid };
  const about = { in: 'team-a', regarding };
  expect(warningsIn(bed)).toContainEqual({ ...about, note: 'Namespace team-a uses 24.0 GiB on node node-1' });
  expect(warningsIn(bed)).toContainEqual({ ...about, note: 'Namespace team-a uses 32.0 GiB on 2 nodes' });
  await until('the condition is True', () => bed.condition('BudgetsExceeded') === 'True NamespaceOverBudget');
  expect(await controller.sample(ratio('team-a', 'node'))).toBe(1.2);
  expect(await controller.sample(ratio('team-large', 'node'))).toBe(0.975);
  expect(await controller.sample(ratio('kube-system', 'node'))).toBeUndefined();
  expect(
    await controller.sample('dustpan_namespace_budgets_exceeded{policy="default",scope="cluster"}'),
  ).toBe(1);

  applyNodes(bed, {});
  await until('the condition is gone', () => bed.condition('BudgetsExceeded') === undefined);
  const over = (): Promise<number | undefined> => controller.sample(ratio('team-a', 'node'));
  await until('the metric is gone', async () => (await over()) === undefined);
  expect(warningsIn(bed)).toHaveLength(2);
  expect(bed.writes).toEqual([]);
});
