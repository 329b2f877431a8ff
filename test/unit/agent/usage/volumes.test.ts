import { describe, expect, test } from 'vitest';
import type { ClaimUsage } from '../../../../src/api/local-storage.ts';
import { emptyDir, mib, storagePod, usage, type Used } from '../localstorage/builders.ts';
import { gib } from '../report/builders.ts';
import { node } from './environment.ts';

/** A claim of 100 GiB, of which 95 can be used. */
const claim = (name: string, usedGib: number, over: Partial<ClaimUsage> = {}): ClaimUsage => ({
  ...{ namespace: 'web', name, pod: 'db', usedBytes: usedGib * gib, capacityBytes: 100 * gib },
  ...{ availableBytes: (95 - usedGib) * gib, inodes: undefined, atMs: Date.parse('2026-01-15T12:00:00Z') },
  ...over,
});

const podWith = (name: string, sizes: readonly string[]) =>
  storagePod(name, { emptyDirs: sizes.map((size, i) => emptyDir(`v${i}`, size === '' ? undefined : size)) });
const db = (...sizes: readonly string[]) => podWith('db', sizes);

const measured = (volumes: NonNullable<Used['volumes']>, claims: readonly ClaimUsage[] = []) => ({
  kubelet: () => Promise.resolve(usage({ db: { volumes } }, { claims })),
});

describe('volumes', () => {
  test('of pods and of claims, the fullest first, and an emptyDir without a limit by its part of the disk', async () => {
    const pod = storagePod('db', {
      emptyDirs: [emptyDir('cache', '4Gi'), emptyDir('tmp'), emptyDir('shm', '1Gi', true), emptyDir('new')],
    });
    const { volumes, otherVolumes } = await node({
      pods: () => [pod],
      ...measured({ cache: 1024, tmp: 30 * 1024, shm: 1024 }, [claim('data', 15)]),
    }).measure();
    const common = { namespace: 'web', pod: 'db', pods: 1, measuredTime: '2026-01-15T12:00:00Z' };
    expect(volumes).toEqual([
      { ...common, kind: 'emptyDir', name: 'tmp', usedBytes: 30 * gib },
      { ...common, kind: 'emptyDir', name: 'cache', usedBytes: gib, limitBytes: 4 * gib, usedPercent: 25 },
      { ...common, kind: 'pvc', name: 'data', usedBytes: 15 * gib, limitBytes: 100 * gib, usedPercent: 20 },
    ]);
    expect(otherVolumes).toBeUndefined();
  });

  test('a claim is no local storage', async () => {
    const { volumes, pods, namespaces, fileSystems, volumeCount } = await node({
      pods: () => [db('')],
      ...measured({ v0: 1024 }, [claim('data', 50)]),
    }).measure();
    expect(volumes).toHaveLength(2);
    expect([pods?.[0]?.bytes, namespaces?.[0]?.bytes, fileSystems?.[0]?.volumesBytes]).toEqual([
      gib,
      gib,
      gib,
    ]);
    expect(volumeCount).toBe(1);
  });

  test.each([
    ['all is measured', [db('')], { v0: 0 }, undefined],
    ['one is not measured', [db('', '')], { v0: 1024 }, true],
    ['one of a pod of which nothing is measured', [db(''), podWith('new', [''])], { v0: 1024 }, true],
    ['a pod without an emptyDir is not measured', [db(''), podWith('new', [])], { v0: 1024 }, undefined],
  ])('of a node are a lower bound if an emptyDir is not measured: %s', async (_, pods, volumes, expected) => {
    const { volumesLowerBound } = await node({ pods: () => pods, ...measured(volumes) }).measure();
    expect(volumesLowerBound).toBe(expected);
  });

  test('a claim that pods share counts once, with its newest values', async () => {
    const later = { atMs: Date.parse('2026-01-15T12:01:00Z') };
    const claims = [
      claim('shared', 10),
      claim('shared', 20, { pod: 'web-1', ...later }),
      claim('shared', 20, { pod: 'web-1', ...later }),
      claim('shared', 5, { pod: 'web-2', atMs: undefined }),
      claim('shared', 30, { namespace: 'shop' }),
    ];
    const { volumes } = await node({ pods: () => [db()], ...measured({}, claims) }).measure();
    expect(volumes).toMatchObject([
      { namespace: 'shop', pods: 1 },
      { namespace: 'web', pod: 'web-1', pods: 3, usedBytes: 20 * gib, measuredTime: '2026-01-15T12:01:00Z' },
    ]);
  });

  test('a claim without inodes is as full as one without bytes', async () => {
    const claims = [claim('a', 60), claim('b', 1, { inodes: { total: 1000, free: 4 } })];
    const { volumes } = await node({ pods: () => [], ...measured({}, claims) }).measure();
    expect(volumes).toMatchObject([{ name: 'b', usedPercent: 6, inodesPercent: 100 }, { name: 'a' }]);
  });

  test('of two that are equally full the larger one is first', async () => {
    const claims = [claim('a', 10), claim('b', 20, { capacityBytes: 200 * gib, availableBytes: 170 * gib })];
    const { volumes } = await node({ pods: () => [], ...measured({}, claims) }).measure();
    expect(volumes).toMatchObject([
      { name: 'b', usedPercent: 15 },
      { name: 'a', usedPercent: 15 },
    ]);
  });

  test('a claim whose measurements have no time', async () => {
    const claims = [claim('a', 10, { atMs: undefined }), claim('a', 20, { atMs: undefined, pod: 'web-1' })];
    const { volumes } = await node({ pods: () => [], ...measured({}, claims) }).measure();
    expect(volumes).toMatchObject([{ name: 'a', pods: 2, usedBytes: 10 * gib }]);
    expect(volumes?.[0]).not.toHaveProperty('measuredTime');
  });

  test('an emptyDir without a limit is listed where the size of the disk is unknown', async () => {
    const { volumes } = await node({
      pods: () => [db('')],
      nodeDisk: () => Promise.reject(new Error('no answer')),
      ...measured({ v0: 1024 }),
    }).measure();
    expect(volumes).toMatchObject([{ name: 'v0', usedBytes: gib }]);
  });

  test('of those that are not listed, how full is unknown for emptyDirs without a limit where the size of the disk is', async () => {
    const pod = db(...Array.from({ length: 30 }, (_, i) => (i < 5 ? '10Gi' : '')));
    const sizes = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`v${i}`, 1024 + i]));
    const of = (lists: 'full' | 'short', disk = {}) =>
      node({ lists: () => lists, pods: () => [pod], ...disk, ...measured(sizes) }).measure();
    const noDisk = { nodeDisk: () => Promise.reject(new Error('no answer')) };
    const full = await of('full', noDisk);
    expect(full.volumes?.slice(0, 6).map(({ name }) => name)).toEqual(['v4', 'v3', 'v2', 'v1', 'v0', 'v29']);
    expect(full.otherVolumes).toEqual({ count: 10, unknownCount: 10 });
    expect((await of('short', noDisk)).otherVolumes).toEqual({
      ...{ count: 27, highestPercent: 11, unknownCount: 25 },
    });
    expect((await of('full')).otherVolumes).toEqual({ count: 10, highestPercent: 2 });
  });

  test('the 20 fullest are listed, and of the others how full they are', async () => {
    const claims = Array.from({ length: 30 }, (_, i) => claim(`c${i}`, i));
    const { volumes, otherVolumes } = await node({ pods: () => [], ...measured({}, claims) }).measure();
    expect(volumes?.map(({ name }) => name).join()).toMatch(/^c29,.*,c10$/);
    expect(otherVolumes).toEqual({ count: 10, highestPercent: 14 });
  });

  test('where lists are short, those that are nearly full are listed', async () => {
    const claims = Array.from({ length: 30 }, (_, i) => claim(`c${i}`, 2 * i + 30));
    const { volumes, otherVolumes } = await node({
      ...{ pods: () => [], lists: () => 'short' as const },
      ...measured({}, claims),
    }).measure();
    expect(volumes?.map(({ name }) => name)).toEqual(['c29', 'c28', 'c27', 'c26', 'c25', 'c24', 'c23']);
    expect(otherVolumes).toEqual({ count: 23, highestPercent: 79 });
  });

  test.each([
    ['a limit of 0', '0', 1, { limitBytes: 0, usedPercent: 100 }],
    ['a limit of 0 and no files', '0', 0, { limitBytes: 0, usedPercent: 100 }],
    ['more than its limit', '1Gi', 2048, { usedPercent: 200 }],
    ['more than its limit by far', '1', 1e9, { usedPercent: 2 ** 31 - 1 }],
  ])('an emptyDir with %s', async (_, size, usedMib, expected) => {
    const { volumes } = await node({ pods: () => [db(size)], ...measured({ v0: usedMib }) }).measure();
    expect(volumes).toMatchObject([expected]);
  });

  test.each([
    ['the kubelet', { kubelet: () => Promise.reject(new Error('no answer')) }],
    ['the pods', { pods: () => undefined, ...measured({}, [claim('data', 1)]) }],
  ])('are unknown without %s', async (_, over) => {
    expect(await node(over).measure()).not.toHaveProperty('volumes');
  });

  test('names of 253 characters stay', async () => {
    const long = 'a'.repeat(253);
    const claims = [claim(long, 1, { pod: long })];
    const { volumes } = await node({ pods: () => [], ...measured({}, claims) }).measure();
    expect(volumes).toMatchObject([{ name: long, pod: long }]);
  });
});

describe('when a volume is full', () => {
  const minutes = 10;
  const growing = async (mibPerMinute: number, limit: string) => {
    const sizes = { claim: 0, emptyDir: 0 };
    const { during } = node({
      pods: () => [db(limit)],
      kubelet: () => {
        const claims = [claim('data', 0, { usedBytes: sizes.claim * mib, availableBytes: gib })];
        return Promise.resolve(usage({ db: { volumes: { v0: sizes.emptyDir } } }, { claims }));
      },
    });
    const { volumes = [], measuredTime } = await during(minutes, (minute) => {
      sizes.claim = 1024 + minute * mibPerMinute;
      sizes.emptyDir = minute * mibPerMinute;
    });
    const minutesLeft = (time = '') =>
      Math.round((Date.parse(time) - Date.parse(measuredTime ?? '')) / 60_000);
    const one = (of: string) => {
      const found = volumes.find(({ kind }) => kind === of);
      return [found?.growthBytesPerHour, found?.fullTime && minutesLeft(found.fullTime)];
    };
    return { pvc: one('pvc'), emptyDir: one('emptyDir') };
  };

  test('it grows: the bytes that are available last as long as the growth says', async () => {
    const rate = 60 * 16 * mib;
    expect(await growing(16, '400Mi')).toEqual({ pvc: [rate, 64], emptyDir: [rate, (400 - 9 * 16) / 16] });
  });

  test('unknown for an emptyDir without a limit, and later than in a week', async () => {
    const rate = 60 * mib;
    expect(await growing(1, '')).toEqual({ pvc: [rate, 1024], emptyDir: [rate, undefined] });
    expect((await growing(0.01, '')).pvc).toEqual([expect.any(Number), undefined]);
  });

  test('one that is full within a week is listed, also where fuller ones do not grow', async () => {
    let usedBytes = 0;
    const { during } = node({
      lists: () => 'short' as const,
      pods: () => [],
      kubelet: () => {
        const calm = [10, 20, 30, 40].map((used) => claim(`c${used}`, used));
        const claims = [...calm, claim('growing', 0, { usedBytes, availableBytes: 95 * gib - usedBytes })];
        return Promise.resolve(usage({}, { claims }));
      },
    });
    const { volumes, otherVolumes } = await during(minutes, (minute) => (usedBytes = minute * 16 * mib));
    expect(volumes?.map(({ name }) => name)).toEqual(['c40', 'c30', 'growing']);
    expect(otherVolumes).toEqual({ count: 2, highestPercent: 25 });
  });

  test('those that are full within a week and find no room are counted', async () => {
    let usedBytes = 0;
    const { during } = node({
      pods: () => [],
      kubelet: () => {
        const growing = { usedBytes, availableBytes: 95 * gib - usedBytes };
        const claims = Array.from({ length: 100 }, (_, i) => claim(`c${i}`, 0, i < 97 ? growing : {}));
        return Promise.resolve(usage({}, { claims }));
      },
    });
    const { volumes, otherVolumes } = await during(minutes, (minute) => (usedBytes = minute * 16 * mib));
    expect(volumes).toHaveLength(20);
    expect(otherVolumes).toEqual({ count: 80, highestPercent: 6, fillingCount: 77 });
  });

  test('not known where nothing grows', async () => {
    expect(await growing(0, '1Gi')).toEqual({
      pvc: [undefined, undefined],
      emptyDir: [undefined, undefined],
    });
  });
});
