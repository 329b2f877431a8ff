import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { podEvictions } from '../../../src/kube/actions/eviction.ts';
import { LiveReads } from '../../../src/kube/actions/live-reads.ts';
import { systemClock } from '../../../src/runtime/scheduling/clock.ts';
import { startEnvironment } from './environment.ts';
import { contractTransport } from './objects.ts';

const { signal } = new AbortController();

const { server, transport, objects } = await startEnvironment({
  users: [
    { name: 'evictor', rules: [{ apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] }] },
    { name: 'deleter', rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['create', 'delete'] }] },
  ],
});
const live = new LiveReads(transport, systemClock);
const evictions = podEvictions(transport, live);

async function runningPod(app = `app-${randomUUID().slice(0, 8)}`) {
  const { namespace, name, uid } = (await objects.createPod()).metadata;
  await objects.patchPod(name, { metadata: { labels: { app } } });
  const conditions = [{ type: 'Ready', status: 'True' }];
  await objects.patch(`/api/v1/namespaces/${namespace}/pods/${name}/status`, {
    status: { phase: 'Running', conditions },
  });
  const { resourceVersion } = (await objects.readPod(name)).metadata;
  return { namespace, name, uid, resourceVersion, app };
}

const budgets = `/apis/policy/v1/namespaces/${objects.namespace}/poddisruptionbudgets`;

/** A budget over the pods of `app`, of which `healthy` are ready; the test counts them in place of a controller. */
async function budget(app: string, minAvailable: number, healthy = 1): Promise<string> {
  const name = `budget-${randomUUID().slice(0, 8)}`;
  const spec = { minAvailable, selector: { matchLabels: { app } } };
  const body = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name }, spec };
  await objects.post(budgets, body);
  const counts = { expectedPods: healthy, currentHealthy: healthy, desiredHealthy: minAvailable };
  await allow(name, { observedGeneration: 1, ...counts, disruptionsAllowed: healthy - minAvailable });
  return name;
}

const allow = (
  name: string,
  status: { disruptionsAllowed: number; [count: string]: number },
): Promise<Buffer> => objects.patch(`${budgets}/${name}/status`, { status });

const graceOf = async (name: string): Promise<unknown> =>
  ((await objects.readPod(name)).metadata as { deletionGracePeriodSeconds?: number })
    .deletionGracePeriodSeconds;

describe.each(['evictPod', 'deletePod'] as const)('%s', (act) => {
  test("uses the pod's own grace period", async () => {
    const pod = await runningPod();
    expect(await evictions[act](pod, undefined, signal)).toEqual({ kind: 'evicted' });
    expect(await graceOf(pod.name)).toBe(30);
    expect(await live.pod(pod, signal)).toMatchObject({ phase: 'Running', isTerminating: true });
  });

  test('uses a requested grace period', async () => {
    const pod = await runningPod();
    expect(await evictions[act](pod, 7, signal)).toEqual({ kind: 'evicted' });
    expect(await graceOf(pod.name)).toBe(7);
  });

  test('a grace period of 0 deletes the pod at once', async () => {
    const pod = await runningPod();
    expect(await evictions[act](pod, 0, signal)).toEqual({ kind: 'evicted' });
    expect(await live.pod(pod, signal)).toBeUndefined();
    expect(await evictions[act](pod, 0, signal)).toEqual({ kind: 'gone' });
  });

  test('keeps a pod with the same name and another UID', async () => {
    const pod = await runningPod();
    const before = { ...pod, uid: randomUUID() };
    expect(await evictions[act](before, undefined, signal)).toEqual({ kind: 'changed' });
    expect(await graceOf(pod.name)).toBeUndefined();
  });
});

test('an eviction succeeds although the pod has changed, a delete does not', async () => {
  const pod = await runningPod();
  await objects.labelPod(pod.name);
  expect(await evictions.deletePod(pod, undefined, signal)).toEqual({ kind: 'changed' });
  expect(await evictions.evictPod(pod, undefined, signal)).toEqual({ kind: 'evicted' });
});

test('a budget blocks an eviction, is named, and allows it later', async () => {
  const pod = await runningPod();
  const name = await budget(pod.app, 1);
  expect(await evictions.evictPod(pod, undefined, signal)).toEqual({
    kind: 'blocked',
    message: expect.stringContaining(`The disruption budget ${name} needs 1 healthy pods`) as string,
    retryAfterMs: undefined,
  });
  expect(await graceOf(pod.name)).toBeUndefined();
  await allow(name, { disruptionsAllowed: 1 });
  expect(await evictions.evictPod(pod, undefined, signal)).toEqual({ kind: 'evicted' });
});

test('a budget allows the eviction of one of two pods', async () => {
  const first = await runningPod();
  const second = await runningPod(first.app);
  await budget(first.app, 1, 2);
  expect(await evictions.evictPod(first, undefined, signal)).toEqual({ kind: 'evicted' });
  expect(await evictions.evictPod(second, undefined, signal)).toMatchObject({ kind: 'blocked' });
});

test('a delete ignores budgets', async () => {
  const pod = await runningPod();
  await budget(pod.app, 1);
  expect(await evictions.deletePod(pod, undefined, signal)).toEqual({ kind: 'evicted' });
});

test('two budgets over one pod are a misconfiguration', async () => {
  const pod = await runningPod();
  await budget(pod.app, 0);
  await budget(pod.app, 0);
  expect(await evictions.evictPod(pod, undefined, signal)).toMatchObject({ kind: 'misconfigured' });
  expect(await graceOf(pod.name)).toBeUndefined();
});

test('the right to evict is one of its own', async () => {
  for (const [user, isAllowed] of [
    ['evictor', true],
    ['deleter', false],
  ] as const) {
    const own = await contractTransport(server, server.tokenOf(user));
    expect(await new LiveReads(own, systemClock).mayEvict('default', signal)).toBe(isAllowed);
    own.close();
  }
});

// The last one: its namespace is the suite's.
test('a namespace that is being deleted refuses evictions', async () => {
  const pod = await runningPod();
  await objects.delete(`/api/v1/namespaces/${objects.namespace}`);
  expect(await evictions.evictPod(pod, undefined, signal)).toEqual({ kind: 'terminating' });
  expect(await evictions.deletePod(pod, undefined, signal)).toEqual({ kind: 'evicted' });
});
