import { getEventListeners } from 'node:events';
import { statSync } from 'node:fs';
import { expect, test } from 'vitest';
import { imageDisk, statFsReader, usedPercent } from '../../../src/node/disk/filesystem.ts';
import { FakeRuntime } from '../../fakes/runtime.ts';

const never = new AbortController().signal;
const raw = { bsize: 4096n, blocks: 1000n, bavail: 250n, bfree: 300n, files: 100n, ffree: 40n };
const timedOut = (): AbortSignal => AbortSignal.abort();
const hangs = new Promise<typeof raw>(() => undefined);

test('reads a file system of this machine', async () => {
  const figures = await statFsReader()('/', never);
  expect(figures.capacityBytes).toBeGreaterThan(0);
  expect(figures.availableBytes).toBeLessThanOrEqual(figures.capacityBytes);
  expect(figures.device).toBe(statSync('/').dev);
});

test.each([
  [
    'possible values',
    {},
    { capacityBytes: 4_096_000, availableBytes: 1_024_000, inodes: 100, inodesFree: 40 },
  ],
  [
    'more free inodes than there are',
    { ffree: 101n },
    { availableBytes: 1_024_000, inodes: undefined, inodesFree: undefined },
  ],
  ['less than 0 free inodes', { ffree: -1n }, { inodes: undefined }],
  ['its device', { dev: 7 }, { device: 7 }],
  ['no capacity', { blocks: 0n, bavail: 0n }, { capacityBytes: 0, availableBytes: 0 }],
  ['inodes not counted', { files: 0n, ffree: 0n }, { inodes: undefined, inodesFree: undefined }],
])('figures: %s', async (_name, over, expected) => {
  const statFs = statFsReader({ read: () => Promise.resolve({ ...raw, ...over }) });
  expect(await statFs('/x', never)).toMatchObject(expected);
});

test.each([1001n, -1n])('%s of 1000 available blocks are no measurement', async (bavail) => {
  const statFs = statFsReader({ read: () => Promise.resolve({ ...raw, bavail }) });
  await expect(statFs('/x', never)).rejects.toMatchObject({
    message: 'reading the file system of /x',
    cause: { message: `impossible values: ${bavail} of 1000 blocks are available` },
  });
});

test('an error is one line that names the path', async () => {
  await expect(statFsReader()('/no/such/path', never)).rejects.toMatchObject({
    message: 'reading the file system of /no/such/path',
    cause: { code: 'ENOENT' },
  });
});

test('a mount that hangs ends at the deadline, and is not read again while it hangs', async () => {
  let reads = 0;
  const read = () => {
    reads += 1;
    return hangs;
  };
  const statFs = statFsReader({ read, deadline: timedOut });
  for (let i = 0; i < 3; i += 1)
    await expect(statFs('/nfs', never)).rejects.toMatchObject({
      cause: { message: 'no response: the mount hangs' },
    });
  expect(reads).toBe(1);
});

test('a failed read is repeated, and no read leaves a listener on its signal', async () => {
  const { signal } = new AbortController();
  const results = [Promise.reject(new Error('EIO')), Promise.resolve(raw)];
  const statFs = statFsReader({ read: () => results.shift() ?? hangs });
  await expect(statFs('/x', signal)).rejects.toThrow('reading the file system of /x');
  expect(await statFs('/x', signal)).toMatchObject({ inodes: 100 });
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a read ends with its signal', async () => {
  const stop = new AbortController();
  const reading = statFsReader({ read: () => hangs, deadline: () => never })('/x', stop.signal);
  stop.abort(new Error('stopping'));
  await expect(reading).rejects.toThrow('stopping');
});

test('nothing is read after an abort', async () => {
  let reads = 0;
  const statFs = statFsReader({
    read: () => {
      reads += 1;
      return Promise.resolve(raw);
    },
  });
  await expect(statFs('/x', AbortSignal.abort(new Error('stopping')))).rejects.toThrow('stopping');
  expect(reads).toBe(0);
});

const mounted = (mountpoint: string) => ({ mountpoint, usedBytes: 7, inodesUsed: 3 });

test('the image disk is the first file system that the runtime names', async () => {
  const runtime = new FakeRuntime();
  runtime.filesystems = { images: [mounted('/images'), mounted('/other')], containers: [mounted('/layers')] };
  const paths: string[] = [];
  const statFs = statFsReader({
    read: (path) => {
      paths.push(path);
      return Promise.resolve(raw);
    },
  });
  expect(await imageDisk({ runtime, statFs }, never)).toEqual({
    ...{ mountpoint: '/images', usedBytes: 7, inodesUsed: 3, usedPercent: 75 },
    ...{ capacityBytes: 4_096_000, availableBytes: 1_024_000, freeBytes: 1_228_800 },
    ...{ inodes: 100, inodesFree: 40 },
  });
  expect(paths).toEqual(['/images']);
});

test('a runtime without an image file system is an error', async () => {
  const statFs = statFsReader({ read: () => Promise.resolve(raw) });
  const [none, unnamed] = [new FakeRuntime(), new FakeRuntime()];
  unnamed.filesystems = { images: [mounted('')], containers: [] };
  for (const runtime of [none, unnamed])
    await expect(imageDisk({ runtime, statFs }, never)).rejects.toThrow('names no image file system');
});

// Whole percents, with the free part rounded down, as in the kubelet.
test.each([
  { capacityBytes: 1000, availableBytes: 151, expected: 85 },
  { capacityBytes: 1000, availableBytes: 149, expected: 86 },
  { capacityBytes: 1000, availableBytes: 0, expected: 100 },
  { capacityBytes: 0, availableBytes: 0, expected: 0 },
  { capacityBytes: Number.MAX_SAFE_INTEGER, availableBytes: Number.MAX_SAFE_INTEGER - 1, expected: 1 },
])('$availableBytes of $capacityBytes free is $expected % used', ({ expected, ...disk }) => {
  expect(usedPercent(disk)).toBe(expected);
});
