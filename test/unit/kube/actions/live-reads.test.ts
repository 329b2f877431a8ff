import { describe, expect, test } from 'vitest';
import { LiveReads } from '../../../../src/kube/actions/live-reads.ts';
import { ApiError, type KubeRequest } from '../../../../src/kube/http/transport.ts';
import { systemClock } from '../../../../src/runtime/scheduling/clock.ts';
import { FakeTransport } from '../../../fakes/transport.ts';

const { signal } = new AbortController();
const pod = { namespace: 'a', name: 'b', uid: 'u', resourceVersion: '7' };
const over = (send: (request: KubeRequest) => unknown) => {
  const transport = new FakeTransport({ send });
  return { transport, live: new LiveReads(transport, systemClock) };
};
const refusing = (facts: ConstructorParameters<typeof ApiError>[1], message = 'no') =>
  over(() => {
    throw new ApiError(message, facts);
  }).live;

describe('a live node', () => {
  test('is an error if a proxy responds with 404', async () => {
    await expect(refusing({ status: 404 }, '404 page not found').node('n', signal)).rejects.toThrow('404');
  });

  test('is undefined only if the API server reports NotFound', async () => {
    expect(await refusing({ status: 404, reason: 'NotFound' }).node('n', signal)).toBeUndefined();
    for (const status of [403, 409, 500])
      await expect(refusing({ status }).node('n', signal)).rejects.toMatchObject({ status });
  });

  test('is an error if the response is not a node', async () => {
    const { live } = over(() => ({ kind: 'Status' }));
    await expect(live.node('n', signal)).rejects.toThrow('metadata.uid');
  });
});

describe('a live namespace', () => {
  test('has its labels, without retries', async () => {
    const metadata = { name: 'n', uid: 'u', labels: { a: 'b' } };
    const { transport, live } = over(() => ({ metadata }));
    expect(await live.namespace('n', signal)).toMatchObject({ name: 'n', labels: { a: 'b' } });
    expect(transport.requests).toMatchObject([
      { method: 'GET', path: '/api/v1/namespaces/n', retries: 0, timeoutMs: 15_000 },
    ]);
  });

  test('is undefined only if the API server reports NotFound', async () => {
    expect(await refusing({ status: 404, reason: 'NotFound' }).namespace('n', signal)).toBeUndefined();
    await expect(refusing({ status: 403 }).namespace('n', signal)).rejects.toMatchObject({ status: 403 });
  });
});

describe('the right to evict', () => {
  test('is checked in the namespace of the pod', async () => {
    const { transport, live } = over(() => ({ status: { allowed: true } }));
    expect(await live.mayEvict('a', signal)).toBe(true);
    const resourceAttributes = { namespace: 'a', verb: 'create', resource: 'pods', subresource: 'eviction' };
    const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
    expect(transport.requests).toMatchObject([{ path, body: { spec: { resourceAttributes } } }]);
  });

  test.each([{ allowed: false }, {}, { allowed: 'true' }, undefined])(
    'is missing with the status %o',
    async (status) => {
      expect(await over(() => ({ status })).live.mayEvict('a', signal)).toBe(false);
    },
  );

  test('is unknown if the API server rejects the review', async () => {
    await expect(refusing({ status: 403 }).mayEvict('a', signal)).rejects.toMatchObject({
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
    const { transport, live } = over(() => ({ metadata, spec, status: { phase: 'Running' } }));
    expect(await live.pod(pod, signal)).toEqual({
      ...{ ...pod, labels: { app: 'x' }, nodeName: 'node-1', phase: 'Running', isTerminating: true },
      ...{ priority: 2_000_001_000, configHash: undefined },
      controller: { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 's', uid: '2' },
    });
    expect(transport.requests).toMatchObject([
      { method: 'GET', path: '/api/v1/namespaces/a/pods/b', timeoutMs: 15_000 },
    ]);
  });

  test('is not read after an abort, which is not an error', async () => {
    const reason = new Error('stopping');
    const { live } = over(() => ({}));
    await expect(live.pod(pod, AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  test('mirrors a static pod if its Node owns it', async () => {
    const metadata = {
      ...{ ...pod, annotations: { 'kubernetes.io/config.mirror': 'abc' } },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: '2', controller: true }],
    };
    const { live } = over(() => ({ metadata, spec: { nodeName: 'node-1' } }));
    expect(await live.pod(pod, signal)).toMatchObject({ configHash: 'abc' });
  });

  test('may have only its UID', async () => {
    const { live } = over(() => ({ metadata: { uid: 'u' } }));
    expect(await live.pod(pod, signal)).toEqual({
      ...{ uid: 'u', namespace: '', name: '', resourceVersion: '', labels: {}, phase: '' },
      ...{ controller: undefined, nodeName: undefined, isTerminating: false, priority: undefined },
      configHash: undefined,
    });
  });

  test('is missing only if the API server reports NotFound', async () => {
    const missing = refusing({ status: 404, reason: 'NotFound' });
    expect(await missing.pod(pod, signal)).toBeUndefined();
    await expect(refusing({ status: 404 }).pod(pod, signal)).rejects.toThrow('reading pod');
    await expect(refusing({ status: 403 }).pod(pod, signal)).rejects.toThrow('reading pod');
    await expect(over(() => 'nonsense').live.pod(pod, signal)).rejects.toThrow('reading pod');
  });
});
