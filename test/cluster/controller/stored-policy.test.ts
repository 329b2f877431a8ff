import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import { patience } from './environment.ts';
import { dustpanUser, startDustpan } from './dustpan.ts';
import { etcdClient } from '../servers/etcd.ts';
import { etcdEntry } from '../servers/etcd-objects.ts';
import { policyManifest } from '../../manifests.ts';

/** As stored before there was a validation: no mode of that name, and a threshold that is a word. */
const malformed = {
  apiVersion: 'gc.dustpan.dev/v1alpha1',
  kind: 'GCPolicy',
  metadata: { name: 'broken', uid: randomUUID(), creationTimestamp: '2026-01-01T00:00:00Z', generation: 1 },
  spec: { mode: 'Delete', priority: 10, pods: { terminated: { threshold: 'few' } } },
};

const deletesAll = policyManifest('deletes-all', {
  mode: 'Enforce',
  pods: { terminated: { ttlAfterFinished: '0s' } },
});

const finished = (name: string) =>
  etcdEntry({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: randomUUID(), creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { nodeName: 'node-1', containers: [{ name: 'c', image: 'i' }], restartPolicy: 'Never' },
    status: { phase: 'Succeeded' },
  });

const kubectl = async (cluster: Cluster, args: readonly string[], input?: string): Promise<string> => {
  const { code, stdout, stderr } = await cluster.run('kubectl', args, input);
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr}`);
  return stdout;
};

const names = async (cluster: Cluster): Promise<string> => kubectl(cluster, ['get', 'pods', '-o', 'name']);
const condition = (type: string): string =>
  `jsonpath={.status.conditions[?(@.type=="${type}")].status} {.status.conditions[?(@.type=="${type}")].message}`;

test('a malformed policy that the server has stored deletes nothing, shields what it may govern, and is told of', async () => {
  await using cluster = await startCluster({ parts: ['etcd', 'api'], crds: true, users: [dustpanUser] });
  const etcd = etcdClient(cluster.etcdUrl);
  await etcd.put([
    finished('a'),
    finished('b'),
    {
      key: '/registry/gc.dustpan.dev/gcpolicies/broken',
      value: Buffer.from(JSON.stringify(malformed)),
    },
  ]);
  await kubectl(cluster, ['create', '-f', '-'], JSON.stringify(deletesAll));
  await using dustpan = await startDustpan({
    kubeconfig: cluster.kubeconfig(dustpanUser.name),
    dir: cluster.dir,
    args: ['--pod-gc-period=1s'],
  });
  const events = ['get', 'events', '-A', '-o', 'jsonpath={.items[*].reason}'];
  await expect.poll(() => kubectl(cluster, events), patience).toContain('InvalidPolicy');
  await expect.poll(() => dustpan.logTail(1_000), patience).toMatch(/spec\.mode: must be .*DryRun.*Enforce/);
  await expect
    .poll(() => kubectl(cluster, ['get', 'gcpolicy', 'deletes-all', '-o', condition('Degraded')]), patience)
    .toContain('False');
  await expect
    .poll(() => kubectl(cluster, ['get', 'gcpolicy', 'broken', '-o', condition('Accepted')]), patience)
    .toMatch(/^False .*spec\.mode/);
  expect(await names(cluster)).toBe('pod/a\npod/b\n');

  await kubectl(cluster, ['delete', 'gcpolicy', 'broken']);
  await expect.poll(() => names(cluster), patience).toBe('');
});
