// @bed node
import { beforeAll, expect, test } from 'vitest';
import { ContainerdClient } from '../../../src/containerd/client.ts';
import type { Labels, NamespaceStore } from '../../../src/containerd/store.ts';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import { crictl, runSandbox } from '../node/crictl.ts';
import { busyboxImage } from '../node/image.ts';

const { signal } = new AbortController();
const ref = 'bed.test/labelled:1';
const pinned = 'io.cri-containerd.pinned';

let cluster: Cluster;
let containerd: ContainerdClient;

beforeAll(async () => {
  cluster = await startCluster({ parts: ['ctd'] });
  await cluster.importImages([{ ...busyboxImage, ref, fill: { bytes: 200_000, kind: 'random' } }]);
  containerd = new ContainerdClient({ socket: '/run/containerd/containerd.sock' });
});

async function kubernetes(): Promise<NamespaceStore> {
  const stored = (await containerd.read(signal))?.get('k8s.io');
  if (stored === undefined) throw new Error('containerd has no namespace k8s.io');
  return stored;
}

const labelsOf = async (name: string): Promise<Labels> =>
  (await kubernetes()).images.find((image) => image.name === name)?.labels ?? {};

const ctr = async (...args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await cluster.run('ctr', ['-n', 'k8s.io', ...args]);
  if (code !== 0) throw new Error(`ctr ${args.join(' ')}: ${stderr}`);
  return stdout;
};

test('labels of a name are set and removed beside those of others', async () => {
  const before = await labelsOf(ref);
  expect(before).toMatchObject({ 'io.cri-containerd.image': 'managed' });
  expect(
    await containerd.labelImage(ref, { [pinned]: 'pinned', 'gc.dustpan.dev/pinned': 'web' }, signal),
  ).toBe(true);
  expect(await labelsOf(ref)).toEqual({ ...before, [pinned]: 'pinned', 'gc.dustpan.dev/pinned': 'web' });
  expect((await containerd.imagesWith('gc.dustpan.dev/pinned', signal))?.map(({ name }) => name)).toEqual([
    ref,
  ]);
  await containerd.labelImage(ref, { [pinned]: '', 'gc.dustpan.dev/pinned': '' }, signal);
  expect(await containerd.imagesWith('gc.dustpan.dev/pinned', signal)).toEqual([]);
  expect(await labelsOf(ref)).toEqual(before);
  expect(await containerd.labelImage('bed.test/missing:1', { [pinned]: 'pinned' }, signal)).toBe(false);
});

test('sandboxes are listed where containerd keeps them apart from containers', async () => {
  const { id } = await runSandbox(cluster, { name: 'listed' });
  const { sandboxes, containers } = await kubernetes();
  const { stdout: version } = await cluster.run('ctr', ['--version']);
  expect(containers.map((one) => one.id)).toContain(id);
  expect(sandboxes.map((one) => one.id)).toEqual(/ v?1\./.test(version) ? [] : [id]);
  await crictl(cluster, 'rmp', '-f', id);
});

test('a lease is deleted once', async () => {
  await ctr('leases', 'create', '--id', 'left');
  expect(await containerd.deleteLease('left', signal)).toBe(true);
  expect(await containerd.deleteLease('left', signal)).toBe(false);
});

test('after a collection, what no name refers to is gone, and so is the lease that started it', async () => {
  const { images } = await kubernetes();
  const target = images.find(({ name }) => name === ref)?.target;
  const hasBlob = async (): Promise<boolean> =>
    (await kubernetes()).blobs.some(({ digest }) => digest === target);
  expect(await hasBlob()).toBe(true);
  const names = images.filter((image) => image.target === target).map(({ name }) => name);
  await ctr('images', 'rm', ...names);
  await containerd.collect(signal);
  expect(await hasBlob()).toBe(false);
  const { blobs, leases } = await kubernetes();
  expect(leases).toEqual([]);
  expect(blobs.length).toBeGreaterThan(0);
});
