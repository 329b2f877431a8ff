import { expect, test } from 'vitest';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import { dustpanUser } from '../controller/dustpan.ts';
import { etcdClient } from '../servers/etcd.ts';
import { Plans, verdictsOf } from './plan-equality.ts';
import { dressed, secrets } from './population.ts';
import { loadPopulation, randomPopulation } from '../population/population.ts';
import { create, kubectl } from '../servers/kubectl.ts';

/** Two pages of every list of pods. */
const pods = 560;
const planArgs = ['--now=2026-03-01T00:00:00Z', '--kept', '-o', 'json'];

async function startWithPopulation(seed: number): Promise<Cluster> {
  const cluster = await startCluster({ parts: ['etcd', 'api'], crds: true, users: [dustpanUser] });
  const { population, others, policies } = dressed(seed, randomPopulation(seed, { pods }));
  const etcd = etcdClient(cluster.etcdUrl);
  await etcd.put(others);
  await loadPopulation(etcd, population);
  await create(cluster, ...policies);
  return cluster;
}

test.for([1, 2, 3])('a plan of the cluster equals that of its snapshot: population %i', async (seed) => {
  await using cluster = await startWithPopulation(seed);
  const plans = new Plans({
    cluster,
    source: [`--kubeconfig=${cluster.kubeconfig(dustpanUser.name)}`],
    planArgs,
  });
  await plans.snapshot();
  const plan = await plans.live();
  expect(await plans.offline()).toEqual(plan);
  expect(await plans.offline('--assume-quarantine-elapsed')).toEqual(
    await plans.live('--assume-quarantine-elapsed'),
  );

  // It is no plan of nothing.
  expect(plan.decisions).toHaveLength(pods);
  expect(plan.generatedAt).toBe('2026-03-01T00:00:00Z');
  expect(verdictsOf(plan).length).toBeGreaterThan(8);
  expect(verdictsOf(plan)).toEqual(
    expect.arrayContaining([
      'Pod Delete Expired',
      'Pod Delete Terminated',
      'Pod Keep InvalidPolicy',
      'Pod Keep JobUnfinished',
      'Pod Keep KeepMarked',
      'Pod Keep KeptForOwner',
    ]),
  );
  const details = plan.decisions.map(({ detail }) => detail).join();
  const texts = ['reason OOMKilled', 'exit code 1 or 2', 'of CronJob cron-', 'newest failed pods of'];
  expect(texts.filter((text) => !details.includes(text))).toEqual([]);
  expect(plan.totals.filter(({ reportedAt }) => reportedAt !== undefined)).toHaveLength(6);
  expect(plan.notes.join()).toContain('GCPolicy broken is invalid');

  // The secrets are in the cluster, and not in the snapshot.
  const all = await kubectl(cluster, ['get', 'pods', '-A', '-o', 'json', '--show-managed-fields']);
  for (const secret of Object.values(secrets)) expect(all).toContain(secret);
  expect(plans.text()).not.toContain('hunter2');
  expect(plans.text()).not.toContain('managedFields');
});

test('the comparison detects what a snapshot loses', async () => {
  await using cluster = await startWithPopulation(1);
  const plans = new Plans({
    cluster,
    source: [`--kubeconfig=${cluster.kubeconfig(dustpanUser.name)}`],
    planArgs,
  });
  await plans.snapshot();
  const plan = await plans.live();
  const withoutFirst = (file: string) => plans.edited(file, ({ items }) => items.shift());
  for (const file of ['pods.json', 'nodes.json', 'namespaces.json', 'policies.json', 'nodegcreports.json'])
    expect(await withoutFirst(file), file).not.toEqual(plan);
  for (const file of ['jobs.json', 'replicasets.json'])
    expect(await plans.edited(file, (list) => (list.items = [])), file).not.toEqual(plan);
  const without = (field: string) =>
    plans.edited('pods.json', ({ items }) => {
      for (const { metadata, status } of items as { metadata: object; status: object }[])
        for (const part of [metadata, status]) Reflect.deleteProperty(part, field);
    });
  for (const field of ['labels', 'ownerReferences', 'finalizers', 'message', 'reason', 'containerStatuses'])
    expect(await without(field), field).not.toEqual(plan);
  // Written by a person, the same policy is a mistake.
  await expect(plans.edited('policies.json', (list) => delete list.storedInvalid)).rejects.toThrow(
    /exit 2: .*policies\.json: items\[\d\]\.spec\.mode: must be one of/,
  );
});
