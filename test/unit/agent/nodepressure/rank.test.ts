import { expect, test } from 'vitest';
import { evictionPlaces, shareOf } from '../../../../src/agent/nodepressure/rank.ts';
import type { DiskSignal } from '../../../../src/api/node-pressure.ts';
import { now } from '../../../builders.ts';
import { container, emptyDir, storagePod } from '../localstorage/builders.ts';
import { maxAges } from '../../../../src/agent/localstorage/pods.ts';

const measured = (bytes: number) => ({ bytes, inodes: undefined, atMs: undefined });

test.each<{ readonly layout: string; readonly signal: DiskSignal; readonly used: number }>([
  { layout: 'one file system', signal: 'nodefs.available', used: 111 },
  { layout: 'one file system', signal: 'imagefs.available', used: 111 },
  { layout: 'dedicatedImageFs', signal: 'nodefs.available', used: 110 },
  { layout: 'dedicatedImageFs', signal: 'imagefs.available', used: 1 },
  { layout: 'dedicatedImageFs, splitContainerFs', signal: 'nodefs.available', used: 111 },
  { layout: 'dedicatedImageFs, splitContainerFs', signal: 'imagefs.available', used: 0 },
])('with $layout, $signal counts $used of layers 1, logs 10 and volumes 100', ({ layout, signal, used }) => {
  const pod = storagePod('p', { emptyDirs: [emptyDir('tmp')], containers: [container('main')] });
  const usage = {
    total: measured(111),
    volumes: new Map([['tmp', measured(100)]]),
    containers: [{ name: 'main', layer: measured(1), logs: measured(10) }],
  };
  const disks = {
    dedicatedImageFs: layout.includes('dedicatedImageFs'),
    splitContainerFs: layout.includes('splitContainerFs'),
  };
  expect(
    shareOf(pod, usage, { signal, nodeUsage: { atMs: now.getTime(), ...disks }, now, maxAges }).used,
  ).toBe(used);
});

test('a part whose measurement is too old is not measured, and the time is that of the oldest other part', () => {
  const pod = storagePod('p', {
    emptyDirs: [emptyDir('tmp'), emptyDir('old')],
    containers: [container('main')],
  });
  const atMs = now.getTime();
  const ago = (bytes: number, minutes: number) => ({
    bytes,
    inodes: undefined,
    atMs: atMs - minutes * 60_000,
  });
  const usage = {
    total: undefined,
    volumes: new Map([
      ['tmp', ago(100, 5)],
      ['old', ago(50_000, 5.1)],
    ]),
    containers: [{ name: 'main', layer: measured(1), logs: ago(10, 1) }],
  };
  const nodeUsage = { atMs, dedicatedImageFs: false, splitContainerFs: false };
  const on = { signal: 'nodefs.available', nodeUsage, now, maxAges } as const;
  expect(shareOf(pod, usage, on)).toMatchObject({
    used: 111,
    unmeasured: ['volume old'],
    largest: { name: 'volume tmp', amount: 100 },
    measuredAtMs: atMs - 5 * 60_000,
  });
});

test('places follow the order of the kubelet; critical and finished pods have none', () => {
  const one = (
    name: string,
    used: number,
    over: Parameters<typeof storagePod>[2] = {},
    request?: string,
  ) => ({
    pod: storagePod(name, { containers: [container('main', undefined, request)] }, over),
    used: {
      total: measured(used),
      volumes: new Map<string, never>(),
      containers: [{ name: 'main', layer: measured(used), logs: measured(0) }],
    },
  });
  const all = [
    one('within its request', 1000, {}, '2k'),
    one('most', 900),
    one('important', 5000, { priority: 10 }),
    one('little', 100),
    one('cheap', 1, { priority: -1 }),
    one('over its request by little', 1001, {}, '1k'),
    one('critical', 9000, { priority: 2_000_001_000 }),
    one('finished', 9000, { phase: 'Failed' }),
  ];
  const usageIn = (some: typeof all) => ({
    atMs: now.getTime(),
    dedicatedImageFs: false,
    splitContainerFs: false,
    signals: [],
    claims: [],
    impossible: [],
    pods: new Map(some.map(({ pod, used }) => [pod.uid, used])),
  });
  const placesIn = (some: typeof all) =>
    evictionPlaces(
      all.map(({ pod }) => pod),
      { signal: 'nodefs.available', nodeUsage: usageIn(some), now, maxAges },
    );
  const names = all.map(({ pod }) => pod);
  expect(
    [...(placesIn(all) ?? [])].map(([uid, place]) => [place, names.find((pod) => pod.uid === uid)?.name]),
  ).toEqual([
    [1, 'cheap'],
    [2, 'most'],
    [3, 'little'],
    [4, 'over its request by little'],
    [5, 'important'],
    [6, 'within its request'],
  ]);
  expect(placesIn(all.slice(1))).toBeUndefined();
});
