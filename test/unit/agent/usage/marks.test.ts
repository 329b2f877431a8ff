import { describe, expect, test } from 'vitest';
import type { StoragePod } from '../../../../src/api/local-storage.ts';
import {
  highestOf,
  listedMarks,
  noMarks,
  observeMarks,
  watchedPods,
  watchedSeconds,
  type WatchedPod,
} from '../../../../src/agent/usage/marks.ts';
import { marksFormat, type Marks } from '../../../../src/node/disk/marks-format.ts';
import { container, emptyDir, init, mib, sidecar, storagePod, usage } from '../localstorage/builders.ts';

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const deployment = { kind: 'Deployment', name: 'web' };

/** A pod of the Deployment web whose container main uses so many MiB. */
const pod = (name: string, mebi: number | undefined, over: Partial<StoragePod> = {}): WatchedPod => ({
  pod: storagePod(name, {}, { workload: deployment, ...over }),
  bytes: mebi === undefined ? undefined : mebi * mib,
  parts: new Map(mebi === undefined ? [] : [['container/main', mebi * mib]]),
});

/** Marks after these passes, one a minute. */
const after = (passes: readonly (readonly WatchedPod[])[], before: Marks = noMarks): Marks =>
  passes.reduce((marks, pods) => observeMarks(marks, pods, minuteMs), before);

/** Marks after so many days in which these pods were watched every five minutes. */
const watching = (count: number, pods: readonly WatchedPod[], before: Marks): Marks => {
  let marks = before;
  for (let i = 0; i < count * 24 * 12; i += 1) marks = observeMarks(marks, pods, 5 * minuteMs);
  return marks;
};

const highest = (marks: Marks, at = 0): number => highestOf(marks.workloads[at]?.peaks ?? []) / mib;

describe('the high-water mark of a workload', () => {
  test('is the highest of its pods, over their replacement', () => {
    const marks = after([[pod('a', 100)], [pod('a', 300)], [pod('b', 10)], []]);
    expect(highest(marks)).toBe(300);
    expect(marks.workloads).toMatchObject([
      { namespace: 'web', ...deployment, peaks: [{ pod: 'a', bytes: 300 * mib }] },
    ]);
    expect(marks.workloads[0]?.parts).toMatchObject([{ kind: 'container', name: 'main' }]);
  });

  test('ends after seven whole days of watching, and the next highest follows', () => {
    const high = after([[pod('a', 300)]]);
    const low = [pod('a', 200)];
    expect(highest(watching(7, low, high))).toBe(300);
    expect(highest(watching(8, low, high))).toBe(200);
    expect(highest(watching(8, low, high))).toBe(
      (watching(8, low, high).workloads[0]?.parts[0]?.peaks[0]?.bytes ?? 0) / mib,
    );
  });

  test('of constant usage is stored once', () => {
    expect(watching(3, [pod('a', 200)], noMarks).workloads[0]?.peaks).toHaveLength(1);
  });

  test('does not end while nobody watches, whatever the clock shows', () => {
    const high = after([[pod('a', 300)]]);
    const later = observeMarks(high, [pod('a', 1)], 400 * dayMs);
    expect(highest(later)).toBe(300);
    expect(later.observedMs).toBe(6 * minuteMs);
    expect(observeMarks(high, [pod('a', 1)], -dayMs).observedMs).toBe(high.observedMs);
  });

  test('of a CronJob remains while no pod runs; of a pod without a controller it ends with the pod', () => {
    const cronJob = pod('a', 100, { workload: { kind: 'CronJob', name: 'backup' } });
    const bare = pod('b', 50, { workload: { kind: 'Pod', name: 'b' } });
    const marks = after([[cronJob, bare], []]);
    expect(marks.workloads.map(({ kind }) => kind)).toEqual(['CronJob']);
    expect(watching(8, [], marks).workloads).toEqual([]);
  });

  test('is not known before a first measurement, and remains while a pod is not measured', () => {
    expect(after([[pod('a', undefined)]]).workloads).toEqual([]);
    expect(highest(after([[pod('a', 100)], [pod('a', undefined)]]))).toBe(100);
  });

  test('is watched since its last part was measured first', () => {
    const first = watching(2, [pod('a', 1)], noMarks);
    const [workload] = first.workloads;
    expect(workload && watchedSeconds(first, workload)).toBe(2 * 86_400 - 300);
    const withVolume = {
      pod: storagePod('a', { emptyDirs: [emptyDir('data')] }, { workload: deployment }),
      bytes: mib,
      parts: new Map([['container/main', mib]]),
    };
    const declared = after([[withVolume]], first);
    expect(declared.workloads[0]?.parts[1]).toMatchObject({ kind: 'volume', name: 'data', peaks: [] });
    expect(declared.workloads[0]?.sinceMs).toBe(workload?.sinceMs);
    const measured = after([[{ ...withVolume, parts: new Map([['volume/data', 7]]) }]], declared);
    expect(measured.workloads[0]?.sinceMs).toBe(measured.observedMs);
    const long = watching(10, [pod('a', 1)], noMarks);
    expect(long.workloads[0] && watchedSeconds(long, long.workloads[0])).toBe(7 * 86_400);
  });

  test('has the limits that the newest pod declares', () => {
    const older = pod('a', 1, {
      storage: storagePod('', { containers: [container('main', '1Gi')] }).storage,
    });
    const storage = storagePod('', {
      containers: [container('main', '2Gi', '1Gi')],
      initContainers: [init('setup', '9Gi'), sidecar('proxy', '1Gi')],
      emptyDirs: [emptyDir('data', '5Gi'), emptyDir('shm', '1Gi', true)],
    }).storage;
    const marks = after([[older, pod('b', 1, { storage })]]);
    const gib = 1024 ** 3;
    expect(marks.workloads[0]).toMatchObject({ limit: 9 * gib, request: gib });
    expect(marks.workloads[0]?.parts.map(({ kind, name, limit }) => [kind, name, limit])).toEqual([
      ['container', 'main', 2 * gib],
      ['sidecar', 'proxy', gib],
      ['volume', 'data', 5 * gib],
    ]);
  });
});

describe('bounds', () => {
  const many = (count: number, mebi: (i: number) => number): readonly WatchedPod[] =>
    Array.from({ length: count }, (_, i) =>
      pod(`p${i}`, mebi(i), { workload: { kind: 'Job', name: `j${i}` } }),
    );

  test('2 000 workloads: the largest remain, and the highest of the others is known', () => {
    const marks = after([many(2000, (i) => i)]);
    expect(marks.workloads).toHaveLength(512);
    expect(highest(marks, 511)).toBe(2000 - 512);
    const { listed, others } = listedMarks(marks, 20);
    expect(listed).toHaveLength(20);
    expect(others).toEqual({ count: 492, highestBytes: 1979 * mib });
    expect(highestOf(after([[]], marks).dropped)).toBe((1999 - 512) * mib);
    expect(watching(8, [], marks)).toMatchObject({ workloads: [], dropped: [] });
  });

  test('a pod that is replaced each minute leaves no marks if it has no controller', () => {
    let marks = noMarks;
    for (let i = 0; i < 3000; i += 1)
      marks = observeMarks(marks, [pod(`p${i}`, i, { workload: { kind: 'Pod', name: `p${i}` } })], minuteMs);
    expect(marks.workloads).toHaveLength(1);
  });

  test('more parts than are kept are counted', () => {
    const containers = Array.from({ length: 20 }, (_, i) => container(`c${i}`));
    const marks = after([[pod('a', 1, { storage: storagePod('', { containers }).storage })]]);
    expect(marks.workloads[0]).toMatchObject({ otherParts: 4 });
    expect(marks.workloads[0]?.parts).toHaveLength(16);
  });

  test.each([
    ['uses little', 63, undefined, false],
    ['uses much', 64, undefined, true],
    ['uses less than half of a limit', 5, '11Mi', false],
    ['uses half of a limit', 5, '10Mi', true],
    ['has a limit of 0, which is none', 5, '0', false],
  ])('a workload that %s', (_, mebi, limit, isListed) => {
    const { storage } = storagePod('', { containers: [container('main', limit)] });
    const { listed, others } = listedMarks(after([[pod('a', mebi, { storage })]]), 20);
    expect(listed).toHaveLength(isListed ? 1 : 0);
    expect(others).toEqual({ count: isListed ? 0 : 1, highestBytes: isListed ? 0 : mebi * mib });
  });
});

describe('what is measured', () => {
  const storage = { emptyDirs: [emptyDir('data'), emptyDir('shm', undefined, true), emptyDir('late')] };
  const own = storagePod('a', storage);
  const measured = {
    kubelet: usage({
      a: {
        total: 150,
        volumes: { data: 30, shm: 99 },
        containers: { main: { layer: 50, logs: 10 }, half: { layer: 5 } },
      },
    }),
    pods: [own, storagePod('unmeasured')],
  };
  const use = {
    ...{ pod: own, bytes: 95 * mib, partial: new Set<never>(), measuredAtMs: 0 },
    classes: { layersBytes: 0, volumesBytes: 0, logsBytes: 0 },
  };

  test('a container is its layer and its logs; a part that is not measured whole is missing', () => {
    expect(watchedPods(measured, { pods: [use] })).toEqual([
      {
        pod: own,
        bytes: 150 * mib,
        parts: new Map([
          ['container/main', 60 * mib],
          ['volume/data', 30 * mib],
        ]),
      },
      { pod: measured.pods[1], bytes: undefined, parts: new Map() },
    ]);
  });

  test.each([
    ['the kubelet', { ...measured, kubelet: undefined }, { pods: [use] }],
    ['the pods', { ...measured, pods: undefined }, { pods: [use] }],
    ['their usage', measured, { pods: undefined }],
  ])('without %s nothing is known', (_, facts, uses) => {
    expect(watchedPods(facts, uses)).toBeUndefined();
  });

  test('a finished pod has what is left of it', () => {
    expect(watchedPods({ ...measured, kubelet: usage({}) }, { pods: [use] })?.[0]).toMatchObject({
      bytes: 95 * mib,
      parts: new Map(),
    });
  });
});

describe('the file', () => {
  const name = 'n'.repeat(253);
  const marks = watching(1, [pod(name, 1, { namespace: 'shop', workload: { kind: 'Job', name } })], noMarks);
  const text = marksFormat.format(marks);

  test('is read as it was written', () => {
    expect(marksFormat.parse(text)).toEqual({ kind: 'read', state: marks });
    expect(marksFormat.parse(marksFormat.format(noMarks))).toEqual({ kind: 'read', state: noMarks });
  });

  test('is read with a limit that stands for none', () => {
    const storage = { containers: [container('main', '1Ei')] };
    const unlimited = after([[pod('web-1', 1, { storage: storagePod('web-1', storage).storage })]]);
    expect(unlimited.workloads[0]?.limit).toBe(1024 ** 6);
    expect(marksFormat.parse(marksFormat.format(unlimited))).toEqual({ kind: 'read', state: unlimited });
  });

  test('that is cut anywhere starts over', () => {
    for (let end = 0; end < text.length - 2; end += 7)
      expect(marksFormat.parse(text.slice(0, end)).kind).toBe('startOver');
  });

  test.each([
    ['1', 'file: must be an object'],
    ['{"version":2}', 'version: this dustpan reads 1'],
    ['{"version":1,"observedMs":-1}', 'observedMs: must be a whole number'],
    ['{"version":1,"observedMs":1,"workloads":{}}', 'workloads: must be a list'],
    ['{"version":1,"observedMs":1,"workloads":[{"namespace":1}]}', 'workloads[0].namespace: must be a text'],
    [text.replace('"kind":"container"', '"kind":"disk"'), 'workloads[0].parts[0].kind: must be'],
    [text.replace('"peaks":[[', '"peaks":[[1e99,'), 'must be a whole number'],
  ])('%s is not read', (wrong, reason) => {
    const parsed = marksFormat.parse(wrong);
    expect(parsed).toMatchObject({ kind: 'startOver' });
    expect('reason' in parsed && parsed.reason).toContain(reason);
  });
});
