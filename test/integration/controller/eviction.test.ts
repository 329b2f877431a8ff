import { expect, test as sequential } from 'vitest';
import { builtForFile, type RunningController, until } from '../built.ts';
import { EvictionEnvironment, powerless } from './eviction-environment.ts';

// They wait for back-offs, periods and grace periods, each in an environment of its own.
const test = sequential.concurrent;
const built = builtForFile();

const keptFor = (controller: RunningController, name: string): unknown => {
  const lines = controller.stdout.split('\n').filter((line) => line.startsWith('{'));
  const kept = lines
    .map((line) => JSON.parse(line) as { pod?: { name: string }; kept?: string })
    .filter(({ pod, kept }) => pod?.name === name && kept !== undefined);
  return kept.at(-1)?.kept;
};

test('evicts a pod that its node requests, with its own grace period, and reports it', async () => {
  await using environment = await EvictionEnvironment.open(built, 'Enforce');
  environment.pod('web-0');
  const controller = environment.start();
  environment.report('node-1', { name: 'web-0' });
  await environment.untilTerminating('web-0');
  expect(environment.requestsFor('web-0')).toEqual(['GET web-0', 'POST eviction']);
  expect(environment.graceOf('web-0')).toBe(30);
  await until('it is reported', () => environment.events('Evicted').length === 2);
  expect(environment.events('Evicted').map(({ regarding }) => regarding)).toEqual([
    'Pod/web-0',
    'StatefulSet/web',
  ]);
  expect(environment.events('Evicted')[0]?.note).toMatch(
    /^Usage of EmptyDir volume "cache" exceeds the limit "1M"\. /,
  );
  expect(controller.messages).toContain('evicted pod');
});

test('reports a blocking budget, and evicts once it allows', async () => {
  await using environment = await EvictionEnvironment.open(built, 'Enforce', { gracePeriodSeconds: 5 });
  environment.pod('web-0');
  environment.budget(0);
  environment.report('node-1', { name: 'web-0' });
  environment.start();
  await until('it is reported', () => environment.events('EvictionBlocked').length === 1);
  expect(environment.isTerminating('web-0')).toBe(false);
  environment.budget(1);
  await environment.untilTerminating('web-0');
  expect(environment.graceOf('web-0')).toBe(5);
  await until('it is reported', () => environment.events('Evicted').length === 2);
  const blocked = environment.events('EvictionBlocked');
  expect(blocked.map(({ regarding }) => regarding)).toEqual(['Pod/web-0']);
  expect(blocked[0]?.note).toContain('The disruption budget web needs 2 healthy pods and has 2 currently');
});

test('a webhook that denies with 429 or 403 blocks its own pods alone', async () => {
  await using environment = await EvictionEnvironment.open(built, 'Enforce');
  const machines = ['vm-0', 'vm-1', 'vm-2', 'vm-3', 'vm-4'];
  for (const name of [...machines, 'web-0']) environment.pod(name);
  const message = 'admission webhook "w" denied the request: Eviction triggered evacuation';
  for (const name of machines)
    environment.api.faults.next(
      ({ path }) => path.endsWith(`/pods/${name}/eviction`),
      { kind: 'status', status: name === 'vm-4' ? 403 : 429, message, retryAfterSeconds: 1 },
      1_000,
    );
  environment.report('node-1', ...[...machines, 'web-0'].map((name) => ({ name })));
  const controller = environment.start();
  await environment.untilTerminating('web-0');
  await until('all are reported', () => environment.events('EvictionBlocked').length === machines.length);
  expect(environment.events('EvictionBlocked')[0]?.note).toContain(message);
  expect(machines.filter((name) => environment.isTerminating(name))).toEqual([]);
  expect(machines.map((name) => keptFor(controller, name))).toEqual(machines.map(() => 'EvictionForbidden'));
});

test('reports evicted pods that never end once, held by a finalizer or a hanging kubelet', async () => {
  await using environment = await EvictionEnvironment.open(built, 'Enforce', { gracePeriodSeconds: 1 });
  environment.pod('held', { metadata: { finalizers: ['example.com/backup'] } });
  environment.pod('hanging', { owner: 'other' });
  environment.report('node-1', { name: 'held' }, { name: 'hanging' });
  const controller = environment.start();
  await environment.untilTerminating('held');
  await environment.untilTerminating('hanging');
  // No report requests them any more.
  await environment.whileReporting('node-1', async () => {
    await until('both are reported', () => environment.events('ExceededGracePeriod').length === 2);
    await controller.passes('eviction', 1);
  });
  // A repetition would be counted in the Event.
  const events = environment.api.store.list('Event').filter(({ reason }) => reason === 'ExceededGracePeriod');
  expect(events.map(({ series }) => series)).toEqual([undefined, undefined]);
  const reports = environment.events('ExceededGracePeriod');
  expect(reports.map(({ regarding }) => regarding)).toEqual(['Pod/hanging', 'Pod/held']);
  expect(reports[0]?.note).toMatch(
    /^Pod default\/hanging was evicted \d\d s ago and has not ended; its grace period is 1 s\. dustpan does not force the deletion\. /,
  );
  expect(reports[1]?.note).toContain('example.com/backup');
  expect([...environment.writesFor('held'), ...environment.writesFor('hanging')]).toEqual([
    'POST eviction',
    'POST eviction',
  ]);
});

test('a policy that ignores budgets deletes the pod', async () => {
  await using environment = await EvictionEnvironment.open(built, 'Enforce', {
    respectPodDisruptionBudgets: false,
  });
  environment.pod('web-0');
  environment.budget(0);
  environment.report('node-1', { name: 'web-0' });
  environment.start();
  await environment.untilTerminating('web-0');
  expect(environment.requestsFor('web-0')).toEqual(['GET web-0', 'DELETE web-0']);
});

test.each([
  { rule: {}, writesFor: ['POST eviction'] },
  { rule: { respectPodDisruptionBudgets: false }, writesFor: [] },
])(
  'without the right to evict, a pod is neither evicted nor deleted, whatever the policy says about budgets: $rule',
  async ({ rule, writesFor: expected }) => {
    await using environment = await EvictionEnvironment.open(built, 'Enforce', rule);
    environment.pod('web-0');
    environment.report('node-1', { name: 'web-0' });
    const controller = environment.start(environment.api.kubeconfigOf(powerless));
    await until('reported', () => environment.events('EvictionBlocked').length === 1);
    expect(environment.events('EvictionBlocked')[0]).toMatchObject({
      regarding: 'Pod/web-0',
      note: expect.stringContaining('it needs create pods/eviction.') as string,
    });
    expect(keptFor(controller, 'web-0')).toBe('EvictionForbidden');
    expect(environment.writesFor('web-0')).toEqual(expected);
    expect(environment.isTerminating('web-0')).toBe(false);
  },
);

test('DryRun evicts nothing; Enforce does, once the node has requested it under Enforce', async () => {
  await using environment = await EvictionEnvironment.open(built, 'DryRun');
  environment.pod('web-0');
  environment.report('node-1', { name: 'web-0' });
  const controller = environment.start();
  await until('judged', () => keptFor(controller, 'web-0') === 'PolicyChanged');
  expect(environment.requestsFor('web-0')).toEqual([]);
  environment.policy('Enforce');
  environment.report('node-1', { name: 'web-0' });
  await environment.untilTerminating('web-0');
});

// In each the pod `other`, evaluated after the first, is evicted: so the pass has ended.
test('a report whose name is not the node of the pod evicts nothing', async () => {
  await using environment = await EvictionEnvironment.open(built, 'Enforce');
  environment.pod('web-0');
  environment.pod('other', { nodeName: 'node-2' });
  environment.report('node-2', { name: 'web-0' }, { name: 'other' });
  const controller = environment.start();
  await environment.untilTerminating('other');
  expect(keptFor(controller, 'web-0')).toBe('PodMoved');
  expect(environment.requestsFor('web-0')).toEqual([]);
});

test('keeps a pod that has the name of the requested one', async () => {
  await using environment = await EvictionEnvironment.open(built, 'Enforce');
  environment.pod('web-0');
  environment.pod('other');
  environment.report('node-1', { name: 'web-0' }, { name: 'other' });
  environment.replace('web-0');
  const controller = environment.start();
  await environment.untilTerminating('other');
  expect(keptFor(controller, 'web-0')).toBe('PodGone');
  expect(environment.requestsFor('web-0')).toEqual([]);
});

test('outdated measurements evict nothing; new ones do', async () => {
  await using environment = await EvictionEnvironment.open(built, 'Enforce');
  environment.pod('web-0');
  environment.pod('other', { owner: 'other' });
  environment.report('node-1', { name: 'web-0', observedMs: Date.now() - 7 * 60_000 }, { name: 'other' });
  const controller = environment.start();
  await environment.untilTerminating('other');
  expect(keptFor(controller, 'web-0')).toBe('RequestStale');
  expect(environment.requestsFor('web-0')).toEqual([]);
  environment.report('node-1', { name: 'web-0' });
  await environment.untilTerminating('web-0');
});

test('keeps a critical pod, a mirror pod and one with the keep label, though requested', async () => {
  await using environment = await EvictionEnvironment.open(built, 'Enforce');
  environment.pod('critical', { priority: 2_000_000_000 });
  environment.pod('mirror', {
    metadata: {
      annotations: { 'kubernetes.io/config.mirror': 'abc' },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'uid', controller: true }],
    },
  });
  environment.pod('marked', { labels: { 'gc.dustpan.dev/keep': 'true' } });
  environment.pod('other');
  environment.report(
    'node-1',
    { name: 'critical' },
    { name: 'mirror' },
    { name: 'marked' },
    { name: 'other' },
  );
  const controller = environment.start();
  await environment.untilTerminating('other');
  await until('judged', () => keptFor(controller, 'critical') === 'CriticalPod');
  await until('judged', () => keptFor(controller, 'mirror') === 'CriticalPod');
  expect(keptFor(controller, 'marked')).toBe('KeepMarked');
  expect([
    ...environment.writesFor('critical'),
    ...environment.writesFor('mirror'),
    ...environment.writesFor('marked'),
  ]).toEqual([]);
});

test('evicts an API pod with the annotations of a static pod', async () => {
  await using environment = await EvictionEnvironment.open(built, 'Enforce');
  const annotations = {
    'kubernetes.io/config.source': 'file',
    'kubernetes.io/config.hash': 'abc',
    'kubernetes.io/config.mirror': 'abc',
  };
  environment.pod('web-0', { metadata: { annotations } });
  environment.report('node-1', { name: 'web-0' });
  environment.start();
  await environment.untilTerminating('web-0');
});

test('evicts the first pod of a node under pressure that it may, and no second one meanwhile', async () => {
  await using environment = await EvictionEnvironment.open(built, 'Enforce');
  environment.pod('marked', { labels: { 'gc.dustpan.dev/keep': 'true' } });
  environment.pod('first');
  environment.pod('second');
  environment.pod('other', { nodeName: 'node-2' });
  const controller = environment.start();
  await until('one is evicted', () => {
    const measured = { availableBytes: 100, observedBytes: 5 };
    const names = ['marked', 'other', 'first', 'second'];
    environment.report('node-1', ...names.map((name) => ({ name, ...measured })));
    return environment.isTerminating('first');
  });
  await environment.whileReporting('node-2', () => controller.passes('eviction', 1));
  expect(environment.requestsFor('first')).toEqual(['GET first', 'POST eviction']);
  expect(environment.graceOf('first')).toBe(30);
  expect([
    ...environment.writesFor('marked'),
    ...environment.writesFor('second'),
    ...environment.writesFor('other'),
  ]).toEqual([]);
  expect(['marked', 'other', 'second'].map((name) => keptFor(controller, name))).toEqual([
    'KeepMarked',
    'PodMoved',
    'PacingLimit',
  ]);
  await until('it is reported', () => environment.events('Evicted').length === 2);
  expect(environment.events('Evicted')[0]?.note).toMatch(/^The node is low on disk space for local storage /);
});
