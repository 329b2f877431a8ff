import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { clusterActions } from '../../../src/kube/actions/cluster.ts';
import { startEnvironment } from './environment.ts';

const { signal } = new AbortController();

const { transport, objects } = await startEnvironment();
const actions = clusterActions(transport);

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

test('an error response to a protobuf request is decoded', async () => {
  const path = `/api/v1/namespaces/${objects.namespace}/pods/none`;
  const accept = 'application/vnd.kubernetes.protobuf,application/json';
  await expect(transport.send({ method: 'GET', path, accept }, signal)).rejects.toMatchObject({
    message: 'pods "none" not found',
    status: 404,
    reason: 'NotFound',
  });
});
