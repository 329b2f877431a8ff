import { describe, expect, test } from 'vitest';
import { signalsOf } from '../../../src/node/kubelet/signals.ts';
import { configuredThresholds, defaultThresholds } from '../../../src/node/kubelet/thresholds.ts';

const time = '2026-01-15T11:59:50Z';
const nowMs = Date.parse('2026-01-15T12:00:00Z');
const disk = (capacityBytes: number, over: object = {}): object => ({
  ...{ time, capacityBytes, availableBytes: capacityBytes / 4, inodes: 1000, inodesFree: 600 },
  ...over,
});
/** `nodefs.available 25/100`. */
const lines = (node: unknown): readonly string[] =>
  signalsOf(node, nowMs).map(({ signal, available, capacity }) => `${signal} ${available}/${capacity}`);

const inodes = ['nodefs.inodesFree 600/1000'];

describe('signals of a summary', () => {
  test('all that a kubelet reports, with the time of the measurement', () => {
    const node = {
      fs: disk(100),
      runtime: { imageFs: disk(200), containerFs: disk(300) },
      memory: { time, availableBytes: 30, workingSetBytes: 10, usageBytes: 99 },
    };
    expect(lines(node)).toEqual([
      ...['nodefs.available 25/100', 'nodefs.inodesFree 600/1000'],
      ...['imagefs.available 50/200', 'imagefs.inodesFree 600/1000'],
      ...['containerfs.available 75/300', 'containerfs.inodesFree 600/1000'],
      'memory.available 30/40',
    ]);
    const measured = signalsOf({ ...node, runtime: { imageFs: disk(200, { time: undefined }) } }, nowMs);
    expect([...new Set(measured.map(({ measuredAtMs }) => measuredAtMs))]).toEqual([Date.parse(time), nowMs]);
  });

  const bytes = ['nodefs.available 25/100'];
  test.each<readonly [string, unknown, readonly string[]]>([
    ['no object', undefined, []],
    ['no inodes', { fs: disk(100, { inodes: undefined, inodesFree: undefined }) }, bytes],
    ['no free inodes', { fs: disk(100, { inodesFree: 0 }) }, [...bytes, 'nodefs.inodesFree 0/1000']],
    ['no capacity', { fs: disk(100, { capacityBytes: 0, inodes: 0 }) }, []],
    ['more available than there is', { fs: disk(100, { availableBytes: 101, inodesFree: 1001 }) }, []],
    ['a capacity above 2^63', { fs: disk(2 ** 63 * 1.1) }, inodes],
    ['memory without what is available', { memory: { workingSetBytes: 30 } }, []],
  ])('%s', (_, node, expected) => {
    expect(lines(node)).toEqual(expected);
  });
});

const texts = (thresholds: ReturnType<typeof configuredThresholds>): object =>
  Object.fromEntries([...(thresholds ?? [])].map(([signal, { text }]) => [signal, text]));

describe('the thresholds of a kubelet', () => {
  test('by default', () => {
    expect(texts(defaultThresholds)).toEqual({
      ...{ 'nodefs.available': '10%', 'nodefs.inodesFree': '5%' },
      ...{ 'imagefs.available': '15%', 'imagefs.inodesFree': '5%', 'memory.available': '100Mi' },
    });
  });

  test.each<readonly [string, object, object]>([
    ['a hard one', { evictionHard: { 'nodefs.available': '10%' } }, { 'nodefs.available': '10%' }],
    [
      'of a hard and a soft one the one that is crossed first',
      {
        evictionHard: { 'nodefs.available': '10%', 'imagefs.available': '2Gi' },
        evictionSoft: { 'nodefs.available': '20%', 'imagefs.available': '1Gi' },
      },
      { 'nodefs.available': '20%', 'imagefs.available': '2Gi' },
    ],
    [
      'the hard one, if a percentage and a quantity cannot be compared',
      { evictionHard: { 'nodefs.available': '10%' }, evictionSoft: { 'nodefs.available': '20Gi' } },
      { 'nodefs.available': '10%' },
    ],
    [
      'unknown signals and nonsense are none',
      { evictionHard: { 'pid.available': '10%', 'nodefs.available': 'much', 'imagefs.available': 15 } },
      {},
    ],
  ])('of its configuration: %s', (_, kubeletconfig, expected) => {
    expect(texts(configuredThresholds({ kubeletconfig }))).toEqual(expected);
  });

  test.each([undefined, { kubeletconfig: 'x' }])('none in %j', (configz) => {
    expect(configuredThresholds(configz)).toBeUndefined();
  });
});
