// @bed node
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ContainerdClient } from '../../../src/containerd/client.ts';
import { criRuntime } from '../../../src/cri/client.ts';
import { governedNode } from '../../unit/agent/builders.ts';
import { leftoversAgent } from '../agent/leftovers-agent.ts';
import { crictl, runContainer, runSandbox } from '../node/crictl.ts';
import { busyboxImage, images } from '../node/image.ts';
import { addToLease } from '../node/leases.ts';
import { push } from '../node/push.ts';
import { RegistryGate } from '../node/registry-gate.ts';
import { seededRandom } from '../population/random.ts';
import { isContainerd17 } from '../programs/parts.ts';
import { startCluster, type Cluster } from '../servers/cluster.ts';

const minutes = Number(process.env['DUSTPAN_STRESS_MINUTES'] ?? 2);
const seed = Number(process.env['DUSTPAN_STRESS_SEED'] ?? Date.now() % 1_000_000);
const random = seededRandom(seed);
const socket = '/run/containerd/containerd.sock';
const { signal } = new AbortController();
const containerd = new ContainerdClient({ socket });
const policy = governedNode({ leftovers: { downloads: 'Remove', leases: 'Remove', snapshots: 'Remove' } });
/** An hour ahead, so that all that was left is old enough; what works on an object has to be seen by its progress. */
const { manager, reports } = leftoversAgent(
  { minutesAhead: 61, governance: policy },
  { runtime: criRuntime({ socket }), containerd },
);
/** ctr writes a MiB at once. */
const half = 3_000_000;

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
  containerd.close();
});

async function ctrIn(namespace: string, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await cluster.run('ctr', ['-n', namespace, ...args]);
  if (code !== 0) throw new Error(`ctr ${args.join(' ')}: ${stderr}`);
  return stdout;
}
const ctr = (...args: readonly string[]): Promise<string> => ctrIn('k8s.io', ...args);

/** Something that somebody uses. */
interface Used {
  readonly what: string;
  /** Whether it works as before. */
  readonly works: () => Promise<boolean>;
  /** Ends its use without a leftover; undefined = it stays. */
  readonly end?: () => Promise<unknown>;
}

const used: Used[] = [];
/** What dustpan has to remove in the end: nothing uses it. */
let left = 0;
let counter = 0;
const named = (kind: string): string => `${kind}-${(counter += 1)}`;
const hasText = (listing: Promise<string>, text: RegExp): Promise<boolean> =>
  listing.then((output) => text.test(output));

async function startByCtr(): Promise<void> {
  const name = named('by-ctr');
  await ctr('run', '-d', '--snapshotter', 'overlayfs', busyboxImage.ref, name, 'sleep', '3600');
  used.push({
    what: name,
    works: () => hasText(ctr('tasks', 'ls'), new RegExp(`${name}\\s+\\d+\\s+RUNNING`)),
    end: async () => {
      await ctr('tasks', 'rm', '-f', name);
      await ctr('containers', 'rm', name);
    },
  });
}

async function startByCri(): Promise<void> {
  const sandbox = await runSandbox(cluster, { name: named('pod') });
  const container = { name: 'main', image: busyboxImage.ref, command: ['sleep', '3600'] };
  const id = await runContainer(cluster, sandbox, container);
  used.push({
    what: `container ${id} of sandbox ${sandbox.id}`,
    works: async () =>
      (await crictl(cluster, 'ps', '-q', '--no-trunc', '--state', 'Running')).includes(id) &&
      (await crictl(cluster, 'pods', '-q', '--state', 'Ready', '--no-trunc')).includes(sandbox.id),
    end: () => crictl(cluster, 'rmp', '-f', sandbox.id),
  });
}

/** Pulls an image; a pass sees the half of it. */
async function pull(isKilled: boolean): Promise<void> {
  const name = named('pulled');
  const fill = { bytes: 2 * half, kind: 'random' } as const;
  const files = [{ path: name, data: Buffer.from(name) }];
  await push(cluster.registryUrl, { ref: `bed.test/${name}:1`, busybox: false, files, fill });
  gate.hold(half);
  const ref = `${host}/${name}:1`;
  const local = isContainerd17() ? [] : ['--local'];
  const args = ['-n', 'k8s.io', 'images', 'pull', ...local, '--plain-http', ref];
  const child = spawn(join(process.env['DUSTPAN_BED_BIN'] ?? '', 'ctr'), args, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const received = async (): Promise<boolean> =>
    ((await containerd.read(signal))?.get('k8s.io')?.ingests ?? []).some(
      ({ receivedBytes }) => receivedBytes > 1e6,
    );
  await expect.poll(received, { timeout: 60_000, interval: 100 }).toBe(true);
  await manager.collect(signal);
  if (isKilled) {
    child.kill('SIGKILL');
    await ended;
    gate.release();
    left += 1;
    return;
  }
  gate.release();
  expect(await ended, `the pull ${name} with seed ${seed}`).toEqual([0, null]);
  used.push({
    what: `image ${ref}`,
    works: () => hasText(ctr('images', 'check', `name==${ref}`), /complete .*true/),
    end: () => ctr('images', 'rm', ref),
  });
}

async function createLease(kind: 'left' | 'expires' | 'sandbox'): Promise<void> {
  const suffix = (counter += 1).toString(16);
  const id = kind === 'sandbox' ? suffix.padStart(64, 'a') : `${kind}-${suffix}`;
  await ctr('leases', 'create', '--id', id, '--expires', kind === 'expires' ? '24h' : '0');
  const { blobs = [] } = (await containerd.read(signal))?.get('k8s.io') ?? {};
  const blob = blobs[random.int(blobs.length)]?.digest ?? '';
  await addToLease(id, { type: 'content', id: blob });
  if (kind === 'left') left += 1;
  else
    used.push({
      what: `lease ${id}`,
      works: async () =>
        (await hasText(ctr('leases', 'ls'), new RegExp(id))) &&
        (await hasText(ctr('content', 'ls'), new RegExp(blob))),
    });
}

async function prepareSnapshot(): Promise<void> {
  const key = named('prepared');
  await ctr('snapshots', 'prepare', key);
  used.push({ what: `snapshot ${key}`, works: () => hasText(ctr('snapshots', 'ls'), new RegExp(key)) });
}

async function importElsewhere(): Promise<void> {
  const name = named('elsewhere');
  const archive = join(cluster.dir, `${name}.tar`);
  const files = [{ path: name, data: Buffer.from(name) }];
  await images([{ ref: `bed.test/${name}:1`, busybox: false, files }], archive);
  await ctrIn('other', 'images', 'import', '--no-unpack', archive);
  used.push({
    what: `image ${name} of another namespace`,
    works: () => hasText(ctrIn('other', 'images', 'check', `name~=${name}`), /complete/),
  });
}

async function restartContainerd(): Promise<void> {
  await cluster.kill('ctd');
  const passes = (): Promise<boolean> =>
    manager.collect(signal).then(
      () => true,
      () => false,
    );
  expect(await passes()).toBe(false);
  await cluster.start('ctd');
  await expect.poll(passes, { timeout: 60_000 }).toBe(true);
}

async function endOne(): Promise<void> {
  const ending = used.filter(({ end }) => end !== undefined);
  const one = ending[random.int(ending.length)];
  if (one === undefined) return;
  used.splice(used.indexOf(one), 1);
  await one.end?.();
}

type Action = () => Promise<void>;
const actions: readonly [Action, ...Action[]] = [
  startByCtr,
  startByCri,
  () => pull(false),
  () => pull(true),
  () => createLease('left'),
  () => createLease('expires'),
  () => createLease('sandbox'),
  prepareSnapshot,
  importElsewhere,
  endOne,
  endOne,
  endOne,
];

async function checkUsed(): Promise<void> {
  for (const { what, works } of used) expect(await works(), `${what} with seed ${seed}`).toBe(true);
}

test(
  'beside containers, pulls, leases and other namespaces that somebody uses only leftovers go',
  async () => {
    const endMs = performance.now() + minutes * 60_000;
    for (let round = 1; round <= actions.length || performance.now() < endMs; round += 1) {
      // Each once, then any.
      await (actions[round - 1] ?? random.pick(actions))();
      if (round % 15 === 0) await restartContainerd();
      await manager.collect(signal);
      if (round % 5 === 0) await checkUsed();
    }
    for (let i = 0; i < 2; i += 1) await manager.collect(signal);
    await checkUsed();
    const { inventory } = manager;
    if (inventory === undefined || 'unknown' in inventory) throw new Error('the leftovers are unknown');
    const kept = inventory.leftovers.map(({ reason }) => reason);
    expect([...new Set(kept)].toSorted(), `seed ${seed}`).toEqual(['HeldByOther', 'SandboxUnknown']);
    const removed = reports.reduce((sum, report) => sum + report.removed, 0);
    expect(removed).toBeGreaterThanOrEqual(left);
    expect(left).toBeGreaterThan(0);
  },
  (minutes + 8) * 60_000,
);
