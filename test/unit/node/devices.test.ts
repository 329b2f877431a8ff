import { expect, test } from 'vitest';
import { cachedDevices, diskDevices } from '../../../src/node/disk/devices.ts';
import type { StatFs } from '../../../src/node/disk/filesystem.ts';
import { unknownDevices } from '../../../src/api/file-system.ts';
import { ManualClock } from '../../fakes/manual-clock.ts';
import { FakeRuntime } from '../../fakes/runtime.ts';

const never = new AbortController().signal;
const disk = { capacityBytes: 1000, availableBytes: 400, inodes: 10, inodesFree: 5 };
const mounted = (mountpoint: string) => ({ mountpoint, usedBytes: 7, inodesUsed: 3 });
/** Reads these devices; any other path cannot be read. */
const devicesAt =
  (numbers: Readonly<Record<string, number>>): StatFs =>
  (path) =>
    numbers[path] === undefined
      ? Promise.reject(new Error('ENOENT'))
      : Promise.resolve({ ...disk, device: numbers[path] });

const all = devicesAt({ '/kubelet': 1, '/images': 2, '/layers': 3 });
const read = (
  { images, containers }: { readonly images: readonly string[]; readonly containers: readonly string[] },
  over: object = {},
) => {
  const runtime = new FakeRuntime();
  runtime.filesystems = { images: images.map(mounted), containers: containers.map(mounted) };
  return diskDevices({ runtime, statFs: all, kubeletRoot: '/kubelet', ...over }, never);
};

test.each([
  {
    name: 'containers on the file system of images',
    named: { images: ['/images', '/other'], containers: [] },
    expected: { imageFs: 2, containerFs: 2 },
  },
  {
    name: 'containers on a file system of their own',
    named: { images: ['/images'], containers: ['/layers'] },
    expected: { imageFs: 2, containerFs: 3 },
  },
  {
    name: 'a path that is not visible here',
    named: { images: ['/elsewhere'], containers: ['/layers'] },
    expected: { containerFs: 3 },
  },
  { name: 'a runtime that names none', named: { images: [], containers: [] }, expected: {} },
])('the devices of a node: $name', async ({ named, expected }) => {
  expect(await read(named)).toEqual({
    kubeletRoot: 1,
    imageFs: undefined,
    containerFs: undefined,
    ...expected,
  });
});

test('a runtime that fails or hangs leaves them unknown', async () => {
  const named = { images: ['/images'], containers: [] };
  const fails = { fileSystems: () => Promise.reject(new Error('down')) };
  const hangs = { fileSystems: () => new Promise(() => undefined) };
  expect(await read(named, { runtime: fails })).toEqual(unknownDevices);
  const late = { runtime: hangs, deadline: () => AbortSignal.abort() };
  expect(await read(named, late)).toEqual(unknownDevices);
});

test('an abort ends the read with its reason', async () => {
  const runtime = { fileSystems: () => new Promise<never>(() => undefined) };
  const signal = AbortSignal.abort(new Error('stopping'));
  const reading = diskDevices({ runtime, statFs: all, kubeletRoot: '/kubelet' }, signal);
  await expect(reading).rejects.toThrow('stopping');
});

test('devices are read once a minute; while they cannot be read, the last ones count', async () => {
  const clock = new ManualClock();
  const known = { kubeletRoot: 1, imageFs: 2, containerFs: 2 };
  const results = [unknownDevices, known, unknownDevices, { ...known, imageFs: 4 }];
  let reads = 0;
  const devices = cachedDevices(() => Promise.resolve(results[reads++] ?? unknownDevices), clock);
  expect(await devices(never)).toEqual(unknownDevices);
  expect(await devices(never)).toEqual(known);
  expect([await devices(never), reads]).toEqual([known, 2]);
  clock.advance(60_000);
  expect([await devices(never), reads]).toEqual([known, 3]);
  expect([await devices(never), reads]).toEqual([{ ...known, imageFs: 4 }, 4]);
});
