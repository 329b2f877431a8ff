import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, posix, win32 } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { UsageError } from '../../../../src/process/exit.ts';
import { isWithin, SnapshotDirectory } from '../../../../src/commands/snapshot/directory.ts';

let root: string;
let directory: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'dustpan-snapshot-')));
  directory = join(root, 'snap');
});
afterEach(() => rm(root, { recursive: true }));

async function put(file: string, text = '{}'): Promise<void> {
  await mkdir(dirname(join(directory, file)), { recursive: true });
  await writeFile(join(directory, file), text);
}

async function take(force = false): Promise<void> {
  const taken = await SnapshotDirectory.begin({ directory, force });
  await taken.write('pods.json', 'new');
  await taken.write('nodes/n/images.json', 'new');
  await taken.finish();
}

test('gets its name once it is complete, and only its owner can read it', async () => {
  const taken = await SnapshotDirectory.begin({ directory, force: false });
  await taken.write('pods.json', 'new');
  expect(await readdir(root)).toEqual([expect.stringMatching(/^snap\.tmp-/)]);
  await taken.finish();
  expect(await readdir(root)).toEqual(['snap']);
  expect((await stat(directory)).mode & 0o777).toBe(0o700);
});

describe('a directory that is not empty', () => {
  const refusals = async (force: boolean): Promise<string> => {
    const problem = await take(force).then(
      () => 'taken',
      (err: unknown) => err,
    );
    expect(problem).toBeInstanceOf(UsageError);
    expect((await readdir(root)).filter((name) => name.includes('.tmp'))).toEqual([]);
    return (problem as UsageError).message;
  };

  test('is kept without --force', async () => {
    await put('pods.json', 'old');
    expect(await refusals(false)).toBe(
      `DIR ${directory} is not empty; --force replaces an existing snapshot`,
    );
    expect(await readFile(join(directory, 'pods.json'), 'utf8')).toBe('old');
  });

  test('is replaced as a whole with --force if it is a snapshot', async () => {
    await put('pods.yaml', 'old');
    await put('nodes/other/state.json', 'old');
    await take(true);
    expect(await readdir(directory)).toEqual(['nodes', 'pods.json']);
    expect(await readdir(join(directory, 'nodes'))).toEqual(['n']);
    expect(await readdir(root)).toEqual(['snap']);
  });

  test.each([
    'thesis.doc',
    'nodes/n/photo.jpg',
    'nodes/file.json',
    '.git/config',
    'images.json',
    'pods.json.bak',
  ])('is kept with --force if it contains %s', async (file) => {
    await put('pods.json');
    await put(file, 'mine');
    expect(await refusals(true)).toContain('which is not part of a snapshot: it is not replaced');
    expect(await readFile(join(directory, file), 'utf8')).toBe('mine');
  });

  test('is kept if another file appeared while the new snapshot was written', async () => {
    await put('pods.json', 'old');
    const taken = await SnapshotDirectory.begin({ directory, force: true });
    await put('thesis.doc', 'mine');
    await expect(taken.finish()).rejects.toBeInstanceOf(UsageError);
    expect(await readFile(join(directory, 'thesis.doc'), 'utf8')).toBe('mine');
  });
});

test.each([
  { name: 'a file', path: () => join(root, 'file'), problem: 'is not a directory' },
  { name: 'the current directory', path: () => '.', problem: 'is the current directory or contains it;' },
  { name: 'the root directory', path: () => '/', problem: 'is the current directory or contains it;' },
])('refuses to replace $name', async ({ path, problem }) => {
  await writeFile(join(root, 'file'), '');
  directory = path();
  await expect(SnapshotDirectory.begin({ directory, force: true })).rejects.toThrow(
    `DIR ${directory} ${problem}`,
  );
});

test.each([
  ['/a/b', '/a', posix, true],
  ['/a', '/a/b', posix, false],
  ['/ab', '/a', posix, false],
  ['/a/..b', '/a', posix, true],
  ['C:\\a', 'c:\\A', win32, true],
  ['C:\\a', 'C:\\', win32, true],
  ['C:\\a', 'C:\\a\\b', win32, false],
  ['D:\\a', 'C:\\', win32, false],
])('whether %s is in %s', (inner, outer, on, expected) => {
  expect(isWithin(inner, outer, on)).toBe(expected);
});
