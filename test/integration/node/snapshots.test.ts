import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SnapshotDirectories } from '../../../src/node/storage/snapshots.ts';
import { FakeRuntime } from '../../fakes/runtime.ts';
import { temporaryDirectory } from './directory.ts';

const never = new AbortController().signal;

describe('directories of snapshots', () => {
  const at = temporaryDirectory();
  const root = (): string => at('io.containerd.snapshotter.v1.overlayfs');
  const make = (...names: readonly string[]): void => {
    for (const name of names) mkdirSync(join(root(), 'snapshots', name), { recursive: true });
  };
  const directoriesAt = (mountpoints: readonly string[], deadline?: () => AbortSignal) => {
    const runtime = new FakeRuntime();
    const images = mountpoints.map((mountpoint) => ({ mountpoint, usedBytes: 0, inodesUsed: 0 }));
    runtime.filesystems = { images, containers: [] };
    return new SnapshotDirectories({ runtime, ...(deadline && { deadline }) });
  };

  test('are counted once they are complete', async () => {
    const directories = directoriesAt([root()]);
    expect(await directories.count(never)).toBeUndefined();
    make('1', '2', '17', 'new-12345');
    expect(await directories.count(never)).toBe(3);
    rmdirSync(join(root(), 'snapshots', '17'));
    expect(await directories.count(never)).toBe(2);
  });

  test.each([
    { name: 'another snapshotter', mountpoints: () => [at('native')] },
    { name: 'two snapshotters', mountpoints: () => [root(), at('nydus')] },
    { name: 'no file system yet', mountpoints: () => [] },
  ])('are not known: $name', async ({ mountpoints }) => {
    make('1');
    mkdirSync(at('native', 'snapshots', '1'), { recursive: true });
    expect(await directoriesAt(mountpoints()).count(never)).toBeUndefined();
  });

  test('the count ends at its deadline; the next one does not begin while the disk hangs', async () => {
    make('1');
    const directories = directoriesAt([root()], () => AbortSignal.abort());
    await expect(directories.count(never)).rejects.toThrow('no response, the disk hangs');
    await expect(directories.count(never)).rejects.toThrow('the last time still hangs');
  });
});
