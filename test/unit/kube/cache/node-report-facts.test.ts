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
  { name: 'no required field', over: { pod: undefined } },
  { name: 'an unknown signal', over: { signal: 'memory.available' } },
  { name: 'an impossible time', over: { observedTime: '2026-02-30T00:00:00Z' } },
  { name: 'a limit without a size', over: { limitBytes: -1 } },
])('ignores a request with $name, and reads the others', ({ over }) => {
  expect(codec.fromJson(report([{ ...request, ...over }, request])).requests).toEqual([facts]);
});

test('the entries that match no image are unknown without each list', () => {
  const reading = (unmatched: unknown) =>
    codec.fromJson({ ...stored, status: { images: { unmatched } } }).unmatched;
  const lists = { keep: [1], only: [2], maximumAgeByImage: [] };
  expect(reading(lists)).toEqual(lists);
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

const pass = { lastPassTime: '2026-01-01T00:00:00Z', result: 'Idle' };
const stored = {
  metadata: { name: 'node-1', uid: 'r1', resourceVersion: '5' },
  status: {
    reportTime: '2026-01-01T00:00:00Z',
    policy: { name: 'p', uid: 'p1', observedGeneration: 3 },
    conditions: Object.entries({ Degraded: 'True', KeepListAtRisk: 'False', Holding: 'True' }).map(
      ([type, status]) => ({
        type,
        status,
        reason: 'R',
        message: '',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      }),
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
      { ...pass, name: 'containergc', freedBytesTotal: 1 },
      { ...pass, name: 'imagegc', freedBytesTotal: 50 },
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
});
