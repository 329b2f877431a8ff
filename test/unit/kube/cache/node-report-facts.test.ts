import { describe, expect, test } from 'vitest';
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

test('rejects a report without a UID', () => {
  expect(() => codec.fromJson({ metadata: { name: 'node-1' } })).toThrow('report without metadata.uid');
});

const largest = { name: 'logs of container main', amount: 90 };

test.each([
  { name: 'the largest part of the pod', json: { largest }, expected: { largest } },
  {
    name: 'no size of the largest part',
    json: { largest: { ...largest, amount: '9' } },
    expected: { largest: undefined },
  },
  {
    name: 'neither subject nor grace period',
    json: { subject: undefined, gracePeriodSeconds: undefined },
    expected: { subject: undefined, gracePeriodSeconds: undefined },
  },
])('reads a request with $name', ({ json, expected }) => {
  expect(codec.fromJson(report([{ ...request, ...json }])).requests).toEqual([{ ...facts, ...expected }]);
});

test.each([
  { name: 'no fields', over: 'nonsense' },
  { name: 'no pod', over: { pod: undefined } },
  { name: 'no UID', over: { pod: { ...request.pod, uid: undefined } } },
  { name: 'an endless UID', over: { pod: { ...request.pod, uid: 'x'.repeat(129) } } },
  { name: 'an unknown signal', over: { signal: 'memory.available' } },
  { name: 'an invalid time', over: { observedTime: '2026-02-30T00:00:00Z' } },
  { name: 'no bytes', over: { observedBytes: '130' } },
  { name: 'negative bytes', over: { observedBytes: -1 } },
  { name: 'an inexact limit', over: { limitBytes: 2 ** 60 } },
])('ignores a request with $name, and reads the others', ({ over }) => {
  const bad = typeof over === 'string' ? over : { ...request, ...over };
  expect(codec.fromJson(report([bad, request])).requests).toEqual([facts]);
});

test('reads at most as many requests as an agent lists', () => {
  expect(codec.fromJson(report(Array.from({ length: 40 }, () => request))).requests).toHaveLength(32);
});

test('the entries that match no image are unknown without each list', () => {
  const reading = (unmatched: unknown) =>
    codec.fromJson({ ...stored, status: { images: { unmatched } } }).unmatched;
  const lists = { keep: [1], only: [2], maximumAgeByImage: [] };
  expect(reading(lists)).toEqual(lists);
  expect(reading({ ...lists, keep: Array.from({ length: 300 }, (_, i) => i) })?.keep).toHaveLength(256);
  for (const name of Object.keys(lists)) expect(reading({ ...lists, [name]: undefined })).toBeUndefined();
});

test('reuses the list of requests while its content is the same', () => {
  const before = codec.fromJson(report([request], '1'));
  const known = new Map([['r1', before]]);
  const after = codec.fromJson(report([request], '2'), known);
  expect(after).not.toBe(before);
  expect(after.requests).toBe(before.requests);
  const changed = codec.fromJson(report([{ ...request, observedBytes: 131 }], '3'), known);
  expect(changed.requests).toEqual([{ ...facts, observedBytes: 131 }]);
  expect(codec.fromJson(report([], '4'), known).requests).toEqual([]);
});

const stored = {
  metadata: { name: 'node-1', uid: 'r1', resourceVersion: '5' },
  status: {
    reportTime: '2026-01-01T00:00:00Z',
    policy: { name: 'p', uid: 'p1', observedGeneration: 3 },
    conditions: Object.entries({ Degraded: 'True', KeepListAtRisk: 'False', Holding: 'True' }).map(
      ([type, status]) => ({ type, status }),
    ),
    images: {
      removable: { count: 2, bytes: 200 },
      removeList: [
        { image: 'a:1*', inUse: 1, kept: 0 },
        { image: 'b', inUse: '1', kept: 0 },
        { image: 'c', inUse: 0 },
        // Of an agent that does not count images without their tag: perhaps some are left.
        { image: 'd', inUse: 0, kept: 0 },
        { image: 'e', matched: true, inUse: 0, kept: 0, untagged: 0 },
        { image: 'f', matched: 'yes', inUse: 0, kept: 0, untagged: 0 },
      ],
      unmatched: { keep: [0, 'x', 2.5, -1, 7], only: [], maximumAgeByImage: [3] },
    },
    containers: { removable: 4 },
    units: [
      { name: 'containergc', freedBytesTotal: 1 },
      { name: 'imagegc', freedBytesTotal: 50 },
    ],
    storageWarningCount: 6,
    evictionRequestCount: 7,
  },
};
const empty = {
  ...{ reportedAtMs: undefined, policyUid: '', policyGeneration: 0, degraded: false, keepListAtRisk: false },
  holding: false,
  ...{ imagesRemovable: 0, imageBytesRemovable: 0, imageBytesFreed: 0, containersRemovable: 0 },
  ...{ storageWarnings: 0, evictionRequests: 0, requests: [], removeList: [], unmatched: undefined },
};

test.each([
  {
    name: 'a complete report',
    report: stored,
    expected: {
      ...{ reportedAtMs: Date.parse('2026-01-01T00:00:00Z'), policyUid: 'p1', policyGeneration: 3 },
      ...{ degraded: true, keepListAtRisk: false, holding: true },
      ...{ imagesRemovable: 2, imageBytesRemovable: 200 },
      ...{ imageBytesFreed: 50, containersRemovable: 4, storageWarnings: 6, evictionRequests: 7 },
      requests: [],
      removeList: [
        { image: 'a:1*', matched: true, inUse: 1, kept: 0, untagged: 0 },
        { image: 'e', matched: true, inUse: 0, kept: 0, untagged: 0 },
        { image: 'f', matched: false, inUse: 0, kept: 0, untagged: 0 },
      ],
      unmatched: { keep: [0, 7], only: [], maximumAgeByImage: [3] },
    },
  },
  { name: 'a report without a status', report: { metadata: stored.metadata }, expected: empty },
  {
    name: 'a report with invalid values',
    report: { ...stored, status: { reportTime: 7, conditions: 'x', units: [3], images: null } },
    expected: empty,
  },
])('reads $name', ({ report, expected }) => {
  const facts = codec.fromJson(report);
  expect(facts).toEqual({ uid: 'r1', name: 'node-1', resourceVersion: '5', ...expected });
  expect(codec.fromJson(report, new Map([['r1', facts]]))).toBe(facts);
});

describe('the usage of namespaces and pods', () => {
  const kept = nodeReportsResource(() => true).codec;
  const [measuredTime, reportTime] = ['2026-01-01T00:00:00Z', '2026-01-01T00:00:05Z'];
  const usage = {
    measuredTime,
    namespaces: [{ name: 'team-a', pods: 2, bytes: 30, logsBytes: 30 }],
    pods: [{ namespace: 'team-a', name: 'ci-0', uid: 'u', bytes: 20 }],
  };
  const using = (changed: object, resourceVersion = '5') => ({
    metadata: { ...stored.metadata, resourceVersion },
    status: { reportTime, usage: { ...usage, ...changed } },
  });
  const read = {
    measuredAtMs: Date.parse(measuredTime),
    namespaces: [{ name: 'team-a', bytes: 30 }],
    unlistedAtMostBytes: 0,
    pods: [{ namespace: 'team-a', name: 'ci-0', bytes: 20 }],
  };

  test('remains while the agent cannot measure it', () => {
    const before = new Map([['r1', kept.fromJson(using({}))]]);
    const unmeasured = using({ namespaces: undefined, pods: undefined, measuredTime: reportTime }, '6');
    expect(kept.fromJson(unmeasured, before).usage).toEqual(read);
    expect(kept.fromJson(unmeasured).usage).toBeUndefined();
  });

  test('is at most as young as the report', () => {
    const { usage } = kept.fromJson(using({ measuredTime: '2027-01-01T00:00:00Z' }));
    expect(usage?.measuredAtMs).toBe(Date.parse(reportTime));
  });

  test.each([
    { name: 'all of their bytes', rest: 20, expected: 20 },
    { name: 'as much as the smallest that is listed', rest: 200, expected: 30 },
  ])('unlisted namespaces use at most $name', ({ rest, expected }) => {
    const facts = kept.fromJson(using({ otherNamespaces: { count: 2, bytes: rest } }));
    expect(facts.usage?.unlistedAtMostBytes).toBe(expected);
  });

  test('has no invalid sizes, and no more entries than an agent lists', () => {
    const bad = [{ name: 'a', bytes: -1 }, { name: 'b' }, 7];
    const many = Array.from({ length: 100 }, (_, i) => ({ namespace: `n${i}`, name: `n${i}`, bytes: i }));
    const none = { namespaces: [], pods: [] };
    expect(kept.fromJson(using({ namespaces: bad, pods: bad })).usage).toMatchObject(none);
    const { namespaces, pods } = kept.fromJson(using({ namespaces: many, pods: many })).usage ?? {};
    expect([namespaces?.length, pods?.length]).toEqual([64, 20]);
  });
});
