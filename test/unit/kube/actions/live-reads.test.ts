import { describe, expect, test } from 'vitest';
import { isUninstalled, LiveReads } from '../../../../src/kube/actions/live-reads.ts';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { systemClock } from '../../../../src/runtime/scheduling/clock.ts';
import { FakeTransport, refusal } from '../../../fakes/transport.ts';

const { signal } = new AbortController();
const pod = { namespace: 'a', name: 'b', uid: 'u', resourceVersion: '7' };
const over = (response: unknown) => {
  const transport = new FakeTransport({ send: () => response });
  return { transport, live: new LiveReads(transport, systemClock) };
};

describe.each<{ kind: string; read: (live: LiveReads) => Promise<unknown> }>([
  { kind: 'node', read: (live) => live.node('n', signal) },
  { kind: 'namespace', read: (live) => live.namespace('n', signal) },
  { kind: 'pod', read: (live) => live.pod(pod, signal) },
])('a live $kind', ({ read }) => {
  test('is missing only if the API server reports NotFound, not with the 404 of a proxy', async () => {
    expect(await read(over(refusal(404, 'NotFound')).live)).toBeUndefined();
    for (const status of [403, 404, 409, 500])
      await expect(read(over(new ApiError('no', { status })).live), `${status}`).rejects.toThrow(
        /^(no|reading pod)$/,
      );
  });

  test.each([{ kind: 'Status' }, 'nonsense'])('is an error if the response is %o', async (response) => {
    await expect(read(over(response).live)).rejects.toThrow();
  });
});

test('a live namespace has its labels, without retries', async () => {
  const { transport, live } = over({ metadata: { name: 'n', uid: 'u', labels: { a: 'b' } } });
  expect(await live.namespace('n', signal)).toMatchObject({ name: 'n', labels: { a: 'b' } });
  const request = { method: 'GET', path: '/api/v1/namespaces/n', retries: 0, timeoutMs: 15_000 };
  expect(transport.requests).toMatchObject([request]);
});

describe('the right to evict', () => {
  test('is checked in the namespace of the pod', async () => {
    const { transport, live } = over({ status: { allowed: true } });
    expect(await live.mayEvict('a', signal)).toBe(true);
    const resourceAttributes = { namespace: 'a', verb: 'create', resource: 'pods', subresource: 'eviction' };
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    expect(transport.requests).toMatchObject([{ path, body: { spec: { resourceAttributes } } }]);
  });

  test.each([{ allowed: false }, {}, { allowed: 'true' }, undefined])(
    'is missing with the status %o',
    async (status) => {
      expect(await over({ status }).live.mayEvict('a', signal)).toBe(false);
    },
  );

  test('is unknown if the API server rejects the review', async () => {
    await expect(over(refusal(403, 'no')).live.mayEvict('a', signal)).rejects.toMatchObject({
      message: 'checking the right to evict',
      cause: { message: 'no' },
    });
  });
});

describe('the live pod', () => {
  test('has the facts to verify before an eviction', async () => {
    const metadata = {
      ...{ ...pod, labels: { app: 'x' }, deletionTimestamp: '2026-01-01T00:00:00Z' },
      annotations: { 'kubernetes.io/config.source': 'file', 'kubernetes.io/config.hash': 'abc' },
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Other', name: 'o', uid: '1' },
        { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 's', uid: '2', controller: true },
      ],
    };
    const spec = { nodeName: 'node-1', priority: 2_000_001_000 };
    const { transport, live } = over({ metadata, spec, status: { phase: 'Running' } });
    expect(await live.pod(pod, signal)).toEqual({
      ...{ ...pod, labels: { app: 'x' }, nodeName: 'node-1', phase: 'Running', isTerminating: true },
      ...{ priority: 2_000_001_000, configHash: undefined },
      controller: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 's', uid: '2' },
    });
    expect(transport.requests).toMatchObject([
      { method: 'GET', path: '/api/v1/namespaces/a/pods/b', timeoutMs: 15_000 },
    ]);
  });

  test('mirrors a static pod if its Node owns it', async () => {
    const metadata = {
      ...{ ...pod, annotations: { 'kubernetes.io/config.mirror': 'abc' } },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: '2', controller: true }],
    };
    const { live } = over({ metadata, spec: { nodeName: 'node-1' } });
    expect(await live.pod(pod, signal)).toMatchObject({ configHash: 'abc' });
  });
});

describe('whether dustpan is uninstalled', () => {
  const owner = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    name: 'dustpan-agent',
    uid: 'd',
    controller: true,
  };
  const ofPod = { metadata: { ...pod, ownerReferences: [owner] } };
  const set = (over: object = {}) => ({ metadata: { name: 'dustpan-agent', uid: 'd', ...over } });
  /** The API server has the pod, and responds thus to the read of its DaemonSet. */
  const asked = (response: unknown, own: unknown = ofPod) => {
    const transport = new FakeTransport({ send: ({ path }) => (path.includes('/pods/') ? own : response) });
    return isUninstalled(transport, pod, signal);
  };

  test.each<[name: string, expected: boolean, response: unknown, own?: unknown]>([
    ['its DaemonSet is there', false, set()],
    ['it is gone', true, refusal(404, 'NotFound')],
    ['it is being deleted', true, set({ deletionTimestamp: '2026-01-01T00:00:00Z' })],
    ['another one has its name', true, set({ uid: 'e' })],
    ['the right to read it is gone', true, refusal(403, 'Forbidden')],
    ['the service account is gone', true, set(), refusal(401, 'Unauthorized')],
    ['no DaemonSet runs the pod', false, refusal(404, 'NotFound'), { metadata: pod }],
    ['the pod is gone', false, refusal(404, 'NotFound'), refusal(404, 'NotFound')],
  ])('%s: %s', async (_, expected, response, own) => {
    expect(await asked(response, own)).toBe(expected);
  });

  test('is not known if the API server does not respond, or a proxy does', async () => {
    await expect(asked(refusal(503, 'Unavailable'))).rejects.toThrow();
    await expect(asked(new ApiError('no', { status: 404 }))).rejects.toThrow('no');
  });
});
