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
