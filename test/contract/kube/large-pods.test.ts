import { randomUUID } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import { jobTrackingFinalizer } from '../../../src/api/finalizers.ts';
import { clusterActions } from '../../../src/kube/actions/cluster.ts';
import { podsResource } from '../../../src/kube/cache/resources.ts';
import { isCut } from '../../../src/runtime/bounds.ts';
import { startEnvironment } from './environment.ts';
import { reflect } from './reflecting.ts';
import { soon } from '../project.ts';

// Pods as large as an API server accepts.
const { signal } = new AbortController();

const { transport, objects } = await startEnvironment();

test.each([{ form: podsResource({ labelKeys: () => 'all' }).accept }, { form: 'application/json' }])(
  'a pod with an owner name of 1.4 MB and a thousand finalizers is listed and watched, and little of it is kept: $form',
  async ({ form }) => {
    const owner = (name: string, uid: string) => ({ apiVersion: 'batch/v1', kind: 'Job', name, uid });
    const ownerReferences = [{ ...owner('x'.repeat(1_400_000), 'u'), controller: true }, owner('other', 'v')];
    const finalizers = [...Array.from({ length: 1_000 }, (_, i) => `example.com/${i}`), jobTrackingFinalizer];
    const { metadata } = await objects.createPod({ ownerReferences, finalizers });
    const reflector = reflect(transport, { ...podsResource({ labelKeys: () => 'all' }), accept: form });
    await reflector.whenComplete(signal);
    const listed = reflector.items.get(metadata.uid);
    expect(listed?.finalizers).toContain(jobTrackingFinalizer);
    expect(listed?.controller?.name).toSatisfy(isCut);
    await objects.labelPod(metadata.name);
    await vi.waitFor(() => {
      expect(reflector.items.get(metadata.uid)?.labels).toHaveProperty('touched');
    }, soon);
    const followed = reflector.items.get(metadata.uid);
    expect(followed?.controller).toEqual(listed?.controller);
    expect(JSON.stringify(followed).length).toBeLessThan(4_000);
    await objects.patchPod(metadata.name, { metadata: { finalizers: null } });
    await objects.removePod(metadata.name);
  },
);

test('a pod with the longest name is marked and deleted', async () => {
  const { metadata } = await objects.createPod({ name: randomUUID().padEnd(253, 'x') });
  const actions = clusterActions(transport);
  expect(await actions.markPodFailed(metadata, undefined, signal)).toBe('marked');
  expect(await actions.deletePod({ ...metadata, resourceVersion: undefined }, signal)).toBe('deleted');
  await expect(objects.readPod(metadata.name)).rejects.toMatchObject({ status: 404 });
});
