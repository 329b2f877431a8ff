import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import { PolicyOperator } from '../../../src/kube/actions/operator.ts';
import type { Identified } from '../../../src/kube/cache/objects.ts';
import { Reflector, type ReflectorDeps } from '../../../src/kube/cache/reflector.ts';
import {
  jobsResource,
  jsonResource,
  namespacesResource,
  nodesResource,
  podsResource,
  replicaSetsResource,
  type Resource,
} from '../../../src/kube/cache/resources.ts';
import { systemClock } from '../../../src/runtime/scheduling/clock.ts';
import { silentLogger } from '../../fakes/logger.ts';
import { policyManifest } from '../../manifests.ts';
import { startEnvironment } from './environment.ts';
import { isReal, soon } from '../project.ts';

const unique = (prefix: string): string => `${prefix}-${randomUUID().slice(0, 8)}`;

const { signal } = new AbortController();

const { transport, objects } = await startEnvironment();
const deps = { transport, clock: systemClock, log: silentLogger, random: Math.random };

/** A running reflector with pages of two; it stops with its test. */
function reflect<T extends Identified>(
  resource: Resource<T>,
  options: Partial<ReflectorDeps<T>> = {},
): Reflector<T> {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const reflector = new Reflector({ ...deps, resource, pageSize: 2, ...options });
  void reflector.run(stop.signal);
  return reflector;
}

/** The object of a name, or undefined. */
function named<T extends Identified>(reflector: Reflector<T>, name: string): T | undefined {
  return [...reflector.items.values()].find((object) => object.name === name);
}

test('pods are listed and watched', async () => {
  const before = await Promise.all([objects.createPod(), objects.createPod(), objects.createPod()]);
  const reflector = reflect(podsResource({ labelKeys: () => new Set(['touched']) }));
  await reflector.whenComplete(signal);
  const expected = { namespace: objects.namespace, nodeName: 'no-such-node', phase: 'Pending', labels: {} };
  for (const { metadata } of before)
    expect(reflector.items.get(metadata.uid)).toMatchObject({ name: metadata.name, ...expected });

  const [first] = before;
  const added = await objects.createPod();
  await vi.waitFor(() => {
    expect(reflector.items.has(added.metadata.uid)).toBe(true);
  }, soon);
  await objects.labelPod(added.metadata.name);
  await vi.waitFor(() => {
    expect(Object.keys(reflector.items.get(added.metadata.uid)?.labels ?? {})).toEqual(['touched']);
  }, soon);
  await objects.removePod(first.metadata.name);
  await vi.waitFor(() => {
    expect(reflector.items.has(first.metadata.uid)).toBe(false);
  }, soon);
  expect(reflector).toMatchObject({ state: 'synced', lastError: undefined });
});

test.each([
  ['in protobuf', 'application/vnd.kubernetes.protobuf'],
  ['in JSON', 'application/json'],
])('the list of pods comes with their watch, %s', async (_name, accept) => {
  const [first, second] = await Promise.all([objects.createPod(), objects.createPod()]);
  const counts = { listed: 0, watchStarted: 0, failed: 0 };
  const count = (what: keyof typeof counts) => (): void => {
    counts[what] += 1;
  };
  const metrics = {
    ...{ listed: count('listed'), watchStarted: count('watchStarted') },
    failed: count('failed'),
  };
  const resource = { ...podsResource({ labelKeys: () => 'all' }), accept };
  const byWatch = reflect(resource, { listsByWatch: true, metrics });
  await byWatch.whenComplete(signal);
  const listed = reflect(resource);
  await listed.whenComplete(signal);
  expect(Object.fromEntries(byWatch.items)).toEqual(Object.fromEntries(listed.items));
  expect(byWatch.items.has(second.metadata.uid)).toBe(true);
  await objects.removePod(first.metadata.name);
  const added = await objects.createPod();
  await vi.waitFor(() => {
    expect(byWatch.items.has(first.metadata.uid)).toBe(false);
    expect(byWatch.items.has(added.metadata.uid)).toBe(true);
  }, soon);
  expect(counts).toEqual({ listed: 1, watchStarted: 1, failed: 0 });
});

test('a pod is the same in protobuf and in JSON', async () => {
  const { metadata } = await objects.createPod({ finalizers: ['example.com/hold'] });
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: randomUUID(), controller: true };
  await objects.patchPod(metadata.name, { metadata: { labels: { app: 'web' }, ownerReferences: [owner] } });
  await objects.removePod(metadata.name);
  const state = { terminated: { exitCode: 1, finishedAt: '2026-01-02T00:00:00Z' } };
  const status = {
    phase: 'Failed',
    reason: 'Evicted',
    message: 'The node was low on resource: memory.',
    conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:00:00Z' }],
    containerStatuses: [{ name: 'c', image: 'i', imageID: '', ready: false, restartCount: 0, state }],
  };
  await objects.patch(`/api/v1/namespaces/${objects.namespace}/pods/${metadata.name}/status`, { status });
  const resource = podsResource({ labelKeys: () => 'all' });
  const inProtobuf = reflect(resource);
  const inJson = reflect({ ...resource, accept: 'application/json' });
  await Promise.all([inProtobuf.whenComplete(signal), inJson.whenComplete(signal)]);
  expect(Object.fromEntries(inProtobuf.items)).toEqual(Object.fromEntries(inJson.items));
  expect(inProtobuf.items.get(metadata.uid)).toMatchObject({
    phase: 'Failed',
    reason: 'Evicted',
    labels: { app: 'web' },
    finalizers: ['example.com/hold'],
    controller: { kind: 'Job', name: 'j' },
    finishedAtMs: Date.parse('2026-01-02T00:00:00Z'),
  });
  // Before the creation: the managedFields of a real API server have a possible time.
  const { createdAtMs = 0, finishedByMs = isReal ? 0 : createdAtMs } =
    inProtobuf.items.get(metadata.uid) ?? {};
  expect(finishedByMs).toBeGreaterThanOrEqual(createdAtMs);
  expect(finishedByMs).toBeLessThan(createdAtMs + 60_000);
  expect(inProtobuf.items.get(metadata.uid)?.deletionAtMs).toBeTypeOf('number');
  expect(inProtobuf.items.get(metadata.uid)?.generation).toBeGreaterThan(0);
  await objects.patchPod(metadata.name, { metadata: { finalizers: null } });
});

test('nodes', async () => {
  const name = unique('node');
  const reflector = reflect(nodesResource());
  const one = reflect(nodesResource({ name }));
  await Promise.all([reflector.whenComplete(signal), one.whenComplete(signal)]);
  const taints = [{ key: 'node.kubernetes.io/out-of-service', value: 'x', effect: 'NoExecute' }];
  const body = { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { a: 'b' } }, spec: { taints } };
  await objects.post('/api/v1/nodes', body);
  await vi.waitFor(() => {
    expect(named(reflector, name)).toMatchObject({ ready: false });
  }, soon);
  const status = { conditions: [{ type: 'Ready', status: 'True' }] };
  await objects.patch(`/api/v1/nodes/${name}/status`, { status });
  await vi.waitFor(() => {
    expect(named(reflector, name)).toMatchObject({ ready: true });
    expect(named(one, name)).toEqual(named(reflector, name));
  }, soon);
  expect(named(reflector, name)?.labels['a']).toBe('b');
  expect(named(reflector, name)?.taintKeys).toContain('node.kubernetes.io/out-of-service');
  await objects.delete(`/api/v1/nodes/${name}`);
  await vi.waitFor(() => {
    expect(named(reflector, name)).toBeUndefined();
  }, soon);
});

test('namespaces, jobs and replica sets', async () => {
  const namespaces = reflect(namespacesResource());
  const jobs = reflect(jobsResource());
  const replicaSets = reflect(replicaSetsResource());
  await Promise.all([namespaces, jobs, replicaSets].map((one) => one.whenComplete(signal)));
  const own = { 'kubernetes.io/metadata.name': objects.namespace };
  expect(named(namespaces, objects.namespace)?.labels).toMatchObject(own);
  const [job, replicaSet] = [unique('job'), unique('rs')];
  const cronJob = { apiVersion: 'batch/v1', kind: 'CronJob', name: 'c', uid: 'u' };
  await objects.post(`/apis/batch/v1/namespaces/${objects.namespace}/jobs`, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: job, ownerReferences: [{ ...cronJob, controller: true }] },
    spec: { template: template({}, 'Never') },
  });
  const labels = { app: replicaSet };
  const controller = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd', uid: 'u' };
  const ownerReferences = [{ ...controller, controller: true }];
  await objects.post(`/apis/apps/v1/namespaces/${objects.namespace}/replicasets`, {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: replicaSet, ownerReferences },
    spec: { replicas: 0, selector: { matchLabels: labels }, template: template(labels, 'Always') },
  });
  await vi.waitFor(() => {
    const { namespace } = objects;
    expect(named(jobs, job)).toMatchObject({ namespace, controller: cronJob, finished: false });
    expect(named(replicaSets, replicaSet)).toMatchObject({ namespace, controller });
  }, soon);
});

test('custom resources are watched, whole and with defaults, and an operator reports their changes', async () => {
  const path = '/apis/gc.dustpan.dev/v1alpha1/gcpolicies';
  const received: (readonly [what: string, object: unknown])[] = [];
  const operator = new PolicyOperator({
    watch: (at, onChange) => {
      const resource = jsonResource({ name: 'gcpolicies', path: at });
      return new Reflector({ ...deps, resource, onChange });
    },
    ...deps,
    onEvent: ({ type, name, object }) => {
      received.push([`${type} ${name}`, object]);
      return Promise.resolve();
    },
  });
  const stop = new AbortController();
  const ended = operator.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  const receives = (...expected: typeof received): Promise<void> =>
    vi.waitFor(() => {
      expect(received).toMatchObject(expected);
    }, soon);
  await objects.post(path, policyManifest('mine'));
  const made = ['ADDED mine', { kind: 'GCPolicy', spec: { mode: 'DryRun', priority: 0 } }] as const;
  await receives(made);
  await objects.patch(`${path}/mine`, { spec: { mode: 'Enforce' } });
  const changed = ['MODIFIED mine', { spec: { mode: 'Enforce' } }] as const;
  await receives(made, changed);
  await objects.delete(`${path}/mine`);
  await receives(made, changed, ['DELETED mine', { spec: { mode: 'Enforce' } }]);
});

test('the status of a policy is replaced whole, and never that of a later policy of its name', async () => {
  const path = '/apis/gc.dustpan.dev/v1alpha1/gcpolicies';
  const name = unique('status');
  interface Stored {
    readonly metadata: { readonly uid: string };
    readonly status?: object;
  }
  const storedJson = (body: Buffer): Stored => JSON.parse(body.toString()) as Stored;
  const read = async (): Promise<Stored> =>
    storedJson(await objects.request({ method: 'GET', path: `${path}/${name}` }));
  const operator = new PolicyOperator({
    watch: (at) => new Reflector({ ...deps, resource: jsonResource({ name: 'gcpolicies', path: at }) }),
    ...deps,
    onEvent: () => Promise.resolve(),
  });
  const create = async (): Promise<string> =>
    storedJson(await objects.post(path, policyManifest(name))).metadata.uid;
  const uid = await create();
  const hold = { rulesId: 'a', since: '2026-01-15T12:00:00Z' };
  const held = { observedGeneration: 1, conditions: [], hold: { ...hold, until: undefined } };
  await operator.writeStatus({ uid, name }, held, signal);
  expect((await read()).status).toEqual({ observedGeneration: 1, conditions: [], hold });
  const next = { observedGeneration: 2, conditions: [] };
  await operator.writeStatus({ uid, name }, next, signal);
  expect((await read()).status).toEqual(next);

  await objects.delete(`${path}/${name}`);
  await operator.writeStatus({ uid, name }, held, signal);
  await create();
  await expect(operator.writeStatus({ uid, name }, held, signal)).rejects.toMatchObject({ status: 422 });
  expect(await read()).not.toHaveProperty('status');
  await objects.delete(`${path}/${name}`);
});

test('custom resources of an uninstalled kind are missing', async () => {
  const path = '/apis/gc.dustpan.dev/v1alpha1/nosuchthings';
  const reflector = reflect(jsonResource({ name: 'nosuchthings', path }));
  await vi.waitFor(() => {
    expect(reflector.state).toBe('missing');
  }, soon);
  expect(reflector.synced).toBe(false);
});

const template = (labels: object, restartPolicy: string): object => ({
  metadata: { labels },
  spec: { restartPolicy, containers: [{ name: 'c', image: 'example.com/a' }] },
});
