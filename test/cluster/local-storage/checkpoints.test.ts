// @bed node
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { startAgent } from '../agent/agent.ts';
import { passesOf, type DustpanProcess } from '../servers/dustpan-process.ts';
import {
  applyPolicy,
  condition,
  createPods,
  dueInDryRun,
  readReport,
  startQuietNode,
} from '../agent/environment.ts';
import type { Cluster } from '../servers/cluster.ts';
import { eventually } from '../servers/waiting.ts';

/** Of the real kubelet. Its checkpoint API needs CRIU, which the test bed lacks: so the archives here have its names, but not its content. */
const root = '/var/lib/kubelet/checkpoints';
const hour = 3_600_000;

let cluster: Cluster;
let agent: DustpanProcess;

/** `checkpoint-POD_NAMESPACE-CONTAINER-TIME.tar`, in RFC 3339 without a fraction, as the kubelet names it. */
const nameOf = (owner: string, ageMs: number): string =>
  `checkpoint-${owner}-${new Date(Date.now() - ageMs).toISOString().replace(/\.\d+Z$/, 'Z')}.tar`;

function write(name: string, ageMs: number, bytes = 100_000): string {
  const path = join(root, name);
  writeFileSync(path, 'x'.repeat(bytes), { mode: 0o600 });
  const seconds = (Date.now() - ageMs) / 1000;
  utimesSync(path, seconds, seconds);
  return name;
}

const archive = (owner: string, ageMs: number): string => write(nameOf(owner, ageMs), ageMs);

const left = (names: readonly string[]): readonly string[] => {
  const all = readdirSync(root);
  return names.filter((name) => all.includes(name));
};

beforeAll(async () => {
  cluster = await startQuietNode();
});

let old: readonly string[];
let kept: readonly string[];

test('without a rule the archives are only counted', async () => {
  await expect.poll(() => existsSync(root), eventually).toBe(true);
  expect(statSync(root).mode & 0o777).toBe(0o700);
  const restored = archive('web_kube-system-main', 9 * hour);
  old = [archive('web_kube-system-main', 5 * hour), archive('web_kube-system-main', 4 * hour)];
  const elsewhere = join(cluster.dir, 'elsewhere.tar');
  writeFileSync(elsewhere, 'data');
  symlinkSync(elsewhere, join(root, nameOf('link_kube-system-main', 9 * hour)));
  mkdirSync(join(root, nameOf('directory_kube-system-main', 9 * hour)));
  kept = [
    restored,
    archive('web_kube-system-main', 2 * hour),
    archive('web_kube-system-side', 3 * hour),
    // Its runtime may still write it.
    write(nameOf('slow_kube-system-main', 9 * hour), 0),
    write(nameOf('slow_kube-system-main', 8 * hour), 0),
    write('notes.tar', 9 * hour),
    nameOf('link_kube-system-main', 9 * hour),
    nameOf('directory_kube-system-main', 9 * hour),
  ];
  // The kubelet refuses such an image. Other runtimes restore it.
  await createPods(cluster, { restored: { image: join(root, restored), script: 'true' } });
  await applyPolicy(cluster, 'Enforce', { containerGC: {} });
  agent = await startAgent(cluster, { args: ['--container-gc-period=1s'] });
  await expect
    .poll(async () => (await readReport(cluster))?.checkpoints, eventually)
    .toMatchObject({ total: 7, removable: 0, removableBytes: 0 });
  expect((await readReport(cluster))?.checkpoints?.bytes).toBeGreaterThanOrEqual(700_000);
});

test('mode DryRun counts what it would remove', async () => {
  await applyPolicy(cluster, 'DryRun', { checkpoints: { maxPerPod: 1 } });
  await expect.poll(() => dueInDryRun(agent, 'containergc', 'OldCheckpoint'), eventually).toBe(2);
  await passesOf(agent, 'containergc', 2);
  expect(left(old)).toEqual(old);
});

test('mode Enforce removes the oldest archives of each container, and nothing else', async () => {
  await applyPolicy(cluster, 'Enforce', { checkpoints: { maxPerPod: 1 } });
  await expect.poll(() => left(old), eventually).toEqual([]);
  await passesOf(agent, 'containergc', 3);
  expect(left(kept)).toEqual(kept);
  expect(readFileSync(join(cluster.dir, 'elsewhere.tar'), 'utf8')).toBe('data');
  const removed = (await agent.logs()).filter(({ msg }) => msg === 'removed checkpoint');
  expect(removed.map(({ path }) => String(path)).sort()).toEqual(old.map((name) => join(root, name)).sort());
  await expect
    .poll(async () => (await readReport(cluster))?.containers?.lastRemoved, eventually)
    .toContainEqual(expect.objectContaining({ kind: 'Checkpoint', reason: 'OldCheckpoint', bytes: 102_400 }));
  await expect.poll(() => condition(cluster, 'Degraded'), eventually).toBe('False AsPlanned');
});
