import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { podEvictions } from '../../../src/kube/actions/eviction.ts';
import { LiveReads } from '../../../src/kube/actions/live-reads.ts';
import { systemClock } from '../../../src/runtime/scheduling/clock.ts';
import { isReal } from '../project.ts';
import { startEnvironment } from './environment.ts';
import { Budgets } from './eviction-objects.ts';

const { signal } = new AbortController();

// The controllers that collect pods would delete these: their node does not exist.
const { transport } = await startEnvironment({
  kcm: { controllers: 'disruption-controller,serviceaccount-controller' },
});
const live = new LiveReads(transport, systemClock);
const evictions = podEvictions(transport, live);
const objects = new Budgets(transport, isReal);
await objects.start();

const graceOf = async (name: string): Promise<unknown> =>
  ((await objects.readPod(name)).metadata as { deletionGracePeriodSeconds?: number })
    .deletionGracePeriodSeconds;

test('a live pod has every reason against an eviction', async () => {
  const pod = await objects.runningPod('live');
  const annotations = { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.hash': 'abc' };
  await objects.patchPod(pod.name, { metadata: { annotations } });
  const found = await live.pod(pod, signal);
  const { namespace, name, uid } = pod;
  expect(found).toMatchObject({
    ...{ namespace, name, uid, labels: { app: 'live' }, nodeName: 'no-such-node', phase: 'Running' },
    ...{ isTerminating: false, configHash: undefined, controller: undefined },
  });
  expect(found?.resourceVersion).not.toBe(pod.resourceVersion);
});

describe.each(['evictPod', 'deletePod'] as const)('%s', (act) => {
  test("uses the pod's own grace period", async () => {
    const pod = await objects.runningPod();
    expect(await evictions[act](pod, undefined, signal)).toEqual({ kind: 'evicted' });
    expect(await graceOf(pod.name)).toBe(30);
    expect(await live.pod(pod, signal)).toMatchObject({ phase: 'Running', isTerminating: true });
  });

  test('uses a requested grace period', async () => {
    const pod = await objects.runningPod();
    expect(await evictions[act](pod, 7, signal)).toEqual({ kind: 'evicted' });
    expect(await graceOf(pod.name)).toBe(7);
  });

  test('a grace period of 0 deletes the pod at once', async () => {
    const pod = await objects.runningPod();
    expect(await evictions[act](pod, 0, signal)).toEqual({ kind: 'evicted' });
    expect(await live.pod(pod, signal)).toBeUndefined();
    expect(await evictions[act](pod, 0, signal)).toEqual({ kind: 'gone' });
  });

  test('keeps a pod with the same name and another UID', async () => {
    const pod = await objects.runningPod();
    const before = { ...pod, uid: randomUUID() };
    expect(await evictions[act](before, undefined, signal)).toEqual({ kind: 'changed' });
    expect(await graceOf(pod.name)).toBeUndefined();
  });
});

test('an eviction succeeds although the pod has changed, a delete does not', async () => {
  const pod = await objects.runningPod();
  await objects.labelPod(pod.name);
  expect(await evictions.deletePod(pod, undefined, signal)).toEqual({ kind: 'changed' });
  expect(await evictions.evictPod(pod, undefined, signal)).toEqual({ kind: 'evicted' });
});

test('a budget blocks an eviction, is named, and allows it later', async () => {
  const pod = await objects.runningPod();
  const budget = await objects.budget(pod.app, { minAvailable: 1 });
  expect(await evictions.evictPod(pod, undefined, signal)).toEqual({
    kind: 'blocked',
    message: expect.stringContaining(`The disruption budget ${budget} needs 1 healthy pods`) as string,
    retryAfterMs: undefined,
  });
  expect(await graceOf(pod.name)).toBeUndefined();
  await objects.relax(budget, 0);
  expect(await evictions.evictPod(pod, undefined, signal)).toEqual({ kind: 'evicted' });
});

test('a budget allows the eviction of one of two pods', async () => {
  const first = await objects.runningPod();
  const second = await objects.runningPod(first.app);
  await objects.budget(first.app, { minAvailable: 1, healthy: 2 });
  expect(await evictions.evictPod(first, undefined, signal)).toEqual({ kind: 'evicted' });
  expect(await evictions.evictPod(second, undefined, signal)).toMatchObject({ kind: 'blocked' });
});

test('a delete ignores budgets', async () => {
  const pod = await objects.runningPod();
  await objects.budget(pod.app, { minAvailable: 1 });
  expect(await evictions.deletePod(pod, undefined, signal)).toEqual({ kind: 'evicted' });
});

test('two budgets over one pod are a misconfiguration', async () => {
  const pod = await objects.runningPod();
  await objects.budget(pod.app, { minAvailable: 0 });
  await objects.budget(pod.app, { minAvailable: 0 });
  expect(await evictions.evictPod(pod, undefined, signal)).toMatchObject({ kind: 'misconfigured' });
  expect(await graceOf(pod.name)).toBeUndefined();
});

// The last one: its namespace is the suite's.
test('a namespace that is being deleted refuses evictions', async () => {
  const pod = await objects.runningPod();
  await objects.delete(`/api/v1/namespaces/${objects.namespace}`);
  expect(await evictions.evictPod(pod, undefined, signal)).toEqual({ kind: 'terminating' });
  expect(await evictions.deletePod(pod, undefined, signal)).toEqual({ kind: 'evicted' });
});
