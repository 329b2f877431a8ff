import { expect, test } from 'vitest';
import { causedBy, merge, onNode, refusal, strategic, unique, type Bed, type Obj } from './api.bed.ts';

const disruption = { type: 'DisruptionTarget', status: 'True', reason: 'DeletionByPodGC', message: 'm' };

/** PATCH of pods: what dustpan writes before it deletes. */
export function patchRows(bed: () => Bed): void {
  const conditions = ({ status }: Obj): unknown => status?.['conditions'];
  const newPod = async (): Promise<{ readonly path: string; readonly pod: Obj }> => {
    const pod = await bed().createPod(unique('patched'), onNode);
    return { path: bed().pods(pod.metadata.name), pod };
  };

  test('merges conditions by their type', async () => {
    const { path } = await newPod();
    const ready = { type: 'Ready', status: 'True' };
    await bed().patch(`${path}/status`, { status: { conditions: [ready] } }, strategic);
    const both = await bed().patch(`${path}/status`, { status: { conditions: [disruption] } }, strategic);
    // Without an order, the patch's entries that are new come first.
    expect(conditions(both)).toMatchObject([disruption, ready]);
    const changed = { status: { conditions: [{ type: 'Ready', status: 'False' }] } };
    const after = await bed().patch(`${path}/status`, changed, strategic);
    expect(conditions(after)).toMatchObject([disruption, { type: 'Ready', status: 'False' }]);
  });

  test('orders conditions as asked', async () => {
    const { path } = await newPod();
    await bed().patch(
      `${path}/status`,
      { status: { conditions: [{ type: 'Ready', status: 'True' }] } },
      strategic,
    );
    const order = { '$setElementOrder/conditions': [{ type: 'DisruptionTarget' }, { type: 'Ready' }] };
    const status = { ...order, conditions: [disruption] };
    const after = await bed().patch(`${path}/status`, { status }, strategic);
    expect(conditions(after)).toMatchObject([{ type: 'DisruptionTarget' }, { type: 'Ready' }]);
  });

  test('removes a condition by a directive', async () => {
    const { path } = await newPod();
    await bed().patch(`${path}/status`, { status: { conditions: [disruption] } }, strategic);
    const gone = { type: 'DisruptionTarget', $patch: 'delete' };
    const after = await bed().patch(`${path}/status`, { status: { conditions: [gone] } }, strategic);
    expect(conditions(after) ?? []).toEqual([]);
  });

  test('replaces lists whole in a merge patch', async () => {
    const { path } = await newPod();
    await bed().patch(`${path}/status`, { status: { conditions: [{ type: 'Ready', status: 'True' }] } });
    const after = await bed().patch(`${path}/status`, { status: { conditions: [disruption] } });
    expect(conditions(after)).toMatchObject([disruption]);
    expect(conditions(after)).toHaveLength(1);
  });

  test('changes labels but not the spec through the status', async () => {
    const { path } = await newPod();
    const body = {
      metadata: { labels: { a: 'b' } },
      status: { phase: 'Failed' },
      spec: { nodeName: 'other' },
    };
    expect(await bed().patch(`${path}/status`, body, strategic)).toMatchObject({
      metadata: { labels: { a: 'b' }, generation: 1 },
      spec: { nodeName: 'no-such-node' },
      status: { phase: 'Failed' },
    });
  });

  test('leaves the status alone in a patch of the object', async () => {
    const { path, pod } = await newPod();
    const after = await bed().patch(path, { status: { phase: 'Failed' } });
    expect(after).toMatchObject({ status: { phase: 'Pending' } });
    expect(after.metadata.resourceVersion).toBe(pod.metadata.resourceVersion);
  });

  test('keeps the version of an object that a patch does not change', async () => {
    const { path, pod } = await newPod();
    const after = await bed().patch(`${path}/status`, { status: { phase: 'Pending' } }, strategic);
    expect(after.metadata.resourceVersion).toBe(pod.metadata.resourceVersion);
  });

  test('removes what a patch says is null', async () => {
    const { path } = await newPod();
    await bed().patch(path, { metadata: { labels: { a: '1', b: '2' } } });
    const after = await bed().patch(path, { metadata: { labels: { a: null } } }, strategic);
    expect(after).toHaveProperty('metadata.labels', { b: '2' });
  });

  test.each([merge, strategic])('does not patch a namesake: %s', async (contentType) => {
    const { path } = await newPod();
    const body = { metadata: { uid: 'another' }, status: { phase: 'Failed' } };
    const answer = await bed().ask('PATCH', `${path}/status`, { body, contentType });
    const details = { kind: 'Pod', ...causedBy('metadata.uid', /Invalid/) };
    expect(answer).toMatchObject(refusal(422, 'Invalid', { details }));
    expect(await bed().get(path)).toMatchObject({ status: { phase: 'Pending' } });
  });

  test.each([merge, strategic])('does not patch another version: %s', async (contentType) => {
    const { path, pod } = await newPod();
    const { uid } = pod.metadata;
    const body = { metadata: { uid, resourceVersion: '1' }, status: { phase: 'Failed' } };
    const answer = await bed().ask('PATCH', `${path}/status`, { body, contentType });
    expect(answer).toMatchObject(refusal(409, 'Conflict', { details: { kind: 'pods' } }));
  });

  test('patches the version that it names', async () => {
    const { path, pod } = await newPod();
    const { uid, resourceVersion } = pod.metadata;
    const body = { metadata: { uid, resourceVersion }, status: { phase: 'Failed' } };
    expect(await bed().patch(`${path}/status`, body, strategic)).toMatchObject({
      status: { phase: 'Failed' },
    });
  });

  test('looks at the version before the UID', async () => {
    const { path } = await newPod();
    const body = { metadata: { uid: 'another', resourceVersion: '1' }, status: { phase: 'Failed' } };
    const answer = await bed().ask('PATCH', `${path}/status`, { body, contentType: strategic });
    expect(answer).toMatchObject(refusal(409, 'Conflict'));
  });

  test('patches nothing in a dry run', async () => {
    const { path } = await newPod();
    const body = { status: { phase: 'Failed' } };
    expect(await bed().patch(`${path}/status?dryRun=All`, body)).toMatchObject(body);
    expect(await bed().get(path)).toMatchObject({ status: { phase: 'Pending' } });
  });

  test('patches nothing that is not there', async () => {
    const answer = await bed().ask('PATCH', bed().pods('no-such-pod'), { body: {}, contentType: merge });
    expect(answer).toMatchObject(refusal(404, 'NotFound'));
  });

  test('patches by operations', async () => {
    const { path } = await newPod();
    const body = [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }];
    const after = await bed().patch(path, body, 'application/json-patch+json');
    expect(after).toHaveProperty('metadata.labels', { a: 'b' });
  });

  test.each([
    {
      name: 'a body that is no patch type',
      contentType: 'application/json',
      body: {},
      code: 415,
      reason: 'UnsupportedMediaType',
    },
    { name: 'a body that is no JSON', contentType: merge, body: '{', code: 400, reason: 'BadRequest' },
    {
      name: 'another name',
      contentType: merge,
      body: { metadata: { name: 'x' } },
      code: 400,
      reason: 'BadRequest',
    },
    {
      name: 'another namespace',
      contentType: merge,
      body: { metadata: { namespace: 'x' } },
      code: 400,
      reason: 'BadRequest',
    },
  ])('refuses $name', async ({ contentType, body, code, reason }) => {
    const { path } = await newPod();
    expect(await bed().ask('PATCH', path, { body, contentType })).toMatchObject(refusal(code, reason));
  });
}
