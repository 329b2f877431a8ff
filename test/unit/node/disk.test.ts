import { getEventListeners } from 'node:events';
import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { unknownDevices } from '../../../src/api/file-system.ts';
import {
  cachedDevices,
  diskDevices,
  imageDisk,
  statFsReader,
  usedPercent,
  type StatFs,
} from '../../../src/node/disk/filesystem.ts';
import { ManualClock } from '../../fakes/manual-clock.ts';
import { FakeRuntime } from '../../fakes/runtime.ts';

const never = new AbortController().signal;
const raw = { bsize: 4096n, blocks: 1000n, bavail: 250n, bfree: 300n, files: 100n, ffree: 40n };
const hangs = new Promise<typeof raw>(() => undefined);
const reading = (over: object) => statFsReader({ read: () => Promise.resolve({ ...raw, ...over }) });
const counted = { capacityBytes: 4_096_000, availableBytes: 1_024_000, inodes: 100, inodesFree: 40 };

test('reads a file system of this machine', async () => {
  const values = await statFsReader()('/', never);
  expect(values.capacityBytes).toBeGreaterThan(0);
  expect(values.availableBytes).toBeLessThanOrEqual(values.capacityBytes);
  expect(values.device).toBe(statSync('/').dev);
});

test.each([
  ['possible values', { dev: 7 }, { ...counted, device: 7 }],
  ['more free inodes than there are', { ffree: 101n }, { inodes: undefined, inodesFree: undefined }],
  ['inodes not counted', { files: 0n, ffree: 0n }, { inodes: undefined, inodesFree: undefined }],
])('values: %s', async (_name, over, expected) => {
  expect(await reading(over)('/x', never)).toMatchObject(expected);
});

test.each([1001n, -1n])('%s of 1000 available blocks are no measurement', async (bavail) => {
  await expect(reading({ bavail })('/x', never)).rejects.toMatchObject({
    message: 'reading the file system of /x',
    cause: { message: `impossible values: ${bavail} of 1000 blocks are available` },
  });
});

test('a mount that hangs ends at the deadline, and is not read again while it hangs', async () => {
  let reads = 0;
  const read = () => {
    reads += 1;
    return hangs;
  };
  const statFs = statFsReader({ read, deadline: () => AbortSignal.abort() });
  for (let i = 0; i < 3; i += 1)
    await expect(statFs('/nfs', never)).rejects.toMatchObject({
      cause: { message: 'no response: the mount hangs' },
    });
  expect(reads).toBe(1);
});

test('a failed read is repeated, no read leaves a listener on its signal, and an abort ends it', async () => {
  const stop = new AbortController();
  const results = [Promise.reject(new Error('EIO')), Promise.resolve(raw)];
  const statFs = statFsReader({ read: () => results.shift() ?? hangs });
  await expect(statFs('/x', stop.signal)).rejects.toThrow('reading the file system of /x');
  expect(await statFs('/x', stop.signal)).toMatchObject({ inodes: 100 });
  expect(getEventListeners(stop.signal, 'abort')).toEqual([]);
  const last = statFs('/x', stop.signal);
  stop.abort(new Error('stopping'));
  await expect(last).rejects.toThrow('stopping');
});

const mounted = (mountpoint: string) => ({ mountpoint, usedBytes: 7, inodesUsed: 3 });

test('the image disk is the first file system that the runtime names', async () => {
  const runtime = new FakeRuntime();
  runtime.filesystems = { images: [mounted('/images'), mounted('/other')], containers: [mounted('/layers')] };
  expect(await imageDisk({ runtime, statFs: reading({}) }, never)).toEqual({
    ...{ mountpoint: '/images', usedBytes: 7, inodesUsed: 3, usedPercent: 75 },
    ...{ ...counted, freeBytes: 1_228_800 },
  });
  for (const images of [[], [mounted('')]]) {
    runtime.filesystems = { images, containers: [] };
    const disk = imageDisk({ runtime, statFs: reading({}) }, never);
    await expect(disk).rejects.toThrow('names no image file system');
  }
});

// Whole percents, with the free part rounded down, as in the kubelet.
test.each([
  { capacityBytes: 1000, availableBytes: 151, expected: 85 },
  { capacityBytes: 1000, availableBytes: 149, expected: 86 },
  { capacityBytes: 0, availableBytes: 0, expected: 0 },
  { capacityBytes: Number.MAX_SAFE_INTEGER, availableBytes: Number.MAX_SAFE_INTEGER - 1, expected: 1 },
])('$availableBytes of $capacityBytes free is $expected % used', ({ expected, ...disk }) => {
  expect(usedPercent(disk)).toBe(expected);
});

const devices = (images: readonly string[], containers: readonly string[], over: object = {}) => {
  const numbers: Readonly<Record<string, number>> = { '/kubelet': 1, '/images': 2, '/layers': 3 };
  const statFs: StatFs = (path) =>
    numbers[path] === undefined
      ? Promise.reject(new Error('ENOENT'))
      : Promise.resolve({ ...counted, device: numbers[path] });
  const runtime = new FakeRuntime();
  runtime.filesystems = { images: images.map(mounted), containers: containers.map(mounted) };
  return diskDevices({ runtime, statFs, kubeletRoot: '/kubelet', ...over }, never);
};

test.each<[string, images: readonly string[], containers: readonly string[], expected: object]>([
  ['containers on the file system of images', ['/images', '/other'], [], { imageFs: 2, containerFs: 2 }],
  ['containers on one of their own', ['/images'], ['/layers'], { imageFs: 2, containerFs: 3 }],
  ['a path that is not visible here', ['/elsewhere'], ['/layers'], { imageFs: undefined, containerFs: 3 }],
  ['a runtime that names none', [], [], { imageFs: undefined, containerFs: undefined }],
])('the devices of a node: %s', async (_name, images, containers, expected) => {
  expect(await devices(images, containers)).toEqual({ kubeletRoot: 1, ...expected });
});

test('a runtime that fails or hangs leaves the devices unknown', async () => {
  const fails = { fileSystems: () => Promise.reject(new Error('down')) };
  const late = {
    runtime: { fileSystems: () => new Promise(() => undefined) },
    deadline: () => AbortSignal.abort(),
  };
  expect(await devices(['/images'], [], { runtime: fails })).toEqual(unknownDevices);
  expect(await devices(['/images'], [], late)).toEqual(unknownDevices);
});

test('devices are read once a minute; while they cannot be read, the last ones count', async () => {
  const clock = new ManualClock();
  const known = { kubeletRoot: 1, imageFs: 2, containerFs: 2 };
  const results = [unknownDevices, known, unknownDevices, { ...known, imageFs: 4 }];
  let reads = 0;
  const cached = cachedDevices(() => Promise.resolve(results[reads++] ?? unknownDevices), clock);
  expect(await cached(never)).toEqual(unknownDevices);
  expect(await cached(never)).toEqual(known);
  expect([await cached(never), reads]).toEqual([known, 2]);
  clock.advance(60_000);
  expect([await cached(never), reads]).toEqual([known, 3]);
  expect([await cached(never), reads]).toEqual([{ ...known, imageFs: 4 }, 4]);
});
