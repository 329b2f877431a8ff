import { expect, test } from 'vitest';
import { reportsWithUsage } from '../../../../src/kube/cache/reports-with-usage.ts';

const { codec } = reportsWithUsage();
const measuredTime = '2026-01-15T11:59:00Z';
const disk = { name: 'nodefs', capacityBytes: 100, availableBytes: 40, usedBytes: 60, logsBytes: 5 };
const namespace = { name: 'web', pods: 2, bytes: 30 };
const read = (usage: unknown) =>
  codec.fromJson({
    metadata: { name: 'node-1', uid: 'r1', resourceVersion: '1' },
    status: { reportTime: measuredTime, usage },
  });

test('reads the facts of the controller, and the usage without pods and images', () => {
  const known = { measuredTime, fileSystems: [disk], namespaces: [namespace], otherNamespaces: { count: 1 } };
  expect(read({ ...known, unknown: 'images: no response', pods: [{}], images: [{}] })).toMatchObject({
    name: 'node-1',
    reportedAtMs: Date.parse(measuredTime),
    reported: { node: 'node-1', usage: { ...known, unknown: 'images: no response' } },
  });
});

test.each([
  { name: 'of an older agent', usage: undefined },
  { name: 'without a time of its measurement', usage: { measuredTime: 'now', fileSystems: [disk] } },
])('the usage in a report $name is unknown', ({ usage }) => {
  expect(read(usage).reported).toEqual({ node: 'node-1', reportTime: measuredTime, usage: undefined });
});

test.each([
  { name: 'no list', fileSystems: { 0: disk } },
  { name: 'markup as a name', fileSystems: [{ ...disk, name: '<b>nodefs</b>' }] },
  { name: 'no size', fileSystems: [{ name: 'nodefs', capacityBytes: 100, usedBytes: 60 }] },
  { name: 'a negative size', fileSystems: [{ ...disk, logsBytes: -1 }] },
  { name: 'an empty file system', fileSystems: [{ ...disk, capacityBytes: 0 }] },
  { name: 'a time that is none', fileSystems: [{ ...disk, fullTime: '<script>' }] },
])('with an impossible value the file systems are unknown: $name', ({ fileSystems }) => {
  expect(read({ measuredTime, fileSystems, namespaces: [namespace] }).reported.usage).toMatchObject({
    fileSystems: undefined,
    namespaces: [namespace],
  });
});

test.each([
  { name: 'no name', namespaces: [{ pods: 1, bytes: 1 }] },
  { name: 'a negative size', namespaces: [namespace, { ...namespace, bytes: -1 }] },
])('with an impossible value the namespaces are unknown: $name', ({ namespaces }) => {
  expect(read({ measuredTime, fileSystems: [disk], namespaces }).reported.usage).toMatchObject({
    fileSystems: [disk],
    namespaces: undefined,
  });
});

test('a field of a newer agent does no harm', () => {
  const newer = { ...disk, mountpoint: '/var', snapshotter: { name: 'zfs' } };
  expect(read({ measuredTime, fileSystems: [newer] }).reported.usage?.fileSystems).toEqual([newer]);
});
