import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Cluster } from '../servers/cluster.ts';
import { podEntry } from './environment.ts';
import { startControlPlane, startController } from './dustpan.ts';
import { etcdClient } from '../servers/etcd.ts';
import { policyManifest } from '../../manifests.ts';
import { kubectl, create } from '../servers/kubectl.ts';
import { eventually } from '../servers/waiting.ts';

/** A policy stored before validation existed: an unknown mode, and a threshold that is not a number. */
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

const names = async (cluster: Cluster): Promise<string> => kubectl(cluster, ['get', 'pods', '-o', 'name']);
const condition = (type: string): string =>
  `jsonpath={.status.conditions[?(@.type=="${type}")].status} {.status.conditions[?(@.type=="${type}")].message}`;

test('a malformed stored policy deletes nothing, blocks all deletions that it might govern, and is reported', async () => {
  await using cluster = await startControlPlane();
  const etcd = etcdClient(cluster.etcdUrl);
  await etcd.put([
    podEntry('a'),
    podEntry('b'),
    {
      key: '/registry/gc.dustpan.dev/gcpolicies/broken',
      value: Buffer.from(JSON.stringify(malformed)),
    },
  ]);
  await create(cluster, deletesAll);
  await using dustpan = await startController(cluster, { args: ['--pod-gc-period=1s'] });
  const events = ['get', 'events', '-A', '-o', 'jsonpath={.items[*].reason}'];
  await expect.poll(() => kubectl(cluster, events), eventually).toContain('InvalidPolicy');
  await expect
    .poll(() => dustpan.logTail(1_000), eventually)
    .toMatch(/spec\.mode: must be .*DryRun.*Enforce/);
  await expect
    .poll(() => kubectl(cluster, ['get', 'gcpolicy', 'deletes-all', '-o', condition('Degraded')]), eventually)
    .toContain('False');
  await expect
    .poll(() => kubectl(cluster, ['get', 'gcpolicy', 'broken', '-o', condition('Accepted')]), eventually)
    .toMatch(/^False .*spec\.mode/);
  expect(await names(cluster)).toBe('pod/a\npod/b\n');

  await kubectl(cluster, ['delete', 'gcpolicy', 'broken']);
  await expect.poll(() => names(cluster), eventually).toBe('');
});
