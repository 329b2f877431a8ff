import { expect, test } from 'vitest';
import { causedBy, onNode, pod, refusal, unique, type Bed } from './api.bed.ts';

/** POST and PUT of built-in kinds, and the Status of requests that are refused. */
export function writeRows(bed: () => Bed): void {
  const post = (path: string, body: unknown): Promise<{ readonly status: number; readonly body: unknown }> =>
    bed().ask('POST', path, { body });

  test('gives a new object its UID, version, time and generation, whatever the client says', async () => {
    const name = unique('new');
    const mine = { uid: 'mine', creationTimestamp: '2020-01-01T00:00:00Z', generation: 7 };
    const { metadata } = await bed().createPod(name, { metadata: mine });
    expect(metadata).toMatchObject({ name, namespace: bed().namespace, generation: 1 });
    expect(metadata.uid).toMatch(/^[0-9a-f-]{36}$/);
    expect(metadata).toHaveProperty('creationTimestamp', expect.stringMatching(/^20\d\d-.*\d\dZ$/));
    expect(metadata).not.toHaveProperty('creationTimestamp', mine.creationTimestamp);
    expect(Number(metadata.resourceVersion)).toBeGreaterThan(0);
  });

  test('creates pods Pending, whatever the client says', async () => {
    const created = await bed().post(bed().pods(), { ...pod(unique('phase')), status: { phase: 'Failed' } });
    expect(created.status).toMatchObject({ phase: 'Pending' });
    expect(created.spec).toMatchObject({ terminationGracePeriodSeconds: 30, restartPolicy: 'Always' });
  });

  test('makes up a name from generateName', async () => {
    const { metadata } = await bed().post(bed().pods(), pod('', { metadata: { generateName: 'made-' } }));
    expect(metadata.name).toMatch(/^made-.{5}$/);
  });

  test('does not create what is there', async () => {
    const name = unique('twice');
    await bed().createPod(name);
    const details = { name, kind: 'pods' };
    const message = `pods "${name}" already exists`;
    expect(await post(bed().pods(), pod(name))).toMatchObject(
      refusal(409, 'AlreadyExists', { message, details }),
    );
  });

  test('creates nothing in a namespace that does not exist', async () => {
    const details = { name: 'nowhere', kind: 'namespaces' };
    const message = 'namespaces "nowhere" not found';
    expect(await post('/api/v1/namespaces/nowhere/pods', pod('a'))).toMatchObject(
      refusal(404, 'NotFound', { message, details }),
    );
  });

  test('creates nothing in a dry run, but says what it would', async () => {
    const name = unique('dry');
    const { status, body } = await post(`${bed().pods()}?dryRun=All`, pod(name));
    expect({ status, body }).toMatchObject({
      status: 201,
      body: { metadata: { name }, status: { phase: 'Pending' } },
    });
    expect(body).not.toHaveProperty('metadata.resourceVersion');
    expect(await bed().exists(bed().pods(name))).toBe(false);
  });

  test.each([
    { name: 'a name that is none', body: pod('A_'), field: 'metadata.name', reason: /Invalid/ },
    { name: 'no name', body: pod(''), field: 'metadata.name', reason: /Required/ },
    {
      name: 'a pod without containers',
      body: pod('a', { spec: { containers: [] } }),
      field: 'spec.containers',
      reason: /Required/,
    },
  ])('refuses $name', async ({ body, field, reason }) => {
    const details = { kind: 'Pod', ...causedBy(field, reason) };
    expect(await post(bed().pods(), body)).toMatchObject(refusal(422, 'Invalid', { details }));
  });

  test.each([
    { name: 'a body that is no JSON', body: '{' },
    { name: 'another kind', body: { ...pod('a'), kind: 'Node' } },
    { name: 'another namespace', body: pod('a', { metadata: { namespace: 'other' } }) },
  ])('refuses $name', async ({ body }) => {
    expect(await post(bed().pods(), body)).toMatchObject(refusal(400, 'BadRequest'));
  });

  test('refuses a new object that has a resourceVersion', async () => {
    const body = pod('a', { metadata: { resourceVersion: '3' } });
    const message = 'resourceVersion should not be set on objects to be created';
    expect(await post(bed().pods(), body)).toMatchObject({ status: 500, body: { message } });
  });

  test('says what is not found', async () => {
    const message = 'pods "no-such-pod" not found';
    const details = { name: 'no-such-pod', kind: 'pods' };
    expect(await bed().ask('GET', bed().pods('no-such-pod'))).toMatchObject(
      refusal(404, 'NotFound', { message, details }),
    );
  });

  test('answers in plain text where no API is', async () => {
    const answer = await bed().send('GET', '/apis/nothing.example.com/v1/things');
    expect(answer).toMatchObject({ status: 404, type: 'text/plain; charset=utf-8' });
    expect(answer.bytes.toString()).toBe('404 page not found\n');
  });

  test.each([
    {
      path: '/api/v1/things',
      message: 'the server could not find the requested resource',
      code: 404,
      reason: 'NotFound',
    },
    {
      path: '/api/v1/namespaces/default/nodes',
      message: 'the server could not find the requested resource',
      code: 404,
      reason: 'NotFound',
    },
  ])('knows no $path', async ({ path, message, code, reason }) => {
    expect(await bed().ask('GET', path)).toMatchObject(refusal(code, reason, { message, details: {} }));
  });

  test('refuses a method', async () => {
    const answer = await bed().ask('PUT', bed().pods(), { body: {} });
    expect(answer).toMatchObject(refusal(405, 'MethodNotAllowed'));
  });

  test('refuses a token that nobody has', async () => {
    const answer = await bed().ask('GET', bed().pods(), { token: 'nobody' });
    expect(answer).toMatchObject(refusal(401, 'Unauthorized', { message: 'Unauthorized' }));
  });

  test('forbids strangers', async () => {
    const message =
      'pods is forbidden: User "system:anonymous" cannot list resource "pods" in API group "" at the cluster scope';
    const answer = await bed().ask('GET', '/api/v1/pods', { token: '' });
    expect(answer).toMatchObject(refusal(403, 'Forbidden', { message, details: { kind: 'pods' } }));
  });

  test('forbids strangers to act on one object', async () => {
    const message = `leases.coordination.k8s.io "a" is forbidden: User "system:anonymous" cannot update resource "leases" in API group "coordination.k8s.io" in the namespace "${bed().namespace}"`;
    const details = { name: 'a', group: 'coordination.k8s.io', kind: 'leases' };
    const answer = await bed().ask('PUT', bed().leases('a'), { token: '', body: {} });
    expect(answer).toMatchObject(refusal(403, 'Forbidden', { message, details }));
  });

  test('overwrites by PUT without a resourceVersion, and leaves the status alone', async () => {
    const name = unique('put');
    const { metadata, ...rest } = await bed().createPod(name, onNode);
    const body = {
      ...rest,
      metadata: { ...metadata, resourceVersion: '', labels: { a: 'b' } },
      status: { phase: 'Failed' },
    };
    expect(await bed().put(bed().pods(name), body)).toMatchObject({
      metadata: { uid: metadata.uid, labels: { a: 'b' } },
      status: { phase: 'Pending' },
    });
  });

  test('changes nothing by PUT of an old resourceVersion', async () => {
    const name = unique('stale');
    const created = await bed().createPod(name);
    await bed().patch(bed().pods(name), { metadata: { labels: { a: 'b' } } });
    const message = `Operation cannot be fulfilled on pods "${name}": the object has been modified; please apply your changes to the latest version and try again`;
    const answer = await bed().ask('PUT', bed().pods(name), { body: created });
    expect(answer).toMatchObject(refusal(409, 'Conflict', { message, details: { name, kind: 'pods' } }));
  });

  test('changes nothing by PUT of another UID', async () => {
    const name = unique('other');
    const created = await bed().createPod(name);
    const body = { ...created, metadata: { ...created.metadata, uid: 'another' } };
    expect(await bed().ask('PUT', bed().pods(name), { body })).toMatchObject(refusal(409, 'Conflict'));
  });

  test('does not create pods by PUT', async () => {
    const name = unique('absent');
    const body = pod(name, { metadata: { namespace: bed().namespace } });
    expect(await bed().ask('PUT', bed().pods(name), { body })).toMatchObject(refusal(404, 'NotFound'));
  });

  test('does not change the spec of a pod', async () => {
    const name = unique('spec');
    const created = await bed().createPod(name);
    const body = { ...created, spec: { ...created.spec, nodeName: 'n' } };
    const details = { kind: 'Pod', ...causedBy('spec', /Forbidden/) };
    expect(await bed().ask('PUT', bed().pods(name), { body })).toMatchObject(
      refusal(422, 'Invalid', { details }),
    );
  });
}
