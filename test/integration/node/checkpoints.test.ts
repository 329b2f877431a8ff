import { existsSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { CheckpointDirectory, type CheckpointFile } from '../../../src/node/storage/checkpoints.ts';
import type { Mount } from '../../../src/node/storage/mounts.ts';
import { file, temporaryDirectory } from './directory.ts';

const never = new AbortController().signal;
const at = temporaryDirectory();
const root: Mount = { point: '/', isReadOnly: false, isPropagated: true };
const directory = (mounts: readonly Mount[] = [root], maxEntries = 100) =>
  new CheckpointDirectory({ kubeletRoot: at(), maxEntries, mounts: () => Promise.resolve(mounts) });

const archive = (name = 'a.tar'): string => {
  const path = file(at('checkpoints', name), 5000);
  utimesSync(path, 0, 100);
  return path;
};

const listed = async (path: string): Promise<CheckpointFile> => {
  const found = (await directory().list(never)).files.find((one) => one.path === path);
  if (found === undefined) throw new Error('not listed');
  return found;
};

test('lists files and other entries, without following links', async () => {
  const path = archive();
  mkdirSync(at('checkpoints', 'directory'));
  symlinkSync(path, at('checkpoints', 'link'));
  writeFileSync(Buffer.concat([Buffer.from(`${at('checkpoints')}/`), Buffer.from([0xff])]), '');
  const { files, ...listing } = await directory().list(never);
  expect(files.toSorted((a, b) => (a.path < b.path ? -1 : 1))).toMatchObject([
    { path, isFile: true, bytes: 8192, writtenMs: 100_000 },
    { path: at('checkpoints', 'directory'), isFile: false },
    { path: at('checkpoints', 'link'), isFile: false },
  ]);
  expect(listing).toEqual({ complete: true, isReadOnly: false, isApart: false });
});

test('without the directory there is nothing; without the root directory of the kubelet nothing is known', async () => {
  expect(await directory().list(never)).toMatchObject({ files: [], complete: true });
  const elsewhere = new CheckpointDirectory({ kubeletRoot: at('nowhere') });
  await expect(elsewhere.list(never)).rejects.toThrow('listing');
});

test('a link that leads to nothing is an error: the agent may not have its target mounted', async () => {
  symlinkSync(at('elsewhere'), at('checkpoints'));
  await expect(directory().list(never)).rejects.toThrow(`listing ${at('checkpoints')}`);
});

test('a directory that cannot be read is an error', async () => {
  file(at('checkpoints'));
  await expect(directory().list(never)).rejects.toThrow(`listing ${at('checkpoints')}`);
});

test('says where there are more entries than are read', async () => {
  for (const name of ['a', 'b', 'c']) archive(name);
  expect(await directory([root], 3).list(never)).toMatchObject({ complete: true });
  const { files, complete } = await directory([root], 2).list(never);
  expect([files.length, complete]).toEqual([2, false]);
});

test.each<readonly [string, readonly Mount[], boolean]>([
  ['writable', [root], false],
  ['read-only', [{ ...root, isReadOnly: true }], true],
  ['unknown', [], true],
])('a mount that is %s', async (_, mounts, isReadOnly) => {
  archive();
  expect(await directory(mounts).list(never)).toMatchObject({ isReadOnly });
});

test('removes a file as it was listed', async () => {
  const path = archive();
  const found = await listed(path);
  expect(await directory().remove(found)).toEqual({ kind: 'done', freedBytes: found.bytes });
  expect(existsSync(path)).toBe(false);
  expect(await directory().remove(found)).toEqual({ kind: 'done', freedBytes: 0 });
});

test('keeps a file that was written since, and whatever has taken its place', async () => {
  const path = archive();
  const found = await listed(path);
  const tooYoung = { kind: 'keep', reason: 'TooYoung' };
  utimesSync(path, 0, 101);
  expect(await directory().remove(found)).toEqual(tooYoung);
  file(path, 50_000);
  utimesSync(path, 0, 100);
  expect(await directory().remove(found)).toEqual(tooYoung);
  const link = at('checkpoints', 'link');
  symlinkSync(path, link);
  expect(await directory().remove({ ...found, path: link })).toEqual({ kind: 'keep', reason: 'NotKubelets' });
  expect([existsSync(path), existsSync(link)]).toEqual([true, true]);
});

test('removes nothing that is not directly in the directory', async () => {
  archive();
  const other = file(at('other.tar'));
  await expect(
    directory().remove({ ...(await listed(at('checkpoints', 'a.tar'))), path: other }),
  ).rejects.toThrow('it is not in');
  expect(existsSync(other)).toBe(true);
});
