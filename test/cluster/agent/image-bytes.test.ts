// @bed node
import { statfsSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { ImageSpace } from '../../../src/api/image-space.ts';
import { freedByAll, imageSpace } from '../../../src/agent/imagegc/space.ts';
import { ContainerdClient } from '../../../src/containerd/client.ts';
import { criRuntime } from '../../../src/cri/client.ts';
import type { ContainerRuntime } from '../../../src/cri/runtime.ts';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import { crictl, runContainer, runSandbox } from '../node/crictl.ts';
import { busyboxImage, images, type ImageSpec } from '../node/image.ts';
import { addToLease } from '../node/leases.ts';

const { signal } = new AbortController();
const socket = '/run/containerd/containerd.sock';
const bases = [0.5e6, 1e6, 2e6, 4e6].map((bytes) => [{ path: 'base', data: randomBytes(bytes) }]);

/** Images on four bases and on busybox alone, two of three with a layer of their own. */
const specs = Array.from({ length: 24 }, (_, index): ImageSpec => {
  const base = bases[index % (bases.length + 1)];
  const kind = index % 2 === 0 ? 'random' : 'zeros';
  const fill = index % 3 === 0 ? undefined : ({ bytes: index * 50_000, kind } as const);
  return {
    ...busyboxImage,
    ref: `bed.test/shared:${index + 1}`,
    ...(base && { base }),
    ...(fill && { fill }),
  };
});

let cluster: Cluster;
let runtime: ContainerRuntime;
let containerd: ContainerdClient;
let ids: readonly string[];

beforeAll(async () => {
  cluster = await startCluster({ parts: ['ctd'] });
  ids = (await cluster.importImages(specs)).map(({ id }) => id);
  runtime = criRuntime({ socket });
  containerd = new ContainerdClient({ socket });
});

async function spaceNow(): Promise<ImageSpace> {
  const listed = await runtime.listImages(signal);
  return imageSpace((await containerd.read(signal)) ?? new Map(), listed, new Date());
}

function usedBytes(): number {
  const { bsize, blocks, bfree } = statfsSync('/var/lib/containerd');
  return (blocks - bfree) * bsize;
}

/** Removes images; what was predicted, and what the file system has lost. */
async function removed(
  some: readonly string[],
): Promise<{ readonly predicted: number; readonly freed: number }> {
  const predicted = freedByAll(
    some.map((id) => ({ target: { id } })),
    await spaceNow(),
  );
  const before = usedBytes();
  for (const id of some) await runtime.removeImage(id, signal);
  return { predicted, freed: before - usedBytes() };
}

const ctr = async (namespace: string, ...args: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await cluster.run('ctr', ['-n', namespace, ...args]);
  if (code !== 0) throw new Error(`ctr ${args.join(' ')}: ${stderr}`);
  return stdout;
};

async function lease(id: string, digest: string): Promise<void> {
  await ctr('k8s.io', 'leases', 'create', '--id', id);
  await addToLease(id, { type: 'content', id: digest });
}

test('what removals of images with shared layers free is predicted within 5 %', async () => {
  const sets: { readonly predicted: number; readonly freed: number }[] = [];
  while (sets.length < 50) {
    const left = [...ids].sort(() => Math.random() - 0.5);
    while (left.length > 0) sets.push(await removed(left.splice(0, 1 + Math.floor(Math.random() * 4))));
    await cluster.importImages(specs);
  }
  // A directory takes a block or two.
  const wrong = sets.filter(({ predicted, freed }) => Math.abs(freed - predicted) > 0.05 * freed + 16_384);
  expect(wrong).toEqual([]);
});

test('what a container, a lease or another namespace holds is not freed, and named', async () => {
  const [, used = '', leased = '', foreign = ''] = ids;
  const sandbox = await runSandbox(cluster, { name: 'holder' });
  await runContainer(cluster, sandbox, { name: 'main', image: used, command: ['sleep', '3600'] });
  const listed = await ctr('k8s.io', 'images', 'ls', `name==${specs[2]?.ref ?? ''}`);
  await lease('kept', /sha256:\w{64}/.exec(listed)?.[0] ?? '');
  const archive = join(cluster.dir, 'elsewhere.tar');
  await images(specs, archive);
  await ctr('elsewhere', 'images', 'import', '--no-unpack', archive);

  const { shares } = await spaceNow();
  const holders = (id: string) =>
    new Set(shares.filter((share) => share.images.includes(id)).map(({ heldBy }) => heldBy?.split(' ')[0]));
  expect(holders(used)).toContain('container');
  expect(holders(leased)).toContain('lease');
  expect(holders(foreign)).toContain('namespace');
  const { predicted, freed } = await removed([used, leased, foreign]);
  expect(Math.abs(freed - predicted)).toBeLessThanOrEqual(16_384);
  await crictl(cluster, 'rmp', '-f', sandbox.id);
});
