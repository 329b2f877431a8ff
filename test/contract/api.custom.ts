import { expect, test } from 'vitest';
import {
  causedBy,
  merge,
  policies,
  policy,
  refusal,
  strategic,
  unique,
  type Bed,
  type Obj,
} from './api.bed.ts';

/** Custom resources: the schema's work, the status apart, the generation. */
export function customRows(bed: () => Bed): void {
  const newPolicy = async (spec: object = {}): Promise<{ readonly path: string; readonly policy: Obj }> => {
    const created = await bed().post(policies, policy(unique('policy'), spec));
    return { path: `${policies}/${created.metadata.name}`, policy: created };
  };
  const condition = (type: string, status = 'True'): object => ({
    type,
    status,
    reason: 'Ok',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  });

  test('is given its defaults, and those of the blocks that are present only', async () => {
    const { policy: created } = await newPolicy({ nodes: { imageGC: {} } });
    expect(created.spec).toMatchObject({
      mode: 'DryRun',
      priority: 0,
      nodes: { imageGC: { highThresholdPercent: 85, lowThresholdPercent: 80, minimumAge: '2m' } },
    });
    expect(created.spec).not.toHaveProperty('pods');
    expect(created.spec).not.toHaveProperty('nodes.containerGC');
  });

  test('loses the fields that its schema does not have', async () => {
    const { policy: created } = await newPolicy({ bogus: 1, nodes: { bogus: {} } });
    expect(created.spec).not.toHaveProperty('bogus');
    expect(created.spec).not.toHaveProperty('nodes.bogus');
  });

  test('is created without a status', async () => {
    const name = unique('policy');
    const created = await bed().post(policies, policy(name, {}, { status: { observedGeneration: 5 } }));
    expect(created.status).toBeUndefined();
    expect(created.metadata.generation).toBe(1);
  });

  test.each([
    {
      name: 'a mode that is none',
      spec: { mode: 'Foo' },
      field: 'spec.mode',
      reason: /NotSupported/,
    },
    {
      name: 'a text for a number',
      spec: { priority: 'x' },
      field: 'spec.priority',
      reason: /TypeInvalid/,
    },
    {
      name: 'a percentage above 100',
      spec: { nodes: { imageGC: { highThresholdPercent: 101 } } },
      field: 'spec.nodes.imageGC.highThresholdPercent',
      reason: /Invalid/,
    },
    {
      name: 'thresholds the wrong way round',
      spec: { nodes: { imageGC: { highThresholdPercent: 70, lowThresholdPercent: 80 } } },
      field: 'spec.nodes.imageGC.lowThresholdPercent',
      reason: /Invalid/,
    },
  ])('refuses $name', async ({ spec, field, reason }) => {
    const name = unique('bad');
    const answer = await bed().ask('POST', policies, { body: policy(name, spec) });
    const details = { name, group: 'gc.dustpan.dev', kind: 'GCPolicy', ...causedBy(field, reason) };
    expect(answer).toMatchObject(refusal(422, 'Invalid', { details }));
    expect(answer).toHaveProperty(
      'body.message',
      expect.stringContaining(`GCPolicy.gc.dustpan.dev "${name}" is invalid: `),
    );
  });

  test('refuses an owner without a UID', async () => {
    const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'n' }];
    const body = { ...policy('a'), metadata: { name: unique('owned'), ownerReferences } };
    const details = { kind: 'GCPolicy', ...causedBy('metadata.ownerReferences.uid') };
    expect(await bed().ask('POST', policies, { body })).toMatchObject(refusal(422, 'Invalid', { details }));
  });

  test('refuses an object without its kind', async () => {
    const answer = await bed().ask('POST', policies, { body: { metadata: { name: 'a' }, spec: {} } });
    expect(answer).toMatchObject(refusal(400, 'BadRequest'));
  });

  test('counts the changes of its spec, and of nothing else', async () => {
    const { path } = await newPolicy();
    const generation = async (body: object, at = path): Promise<number | undefined> =>
      (await bed().patch(at, body)).metadata.generation;
    expect(await generation({ metadata: { labels: { a: 'b' } } })).toBe(1);
    expect(await generation({ status: { observedGeneration: 1 } }, `${path}/status`)).toBe(1);
    expect(await generation({ spec: { mode: 'Enforce' } })).toBe(2);
    expect(await generation({ spec: { mode: 'Enforce' } })).toBe(2);
  });

  test('gets a default back where a patch says null', async () => {
    const { path } = await newPolicy({ mode: 'Enforce' });
    expect(await bed().patch(path, { spec: { mode: null } })).toMatchObject({ spec: { mode: 'DryRun' } });
  });

  test('takes its status on its own path only', async () => {
    const { path } = await newPolicy();
    const body = { status: { observedGeneration: 7 } };
    expect((await bed().patch(path, body)).status).toBeUndefined();
    expect(await bed().patch(`${path}/status`, body)).toMatchObject(body);
  });

  test('takes on the path of its status nothing else', async () => {
    const { path } = await newPolicy();
    const body = {
      metadata: { labels: { a: 'b' } },
      spec: { mode: 'Enforce' },
      status: { observedGeneration: 7 },
    };
    const after = await bed().patch(`${path}/status`, body);
    expect(after.spec).toMatchObject({ mode: 'DryRun' });
    expect(after.metadata).not.toHaveProperty('labels');
  });

  test('prunes and checks its status', async () => {
    const { path } = await newPolicy();
    const after = await bed().patch(`${path}/status`, { status: { observedGeneration: 1, bogus: 1 } });
    expect(after.status).toEqual({ observedGeneration: 1 });
    const body = { status: { conditions: [condition('Ready', 'Maybe')] } };
    const answer = await bed().ask('PATCH', `${path}/status`, { body, contentType: merge });
    expect(answer).toMatchObject(refusal(422, 'Invalid'));
  });

  test('has its conditions replaced whole: there is no strategic merge', async () => {
    const { path } = await newPolicy();
    await bed().patch(`${path}/status`, { status: { conditions: [condition('Ready')] } });
    const after = await bed().patch(`${path}/status`, { status: { conditions: [condition('Accepted')] } });
    expect(after.status).toEqual({ conditions: [condition('Accepted')] });
    const answer = await bed().ask('PATCH', `${path}/status`, { body: {}, contentType: strategic });
    expect(answer).toMatchObject(refusal(415, 'UnsupportedMediaType'));
  });

  test('is not protected by a UID in a patch of its status', async () => {
    const { path } = await newPolicy();
    const body = { metadata: { uid: 'another' }, status: { observedGeneration: 7 } };
    expect(await bed().patch(`${path}/status`, body)).toMatchObject({ status: { observedGeneration: 7 } });
  });

  test('is protected by a UID in a patch of the rest, and in every PUT', async () => {
    const { path, policy: created } = await newPolicy();
    const metadata = { uid: 'another', labels: { a: 'b' } };
    const patched = await bed().ask('PATCH', path, { body: { metadata }, contentType: merge });
    expect(patched).toMatchObject(refusal(422, 'Invalid', { details: causedBy('metadata.uid') }));
    const body = {
      ...created,
      metadata: { ...created.metadata, uid: 'another' },
      status: { observedGeneration: 7 },
    };
    expect(await bed().ask('PUT', `${path}/status`, { body })).toMatchObject(refusal(409, 'Conflict'));
    expect(await bed().ask('PUT', path, { body })).toMatchObject(refusal(409, 'Conflict'));
  });

  test('is protected by a resourceVersion in a patch of its status', async () => {
    const { path } = await newPolicy();
    const body = { metadata: { resourceVersion: '1' }, status: { observedGeneration: 7 } };
    const answer = await bed().ask('PATCH', `${path}/status`, { body, contentType: merge });
    expect(answer).toMatchObject(refusal(409, 'Conflict'));
  });

  test('is never updated blindly', async () => {
    const { path, policy: created } = await newPolicy();
    const answer = await bed().ask('PUT', path, { body: policy(created.metadata.name) });
    const details = causedBy('metadata.resourceVersion');
    expect(answer).toMatchObject(refusal(422, 'Invalid', { details }));
  });

  test('is updated by whoever has read it last', async () => {
    const { path, policy: created } = await newPolicy();
    const body = { ...created, spec: { mode: 'Enforce' } };
    expect(await bed().put(path, body)).toMatchObject({
      metadata: { generation: 2 },
      spec: { mode: 'Enforce' },
    });
    expect(await bed().ask('PUT', path, { body })).toMatchObject(refusal(409, 'Conflict'));
  });

  test('is applied: created, then changed', async () => {
    const name = unique('applied');
    const path = `${policies}/${name}?fieldManager=contract&force=true`;
    const sent = (mode: string): object => ({
      contentType: 'application/apply-patch+yaml',
      body: policy(name, { mode }),
    });
    expect(await bed().ask('PATCH', path, sent('DryRun'))).toMatchObject({ status: 201 });
    expect(await bed().ask('PATCH', path, sent('Enforce'))).toMatchObject({
      status: 200,
      body: { metadata: { generation: 2 }, spec: { mode: 'Enforce' } },
    });
  });

  test('is deleted, and the answer is a Status', async () => {
    const { path, policy: created } = await newPolicy();
    const { name, uid } = created.metadata;
    const body = { preconditions: { uid: 'other' } };
    expect(await bed().ask('DELETE', path, { body })).toMatchObject(
      refusal(409, 'Conflict', { details: { name, group: 'gc.dustpan.dev', kind: 'GCPolicy' } }),
    );
    expect(await bed().ask('DELETE', path, { body: { preconditions: { uid } } })).toMatchObject({
      status: 200,
      body: {
        kind: 'Status',
        status: 'Success',
        details: { name, group: 'gc.dustpan.dev', kind: 'gcpolicies', uid },
      },
    });
  });

  test('stays until its finalizers are gone', async () => {
    const { path } = await newPolicy();
    await bed().patch(path, { metadata: { finalizers: ['example.com/held'] } });
    expect((await bed().delete(path)).metadata).toMatchObject({
      deletionGracePeriodSeconds: 0,
      generation: 2,
    });
    await bed().patch(path, { metadata: { finalizers: null } });
    expect(await bed().exists(path)).toBe(false);
  });

  test('carries its kind in lists', async () => {
    const { policy: created } = await newPolicy();
    const { name } = created.metadata;
    expect(await bed().get(`${policies}?fieldSelector=metadata.name%3D${name}`)).toMatchObject({
      kind: 'GCPolicyList',
      items: [{ kind: 'GCPolicy', apiVersion: 'gc.dustpan.dev/v1alpha1', metadata: { name } }],
    });
  });

  test('lists by a watch', async () => {
    const { policy: created } = await newPolicy();
    const { name } = created.metadata;
    const query =
      'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
    const events = await bed().watch(`${policies}?${query}&fieldSelector=metadata.name%3D${name}`, 2);
    expect(events).toMatchObject([
      { type: 'ADDED', object: { kind: 'GCPolicy', metadata: { name } } },
      { type: 'BOOKMARK', object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } } },
    ]);
  });
}
