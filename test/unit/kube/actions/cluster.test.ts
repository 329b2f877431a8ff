import { describe, expect, test } from 'vitest';
import { clusterActions } from '../../../../src/kube/actions/cluster.ts';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { FakeTransport } from '../../../fakes/transport.ts';

const { signal } = new AbortController();
const pod = { namespace: 'a', name: 'b', uid: 'u', resourceVersion: '7', generation: 2 };
const refuse = (status: number) => (): never => {
  throw new ApiError('no', { status, reason: status === 404 ? 'NotFound' : '' });
};

describe('deletePod', () => {
  test('counts NotFound for a repeated request as deleted', async () => {
    const send = (): never => {
      throw Object.assign(new ApiError('no', { status: 404, reason: 'NotFound' }), { resent: true });
    };
    expect(await clusterActions(new FakeTransport({ send })).deletePod(pod, signal)).toBe('deleted');
  });

  test('sends both preconditions and grace period 0, without a propagation policy', async () => {
    const transport = new FakeTransport({});
    expect(await clusterActions(transport).deletePod(pod, signal)).toBe('deleted');
    expect(transport.requests).toEqual([
      expect.objectContaining({
        method: 'DELETE',
        path: '/api/v1/namespaces/a/pods/b',
        timeoutMs: 15_000,
        body: {
          apiVersion: 'v1',
          kind: 'DeleteOptions',
          gracePeriodSeconds: 0,
          preconditions: { uid: 'u', resourceVersion: '7' },
        },
      }),
    ]);
  });

  test('escapes the names in its path', async () => {
    const transport = new FakeTransport({});
    await clusterActions(transport).deletePod({ ...pod, namespace: 'a/x', name: 'b?c' }, signal);
    expect(transport.requests).toMatchObject([{ path: '/api/v1/namespaces/a%2Fx/pods/b%3Fc' }]);
  });

  test.each([403, 429, 500])('throws a %i', async (status) => {
    const actions = clusterActions(new FakeTransport({ send: refuse(status) }));
    await expect(actions.deletePod(pod, signal)).rejects.toMatchObject({ status });
    await expect(actions.markPodFailed(pod, undefined, signal)).rejects.toMatchObject({ status });
  });
});

describe('getNode', () => {
  test("throws a proxy's 404", async () => {
    const send = (): never => {
      throw new ApiError('404 page not found', { status: 404 });
    };
    await expect(clusterActions(new FakeTransport({ send })).getNode('n', signal)).rejects.toThrow('404');
  });

  test('is undefined only if the API server reports NotFound', async () => {
    expect(
      await clusterActions(new FakeTransport({ send: refuse(404) })).getNode('n', signal),
    ).toBeUndefined();
    for (const status of [403, 409, 500]) {
      const actions = clusterActions(new FakeTransport({ send: refuse(status) }));
      await expect(actions.getNode('n', signal)).rejects.toMatchObject({ status });
    }
  });

  test('throws if the response is not a node', async () => {
    const actions = clusterActions(new FakeTransport({ send: () => ({ kind: 'Status' }) }));
    await expect(actions.getNode('n', signal)).rejects.toThrow('metadata.uid');
  });
});

describe('getNamespace', () => {
  test('reads the labels without retries', async () => {
    const metadata = { name: 'n', uid: 'u', labels: { a: 'b' } };
    const transport = new FakeTransport({ send: () => ({ metadata }) });
    const namespace = await clusterActions(transport).getNamespace('n', signal);
    expect(namespace).toMatchObject({ name: 'n', labels: { a: 'b' } });
    expect(transport.requests).toMatchObject([
      { method: 'GET', path: '/api/v1/namespaces/n', retries: 0, timeoutMs: 15_000 },
    ]);
  });

  test('is undefined only if the API server reports NotFound', async () => {
    const reading = (status: number): Promise<unknown> =>
      clusterActions(new FakeTransport({ send: refuse(status) })).getNamespace('n', signal);
    expect(await reading(404)).toBeUndefined();
    await expect(reading(403)).rejects.toMatchObject({ status: 403 });
  });
});
