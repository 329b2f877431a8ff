import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  planSurplus,
  SnapshotFinder,
  type SnapshotState,
} from '../../../src/node/storage/snapshots-finder.ts';
import { chainIds, SnapshotOwners } from '../../../src/node/storage/snapshots-owners.ts';
import { container, FakeRuntime, image, sandbox } from '../../fakes/runtime.ts';

const never = new AbortController().signal;
const diff = (digit: string): string => `sha256:${digit.repeat(64)}`;
/** Directories and owners, each a letter or a digit. */
const look = (directories: string, owners: string): SnapshotState => ({
  directories: new Set(directories),
  owners: new Set(owners),
});

test.each([
  { name: 'every directory has an owner', before: look('123', 'abc'), now: look('123', 'abc'), surplus: 0 },
  {
    name: 'two have none, then and now',
    before: look('12345', 'abc'),
    now: look('12345', 'abc'),
    surplus: 2,
  },
  {
    name: 'one more has come: it may be a pull',
    before: look('123', 'ab'),
    now: look('1234', 'ab'),
    surplus: 1,
  },
  {
    name: 'what was removed has gone at last',
    before: look('1234', 'ab'),
    now: look('12', 'ab'),
    surplus: 0,
  },
  {
    name: 'a pull then and another one now',
    before: look('1278', 'ab'),
    now: look('1290', 'ab'),
    surplus: 0,
  },
  {
    name: 'a leak among pods that come and go',
    before: look('1234', 'abc'),
    now: look('1289', 'axy'),
    surplus: 1,
  },
  { name: 'owners without a snapshot here', before: look('1', 'abc'), now: look('1', 'abc'), surplus: 0 },
])('surplus: $name: $surplus', ({ before, now, surplus }) => {
  expect(planSurplus(now, before)).toBe(surplus);
});

test('a layer is named by itself and all below it', () => {
  // By hand: printf 'sha256:aa… sha256:bb…' | sha256sum, and so on.
  expect(chainIds([diff('a'), diff('b'), diff('c')])).toEqual([
    diff('a'),
    'sha256:ccd722928bd92476ba1745586fed6e45a102504185ad88cd89e01ff116fd146c',
    'sha256:c1377126441fb2f5ec2c21ae2a60255331d639e830f0ee1b40a36e52d4c40588',
  ]);
  expect(chainIds([])).toEqual([]);
});

/** Two images on one layer; a pod with one container of the first. */
function world(): FakeRuntime {
  const runtime = new FakeRuntime().add(
    ...[image('a'), image('b'), sandbox('web'), container('c', { pod: 'web', imageId: 'sha256:a' })],
  );
  runtime.layers.set('sha256:a', [diff('1'), diff('2')]).set('sha256:b', [diff('1'), diff('3')]);
  return runtime;
}

/** The questions about one thing, which are not to be asked again. */
const questions = ({ calls }: FakeRuntime): readonly string[] =>
  calls.filter((call) => /^(imageLayers|containerStatus)/.test(call));

describe('owners', () => {
  test('a layer counts once, however many images have it; containers and sandboxes count once each', async () => {
    expect((await new SnapshotOwners(world()).list(never))?.size).toBe(5);
  });

  test('nothing is asked twice', async () => {
    const runtime = world();
    const owners = new SnapshotOwners(runtime);
    await owners.list(never);
    expect(questions(runtime)).toEqual(['imageLayers sha256:a', 'imageLayers sha256:b', 'containerStatus c']);
    await owners.list(never);
    expect(questions(runtime)).toHaveLength(3);
    runtime.add(image('new'));
    runtime.layers.set('sha256:new', [diff('4')]);
    expect((await owners.list(never))?.size).toBe(6);
    expect(questions(runtime)).toHaveLength(4);
  });

  test('the layers of a removed image stay as long as a container of it', async () => {
    const runtime = world();
    const owners = new SnapshotOwners(runtime);
    await owners.list(never);
    await runtime.removeImage('sha256:a', never);
    expect((await owners.list(never))?.size).toBe(5);
    await runtime.removeContainer('c', never);
    expect((await owners.list(never))?.size).toBe(3);
  });

  test('of a container whose image was removed before we came nothing can be said', async () => {
    const runtime = world();
    await runtime.removeImage('sha256:a', never);
    expect(await new SnapshotOwners(runtime).list(never)).toBeUndefined();
  });

  test('a runtime that does not tell layers leaves it open', async () => {
    const runtime = world();
    runtime.layers.clear();
    expect(await new SnapshotOwners(runtime).list(never)).toBeUndefined();
  });

  test('an image mounted as a volume has a snapshot for each pod, which outlives its container', async () => {
    const runtime = world().add(container('d', { pod: 'web', imageId: 'sha256:a' }));
    for (const id of ['c', 'd']) runtime.statuses.set(id, { mountedImages: ['b'] });
    const owners = new SnapshotOwners(runtime);
    expect((await owners.list(never))?.size).toBe(7);
    await runtime.removeContainer('c', never);
    await runtime.removeContainer('d', never);
    expect((await owners.list(never))?.size).toBe(5);
    await runtime.removeSandbox('web-sandbox', never);
    expect((await owners.list(never))?.size).toBe(3);
  });

  test('only so much is asked in one look, the rest in the next', async () => {
    const runtime = world();
    const owners = new SnapshotOwners(runtime, 2);
    expect(await owners.list(never)).toBeUndefined();
    expect(questions(runtime)).toHaveLength(2);
    expect((await owners.list(never))?.size).toBe(5);
    expect(questions(runtime)).toHaveLength(3);
  });

  test('what a runtime before CRI 1.30 calls the image of a container is taken', async () => {
    const runtime = world();
    runtime.containers = [container('c', { pod: 'web', imageId: '', imageRef: 'sha256:a' })];
    expect((await new SnapshotOwners(runtime).list(never))?.size).toBe(5);
  });
});

describe('on a disk', () => {
  let base: string;
  let root: string;
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'dustpan-snapshots-'));
    root = join(base, 'io.containerd.snapshotter.v1.overlayfs');
  });
  afterEach(() => {
    rmSync(base, { recursive: true });
  });

  const make = (...names: readonly string[]): void => {
    for (const name of names) mkdirSync(join(root, 'snapshots', name), { recursive: true });
  };
  const finding = (...mountpoints: readonly string[]) => {
    const runtime = world();
    const images = mountpoints.map((mountpoint) => ({ mountpoint, usedBytes: 0, inodesUsed: 0 }));
    runtime.filesystems = { images, containers: [] };
    return { runtime, finder: new SnapshotFinder({ runtime }) };
  };

  test('counts what is there without an owner in two looks', async () => {
    make('1', '2', '3', '4', '5', '17', 'new-12345');
    const { finder } = finding(root);
    expect(await finder.find(never)).toBeUndefined();
    make('18');
    expect(await finder.find(never)).toEqual({ count: 1 });
    expect(await finder.find(never)).toEqual({ count: 2 });
    for (const name of ['17', '18']) rmdirSync(join(root, 'snapshots', name));
    expect(await finder.find(never)).toEqual({ count: 0 });
  });

  test.each([
    { name: 'another snapshotter', mountpoints: () => [join(base, 'io.containerd.snapshotter.v1.btrfs')] },
    { name: 'another runtime', mountpoints: () => ['/var/lib/containers/storage/overlay-images'] },
    { name: 'two snapshotters', mountpoints: () => [root, join(base, 'nydus')] },
    { name: 'no file system yet', mountpoints: () => [] },
  ])('$name: nothing is said, nothing is asked', async ({ mountpoints }) => {
    make('1');
    const { runtime, finder } = finding(...mountpoints());
    for (let i = 0; i < 3; i += 1) expect(await finder.find(never)).toBeUndefined();
    expect(new Set(runtime.calls)).toEqual(new Set(['fileSystems']));
  });

  test('a directory that is not mounted here is not known, which is not the same as empty', async () => {
    const { finder } = finding(root);
    for (let i = 0; i < 3; i += 1) expect(await finder.find(never)).toBeUndefined();
    mkdirSync(join(root, 'snapshots'), { recursive: true });
    expect(await finder.find(never)).toBeUndefined();
    expect(await finder.find(never)).toEqual({ count: 0 });
  });

  test('a disk that hangs is given up', async () => {
    make('1');
    const { runtime } = finding(root);
    const finder = new SnapshotFinder({ runtime, deadline: () => AbortSignal.abort() });
    await expect(finder.find(never)).rejects.toThrow('no response, the disk hangs');
  });
});
