import { describe, expect, test } from 'vitest';
import { storageUsageOf } from '../../../src/node/kubelet/summary.ts';

const time = '2026-01-15T12:00:00Z';
const atMs = Date.parse(time);

describe('a stats summary', () => {
  const pod = {
    podRef: { name: 'web', namespace: 'shop', uid: 'u1' },
    containers: [
      { name: 'main', rootfs: { time, usedBytes: 10 }, logs: { time, usedBytes: 20 } },
      { name: 'new', startTime: time },
      { rootfs: { time, usedBytes: 99 } },
    ],
    volume: [
      { name: 'data', time, usedBytes: 30 },
      { name: 'claim', time, usedBytes: 1e12, pvcRef: { name: 'c', namespace: 'shop' } },
      { name: 'unmeasured', time },
    ],
    'ephemeral-storage': { time, usedBytes: 60 },
  };

  test('has the usage of local storage', () => {
    const usage = storageUsageOf({ node: {}, pods: [pod] }, 7);
    expect(usage.atMs).toBe(7);
    expect(usage.pods.get('u1')).toEqual({
      total: { bytes: 60, atMs },
      volumes: new Map([['data', { bytes: 30, atMs }]]),
      containers: [
        { name: 'main', layer: { bytes: 10, atMs }, logs: { bytes: 20, atMs } },
        { name: 'new', layer: undefined, logs: undefined },
      ],
    });
  });

  test.each([
    { name: 'of equal capacity', fs: 100, imageFs: 100, expected: false },
    { name: 'of different capacity', fs: 100, imageFs: 50, expected: true },
    { name: 'without capacity', fs: undefined, imageFs: undefined, expected: true },
    { name: 'with the capacity of the node alone', fs: 100, imageFs: undefined, expected: true },
  ])('file systems $name: dedicated $expected', ({ fs, imageFs, expected }) => {
    const node = { fs: { capacityBytes: fs }, runtime: { imageFs: { capacityBytes: imageFs } } };
    expect(storageUsageOf({ node }, 0).dedicatedImageFs).toBe(expected);
  });

  test.each([
    { name: 'null', summary: null },
    { name: 'a text', summary: 'x' },
    { name: 'a list', summary: [] },
    { name: 'pods that are no list', summary: { pods: { a: 1 } } },
    {
      name: 'pods without identity',
      summary: { pods: [null, 3, {}, { podRef: { uid: 3 } }, { podRef: { uid: '' } }] },
    },
  ])('that is $name has no pods', ({ summary }) => {
    expect(storageUsageOf(summary, 0).pods.size).toBe(0);
  });

  test.each([
    { name: 'negative', usedBytes: -1 },
    { name: 'a text', usedBytes: '10' },
    { name: 'missing', usedBytes: undefined },
    { name: 'null', usedBytes: null },
  ])('a size that is $name is not measured', ({ usedBytes }) => {
    const stats = { 'ephemeral-storage': { time, usedBytes }, volume: [{ name: 'v', usedBytes }] };
    const usage = storageUsageOf({ pods: [{ podRef: { uid: 'u' }, ...stats }] }, 0).pods.get('u');
    expect(usage?.total).toBeUndefined();
    expect(usage?.volumes.size).toBe(0);
  });

  test.each([
    { name: 'none', time: undefined },
    { name: "Go's zero", time: '0001-01-01T00:00:00Z' },
    { name: 'null', time: null },
    { name: 'no time', time: 'yesterday' },
  ])('a measurement whose time is $name has no time', ({ time: measured }) => {
    const pods = [{ podRef: { uid: 'u' }, 'ephemeral-storage': { time: measured, usedBytes: 1 } }];
    expect(storageUsageOf({ pods }, 0).pods.get('u')?.total).toEqual({ bytes: 1, atMs: undefined });
  });
});
