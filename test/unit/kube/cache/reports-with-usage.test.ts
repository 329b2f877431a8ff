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

test('a file system without a size of its own is left out', () => {
  const { usage } = read({ measuredTime, fileSystems: [disk, { ...disk, capacityBytes: 0 }] }).reported;
  expect(usage?.fileSystems).toEqual([disk]);
});

test('has the state of the node: its conditions, its units and their times, its policy, the images that pods wait for', () => {
  const state = {
    reportTime: measuredTime,
    conditions: [
      {
        type: 'Degraded',
        status: 'True',
        reason: 'R',
        message: 'it failed',
        lastTransitionTime: measuredTime,
      },
    ],
    units: [{ name: 'imagegc', result: 'Failed', lastPassTime: measuredTime }],
    policy: { name: 'default', uid: 'p1', observedGeneration: 1, mode: 'Enforce' },
  };
  const metadata = { name: 'node-1', uid: 'r1', creationTimestamp: 'never' };
  const pulls = [{ image: 'a', pods: ['default/web'], podCount: 1, fit: 'Fits' }];
  const images = { total: { count: 1, bytes: 1 }, pulls };
  expect(codec.fromJson({ metadata, status: { ...state, images } }).state).toEqual({
    metadata: { name: 'node-1', creationTimestamp: undefined },
    status: { ...state, images: { pulls } },
  });
});
