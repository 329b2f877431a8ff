import { describe, expect, test } from 'vitest';
import { ConnectionError } from '../../../../src/kube/http/connection-errors.ts';
import { clusterActions } from '../../../../src/kube/actions/cluster.ts';
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

const busy = { status: 429, isStatus: true };
const denied = (retryAfterMs?: number): EvictionOutcome => ({ kind: 'denied', message: 'no', retryAfterMs });
const later = { kind: 'blocked', message: 'no', retryAfterMs: 10_000 } as const;
const budget = { ...busy, causes: ['DisruptionBudget'], retryAfterMs: 10_000 };
const tooMany = { ...busy, reason: 'TooManyRequests', retryAfterMs: 1_000 };
test.each<[name: string, facts: Facts, expected: EvictionOutcome]>([
  ['a budget that is being calculated', budget, later],
  ['a busy server', { status: 429, retryAfterMs: 1_000 }, { kind: 'throttled', retryAfterMs: 1_000 }],
  ["a webhook's 429, as KubeVirt's", busy, denied()],
  ["a webhook's 429 with a Retry-After", tooMany, denied(1_000)],
  ['a webhook that denies without a status', { status: 400, isStatus: true }, denied()],
  ['a missing right', { status: 403, reason: 'Forbidden' }, { kind: 'forbidden', message: 'no' }],
])('%s', async (_, facts, expected) => {
  const { evictions } = over(() => new ApiError('no', facts));
  expect(await evictions.evictPod(pod, undefined, signal)).toEqual(expected);
  expect(await evictions.deletePod(pod, undefined, signal)).toEqual(expected);
});

test.each([500, 401, 422])('a %i is an error, and the eviction is not repeated', async (status) => {
  const { transport, evictions } = over(() => new ApiError('no', { status }));
  await expect(evictions.evictPod(pod, undefined, signal)).rejects.toMatchObject({ status });
  expect(transport.requests).toHaveLength(1);
});

describe('a deletion that the transport has repeated', () => {
  const repeated = (status: number, reason: string) =>
    Object.assign(refusal(status, reason), { resent: true });
  const [missing, conflict] = [repeated(404, 'NotFound'), repeated(409, 'Conflict')];

  test.each([
    ['has succeeded if the pod no longer exists', missing, {}, 'evicted'],
    ['has succeeded if the pod is terminating', conflict, { uid: 'u', deletionTimestamp: 'x' }, 'evicted'],
    ['has succeeded if there is a namesake', conflict, { uid: 'v' }, 'evicted'],
    ['finds a changed pod if the pod still runs', conflict, { uid: 'u' }, 'changed'],
  ])('%s', async (_name, refused, metadata, kind) => {
    const { evictions } = over(({ method }) => (method === 'DELETE' ? refused : { metadata }));
    expect(await evictions.deletePod(pod, undefined, signal)).toEqual({ kind });
  });

  test('has succeeded for the pod GC too; names are escaped', async () => {
    const { transport } = over(() => missing);
    const odd = { ...pod, namespace: 'a/x', name: 'b?c' };
    expect(await clusterActions(transport).deletePod(odd, signal)).toBe('deleted');
    expect(transport.requests).toMatchObject([{ path: '/api/v1/namespaces/a%2Fx/pods/b%3Fc' }]);
  });
});

describe('an eviction whose response was lost', () => {
  const lost = new ConnectionError('closed', { code: 'ECONNRESET' });

  test.each([
    ['is sent once more', {}],
    ['has succeeded if the pod no longer exists', refusal(404, 'NotFound')],
  ])('%s', async (_name, second) => {
    const responses = [lost, second];
    const { transport, evictions } = over(() => responses.shift());
    expect(await evictions.evictPod(pod, undefined, signal)).toEqual({ kind: 'evicted' });
    expect(transport.requests).toHaveLength(2);
  });

  test.each([
    ['is an error the second time', lost, 2],
    ['is not repeated to an untrusted server', new ConnectionError('', { code: 'CERT_HAS_EXPIRED' }), 1],
  ])('%s', async (_name, error, requests) => {
    const { transport, evictions } = over(() => error);
    await expect(evictions.evictPod(pod, undefined, signal)).rejects.toBe(error);
    expect(transport.requests).toHaveLength(requests);
  });
});
