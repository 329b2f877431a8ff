// @bed node
import { statfsSync } from 'node:fs';
import { spawn, type ChildProcess } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { LeftoverInventory } from '../../../src/agent/leftovers/facts.ts';
import type { NodeGovernance } from '../../../src/api/policy/node-governance.ts';
import { ContainerdClient } from '../../../src/containerd/client.ts';
import type { NamespaceStore } from '../../../src/containerd/store.ts';
import { criRuntime } from '../../../src/cri/client.ts';
import { governedNode } from '../../unit/agent/builders.ts';
import { leftoversAgent } from './leftovers-agent.ts';
import { crictl, runContainer, runSandbox } from '../node/crictl.ts';
import { busyboxImage, type ImageSpec } from '../node/image.ts';
import { addToLease } from '../node/leases.ts';
import { push } from '../node/push.ts';
import { pullFrom } from '../node/registry.ts';
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
  const url = await gate.listen();
  host = new URL(url).host;
  pullFrom(url, { dir: cluster.dir, host: 'gate.test' });
  // What the import of the images has left.
  await containerd.collect(signal);
});

afterAll(async () => {
  await gate[Symbol.asyncDispose]();
});

async function ctrIn(namespace: string, args: readonly string[], input?: string): Promise<string> {
  const { code, stdout, stderr } = await cluster.run('ctr', ['-n', namespace, ...args], input);
  if (code !== 0) throw new Error(`ctr ${args.join(' ')}: ${stderr}`);
  return stdout;
}
const ctr = (...args: readonly string[]): Promise<string> => ctrIn('k8s.io', args);

async function kubernetes(): Promise<NamespaceStore> {
  const stored = (await containerd.read(signal))?.get('k8s.io');
  if (stored === undefined) throw new Error('containerd has no namespace k8s.io');
  return stored;
}

function usedBytes(): number {
  const { bsize, blocks, bfree } = statfsSync('/var/lib/containerd');
  return (blocks - bfree) * bsize;
}

const silent = governedNode({ leftovers: undefined });
const removing = governedNode({ leftovers: { downloads: 'Remove', leases: 'Remove', snapshots: 'Remove' } });

/** An agent whose clock is so many minutes ahead. */
const agent = (minutes: number, governance: NodeGovernance = silent) =>
  leftoversAgent({ minutesAhead: minutes, governance }, { runtime, containerd });

async function leftovers(minutes = 61): Promise<LeftoverInventory['leftovers']> {
  const { manager } = agent(minutes);
  await manager.collect(signal);
  const { inventory } = manager;
  if (inventory === undefined || 'unknown' in inventory)
    throw new Error(`unknown: ${inventory?.unknown ?? 'no pass'}`);
  return inventory.leftovers;
}

const ids = async (): Promise<readonly string[]> => (await leftovers()).map(({ id }) => id);

const imageNamed = (name: string): ImageSpec => ({
  ref: `bed.test/${name}:1`,
  busybox: false,
  files: [{ path: name, data: Buffer.from(name) }],
  fill: { bytes: 2 * half, kind: 'random' },
});

/** Starts to pull an image by `ctr` whose second half the registry holds back. */
async function startPull(name: string): Promise<ChildProcess> {
  await push(cluster.registryUrl, imageNamed(name));
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
  const { manager } = agent(61, removing);
  for (let i = 0; i < 2; i += 1) await manager.collect(signal);
  expect(manager.inventory).toMatchObject({ directories: { withoutSnapshot: 0, missing: 0 } });
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
  await addToLease('left', { type: 'content', id: blob });
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

test('a removal frees interrupted pulls and leases, also after a restart of containerd; what somebody uses stays', async () => {
  const sandbox = await runSandbox(cluster, { name: 'beside' });
  await ctr('run', '-d', '--snapshotter', 'overlayfs', busyboxImage.ref, 'by-ctr', 'sleep', '3600');
  const likeSandbox = 'f'.repeat(64);
  await ctr('leases', 'create', '--id', likeSandbox, '--expires', '0');
  const stopped = await startPull('stopped-too');
  stopped.kill('SIGKILL');
  await once(stopped, 'exit');
  // The pull of the kubelet ends with containerd, and its lease stays.
  await push(cluster.registryUrl, imageNamed('killed'));
  const killed = crictl(cluster, 'pull', 'gate.test/killed:1').catch(() => 'killed');
  await expect.poll(() => isReceiving('killed'), patience).toBe(true);

  // All are younger than an hour.
  const now = agent(0, removing);
  for (let i = 0; i < 2; i += 1) await now.manager.collect(signal);
  expect(now.reports.map(({ removed }) => removed)).toEqual([0, 0]);

  const later = agent(61, removing);
  await later.manager.collect(signal);
  await cluster.kill('ctd');
  expect(await killed).toBe('killed');
  await expect(later.manager.collect(signal)).rejects.toThrow();
  expect(later.manager.inventory).toHaveProperty('unknown');
  await cluster.start('ctd');
  const continued = await startPull('continued');
  await later.manager.collect(signal);
  expect(later.reports.map(({ removed }) => removed)).toEqual([0, 0, 0]);
  gate.release();
  expect(await once(continued, 'exit')).toEqual([0, null]);

  const before = usedBytes();
  await later.manager.collect(signal);
  const report = later.reports.at(-1);
  expect(report).toMatchObject({ result: 'Succeeded', removed: 3 });
  expect(Math.abs(before - usedBytes() - (report?.freedBytes ?? 0))).toBeLessThan(128 * 1024);
  const kept = (await leftovers()).map(({ id }) => id);
  expect(kept).toEqual([`lease ${likeSandbox}`, 'snapshot overlayfs/prepared']);

  expect(await ctr('tasks', 'ls')).toMatch(/by-ctr\s+\d+\s+RUNNING/);
  const checked = await ctr('images', 'check', `name==${host}/continued:1`);
  expect(checked).toMatch(/complete \(3\/3\).*true/);
  const pods = await crictl(cluster, 'pods', '-q', '--state', 'Ready');
  expect(pods).toContain(sandbox.id);
  await runContainer(cluster, sandbox, { name: 'after', image: busyboxImage.ref, command: ['true'] });
});

const part = 3 * 2 ** 20;

/** Begins a download that no lease keeps. */
async function startIngest(ref: string): Promise<ChildProcess> {
  const args = ['-n', 'k8s.io', 'content', 'ingest', ref];
  const child = spawn(join(process.env['DUSTPAN_BED_BIN'] ?? '', 'ctr'), args, {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  child.stdin.write(Buffer.alloc(part, ref));
  await expect.poll(() => receivedBytes(ref), patience).toBe(part);
  return child;
}

const receivedBytes = async (wanted: string): Promise<number | undefined> =>
  (await kubernetes()).ingests.find(({ ref }) => ref === wanted)?.receivedBytes;

test('a download that was interrupted without a lease is aborted, one that goes on is not', async () => {
  const interrupted = await startIngest('interrupted');
  interrupted.kill('SIGKILL');
  await once(interrupted, 'exit');
  const going = await startIngest('going');
  const downloads = { downloads: 'Remove', leases: 'Report', snapshots: 'Report' } as const;
  const { manager, reports } = agent(61, governedNode({ leftovers: downloads }));
  await manager.collect(signal);
  going.stdin?.write(Buffer.alloc(part, 'going'));
  await expect.poll(() => receivedBytes('going'), patience).toBe(2 * part);

  const before = usedBytes();
  await manager.collect(signal);
  expect(reports.at(-1)).toMatchObject({ result: 'Succeeded', removed: 1, freedBytes: part });
  expect(await receivedBytes('interrupted')).toBeUndefined();
  expect(Math.abs(before - usedBytes() - part)).toBeLessThan(64 * 1024);
  going.stdin?.end();
  expect(await once(going, 'exit')).toEqual([0, null]);
});

/** Leases and snapshots as BuildKit makes them for a layer of its cache: a flat lease for the layer, one of the same name for a copy in another compression, and one for the build. */
async function build(namespace: string): Promise<() => Promise<void>> {
  const run = (...args: readonly string[]): Promise<string> => ctrIn(namespace, args);
  const lease = (id: string, expires: string, ...labels: readonly string[]): Promise<string> =>
    run('leases', 'create', '--id', id, '--expires', expires, ...labels);
  await lease('layer', '0', 'containerd.io/gc.flat=2026-01-01T00:00:00Z');
  await lease('layer-variants', '0');
  await lease('build', '2h');
  for (const key of ['step-1', 'step-2']) {
    await run('snapshots', 'prepare', key);
    await addToLease('layer', { type: 'snapshots/overlayfs', id: key }, namespace);
    // ctr sets it, BuildKit does not.
    await run('snapshots', 'label', key, 'containerd.io/gc.root=');
  }
  const text = `a copy in ${namespace}`;
  await ctrIn(namespace, ['content', 'ingest', 'copy'], text);
  const copy = `sha256:${createHash('sha256').update(text).digest('hex')}`;
  await addToLease('layer-variants', { type: 'content', id: copy }, namespace);
  return async () => {
    await run('snapshots', 'commit', 'committed', 'step-2');
    const leases = (await run('leases', 'ls', '-q')).split('\n');
    expect(leases).toEqual(expect.arrayContaining(['build', 'layer', 'layer-variants']));
    expect(await run('snapshots', 'ls')).toMatch(/committed.*Committed[^]*step-1.*Active/);
    expect(await run('content', 'get', copy)).toBe(text);
  };
}

test.each(['k8s.io', 'buildkit'])(
  'a build in the namespace %s goes on beside removals',
  async (namespace) => {
    const goesOn = await build(namespace);
    await ctr('leases', 'create', '--id', 'unused', '--expires', '0');
    const { manager } = agent(61, removing);
    for (let i = 0; i < 3; i += 1) await manager.collect(signal);
    // With it containerd's collector ran.
    expect(manager.lastRemoved.map(({ id }) => id)).toContain('lease unused');
    await goesOn();
  },
);
