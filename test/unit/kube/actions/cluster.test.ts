import { describe, expect, test } from 'vitest';
import { clusterActions } from '../../../../src/kube/actions/cluster.ts';
import { ApiError } from '../../../../src/kube/http/transport.ts';
import { patchStatus } from '../../../../src/kube/actions/status-patch.ts';
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

  test.each([
    { status: 404, outcome: 'gone' },
    { status: 409, outcome: 'changed' },
  ])('returns $outcome for a $status', async ({ status, outcome }) => {
    const actions = clusterActions(new FakeTransport({ send: refuse(status) }));
    expect(await actions.deletePod(pod, signal)).toBe(outcome);
    expect(await actions.markPodFailed(pod, undefined, signal)).toBe(outcome);
  });

  test.each([403, 429, 500])('throws a %i', async (status) => {
    const actions = clusterActions(new FakeTransport({ send: refuse(status) }));
    await expect(actions.deletePod(pod, signal)).rejects.toMatchObject({ status });
    await expect(actions.markPodFailed(pod, undefined, signal)).rejects.toMatchObject({ status });
  });
});

describe('markPodFailed', () => {
  const at = new Date('2026-01-02T03:04:05.678Z');

  test.each([
    {
      name: 'only phase and generation',
      generation: 2,
      condition: undefined,
      status: { phase: 'Failed', observedGeneration: 2 },
    },
    {
      name: 'only the phase of a pod without a generation',
      generation: 0,
      condition: undefined,
      status: { phase: 'Failed' },
    },
    {
      name: 'phase and condition, its time in whole seconds',
      generation: 2,
      condition: { reason: 'DeletionByPodGC', message: 'm', at } as const,
      status: {
        phase: 'Failed',
        observedGeneration: 2,
        conditions: [
          {
            type: 'DisruptionTarget',
            status: 'True',
            reason: 'DeletionByPodGC',
            message: 'm',
            lastTransitionTime: '2026-01-02T03:04:05Z',
            observedGeneration: 2,
          },
        ],
      },
    },
  ])('patches $name, for exactly this pod', async ({ generation, condition, status }) => {
    const transport = new FakeTransport({ send: () => ({ metadata: { resourceVersion: '8' } }) });
    const outcome = await clusterActions(transport).markPodFailed({ ...pod, generation }, condition, signal);
    expect(outcome).toBe('marked');
    expect(transport.requests).toEqual([
      expect.objectContaining({
        method: 'PATCH',
        path: '/api/v1/namespaces/a/pods/b/status',
        timeoutMs: 15_000,
        query: { fieldManager: 'dustpan' },
        contentType: 'application/strategic-merge-patch+json',
        body: { metadata: { uid: 'u', resourceVersion: '7' }, status },
      }),
    ]);
  });

  test('throws if the patch is invalid', async () => {
    const actions = clusterActions(new FakeTransport({ send: refuse(422) }));
    await expect(actions.markPodFailed(pod, undefined, signal)).rejects.toMatchObject({ status: 422 });
  });
});

describe('getNode', () => {
  test("throws a proxy's 404", async () => {
    const send = (): never => {
      throw new ApiError('404 page not found', { status: 404 });
    };
    await expect(clusterActions(new FakeTransport({ send })).getNode('n', signal)).rejects.toThrow('404');
  });

  test('reads the node without retries', async () => {
    const status = { conditions: [{ type: 'Ready', status: 'True' }] };
    const transport = new FakeTransport({ send: () => ({ metadata: { name: 'n', uid: 'u' }, status }) });
    const node = await clusterActions(transport).getNode('n', signal);
    expect(node).toMatchObject({ name: 'n', ready: true, taintKeys: [], labels: {} });
    expect(transport.requests).toMatchObject([
      { method: 'GET', path: '/api/v1/nodes/n', retries: 0, timeoutMs: 15_000 },
    ]);
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

describe('patchStatus', () => {
  test('merges into the status subresource', async () => {
    const transport = new FakeTransport({});
    expect(await patchStatus(transport, '/apis/g/v1/x/y', { a: 1 }, signal)).toBe('patched');
    expect(transport.requests).toEqual([
      expect.objectContaining({
        method: 'PATCH',
        path: '/apis/g/v1/x/y/status',
        contentType: 'application/merge-patch+json',
        body: { status: { a: 1 } },
      }),
    ]);
  });

  test('ignores a deleted object', async () => {
    const transport = new FakeTransport({ send: refuse(404) });
    expect(await patchStatus(transport, '/apis/g/v1/x/y', {}, signal)).toBe('gone');
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
