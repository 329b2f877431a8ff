import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import {
  jobsResource,
  jsonResource,
  namespacesResource,
  nodesResource,
  podsResource,
  replicaSetsResource,
} from '../../../src/kube/cache/resources.ts';
import { startEnvironment } from './environment.ts';
import { CutTransport, named, reflect } from './reflecting.ts';
import { soon } from '../project.ts';

const unique = (prefix: string): string => `${prefix}-${randomUUID().slice(0, 8)}`;

const { signal } = new AbortController();

const { transport, objects } = await startEnvironment();

test('pods are listed and watched', async () => {
  const before = await Promise.all([objects.createPod(), objects.createPod(), objects.createPod()]);
  const reflector = reflect(transport, podsResource({ labelKeys: () => new Set(['touched']) }));
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
  const inProtobuf = reflect(transport, resource);
  const inJson = reflect(transport, { ...resource, accept: 'application/json' });
  await Promise.all([inProtobuf.whenComplete(signal), inJson.whenComplete(signal)]);
  expect(Object.fromEntries(inProtobuf.items)).toEqual(Object.fromEntries(inJson.items));
  expect(inProtobuf.items.get(metadata.uid)).toMatchObject({
    phase: 'Failed',
    reason: 'Evicted',
    message: status.message,
    labels: { app: 'web' },
    finalizers: ['example.com/hold'],
    controller: { kind: 'Job', name: 'j' },
    finishedAtMs: Date.parse('2026-01-02T00:00:00Z'),
  });
  expect(inProtobuf.items.get(metadata.uid)?.deletionAtMs).toBeTypeOf('number');
  expect(inProtobuf.items.get(metadata.uid)?.generation).toBeGreaterThan(0);
  await objects.patchPod(metadata.name, { metadata: { finalizers: null } });
});

test('an interrupted watch is resumed: nothing is lost, nothing is listed again', async () => {
  const doomed = await objects.createPod();
  const cuttable = new CutTransport(transport);
  const reflector = reflect(cuttable, podsResource({ labelKeys: () => 'all' }));
  await reflector.whenComplete(signal);
  const isWatching = (): void => {
    expect(cuttable.requests.filter((r) => r.query?.['watch'] === 'true')).toHaveLength(1);
  };
  await vi.waitFor(isWatching, soon);
  const lists = cuttable.requests.length;
  let added = '';
  await cuttable.cutDuring(async () => {
    await objects.removePod(doomed.metadata.name);
    added = (await objects.createPod()).metadata.uid;
  });
  await vi.waitFor(() => {
    expect(reflector.items.has(added)).toBe(true);
  }, soon);
  expect(reflector.items.has(doomed.metadata.uid)).toBe(false);
  expect(cuttable.requests).toHaveLength(lists + 1);
});

test('nodes', async () => {
  const name = unique('node');
  const reflector = reflect(transport, nodesResource());
  const one = reflect(transport, nodesResource({ name }));
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
  const namespaces = reflect(transport, namespacesResource());
  const jobs = reflect(transport, jobsResource());
  const replicaSets = reflect(transport, replicaSetsResource());
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

test('custom resources of an uninstalled kind are missing', async () => {
  const path = '/apis/gc.dustpan.dev/v1alpha1/nosuchthings';
  const reflector = reflect(transport, jsonResource({ name: 'nosuchthings', path }));
  await vi.waitFor(() => {
    expect(reflector.state).toBe('missing');
  }, soon);
  expect(reflector.synced).toBe(false);
});

const template = (labels: object, restartPolicy: string): object => ({
  metadata: { labels },
  spec: { restartPolicy, containers: [{ name: 'c', image: 'example.com/a' }] },
});
