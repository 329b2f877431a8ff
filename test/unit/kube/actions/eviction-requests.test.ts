import { expect, test } from 'vitest';
import { nodeReportsResource } from '../../../../src/kube/cache/node-report-facts.ts';

const request = {
  pod: { namespace: 'shop', name: 'cart-0', uid: 'u1' },
  ...{ signal: 'emptydirfs.limit', subject: 'cache', observedBytes: 130, limitBytes: 100 },
  ...{ observedTime: '2026-01-01T00:00:00Z', gracePeriodSeconds: 5 },
};
const facts = {
  ...{ pod: request.pod, signal: 'emptydirfs.limit', subject: 'cache', observedBytes: 130, limitBytes: 100 },
  ...{ observedAtMs: Date.parse('2026-01-01T00:00:00Z'), gracePeriodSeconds: 5 },
};
const { codec } = nodeReportsResource();
const report = (evictionRequests: unknown, resourceVersion = '1') => ({
  metadata: { name: 'node-1', uid: 'r1', resourceVersion },
  status: { evictionRequests },
});

test('a request is read whole', () => {
  expect(codec.fromJson(report([request])).requests).toEqual([facts]);
});

test('of the limit of a pod nothing is missing without a subject or a grace', () => {
  const bare = { ...request, subject: undefined, gracePeriodSeconds: undefined };
  expect(codec.fromJson(report([bare])).requests).toEqual([
    { ...facts, subject: undefined, gracePeriodSeconds: undefined },
  ]);
});

test.each([
  { name: 'no object', over: 'nonsense' },
  { name: 'no pod', over: { pod: undefined } },
  { name: 'no namespace', over: { pod: { ...request.pod, namespace: '' } } },
  { name: 'no name', over: { pod: { ...request.pod, name: 7 } } },
  { name: 'no UID', over: { pod: { ...request.pod, uid: undefined } } },
  { name: 'a name without end', over: { pod: { ...request.pod, name: 'x'.repeat(254) } } },
  { name: 'a UID without end', over: { pod: { ...request.pod, uid: 'x'.repeat(129) } } },
  { name: 'an unknown signal', over: { signal: 'memory.available' } },
  { name: 'no time', over: { observedTime: undefined } },
  { name: 'a time that is none', over: { observedTime: '2026-02-30T00:00:00Z' } },
  { name: 'no bytes', over: { observedBytes: '130' } },
  { name: 'bytes below nothing', over: { observedBytes: -1 } },
  { name: 'part of a byte', over: { limitBytes: 0.5 } },
  { name: 'a limit that is not exact', over: { limitBytes: 2 ** 60 } },
])('a request with $name is none, and the others stand', ({ over }) => {
  const bad = typeof over === 'string' ? over : { ...request, ...over };
  expect(codec.fromJson(report([bad, request])).requests).toEqual([facts]);
});

test('of more than an agent of ours lists the rest is left out', () => {
  expect(codec.fromJson(report(Array.from({ length: 40 }, () => request))).requests).toHaveLength(32);
});

test('as long as they say the same it is the same list, whatever else changed', () => {
  const before = codec.fromJson(report([request], '1'));
  const known = new Map([['r1', before]]);
  const after = codec.fromJson(report([request], '2'), known);
  expect(after).not.toBe(before);
  expect(after.requests).toBe(before.requests);
  const changed = codec.fromJson(report([{ ...request, observedBytes: 131 }], '3'), known);
  expect(changed.requests).toEqual([{ ...facts, observedBytes: 131 }]);
  expect(codec.fromJson(report([], '4'), known).requests).toEqual([]);
});
