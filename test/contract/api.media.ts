import { expect, test } from 'vitest';
import {
  metadataListOnly,
  metadataOnly,
  policies,
  policy,
  protobuf,
  refusal,
  unique,
  type Bed,
} from './api.bed.ts';
import { itemNames, objectName, openEnvelope, statusOf, watchEvents } from './api.protobuf.ts';

/** In which form answers come. */
export function mediaRows(bed: () => Bed): void {
  const space = (): string => `/api/v1/namespaces/${bed().namespace}`;

  test.each([
    { accept: 'text/html, application/json', type: 'application/json' },
    { accept: '*/*', type: 'application/json' },
    { accept: `${protobuf},application/json`, type: protobuf },
    { accept: `application/json,${protobuf}`, type: 'application/json' },
    { accept: `${protobuf};q=0.5,application/json;q=0.9`, type: 'application/json' },
  ])('answers $accept with $type', async ({ accept, type }) => {
    expect(await bed().send('GET', space(), { accept })).toMatchObject({ status: 200, type });
  });

  test('refuses to write HTML', async () => {
    const answer = await bed().ask('GET', space(), { accept: 'text/html' });
    expect(answer).toMatchObject(refusal(406, 'NotAcceptable'));
  });

  test('writes one object as protobuf in its envelope', async () => {
    const { bytes } = await bed().send('GET', space(), { accept: protobuf });
    const { kind, raw } = openEnvelope(bytes);
    expect([kind, objectName(raw)]).toEqual(['Namespace', bed().namespace]);
  });

  test('writes a list as protobuf with the same names as in JSON', async () => {
    await bed().createPod(unique('pb'));
    const { bytes } = await bed().send('GET', bed().pods(), { accept: protobuf });
    const { kind, raw } = openEnvelope(bytes);
    expect(kind).toBe('PodList');
    expect(itemNames(raw)).toEqual(await bed().names(bed().pods()));
  });

  test('writes a watch as frames of protobuf', async () => {
    const name = unique('frame');
    await bed().createPod(name);
    const path = `${bed().pods()}?watch=true&timeoutSeconds=1&fieldSelector=metadata.name%3D${name}`;
    const { type, bytes } = await bed().send('GET', path, { accept: `${protobuf};stream=watch` });
    expect(type).toBe(`${protobuf};stream=watch`);
    expect(watchEvents(bytes)).toEqual([{ type: 'ADDED', kind: 'Pod', name }]);
  });

  test('writes errors as protobuf too', async () => {
    const { status, type, bytes } = await bed().send('GET', bed().pods('no-such-pod'), { accept: protobuf });
    const { kind, raw } = openEnvelope(bytes);
    expect({ status, type, kind, ...statusOf(raw) }).toEqual({
      status: 404,
      type: protobuf,
      kind: 'Status',
      reason: 'NotFound',
      code: 404,
    });
  });

  test('writes errors about custom resources as protobuf even where their lists fall back to JSON', async () => {
    const accept = `${protobuf},application/json`;
    const { status, type, bytes } = await bed().send('GET', `${policies}/no-such-policy`, { accept });
    expect([status, type]).toEqual([404, protobuf]);
    expect(statusOf(openEnvelope(bytes).raw)).toEqual({ reason: 'NotFound', code: 404 });
  });

  test('has no protobuf of custom resources, and says so in protobuf', async () => {
    const { status, bytes } = await bed().send('GET', policies, { accept: protobuf });
    expect([status, statusOf(openEnvelope(bytes).raw)]).toEqual([
      406,
      { reason: 'NotAcceptable', code: 406 },
    ]);
  });

  test.each(['', '&watch=true'])('falls back to JSON for custom resources (%s)', async (watch) => {
    const accept = `${protobuf};stream=watch,${protobuf},application/json`;
    const answer = await bed().send('GET', `${policies}?timeoutSeconds=1${watch}`, { accept });
    expect(answer).toMatchObject({ status: 200, type: 'application/json' });
  });

  test('shows the metadata of an object alone', async () => {
    const name = unique('partial');
    await bed().createPod(name);
    const { body } = await bed().ask('GET', bed().pods(name), { accept: `${metadataOnly},application/json` });
    expect(body).toMatchObject({
      kind: 'PartialObjectMetadata',
      apiVersion: 'meta.k8s.io/v1',
      metadata: { name },
    });
    expect(Object.keys(Object(body) as object).toSorted()).toEqual(['apiVersion', 'kind', 'metadata']);
  });

  test('shows the metadata of a list alone', async () => {
    const { body } = await bed().ask('GET', `${bed().pods()}?limit=1`, { accept: metadataListOnly });
    expect(body).toMatchObject({
      kind: 'PartialObjectMetadataList',
      apiVersion: 'meta.k8s.io/v1',
      items: [{ kind: 'PartialObjectMetadata', metadata: { namespace: bed().namespace } }],
    });
  });

  test('does not show a list as the metadata of an object', async () => {
    const answer = await bed().ask('GET', bed().pods(), { accept: metadataOnly });
    expect(answer).toMatchObject(refusal(406, 'NotAcceptable'));
  });

  test('shows the metadata of what is deleted alone', async () => {
    const name = unique('partial');
    await bed().createPod(name);
    const sent = { accept: metadataOnly, body: { gracePeriodSeconds: 0 } };
    const { body } = await bed().ask('DELETE', bed().pods(name), sent);
    expect(body).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name } });
  });

  test('shows the metadata of custom resources alone', async () => {
    const name = unique('partial');
    await bed().post(policies, policy(name));
    const { body } = await bed().ask('GET', `${policies}/${name}`, { accept: metadataOnly });
    expect(body).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { name } });
    await bed().delete(`${policies}/${name}`);
  });
}
