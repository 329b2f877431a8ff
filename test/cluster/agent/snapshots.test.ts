// @bed node
import { readdirSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { criRuntime } from '../../../src/cri/client.ts';
import type { ContainerRuntime } from '../../../src/cri/runtime.ts';
import { SnapshotFinder, SnapshotOwners } from '../../../src/node/storage/snapshots.ts';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import { crictl, runContainer, runSandbox } from '../node/crictl.ts';
import { busyboxImage } from '../node/image.ts';
import { isContainerd17 } from '../programs/parts.ts';

const directories = '/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots';
const { signal } = new AbortController();
const patience = { timeout: 90_000, interval: 200 };
const big = { ...busyboxImage, ref: 'bed.test/big:1', fill: { bytes: 1e6, kind: 'random' } } as const;

let cluster: Cluster;
let runtime: ContainerRuntime;
let bigId: string;

beforeAll(async () => {
  cluster = await startCluster({ parts: ['ctd'] });
  const [, built] = await cluster.importImages([busyboxImage, big]);
  bigId = built?.id ?? '';
  runtime = criRuntime({ socket: '/run/containerd/containerd.sock' });
});

async function ctr(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await cluster.run('ctr', ['-n', 'k8s.io', ...args]);
  if (code !== 0) throw new Error(`ctr ${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** The runtime's own names of its snapshots. */
const keys = async (): Promise<readonly string[]> =>
  (await ctr('snapshots', 'ls'))
    .split('\n')
    .slice(1)
    .flatMap((line) => line.split(/\s+/)[0] ?? [])
    .filter((key) => key !== '')
    .sort();

/** Counts twice, as the agent does ten minutes apart. */
async function counted(finder: SnapshotFinder): Promise<number | undefined> {
  await finder.find(signal);
  return (await finder.find(signal))?.count;
}

const sleeps = { image: big.ref, command: ['sleep', '3600'] };

test('finds the owner of every snapshot of a working node', async () => {
  const sandbox = await runSandbox(cluster, { name: 'owned' });
  await runContainer(cluster, sandbox, { ...sleeps, name: 'running' });
  await runContainer(cluster, sandbox, { name: 'ended', image: busyboxImage.ref, command: ['true'] });
  const owners = (await new SnapshotOwners(runtime).list(signal)) ?? new Set();
  expect([...owners].sort()).toEqual(await keys());
  expect(readdirSync(directories)).toHaveLength(owners.size);
  expect(await counted(new SnapshotFinder({ runtime }))).toBe(0);
  await crictl(cluster, 'rmp', '-f', sandbox.id);
});

// containerd 1.7 has no image volumes.
test.skipIf(isContainerd17())(
  'an image that is mounted as a volume has one snapshot for each pod',
  async () => {
    const sandbox = await runSandbox(cluster, { name: 'volume' });
    const mounts = [{ container_path: '/data', image: { image: big.ref }, readonly: true }];
    for (const name of ['one', 'two'])
      await runContainer(cluster, sandbox, {
        name,
        image: busyboxImage.ref,
        command: ['sleep', '3600'],
        mounts,
      });
    const ownerless = async (): Promise<number> =>
      (await keys()).length - ((await new SnapshotOwners(runtime).list(signal))?.size ?? 0);
    // Those of the test before may be on their way out.
    await expect.poll(ownerless, patience).toBe(0);
    await expect.poll(() => counted(new SnapshotFinder({ runtime })), patience).toBe(0);
    await crictl(cluster, 'rmp', '-f', sandbox.id);
  },
);

test('counts leaked snapshots, and no removed ones once the runtime has collected them', async () => {
  const finder = new SnapshotFinder({ runtime });
  const sandbox = await runSandbox(cluster, { name: 'leaks' });
  await runContainer(cluster, sandbox, { ...sleeps, name: 'main' });
  await expect.poll(() => counted(finder), patience).toBe(0);

  // ctr protects its snapshots from containerd's collection by a label.
  for (const key of ['leak-1', 'leak-2', 'collected']) await ctr('snapshots', 'prepare', key);
  await ctr('snapshots', 'label', 'collected', 'containerd.io/gc.root=');
  await crictl(cluster, 'rmi', bigId);
  // The container still uses the layers of the removed image.
  expect(readdirSync(directories).length).toBeGreaterThanOrEqual(6);
  await expect.poll(() => counted(finder), patience).toBe(2);
  // One that comes now cannot know whose they are.
  expect(await counted(new SnapshotFinder({ runtime }))).toBeUndefined();

  await crictl(cluster, 'rmp', '-f', sandbox.id);
  const gone = await finder.find(signal);
  expect(gone?.count).toBeGreaterThanOrEqual(2);
  await expect.poll(() => counted(finder), patience).toBe(2);
  await expect.poll(keys, patience).toHaveLength(3);

  for (const key of ['leak-1', 'leak-2']) await ctr('snapshots', 'rm', key);
  await expect.poll(() => counted(finder), patience).toBe(0);
});
