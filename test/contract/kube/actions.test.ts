import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { clusterActions } from '../../../src/kube/actions/cluster.ts';
import { LiveReads } from '../../../src/kube/actions/live-reads.ts';
import { patchStatus } from '../../../src/kube/actions/status-patch.ts';
import { systemClock } from '../../../src/runtime/scheduling/clock.ts';
import { startEnvironment } from './environment.ts';
import { contractTransport } from './objects.ts';
import { policyManifest } from '../../manifests.ts';

const { signal } = new AbortController();

const { server, transport, objects } = await startEnvironment();
const actions = clusterActions(transport);
const live = new LiveReads(transport, systemClock);

const isGone = async (name: string): Promise<boolean> =>
  (await objects.readPod(name).catch(() => undefined)) === undefined;

describe('deletePod', () => {
  test('deletes the pod of the decision, once', async () => {
    const { metadata } = await objects.createPod();
    expect(await actions.deletePod(metadata, signal)).toBe('deleted');
    expect(await isGone(metadata.name)).toBe(true);
    expect(await actions.deletePod(metadata, signal)).toBe('gone');
  });

  test('keeps a pod with the same name and another UID', async () => {
    const { metadata } = await objects.createPod();
    const before = { ...metadata, uid: randomUUID() };
    expect(await actions.deletePod(before, signal)).toBe('changed');
    expect(await isGone(metadata.name)).toBe(false);
  });

  test('keeps a pod that has changed since', async () => {
    const { metadata } = await objects.createPod();
    await objects.labelPod(metadata.name);
    expect(await actions.deletePod(metadata, signal)).toBe('changed');
    expect(await isGone(metadata.name)).toBe(false);
  });

  test('leaves a pod with a finalizer terminating, and can be repeated', async () => {
    const { metadata } = await objects.createPod({ finalizers: ['example.com/hold'] });
    expect(await actions.deletePod(metadata, signal)).toBe('deleted');
    const held = await objects.readPod(metadata.name);
    expect(held.metadata.uid).toBe(metadata.uid);
    expect(held.metadata.deletionTimestamp).toBeTypeOf('string');
    expect(await actions.deletePod(held.metadata, signal)).toBe('deleted');
    await objects.patchPod(metadata.name, { metadata: { finalizers: null } });
    expect(await isGone(metadata.name)).toBe(true);
  });
});

describe('markPodFailed', () => {
  const condition = {
    reason: 'DeletionByPodGC',
    message: 'PodGC: node no longer exists',
    at: new Date('2026-01-02T03:04:05.678Z'),
  } as const;

  const marked = async (name: string) => {
    const { status } = await objects.readPod(name);
    return { status, disruption: status.conditions?.find(({ type }) => type === 'DisruptionTarget') };
  };

  test('sets only the phase and the observed generation', async () => {
    const pod = await objects.createPod();
    const { name } = pod.metadata;
    const response = await actions.markPodFailed(pod.metadata, undefined, signal);
    const failed = await objects.readPod(name);
    expect(response).toBe('marked');
    expect(failed.metadata.resourceVersion).not.toBe(pod.metadata.resourceVersion);
    expect(failed.status).toEqual({ ...pod.status, phase: 'Failed', observedGeneration: 1 });
  });

  test('adds a disruption condition, with the generation of a changed spec', async () => {
    const { metadata } = await objects.createPod();
    const spec = { containers: [{ name: 'c', image: 'example.com/b' }] };
    await objects.patchPod(metadata.name, { spec });
    const changed = await objects.readPod(metadata.name);
    expect(changed.metadata.generation).toBe(2);
    await actions.markPodFailed(changed.metadata, condition, signal);
    const { reason, message } = condition;
    const written = { status: 'True', reason, message, lastTransitionTime: '2026-01-02T03:04:05Z' };
    const { status, disruption } = await marked(metadata.name);
    expect(status).toMatchObject({ phase: 'Failed', observedGeneration: 2 });
    expect(disruption).toMatchObject({ ...written, observedGeneration: 2 });
  });

  test('writes no generation when the API server has none', async () => {
    const pod = await objects.createPod();
    await actions.markPodFailed({ ...pod.metadata, generation: 0 }, condition, signal);
    const { status, disruption } = await marked(pod.metadata.name);
    expect(status).not.toHaveProperty('observedGeneration');
    expect(disruption).not.toHaveProperty('observedGeneration');
  });

  test('changes the resourceVersion: then only a deletion of any version succeeds, and only with the UID', async () => {
    const { metadata } = await objects.createPod();
    const anyVersion = { ...metadata, resourceVersion: undefined };
    expect(await actions.markPodFailed(metadata, condition, signal)).toBe('marked');
    expect(await actions.deletePod(metadata, signal)).toBe('changed');
    expect(await actions.deletePod({ ...anyVersion, uid: randomUUID() }, signal)).toBe('changed');
    expect(await actions.deletePod(anyVersion, signal)).toBe('deleted');
  });

  test('refuses a pod that was created again', async () => {
    const first = await objects.createPod();
    const { name } = first.metadata;
    await objects.removePod(name);
    const second = await objects.createPod({ name });
    expect(await actions.markPodFailed(first.metadata, condition, signal)).toBe('changed');
    // Even one that happens to have the same resourceVersion.
    const { resourceVersion } = second.metadata;
    const mixed = { ...first.metadata, resourceVersion };
    await expect(actions.markPodFailed(mixed, condition, signal)).rejects.toMatchObject({ status: 422 });
    expect(await objects.readPod(name)).toMatchObject({ status: { phase: 'Pending' } });
  });

  test('refuses a pod that has changed since, and one that is gone', async () => {
    const { metadata } = await objects.createPod();
    await objects.labelPod(metadata.name);
    expect(await actions.markPodFailed(metadata, undefined, signal)).toBe('changed');
    await objects.removePod(metadata.name);
    expect(await actions.markPodFailed(metadata, condition, signal)).toBe('gone');
  });
});

test('a live node has labels, readiness and taints', async () => {
  const name = `node-${randomUUID().slice(0, 8)}`;
  const metadata = { name, labels: { zone: 'a' } };
  const spec = { taints: [{ key: 'example.com/t', effect: 'NoSchedule' }] };
  const status = { conditions: [{ type: 'Ready', status: 'True' }] };
  const body = { apiVersion: 'v1', kind: 'Node', metadata, spec, status };
  await objects.post('/api/v1/nodes', body);
  const node = await live.node(name, signal);
  expect(node).toMatchObject({ name, ready: true, labels: { zone: 'a' } });
  expect(node?.taintKeys).toContain('example.com/t');
  expect(node?.uid).toMatch(/^[0-9a-f-]{36}$/);
  await objects.delete(`/api/v1/nodes/${name}`);
  expect(await live.node(name, signal)).toBeUndefined();
});

test('patchStatus merges into the status of a custom resource and keeps the rest', async () => {
  const policies = '/apis/gc.dustpan.dev/v1alpha1/gcpolicies';
  const name = `policy-${randomUUID().slice(0, 8)}`;
  await objects.post(policies, policyManifest(name));
  const path = `${policies}/${name}`;
  expect(await patchStatus(transport, path, { observedGeneration: 1 }, signal)).toBe('patched');
  const read = JSON.parse((await objects.request({ method: 'GET', path })).toString()) as object;
  expect(read).toMatchObject({ metadata: { name }, status: { observedGeneration: 1 } });
  await objects.delete(path);
  expect(await patchStatus(transport, path, { observedGeneration: 2 }, signal)).toBe('gone');
});

test('an unknown token is rejected with 401 and the error names the request', async () => {
  const stranger = await contractTransport(server, 'nobody');
  const { metadata } = await objects.createPod();
  const path = `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
  await expect(clusterActions(stranger).deletePod(metadata, signal)).rejects.toMatchObject({
    message: `DELETE ${path}: 401 Unauthorized`,
    status: 401,
    reason: 'Unauthorized',
  });
  stranger.close();
});

test('an error response to a protobuf request is decoded', async () => {
  const path = `/api/v1/namespaces/${objects.namespace}/pods/none`;
  const accept = 'application/vnd.kubernetes.protobuf,application/json';
  await expect(transport.send({ method: 'GET', path, accept }, signal)).rejects.toMatchObject({
    message: 'pods "none" not found',
    status: 404,
    reason: 'NotFound',
  });
});
