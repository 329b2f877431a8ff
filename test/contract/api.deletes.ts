import { expect, test } from 'vitest';
import {
  causedBy,
  merge,
  onNode,
  pod as podBody,
  refusal,
  unique,
  type Bed,
  type Obj,
  type PodOptions,
} from './api.bed.ts';

/** DELETE and Eviction: preconditions, grace, finalizers. */
export function deleteRows(bed: () => Bed): void {
  const newPod = async (
    options: PodOptions = onNode,
  ): Promise<{ readonly path: string; readonly pod: Obj }> => {
    const pod = await bed().createPod(unique('doomed'), options);
    return { path: bed().pods(pod.metadata.name), pod };
  };
  const held = { ...onNode, metadata: { finalizers: ['example.com/held'] } };

  test('deletes at once without grace, and answers with the pod', async () => {
    const { path, pod } = await newPod();
    const { name, uid } = pod.metadata;
    expect(await bed().delete(path, { gracePeriodSeconds: 0 })).toMatchObject({
      kind: 'Pod',
      metadata: { name, uid, deletionGracePeriodSeconds: 0 },
    });
    expect(await bed().exists(path)).toBe(false);
  });

  test('gives a pod on a node its grace period', async () => {
    const { path } = await newPod();
    const deleted = await bed().delete(path);
    expect(deleted.metadata).toMatchObject({ deletionGracePeriodSeconds: 30, generation: 2 });
    expect(deleted.metadata.deletionTimestamp).toMatch(/^20.*Z$/);
    expect(await bed().exists(path)).toBe(true);
  });

  test('only ever shortens a grace period', async () => {
    const { path } = await newPod();
    const first = await bed().delete(path);
    const longer = await bed().delete(path, { gracePeriodSeconds: 60 });
    expect(longer.metadata).toEqual(first.metadata);
    const shorter = await bed().delete(path, { gracePeriodSeconds: 5 });
    expect(shorter.metadata).toMatchObject({ deletionGracePeriodSeconds: 5 });
    const left = (pod: Obj): number => Date.parse(pod.metadata.deletionTimestamp ?? '');
    expect(left(first) - left(shorter)).toBe(25_000);
  });

  test('deletes a pod without a node at once', async () => {
    const { path } = await newPod({});
    await bed().delete(path);
    expect(await bed().exists(path)).toBe(false);
  });

  test('deletes a finished pod at once', async () => {
    const { path } = await newPod();
    await bed().patch(`${path}/status`, { status: { phase: 'Succeeded' } });
    await bed().delete(path);
    expect(await bed().exists(path)).toBe(false);
  });

  test('deletes what the preconditions describe', async () => {
    const { path, pod } = await newPod();
    const { uid, resourceVersion } = pod.metadata;
    await bed().delete(path, { gracePeriodSeconds: 0, preconditions: { uid, resourceVersion } });
    expect(await bed().exists(path)).toBe(false);
  });

  test('spares a namesake', async () => {
    const { path, pod } = await newPod();
    const { name, uid } = pod.metadata;
    const message = `Operation cannot be fulfilled on Pod "${name}": the UID in the precondition (other) does not match the UID in record (${uid}). The object might have been deleted and then recreated`;
    const body = { gracePeriodSeconds: 0, preconditions: { uid: 'other' } };
    expect(await bed().ask('DELETE', path, { body })).toMatchObject(
      refusal(409, 'Conflict', { message, details: { name, kind: 'Pod' } }),
    );
    expect(await bed().exists(path)).toBe(true);
  });

  test('spares another version', async () => {
    const { path, pod } = await newPod();
    const { name, resourceVersion } = pod.metadata;
    const message = `Operation cannot be fulfilled on Pod "${name}": the ResourceVersion in the precondition (5) does not match the ResourceVersion in record (${resourceVersion}). The object might have been modified`;
    const body = { gracePeriodSeconds: 0, preconditions: { resourceVersion: '5' } };
    expect(await bed().ask('DELETE', path, { body })).toMatchObject(refusal(409, 'Conflict', { message }));
    expect(await bed().exists(path)).toBe(true);
  });

  test('keeps what has finalizers until they are gone', async () => {
    const { path } = await newPod(held);
    const deleted = await bed().delete(path, { gracePeriodSeconds: 0 });
    expect(deleted.metadata).toMatchObject({
      finalizers: ['example.com/held'],
      deletionGracePeriodSeconds: 0,
    });
    expect(deleted.metadata.deletionTimestamp).toMatch(/^20.*Z$/);
    await bed().patch(path, { metadata: { finalizers: null } });
    expect(await bed().exists(path)).toBe(false);
  });

  test('changes nothing by the second deletion of what has finalizers', async () => {
    const { path } = await newPod(held);
    const first = await bed().delete(path, { gracePeriodSeconds: 0 });
    const second = await bed().delete(path, { gracePeriodSeconds: 0 });
    expect(second.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  test('takes no new finalizers on what is being deleted', async () => {
    const { path } = await newPod(held);
    await bed().delete(path, { gracePeriodSeconds: 0 });
    const body = { metadata: { finalizers: ['example.com/held', 'example.com/late'] } };
    const answer = await bed().ask('PATCH', path, { body, contentType: merge });
    const details = { kind: 'Pod', ...causedBy('metadata.finalizers', /Forbidden/) };
    expect(answer).toMatchObject(refusal(422, 'Invalid', { details }));
  });

  test('says that nothing is there to delete', async () => {
    const answer = await bed().ask('DELETE', bed().pods('no-such-pod'), { body: {} });
    const message = 'pods "no-such-pod" not found';
    expect(answer).toMatchObject(
      refusal(404, 'NotFound', { message, details: { name: 'no-such-pod', kind: 'pods' } }),
    );
  });

  test('answers with a Status where the object has no grace period', async () => {
    const node = unique('node');
    const { metadata } = await bed().post('/api/v1/nodes', { metadata: { name: node } });
    expect(await bed().ask('DELETE', `/api/v1/nodes/${node}`, { body: {} })).toMatchObject({
      status: 200,
      body: { kind: 'Status', status: 'Success', details: { name: node, kind: 'nodes', uid: metadata.uid } },
    });
  });

  test('deletes nothing in a dry run that the body asks for', async () => {
    const { path, pod } = await newPod();
    await bed().delete(path, { gracePeriodSeconds: 0, dryRun: ['All'] });
    expect((await bed().get(path)).metadata).toEqual(pod.metadata);
  });

  test('deletes nothing in a dry run that the query asks for without a body', async () => {
    const { path, pod } = await newPod();
    await bed().send('DELETE', `${path}?dryRun=All`);
    expect((await bed().get(path)).metadata).toEqual(pod.metadata);
  });

  test('overlooks a dry run in the query when there is a body', async () => {
    const { path } = await newPod({});
    await bed().send('DELETE', `${path}?dryRun=All`, { body: {} });
    expect(await bed().exists(path)).toBe(false);
  });

  test.each([
    {
      name: 'a propagation policy that is none',
      body: { propagationPolicy: 'x' },
      code: 422,
      reason: 'Invalid',
    },
    { name: 'a dry run that is none', body: { dryRun: ['some'] }, code: 422, reason: 'Invalid' },
    {
      name: 'a grace period that is no number',
      body: { gracePeriodSeconds: 'x' },
      code: 400,
      reason: 'BadRequest',
    },
    {
      name: 'options of another kind',
      body: { kind: 'Pod', apiVersion: 'v1' },
      code: 400,
      reason: 'BadRequest',
    },
  ])('refuses $name', async ({ body, code, reason }) => {
    const { path } = await newPod();
    expect(await bed().ask('DELETE', path, { body })).toMatchObject(refusal(code, reason));
    expect((await bed().get(path)).metadata.deletionTimestamp).toBeUndefined();
  });

  const eviction = (name: string, rest: object = {}): object => ({
    apiVersion: 'policy/v1',
    kind: 'Eviction',
    metadata: { name, namespace: bed().namespace },
    ...rest,
  });
  const runningPod = async (labels: object): Promise<{ readonly path: string; readonly pod: Obj }> => {
    const made = await newPod({ ...onNode, metadata: { labels } });
    const conditions = [{ type: 'Ready', status: 'True' }];
    await bed().patch(`${made.path}/status`, { status: { phase: 'Running', conditions } });
    return made;
  };
  const budget = async (name: string, disruptionsAllowed: number): Promise<void> => {
    const budgets = `/apis/policy/v1/namespaces/${bed().namespace}/poddisruptionbudgets`;
    const spec = { minAvailable: 1, selector: { matchLabels: { budget: name } } };
    await bed().post(budgets, { metadata: { name }, spec });
    const counts = { disruptionsAllowed, currentHealthy: 1, desiredHealthy: 1, expectedPods: 1 };
    await bed().patch(`${budgets}/${name}/status`, { status: { observedGeneration: 1, ...counts } });
  };

  test('evicts a pod with the grace it is given', async () => {
    const { path, pod } = await runningPod({});
    const { name, uid } = pod.metadata;
    const deleteOptions = { gracePeriodSeconds: 7, preconditions: { uid } };
    const answer = await bed().ask('POST', `${path}/eviction`, { body: eviction(name, { deleteOptions }) });
    expect(answer).toMatchObject({ status: 201, body: { kind: 'Status', status: 'Success', code: 201 } });
    expect((await bed().get(path)).metadata).toMatchObject({ deletionGracePeriodSeconds: 7 });
  });

  test('does not evict a namesake', async () => {
    const { path, pod } = await runningPod({});
    const body = eviction(pod.metadata.name, { deleteOptions: { preconditions: { uid: 'other' } } });
    expect(await bed().ask('POST', `${path}/eviction`, { body })).toMatchObject(refusal(409, 'Conflict'));
  });

  test('does not evict against a disruption budget, and says so by a cause', async () => {
    const name = unique('budget');
    await budget(name, 0);
    const { path, pod } = await runningPod({ budget: name });
    const answer = await bed().send('POST', `${path}/eviction`, { body: eviction(pod.metadata.name) });
    const message = `The disruption budget ${name} needs 1 healthy pods and has 1 currently`;
    const causes = [{ reason: 'DisruptionBudget', message }];
    expect(JSON.parse(answer.bytes.toString())).toMatchObject({
      code: 429,
      reason: 'TooManyRequests',
      details: { causes },
    });
    expect([answer.status, answer.retryAfter]).toEqual([429, undefined]);
  });

  test('takes an eviction out of its disruption budget, even a stale one', async () => {
    const name = unique('budget');
    await budget(name, 1);
    const { path, pod } = await runningPod({ budget: name });
    const stale = eviction(pod.metadata.name, { deleteOptions: { preconditions: { uid: 'other' } } });
    expect(await bed().ask('POST', `${path}/eviction`, { body: stale })).toMatchObject(
      refusal(409, 'Conflict'),
    );
    const again = await bed().ask('POST', `${path}/eviction`, { body: eviction(pod.metadata.name) });
    expect(again).toMatchObject(refusal(429, 'TooManyRequests'));
  });

  test('evicts under another name never', async () => {
    const { path } = await runningPod({});
    const answer = await bed().ask('POST', `${path}/eviction`, { body: eviction('other') });
    expect(answer).toMatchObject(refusal(400, 'BadRequest'));
  });

  test('creates nothing in a namespace that is being deleted', async () => {
    const name = unique('ending');
    await bed().post('/api/v1/namespaces', { metadata: { name } });
    expect(await bed().delete(`/api/v1/namespaces/${name}`)).toMatchObject({
      status: { phase: 'Terminating' },
    });
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${name}/leases`;
    const answer = await bed().ask('POST', leases, { body: { metadata: { name: 'l' } } });
    expect(answer).toMatchObject(
      refusal(403, 'Forbidden', { details: { causes: [{ reason: 'NamespaceTerminating' }] } }),
    );
  });

  test('takes the name of a deleted pod for a new one', async () => {
    const { path, pod } = await newPod();
    await bed().delete(path, { gracePeriodSeconds: 0 });
    const again = await bed().post(bed().pods(), podBody(pod.metadata.name));
    expect(again.metadata.uid).not.toBe(pod.metadata.uid);
  });
}
