import { describe, expect, test } from 'vitest';
import { ConnectionError } from '../../../../src/kube/http/connection-errors.ts';
import { podEvictions, type EvictionOutcome } from '../../../../src/kube/actions/eviction.ts';
import { LiveReads } from '../../../../src/kube/actions/live-reads.ts';
import { ApiError, type KubeRequest } from '../../../../src/kube/http/transport.ts';
import { systemClock } from '../../../../src/runtime/scheduling/clock.ts';
import { FakeTransport, refusal } from '../../../fakes/transport.ts';

const { signal } = new AbortController();
const pod = { namespace: 'a', name: 'b', uid: 'u', resourceVersion: '7' };
const over = (send: (request: KubeRequest) => unknown) => {
  const transport = new FakeTransport({ send });
  return { transport, evictions: podEvictions(transport, new LiveReads(transport, systemClock)) };
};
type Facts = ConstructorParameters<typeof ApiError>[1];
const refusing = (facts: Facts, message = 'no') =>
  over(() => {
    throw new ApiError(message, facts);
  });

const evacuation = 'admission webhook "w" denied the request: Eviction triggered evacuation of VMI a/b';
const busy = { status: 429, isStatus: true };
const denied = (message: string, retryAfterMs?: number): EvictionOutcome => {
  return { kind: 'denied', message, retryAfterMs };
};
const later = { kind: 'blocked', message: 'no', retryAfterMs: 10_000 } as const;
const budget = { ...busy, causes: ['DisruptionBudget'], retryAfterMs: 10_000 };
const tooMany = { ...busy, reason: 'TooManyRequests', retryAfterMs: 1_000 };
test.each<[name: string, facts: Facts, expected: EvictionOutcome, message?: string]>([
  ['a budget that is being calculated', budget, later],
  ['a busy server', { status: 429, retryAfterMs: 1_000 }, { kind: 'throttled', retryAfterMs: 1_000 }],
  ["a webhook's 429, as KubeVirt's", busy, denied(evacuation), evacuation],
  ["a webhook's 429 with a Retry-After", tooMany, denied('no', 1_000)],
  ['a webhook that denies without a status', { status: 400, isStatus: true }, denied('no')],
  ['a missing right', { status: 403, reason: 'Forbidden' }, { kind: 'forbidden', message: 'no' }],
])('%s', async (_, facts, expected, message) => {
  const { evictions } = refusing(facts, message);
  expect(await evictions.evictPod(pod, undefined, signal)).toEqual(expected);
  expect(await evictions.deletePod(pod, undefined, signal)).toEqual(expected);
});

test.each([{ status: 500 }, { status: 401 }, { status: 422 }, { status: 503 }])(
  'any other status is an error, and the eviction is not repeated: $status',
  async (facts) => {
    const { transport, evictions } = refusing(facts);
    await expect(evictions.evictPod(pod, undefined, signal)).rejects.toMatchObject(facts);
    expect(transport.requests).toHaveLength(1);
  },
);

test('a deletion that the transport has repeated has succeeded if the pod no longer exists', async () => {
  const { evictions } = over(() => {
    throw Object.assign(refusal(404, 'NotFound'), { resent: true });
  });
  expect(await evictions.deletePod(pod, undefined, signal)).toEqual({ kind: 'evicted' });
});

describe('a conflict of a deletion that the transport has repeated', () => {
  const conflict = Object.assign(refusal(409, 'Conflict'), { resent: true });
  const finding = (metadata: object) =>
    over(({ method }) => {
      if (method === 'DELETE') throw conflict;
      return { metadata };
    }).evictions;

  test.each([
    ['means evicted if the pod is terminating', { uid: 'u', deletionTimestamp: 'x' }, 'evicted'],
    ['means evicted if there is a namesake', { uid: 'v' }, 'evicted'],
    ['means changed if the pod still runs', { uid: 'u' }, 'changed'],
  ])('%s', async (_name, metadata, kind) => {
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
      throw refusal(404, 'NotFound');
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
