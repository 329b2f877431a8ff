import { expect, test as sequential } from 'vitest';
import { type RunningController, until } from '../built.ts';
import { EvictionEnvironment, powerless } from './eviction-environment.ts';

// They wait for passes and Events, each in an environment of its own.
const test = sequential.concurrent;

const keptFor = (controller: RunningController, name: string): unknown =>
  controller.lines
    .filter(({ pod, kept }) => (pod as { name: string } | undefined)?.name === name && kept !== undefined)
    .at(-1)?.['kept'];

test('evicts a pod that its node requests, with its own grace period, and reports it', async () => {
  await using environment = await EvictionEnvironment.evicting('Enforce');
  environment.pod('web-0');
  const controller = environment.start();
  environment.report('node-1', { name: 'web-0' });
  await environment.untilTerminating('web-0');
  expect(environment.requestsFor('web-0')).toEqual(['GET web-0', 'POST eviction']);
  expect(environment.graceOf('web-0')).toBe(30);
  await until('it is reported', () => environment.eventsAbout('Evicted').length === 2);
  expect(environment.eventsAbout('Evicted')).toEqual(['Pod/web-0', 'StatefulSet/web']);
  expect(controller.messages).toContain('evicted pod');
});

test('reports a blocking budget, and evicts once it allows', async () => {
  await using environment = await EvictionEnvironment.evicting('Enforce', { gracePeriodSeconds: 5 });
  environment.pod('web-0');
  environment.budget(0);
  environment.report('node-1', { name: 'web-0' });
  environment.start();
  await until('it is reported', () => environment.eventsAbout('EvictionBlocked').length === 1);
  expect(environment.eventsAbout('EvictionBlocked')).toEqual(['Pod/web-0']);
  expect(environment.isTerminating('web-0')).toBe(false);
  environment.budget(1);
  await environment.untilTerminating('web-0');
  expect(environment.graceOf('web-0')).toBe(5);
});

test('a policy that ignores budgets deletes the pod', async () => {
  const rule = { respectPodDisruptionBudgets: false };
  await using environment = await EvictionEnvironment.evicting('Enforce', rule);
  environment.pod('web-0');
  environment.budget(0);
  environment.report('node-1', { name: 'web-0' });
  environment.start();
  await environment.untilTerminating('web-0');
  expect(environment.requestsFor('web-0')).toEqual(['GET web-0', 'DELETE web-0']);
});

test.for([
  { rule: {}, writes: ['POST eviction'] },
  { rule: { respectPodDisruptionBudgets: false }, writes: [] },
])(
  'without the right to evict, a pod is neither evicted nor deleted, whatever the policy says about budgets: $rule',
  async ({ rule, writes }) => {
    await using environment = await EvictionEnvironment.evicting('Enforce', rule);
    environment.pod('web-0');
    environment.report('node-1', { name: 'web-0' });
    const controller = environment.start(environment.api.kubeconfigOf(powerless));
    await until('reported', () => environment.eventsAbout('EvictionBlocked').length === 1);
    expect(keptFor(controller, 'web-0')).toBe('EvictionForbidden');
    const requests = environment.requestsFor('web-0');
    expect(requests.filter((request) => !request.startsWith('GET'))).toEqual(writes);
    expect(environment.isTerminating('web-0')).toBe(false);
  },
);

test('DryRun evicts nothing; Enforce does, once the node has requested it under Enforce', async () => {
  await using environment = await EvictionEnvironment.evicting('DryRun');
  environment.pod('web-0');
  environment.report('node-1', { name: 'web-0' });
  const controller = environment.start();
  await until('judged', () => keptFor(controller, 'web-0') === 'PolicyChanged');
  expect(environment.requestsFor('web-0')).toEqual([]);
  environment.policy('Enforce');
  environment.report('node-1', { name: 'web-0' });
  await environment.untilTerminating('web-0');
});

test('keeps pods that a node requests in vain', async () => {
  await using environment = await EvictionEnvironment.evicting('Enforce');
  const node = { apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'uid', controller: true };
  const mirror = { annotations: { 'kubernetes.io/config.mirror': 'abc' }, ownerReferences: [node] };
  environment.pod('critical', { owner: 'critical', priority: 2_000_000_000 });
  environment.pod('mirror', { metadata: mirror });
  environment.pod('marked', { owner: 'marked', labels: { 'gc.dustpan.dev/keep': 'true' } });
  environment.pod('elsewhere', { owner: 'elsewhere', nodeName: 'node-2' });
  environment.pod('namesake', { owner: 'namesake' });
  environment.pod('stale', { owner: 'stale' });
  environment.pod('last', { owner: 'last' });
  environment.report(
    'node-1',
    ...['critical', 'mirror', 'marked', 'elsewhere'].map((name) => ({ name })),
    { name: 'namesake', uid: 'uid-of-an-earlier-pod' },
    { name: 'stale', observedMs: Date.now() - 7 * 60_000 },
    { name: 'last' },
  );
  const controller = environment.start();
  await environment.untilTerminating('last');
  const expected = {
    ...{ critical: 'CriticalPod', mirror: 'CriticalPod', marked: 'KeepMarked' },
    ...{ elsewhere: 'PodMoved', namesake: 'PodGone', stale: 'RequestStale' },
  };
  for (const [name, reason] of Object.entries(expected))
    await until(`${name} is judged`, () => keptFor(controller, name) === reason);
  expect(environment.writes.map(({ path }) => path.split('/').at(-2))).toEqual(['last']);
});
