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

test.each<{ readonly name: string; readonly lists: Partial<Record<'fileSystems' | 'namespaces', unknown>> }>([
  { name: 'file systems that are no list', lists: { fileSystems: { 0: disk } } },
  { name: 'markup as a name', lists: { fileSystems: [{ ...disk, name: '<b>nodefs</b>' }] } },
  { name: 'a file system without a size', lists: { fileSystems: [{ name: 'nodefs', capacityBytes: 100 }] } },
  { name: 'a negative size', lists: { fileSystems: [{ ...disk, logsBytes: -1 }] } },
  { name: 'an empty file system', lists: { fileSystems: [{ ...disk, capacityBytes: 0 }] } },
  { name: 'a time that is none', lists: { fileSystems: [{ ...disk, fullTime: '<script>' }] } },
  { name: 'a namespace without a name', lists: { namespaces: [{ pods: 1, bytes: 1 }] } },
  { name: 'a negative size of one', lists: { namespaces: [namespace, { ...namespace, bytes: -1 }] } },
])('with $name the list is unknown, the other is not', ({ lists }) => {
  const usable = { fileSystems: [disk], namespaces: [namespace] };
  const unknown = Object.fromEntries(Object.keys(lists).map((name) => [name, undefined]));
  const { usage } = read({ measuredTime, ...usable, ...lists }).reported;
  expect(usage).toMatchObject({ ...usable, ...unknown });
});

const condition = { type: 'Degraded', status: 'True', reason: 'PassFailed', message: 'it failed' };
const lists = {
  conditions: [{ ...condition, lastTransitionTime: measuredTime }],
  units: [{ name: 'imagegc', result: 'Failed', lastPassTime: measuredTime }],
};
const unknownConditions = { ...lists, conditions: undefined };
const unknownUnits = { ...lists, units: undefined };

test.each<readonly [string, object, object]>([
  ['all', lists, lists],
  ['no conditions', { units: lists.units }, unknownConditions],
  ['a condition without a time', { ...lists, conditions: [condition] }, unknownConditions],
  ['a condition that is no object', { ...lists, conditions: ['x'] }, unknownConditions],
  [
    'a condition without a message',
    { ...lists, conditions: [{ ...condition, message: 1 }] },
    unknownConditions,
  ],
  ['units that are no list', { ...lists, units: {} }, unknownUnits],
  ['a unit without a time', { ...lists, units: [{ result: 'Idle', lastPassTime: 'now' }] }, unknownUnits],
  ['a unit that is no object', { ...lists, units: [3] }, unknownUnits],
])('the state in a report with %s', (_, status, expected) => {
  const report = {
    metadata: { name: 'node-1', uid: 'r1', creationTimestamp: 'never' },
    status: { ...status, reportTime: measuredTime },
  };
  expect(codec.fromJson(report).state).toEqual({
    metadata: { name: 'node-1', creationTimestamp: undefined },
    status: { ...expected, reportTime: measuredTime },
  });
});

test('a field of a newer agent does no harm', () => {
  const newer = { ...disk, mountpoint: '/var', snapshotter: { name: 'zfs' } };
  expect(read({ measuredTime, fileSystems: [newer] }).reported.usage?.fileSystems).toEqual([newer]);
});
