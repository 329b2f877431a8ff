import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  planSurplus,
  SnapshotFinder,
  type SnapshotState,
  SnapshotOwners,
} from '../../../src/node/storage/snapshots.ts';
import { container, FakeRuntime, image, sandbox } from '../../fakes/runtime.ts';
import { temporaryDirectory } from './directory.ts';

const never = new AbortController().signal;
const diff = (digit: string): string => `sha256:${digit.repeat(64)}`;
/** Directories and owners, one character each. */
const state = (directories: string, owners: string): SnapshotState => ({
  directories: new Set(directories),
  owners: new Set(owners),
});

test.each<readonly [string, SnapshotState, SnapshotState, number]>([
  ['two have no owner, before and now', state('12345', 'abc'), state('12345', 'abc'), 2],
  ['a new one may be a pull', state('123', 'ab'), state('1234', 'ab'), 1],
  ['removed meanwhile', state('1234', 'ab'), state('12', 'ab'), 0],
  ['a pull before and another one now', state('1278', 'ab'), state('1290', 'ab'), 0],
  ['one without owner while pods change', state('1234', 'abc'), state('1289', 'axy'), 1],
])('surplus: %s', (_name, before, now, surplus) => {
  expect(planSurplus(now, before)).toBe(surplus);
});

/** Two images with a common layer, and a pod with one container of the first image. */
function podAndImages(): FakeRuntime {
  const runtime = new FakeRuntime().add(
    ...[image('a'), image('b'), sandbox('web'), container('c', { pod: 'web', imageId: 'sha256:a' })],
  );
  runtime.layers.set('sha256:a', [diff('1'), diff('2')]).set('sha256:b', [diff('1'), diff('3')]);
  return runtime;
}

/** The requests about one image or container, which must not be repeated. */
const requests = ({ calls }: FakeRuntime): readonly string[] =>
  calls.filter((call) => /^(imageLayers|containerStatus)/.test(call));

describe('owners', () => {
  test('are each layer once, also of a removed image as long as it has a container, each container and each sandbox', async () => {
    const runtime = podAndImages();
    const owners = new SnapshotOwners(runtime);
    expect((await owners.list(never))?.size).toBe(5);
    await runtime.removeImage('sha256:a', never);
    expect((await owners.list(never))?.size).toBe(5);
    // Its layers are not known to an agent that has just started.
    expect(await new SnapshotOwners(runtime).list(never)).toBeUndefined();
    await runtime.removeContainer('c', never);
    expect((await owners.list(never))?.size).toBe(3);
  });

  test('include an image mounted as a volume once for each pod, also after its container', async () => {
    const runtime = podAndImages().add(container('d', { pod: 'web', imageId: '', imageRef: 'sha256:a' }));
    for (const id of ['c', 'd']) runtime.statuses.set(id, { mountedImages: ['b'] });
    const owners = new SnapshotOwners(runtime);
    expect((await owners.list(never))?.size).toBe(7);
    await runtime.removeContainer('c', never);
    await runtime.removeContainer('d', never);
    expect((await owners.list(never))?.size).toBe(5);
    await runtime.removeSandbox('web-sandbox', never);
    expect((await owners.list(never))?.size).toBe(3);
  });

  test('are requested once, over several searches, up to a limit in each', async () => {
    const runtime = podAndImages();
    const owners = new SnapshotOwners(runtime, 2);
    expect(await owners.list(never)).toBeUndefined();
    expect(requests(runtime)).toHaveLength(2);
    expect((await owners.list(never))?.size).toBe(5);
    await owners.list(never);
    expect(requests(runtime)).toEqual(['imageLayers sha256:a', 'imageLayers sha256:b', 'containerStatus c']);
  });
});

describe('a search', () => {
  const at = temporaryDirectory();
  const root = (): string => at('io.containerd.snapshotter.v1.overlayfs');
  const snapshot = (name: string): string => join(root(), 'snapshots', name);
  const make = (...names: readonly string[]): void => {
    for (const name of names) mkdirSync(snapshot(name), { recursive: true });
  };
  const finding = (mountpoints: readonly string[], deadline?: () => AbortSignal) => {
    const runtime = podAndImages();
    const images = mountpoints.map((mountpoint) => ({ mountpoint, usedBytes: 0, inodesUsed: 0 }));
    runtime.filesystems = { images, containers: [] };
    return { runtime, finder: new SnapshotFinder({ runtime, ...(deadline && { deadline }) }) };
  };

  test('counts the snapshots without an owner in two searches', async () => {
    const { finder } = finding([root()]);
    expect(await finder.find(never)).toBeUndefined();
    make('1', '2', '3', '4', '5', '17', 'new-12345');
    expect(await finder.find(never)).toBeUndefined();
    make('18');
    expect(await finder.find(never)).toEqual({ count: 1 });
    expect(await finder.find(never)).toEqual({ count: 2 });
    for (const name of ['17', '18']) rmdirSync(snapshot(name));
    expect(await finder.find(never)).toEqual({ count: 0 });
  });

  test.each([
    { name: 'another snapshotter', mountpoints: () => [at('native')] },
    { name: 'two snapshotters', mountpoints: () => [root(), at('nydus')] },
    { name: 'no file system yet', mountpoints: () => [] },
  ])('counts nothing and requests nothing: $name', async ({ mountpoints }) => {
    make('1');
    mkdirSync(at('native', 'snapshots', '1'), { recursive: true });
    const { runtime, finder } = finding(mountpoints());
    for (let i = 0; i < 3; i += 1) expect(await finder.find(never)).toBeUndefined();
    expect(new Set(runtime.calls)).toEqual(new Set(['fileSystems']));
  });

  test('ends at its deadline; the next one does not begin while the disk hangs', async () => {
    make('1');
    const { finder } = finding([root()], () => AbortSignal.abort());
    await expect(finder.find(never)).rejects.toThrow('no response, the disk hangs');
    await expect(finder.find(never)).rejects.toThrow('the last search still hangs');
  });
});
