import { expect, test } from 'vitest';
import { until } from '../built.ts';
import { ControllerEnvironment, podOn } from './environment.ts';
import { policyManifest } from '../../manifests.ts';

const nodeName = 'node-1';
const statefulSet = { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'web', uid: 'uid', controller: true };

test('reports a blocking budget, evicts a pod that its node requests once it allows, and reports that', async () => {
  await using environment = await ControllerEnvironment.open();
  const { store } = environment.api;
  const nodes = { nodeSelector: {}, localStorageEviction: { gracePeriodSeconds: 5 } };
  const { name, uid, generation } = store.apply(
    policyManifest('default', { mode: 'Enforce', nodes }),
  ).metadata;

  const running = podOn(nodeName, 'web-0', 'Running');
  const metadata = { ...running.metadata, labels: { app: 'web' }, ownerReferences: [statefulSet] };
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  const pod = store.apply({ ...running, metadata, status });

  const budget = (disruptionsAllowed: number): void => {
    const counts = { currentHealthy: 2 + disruptionsAllowed, desiredHealthy: 2, expectedPods: 2 };
    store.apply({
      ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget' },
      metadata: { name: 'web', namespace: 'default' },
      spec: { minAvailable: 2, selector: { matchLabels: { app: 'web' } } },
      status: { observedGeneration: 9, disruptionsAllowed, ...counts },
    });
  };
  const now = new Date().toISOString();
  const requested = {
    pod: { namespace: 'default', name: 'web-0', uid: pod.metadata.uid },
    ...{ signal: 'emptydirfs.limit', subject: 'cache', limitBytes: 1_000_000 },
    ...{ observedBytes: 1_000_001, observedTime: now },
  };
  store.apply({
    ...{ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'NodeGCReport', metadata: { name: nodeName } },
    status: {
      reportTime: now,
      policy: { name, uid, observedGeneration: generation, mode: 'Enforce' },
      ...{ evictionRequestCount: 1, evictionRequests: [requested] },
    },
  });
  const live = (): unknown => store.get('Pod', 'web-0')?.metadata.deletionGracePeriodSeconds;
  /** The objects that Events of this reason are about, in order of names. */
  const eventsAbout = (reason: string): readonly string[] =>
    store
      .list('Event')
      .filter((event) => event['reason'] === reason)
      .map(({ regarding }) => regarding as Record<string, string>)
      .map(({ kind, name: about }) => `${kind}/${about}`)
      .sort();

  budget(0);
  const controller = environment.start();
  await until('it is reported', () => eventsAbout('EvictionBlocked').length === 1);
  expect(eventsAbout('EvictionBlocked')).toEqual(['Pod/web-0']);
  expect(live()).toBeUndefined();
  budget(1);
  await until('the pod is evicted', () => live() === 5);
  await until('it is reported', () => eventsAbout('Evicted').length === 2);
  expect(eventsAbout('Evicted')).toEqual(['Pod/web-0', 'StatefulSet/web']);
  expect(controller.messages).toContain('evicted pod');
  expect(environment.writes.every(({ path }) => path.endsWith('/web-0/eviction'))).toBe(true);
});
