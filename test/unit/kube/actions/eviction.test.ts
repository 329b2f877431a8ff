import { describe, expect, test } from 'vitest';
import { ConnectionError } from '../../../../src/kube/http/connection-errors.ts';
import { podEvictions, type EvictionOutcome } from '../../../../src/kube/actions/eviction.ts';
import { ApiError, type KubeRequest } from '../../../../src/kube/http/transport.ts';
import { FakeTransport } from '../../../fakes/transport.ts';

const { signal } = new AbortController();
const pod = { namespace: 'a', name: 'b', uid: 'u', resourceVersion: '7' };
const over = (send: (request: KubeRequest) => unknown) => {
  const transport = new FakeTransport({ send });
  return { transport, evictions: podEvictions(transport) };
};
const refusing = (facts: ConstructorParameters<typeof ApiError>[1], message = 'no') =>
  over(() => {
    throw new ApiError(message, facts);
  }).evictions;

describe('the right to evict', () => {
  const responding = (status: unknown) => over(() => ({ status })).evictions;

  test('is checked in the namespace of the pod', async () => {
    const { transport, evictions } = over(() => ({ status: { allowed: true } }));
    expect(await evictions.mayEvict('a', signal)).toBe(true);
    const resourceAttributes = { namespace: 'a', verb: 'create', resource: 'pods', subresource: 'eviction' };
    expect(transport.requests).toMatchObject([
      {
        path: '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
        body: { spec: { resourceAttributes } },
      },
    ]);
  });

  test.each([{ allowed: false }, {}, { allowed: 'true' }, undefined])(
    'is missing with the status %o',
    async (status) => {
      expect(await responding(status).mayEvict('a', signal)).toBe(false);
    },
  );

  test('is unknown if the API server rejects the review', async () => {
    await expect(refusing({ status: 403 }).mayEvict('a', signal)).rejects.toMatchObject({
      message: 'checking the right to evict',
      cause: { message: 'no' },
    });
  });
});

test.each<{
  name: string;
  facts: ConstructorParameters<typeof ApiError>[1];
  message?: string;
  expected: EvictionOutcome;
}>([
  {
    name: 'a budget that is being calculated',
    facts: { status: 429, isStatus: true, causes: ['DisruptionBudget'], retryAfterMs: 10_000 },
    expected: { kind: 'blocked', message: 'no', retryAfterMs: 10_000 },
  },
  {
    name: 'a busy server',
    facts: { status: 429, retryAfterMs: 1_000 },
    expected: { kind: 'throttled', retryAfterMs: 1_000 },
  },
  {
    name: "a webhook's 429, as KubeVirt's",
    facts: { status: 429, isStatus: true },
    message: 'admission webhook "w" denied the request: Eviction triggered evacuation of VMI a/b',
    expected: {
      kind: 'denied',
      message: 'admission webhook "w" denied the request: Eviction triggered evacuation of VMI a/b',
      retryAfterMs: undefined,
    },
  },
  {
    name: "a webhook's 429 with a Retry-After",
    facts: { status: 429, isStatus: true, reason: 'TooManyRequests', retryAfterMs: 1_000 },
    expected: { kind: 'denied', message: 'no', retryAfterMs: 1_000 },
  },
  {
    name: 'a webhook that denies without a status',
    facts: { status: 400, isStatus: true },
    expected: { kind: 'denied', message: 'no', retryAfterMs: undefined },
  },
  {
    name: 'a missing right',
    facts: { status: 403, reason: 'Forbidden' },
    expected: { kind: 'forbidden', message: 'no' },
  },
])('$name: $expected.kind', async ({ facts, message, expected }) => {
  expect(await refusing(facts, message).evictPod(pod, undefined, signal)).toEqual(expected);
  expect(await refusing(facts, message).deletePod(pod, undefined, signal)).toEqual(expected);
});

test.each([{ status: 500 }, { status: 401 }, { status: 422 }, { status: 503 }])(
  'any other status is an error, and the eviction is not repeated: $status',
  async (facts) => {
    const { transport, evictions } = over(() => {
      throw new ApiError('no', facts);
    });
    await expect(evictions.evictPod(pod, undefined, signal)).rejects.toMatchObject(facts);
    expect(transport.requests).toHaveLength(1);
  },
);

test('a deletion that the transport has repeated has succeeded if the pod no longer exists', async () => {
  const { evictions } = over(() => {
    throw Object.assign(new ApiError('no', { status: 404, reason: 'NotFound' }), { resent: true });
  });
  expect(await evictions.deletePod(pod, undefined, signal)).toEqual({ kind: 'evicted' });
});

describe('a conflict of a deletion that the transport has repeated', () => {
  const conflict = Object.assign(new ApiError('no', { status: 409, reason: 'Conflict' }), { resent: true });
  const finding = (metadata: object) =>
    over(({ method }) => {
      if (method === 'DELETE') throw conflict;
      return { metadata };
    }).evictions;

  test.each([
    {
      name: 'means evicted if the pod is terminating',
      metadata: { uid: 'u', deletionTimestamp: 'x' },
      kind: 'evicted',
    },
    { name: 'means evicted if there is a namesake', metadata: { uid: 'v' }, kind: 'evicted' },
    { name: 'means changed if the pod still runs', metadata: { uid: 'u' }, kind: 'changed' },
  ])('$name', async ({ metadata, kind }) => {
    expect(await finding(metadata).deletePod(pod, undefined, signal)).toEqual({ kind });
  });
});

describe('an eviction whose response was lost', () => {
  const lost = new ConnectionError('closed', { code: 'ECONNRESET' });
  const lostThen = (second: () => unknown) => {
    let first = true;
    return over(() => {
      if (!first) return second();
      first = false;
      throw lost;
    });
  };

  test('is sent once more', async () => {
    const { transport, evictions } = lostThen(() => ({}));
    expect(await evictions.evictPod(pod, undefined, signal)).toEqual({ kind: 'evicted' });
    expect(transport.requests).toHaveLength(2);
  });

  test('has succeeded if the pod no longer exists', async () => {
    const { evictions } = lostThen(() => {
      throw new ApiError('no', { status: 404, reason: 'NotFound' });
    });
    expect(await evictions.evictPod(pod, undefined, signal)).toEqual({ kind: 'evicted' });
  });

  test('is an error the second time', async () => {
    const { transport, evictions } = lostThen(() => {
      throw lost;
    });
    await expect(evictions.evictPod(pod, undefined, signal)).rejects.toBe(lost);
    expect(transport.requests).toHaveLength(2);
  });

  test('is not repeated to an untrusted server', async () => {
    const { transport, evictions } = over(() => {
      throw new ConnectionError('expired', { code: 'CERT_HAS_EXPIRED' });
    });
    await expect(evictions.evictPod(pod, undefined, signal)).rejects.toThrow('expired');
    expect(transport.requests).toHaveLength(1);
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
    const { transport, evictions } = over(() => ({ metadata, spec, status: { phase: 'Running' } }));
    expect(await evictions.readPodLive(pod, signal)).toEqual({
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
    const { evictions } = over(() => ({}));
    await expect(evictions.readPodLive(pod, AbortSignal.abort(reason))).rejects.toBe(reason);
  });

  test('mirrors a static pod if its Node owns it', async () => {
    const metadata = {
      ...{ ...pod, annotations: { 'kubernetes.io/config.mirror': 'abc' } },
      ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: '2', controller: true }],
    };
    const { evictions } = over(() => ({ metadata, spec: { nodeName: 'node-1' } }));
    expect(await evictions.readPodLive(pod, signal)).toMatchObject({ configHash: 'abc' });
  });

  test('may have only its UID', async () => {
    const { evictions } = over(() => ({ metadata: { uid: 'u' } }));
    expect(await evictions.readPodLive(pod, signal)).toEqual({
      ...{ uid: 'u', namespace: '', name: '', resourceVersion: '', labels: {}, phase: '' },
      ...{ controller: undefined, nodeName: undefined, isTerminating: false, priority: undefined },
      configHash: undefined,
    });
  });

  test('is missing only if the API server reports NotFound', async () => {
    const missing = refusing({ status: 404, reason: 'NotFound' });
    expect(await missing.readPodLive(pod, signal)).toBeUndefined();
    await expect(refusing({ status: 404 }).readPodLive(pod, signal)).rejects.toThrow('reading pod');
    await expect(refusing({ status: 403 }).readPodLive(pod, signal)).rejects.toThrow('reading pod');
    await expect(over(() => 'nonsense').evictions.readPodLive(pod, signal)).rejects.toThrow('reading pod');
  });
});
