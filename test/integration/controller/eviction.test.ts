import { expect, test } from 'vitest';
import { until } from '../built.ts';
import { ControllerEnvironment, podOn } from './environment.ts';
import { policyManifest } from '../../manifests.ts';

const statefulSet = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'uid', controller: true };

test('evicts a pod that its node requests, with the grace of the policy, and reports it on the pod and its owner', async () => {
  await using bed = await ControllerEnvironment.open();
  const { store } = bed.api;
  const nodes = { nodeSelector: {}, localStorageEviction: { gracePeriodSeconds: 5 } };
  const policy = store.apply(policyManifest('default', { mode: 'Enforce', nodes })).metadata;
  const running = podOn('node-1', 'web-0', 'Running');
  const pod = store.apply({ ...running, metadata: { ...running.metadata, ownerReferences: [statefulSet] } });
  store.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } });
  const now = new Date().toISOString();
  const requested = {
    pod: { namespace: 'default', name: 'web-0', uid: pod.metadata.uid },
    ...{ signal: 'emptydirfs.limit', subject: 'cache', limitBytes: 1_000_000 },
    ...{ observedBytes: 1_000_001, observedTime: now },
  };
  const { name, uid, generation } = policy;
  store.apply({
    ...{ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'NodeGCReport', metadata: { name: 'node-1' } },
    status: {
      reportTime: now,
      policy: { name, uid, observedGeneration: generation, mode: 'Enforce' },
      ...{ evictionRequestCount: 1, evictionRequests: [requested] },
    },
  });
  const controller = bed.start();
  const live = (): unknown => store.get('Pod', 'web-0')?.metadata.deletionGracePeriodSeconds;
  await until('the pod is evicted', () => live() === 5);
  const events = () => store.list('Event').filter(({ reason }) => reason === 'Evicted');
  await until('it is reported', () => events().length === 2);
  const kinds = events().map(({ regarding }) => (regarding as Record<string, string>)['kind']);
  expect(kinds.sort()).toEqual(['Pod', 'StatefulSet']);
  expect(controller.messages).toContain('evicted pod');
  expect(bed.writes.every(({ path }) => path.endsWith('/web-0/eviction'))).toBe(true);
});
