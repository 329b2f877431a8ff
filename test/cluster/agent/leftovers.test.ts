// @bed node
import { statfsSync } from 'node:fs';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Leftover } from '../../../src/agent/leftovers/facts.ts';
import { LeftoversManager } from '../../../src/agent/leftovers/manager.ts';
import { leftoverMetrics } from '../../../src/agent/leftovers/metrics.ts';
import { ContainerdClient } from '../../../src/containerd/client.ts';
import type { NamespaceStore } from '../../../src/containerd/store.ts';
import { criRuntime } from '../../../src/cri/client.ts';
import { SnapshotDirectories } from '../../../src/node/storage/snapshots.ts';
import { FakeRecorder } from '../../fakes/cluster.ts';
import { RecordingLogger } from '../../fakes/recording-logger.ts';
import { crictl, runContainer, runSandbox } from '../node/crictl.ts';
import { busyboxImage } from '../node/image.ts';
import { addToLease } from '../node/leases.ts';
import { push } from '../node/push.ts';
import { RegistryGate } from '../node/registry-gate.ts';
import { isContainerd17 } from '../programs/parts.ts';
import { startCluster, type Cluster } from '../servers/cluster.ts';

const socket = '/run/containerd/containerd.sock';
const { signal } = new AbortController();
const patience = { timeout: 60_000, interval: 200 };
/** ctr writes a MiB at once. */
const half = 3_000_000;

const containerd = new ContainerdClient({ socket });
const runtime = criRuntime({ socket });
let cluster: Cluster;
let gate: RegistryGate;
let host: string;

beforeAll(async () => {
  cluster = await startCluster({ parts: ['ctd', 'registry'], images: [busyboxImage] });
  gate = new RegistryGate(cluster.registryUrl);
  host = new URL(await gate.listen()).host;
});

afterAll(async () => {
  await gate[Symbol.asyncDispose]();
});

async function ctr(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await cluster.run('ctr', ['-n', 'k8s.io', ...args]);
  if (code !== 0) throw new Error(`ctr ${args.join(' ')}: ${stderr}`);
  return stdout;
}

async function kubernetes(): Promise<NamespaceStore> {
  const stored = (await containerd.read(signal))?.get('k8s.io');
  if (stored === undefined) throw new Error('containerd has no namespace k8s.io');
  return stored;
}

function usedBytes(): number {
  const { bsize, blocks, bfree } = statfsSync('/var/lib/containerd');
  return (blocks - bfree) * bsize;
}

/** Passes of an agent whose clock is so many minutes ahead. */
async function found(minutes: number, passes = 1): Promise<LeftoversManager['inventory']> {
  const manager = new LeftoversManager({
    ...{ runtime, containerd, recorder: new FakeRecorder(), log: new RecordingLogger() },
    directories: new SnapshotDirectories({ runtime }),
    own: leftoverMetrics(new Registry()),
    clock: { now: () => new Date(new Date().getTime() + minutes * 60_000) },
    node: () => undefined,
  });
  for (let i = 0; i < passes; i += 1) await manager.collect(signal);
  return manager.inventory;
}

async function leftovers(minutes = 61): Promise<readonly Leftover[]> {
  const inventory = await found(minutes);
  if (inventory === undefined || 'unknown' in inventory)
    throw new Error(`unknown: ${inventory?.unknown ?? 'no pass'}`);
  return inventory.leftovers;
}

const ids = async (): Promise<readonly string[]> => (await leftovers()).map(({ id }) => id);

/** Starts to pull an image by `ctr` whose second half the registry holds back. */
async function startPull(name: string): Promise<ChildProcess> {
  await push(cluster.registryUrl, {
    ref: `bed.test/${name}:1`,
    busybox: false,
    files: [{ path: name, data: Buffer.from(name) }],
    fill: { bytes: 2 * half, kind: 'random' },
  });
  gate.hold(half);
  const local = isContainerd17() ? [] : ['--local'];
  const args = ['-n', 'k8s.io', 'images', 'pull', ...local, '--plain-http', `${host}/${name}:1`];
  const child = spawn(join(process.env['DUSTPAN_BED_BIN'] ?? '', 'ctr'), args, { stdio: 'ignore' });
  await expect.poll(() => isReceiving(name), patience).toBe(true);
  return child;
}

async function isReceiving(name: string): Promise<boolean> {
  const { blobs, leases, ingests } = await kubernetes();
  const digests = blobs
    .filter(({ labels }) => Object.values(labels).includes(name))
    .map(({ digest }) => digest);
  const lease = leases.find(({ resources }) => resources.some(({ id }) => digests.includes(id)));
  const received = ingests.filter(({ ref }) => lease?.resources.some(({ id }) => id === ref));
  return received.some(({ receivedBytes }) => receivedBytes > 1e6);
}

test('a working node has none, with running and ended containers', async () => {
  const sandbox = await runSandbox(cluster, { name: 'works' });
  await runContainer(cluster, sandbox, { name: 'main', image: busyboxImage.ref, command: ['sleep', '3600'] });
  await runContainer(cluster, sandbox, { name: 'ended', image: busyboxImage.ref, command: ['true'] });
  expect(await leftovers()).toEqual([]);
  expect(await found(61, 2)).toMatchObject({ directories: { withoutSnapshot: 0, missing: 0 } });
  await crictl(cluster, 'rmp', '-f', sandbox.id);
});

test('each kind is named, with its bytes and its holder', async () => {
  const stopped = await startPull('stopped');
  stopped.kill('SIGKILL');
  await once(stopped, 'exit');
  await ctr('leases', 'create', '--id', 'left', '--expires', '0');
  await ctr('leases', 'create', '--id', 'expires');
  const { blobs } = await kubernetes();
  const pulled = blobs.filter(({ labels }) => Object.values(labels).includes('stopped'));
  // One that refers to no other.
  const blob = pulled.find(({ labels }) => Object.keys(labels).length === 1)?.digest ?? '';
  await addToLease('left', 'content', blob);
  await ctr('snapshots', 'prepare', 'prepared');

  // All are younger than an hour.
  expect(await leftovers(0)).toEqual([]);
  const [download, lease, snapshot, ...more] = await leftovers();
  expect(download).toMatchObject({ kind: 'Download', name: '127.0.0.1/stopped', isLowerBound: false });
  expect(download?.bytes).toBeGreaterThan(1e6);
  expect(download?.bytes).toBeLessThan(half + 64 * 1024);
  expect(lease).toMatchObject({ kind: 'Lease', id: 'lease left', holder: 'lease left' });
  expect(lease?.bytes).toBeGreaterThan(0);
  const holder = 'label containerd.io/gc.root';
  expect(snapshot).toMatchObject({ kind: 'Snapshot', id: 'snapshot overlayfs/prepared', holder });
  expect(more).toEqual([]);

  // What is predicted for the download is freed with its lease.
  const before = usedBytes();
  expect(await containerd.deleteLease((download?.holder ?? '').replace('lease ', ''), signal)).toBe(true);
  expect(Math.abs(before - usedBytes() - (download?.bytes ?? 0))).toBeLessThan(64 * 1024);
  expect(await ids()).toEqual(['lease left', 'snapshot overlayfs/prepared']);
});
