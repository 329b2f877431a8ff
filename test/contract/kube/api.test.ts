import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { acceptProtobuf } from '../../../src/kube/http/media-types.ts';
import { ApiError, type KubeRequest } from '../../../src/kube/http/transport.ts';
import { startEnvironment } from './environment.ts';
import { policyManifest } from '../../manifests.ts';

const policies = '/apis/gc.dustpan.dev/v1alpha1/gcpolicies';
const time = '2026-01-01T00:00:00.000000Z';

interface Obj {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly continue?: string;
  };
  readonly spec?: object;
  readonly status?: object;
  readonly items?: readonly Obj[];
}

interface Event {
  readonly type: string;
  readonly object: Obj & { readonly code?: number; readonly reason?: string };
}

// Behaviour of an API server that dustpan relies on beyond the suites of its adapters.
const { signal } = new AbortController();

const { transport, objects } = await startEnvironment();

const unique = (prefix: string): string => `${prefix}-${randomUUID().slice(0, 8)}`;
const pods = (): string => `/api/v1/namespaces/${objects.namespace}/pods`;
const events = (): string => `/apis/events.k8s.io/v1/namespaces/${objects.namespace}/events`;
const objectOf = (bytes: Buffer): Obj => JSON.parse(bytes.toString()) as Obj;
const request = async (sent: KubeRequest): Promise<Obj> => objectOf(await objects.request(sent));
type Query = Readonly<Record<string, string>>;
const get = (path: string, query: Query = {}): Promise<Obj> => request({ method: 'GET', path, query });
const post = async (path: string, body: object): Promise<Obj> => objectOf(await objects.post(path, body));
const patch = async (path: string, body: object): Promise<Obj> => objectOf(await objects.patch(path, body));
const names = ({ items = [] }: Obj): readonly string[] => items.map(({ metadata }) => metadata.name);
const refusal = async (refused: Promise<unknown>): Promise<ApiError> => {
  const err: unknown = await refused.catch((thrown: unknown) => thrown);
  if (!(err instanceof ApiError)) throw new Error('the server refused nothing');
  return err;
};

/** The first events of a watch in JSON. */
async function watch(path: string, count: number, query: Query): Promise<readonly Event[]> {
  let text = '';
  const whole = { watch: 'true', timeoutSeconds: '30', ...query };
  for await (const chunk of transport.stream({ method: 'GET', path, query: whole }, signal)) {
    text += chunk.toString();
    if (text.split('\n').length > count) break;
  }
  const lines = text.split('\n').slice(0, count);
  return lines.map((line) => JSON.parse(line) as Event);
}

describe('lists', () => {
  test('all pages have the state of the first page, each object once', async () => {
    const made = [];
    for (let i = 0; i < 3; i += 1) made.push((await objects.createPod()).metadata.name);
    const first = await get(pods(), { limit: '2' });
    const { metadata: late } = await objects.createPod({ name: unique('zz') });
    const rest = await get(pods(), { continue: first.metadata.continue ?? '' });
    const seen = [...names(first), ...names(rest)];
    expect(first.items).toHaveLength(2);
    expect(seen).toEqual(expect.arrayContaining(made));
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).not.toContain(late.name);
    expect(rest.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
  });

  test('a field selects the pods of a node, and one object by name', async () => {
    const nodeName = unique('node');
    const { name } = (await objects.createPod({ nodeName })).metadata;
    await objects.createPod();
    expect(names(await get(pods(), { fieldSelector: `spec.nodeName=${nodeName}` }))).toEqual([name]);
    expect(names(await get(pods(), { fieldSelector: `metadata.name=${name}` }))).toEqual([name]);
    expect(await refusal(get(pods(), { fieldSelector: 'spec.nosuch=1' }))).toMatchObject({ status: 400 });
  });
});

describe('watches', () => {
  test('a pod that is deleted without grace is terminating first, then deleted', async () => {
    const { metadata } = await objects.createPod();
    await objects.removePod(metadata.name);
    const { name, resourceVersion } = metadata;
    const seen = await watch(pods(), 2, { resourceVersion, fieldSelector: `metadata.name=${name}` });
    expect(seen).toMatchObject([
      { type: 'MODIFIED', object: { metadata: { deletionGracePeriodSeconds: 0 } } },
      { type: 'DELETED', object: { metadata: { uid: metadata.uid } } },
    ]);
    const [marked, deleted] = seen.map(({ object }) => Number(object.metadata.resourceVersion));
    expect(deleted).toBeGreaterThan(marked ?? 0);
  });

  test('an expired version is an error in the stream', async () => {
    const [error] = await watch(policies, 1, { resourceVersion: '1' });
    const object = { kind: 'Status', code: 410, reason: 'Expired' };
    expect(error).toMatchObject({ type: 'ERROR', object });
  });
});

test('custom resources are JSON also when protobuf is requested', async () => {
  const list = await request({ method: 'GET', path: policies, accept: acceptProtobuf });
  expect(list).toMatchObject({ kind: 'GCPolicyList' });
});

test('only a change of the spec of a custom resource increases its generation, and only its own path changes the status', async () => {
  const path = `${policies}/${unique('policy')}`;
  await post(policies, policyManifest(path.slice(policies.length + 1)));
  const labelled = await patch(path, { metadata: { labels: { a: 'b' } }, status: { observedGeneration: 7 } });
  expect(labelled.metadata.generation).toBe(1);
  expect(labelled.status).toBeUndefined();
  const status = { observedGeneration: 1 };
  const judged = await patch(`${path}/status`, { spec: { mode: 'Enforce' }, status });
  expect(judged).toMatchObject({ metadata: { generation: 1 }, spec: { mode: 'DryRun' }, status });
  for (let i = 0; i < 2; i += 1)
    expect(await patch(path, { spec: { mode: 'Enforce' } })).toMatchObject({
      metadata: { generation: 2 },
      status,
    });
});

describe('events', () => {
  const regarding = { kind: 'Pod', apiVersion: 'v1', name: 'a', uid: 'u' };
  const event = (rest: object = {}): object => ({
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { name: unique('event') },
    eventTime: time,
    reportingController: 'gc.dustpan.dev/controller',
    reportingInstance: 'instance',
    action: 'Delete',
    reason: 'PodCollected',
    type: 'Normal',
    note: 'é'.repeat(512),
    regarding: { ...regarding, namespace: objects.namespace },
    ...rest,
  });

  test.each([
    { name: 'a note of more than 1024 bytes', rest: { note: `${'é'.repeat(512)}x` } },
    { name: 'a long instance', rest: { reportingInstance: 'x'.repeat(129) } },
    { name: 'a series of one', rest: { series: { count: 1, lastObservedTime: time } } },
    { name: 'an object of the cluster in another namespace than default', rest: { regarding } },
  ])('$name is refused', async ({ rest }) => {
    expect(await refusal(post(events(), event(rest)))).toMatchObject({ status: 422 });
  });
});

test('an update of a Lease needs the latest version', async () => {
  const path = `/apis/coordination.k8s.io/v1/namespaces/${objects.namespace}/leases`;
  const spec = { holderIdentity: 'me', leaseDurationSeconds: 15, acquireTime: time, renewTime: time };
  const metadata = { name: unique('lease') };
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
  const put = (body: unknown): Promise<Obj> =>
    request({ method: 'PUT', path: `${path}/${metadata.name}`, body });
  const read = await post(path, lease);
  expect(read.spec).toEqual(spec);
  await put({ ...read, spec: { ...spec, holderIdentity: 'you' } });
  expect(await refusal(put(read))).toMatchObject({ status: 409, reason: 'Conflict' });
  expect(await refusal(put(lease))).toMatchObject({ status: 422 });
});
