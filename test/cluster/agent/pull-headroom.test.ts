// @bed node imageFsMB=384
import { statfsSync } from 'node:fs';
import { afterEach, beforeAll, expect, test } from 'vitest';
import type { NodeGCReportStatusImagesPull } from '../../../src/api/gen/nodegcreport.gen.ts';
import type { StoredPull } from '../../../src/api/image-space.ts';
import type { PlanDocument } from '../../../src/evaluation/plan/document.ts';
import { passesOf, type DustpanProcess } from '../servers/dustpan-process.ts';
import type { Cluster } from '../servers/cluster.ts';
import { runDustpan } from '../servers/command.ts';
import { kubectl } from '../servers/kubectl.ts';
import { eventually } from '../servers/waiting.ts';
import { busyboxImage, type ImageSpec } from '../node/image.ts';
import { pushIndex } from '../node/push.ts';
import { pullFrom } from '../node/registry.ts';
import { RegistryGate } from '../node/registry-gate.ts';
import { everySecond, onNode, startAgent } from './agent.ts';
import {
  applyPolicy,
  createPods,
  dueInDryRun,
  imageTags,
  metric,
  readReport,
  startQuietNode,
  untilPhases,
} from './environment.ts';

const mebi = 1024 * 1024;
const filled = (ref: string, mebibytes: number): ImageSpec => {
  return { ref, fill: { bytes: mebibytes * mebi, kind: 'random' } };
};
const unused = ['a', 'b', 'c', 'd'].map((name) => filled(`bed.test/unused:${name}`, 24));
const kept = filled('bed.test/kept:1', 24);
const staying = ['bed.test/busybox:1', 'bed.test/kept:1', 'bed.test/pause:1'];

/** No threshold removes an image: only the pull can. */
const policy = (pullHeadroom: boolean): object => ({
  imageGC: {
    ...{ highThresholdPercent: 100, lowThresholdPercent: 80, kubeletHighThresholdPercent: 100 },
    ...{ minimumAge: '1s', keep: ['bed.test/kept:*', 'bed.test/busybox:*'], pullHeadroom },
  },
});

let cluster: Cluster;
let agent: DustpanProcess;
let gate: RegistryGate;

const freeBytes = (): number => {
  const { bavail, bsize } = statfsSync('/var/lib/containerd');
  return bavail * bsize;
};

const tags = async (): Promise<readonly string[]> =>
  (await imageTags(cluster)).filter((tag) => !staying.includes(tag));
const allUnused = unused.map(({ ref }) => ref);

async function pulls(): Promise<readonly NodeGCReportStatusImagesPull[]> {
  return (await readReport(cluster))?.images?.pulls ?? [];
}

/** How often the kubelet has begun to pull. */
async function pullingEvents(): Promise<number> {
  const args = ['get', 'events', '--field-selector=reason=Pulling', '-o', 'jsonpath={.items[*].count}'];
  const counts = (await kubectl(cluster, args)).split(' ').map(Number);
  return counts.reduce((sum, count) => sum + count, 0);
}

beforeAll(async () => {
  cluster = await startQuietNode({ parts: ['registry'], images: [busyboxImage, kept, ...unused] });
  gate = new RegistryGate(cluster.registryUrl);
  pullFrom(await gate.listen(), { dir: cluster.dir, host: 'slow.test:5000' });
  // Packed and unpacked it takes 30 MiB more than are free. That of another platform does not count.
  const bytes = (freeBytes() + 30 * mebi) / 2;
  await pushIndex(cluster.registryUrl, filled('slow.test:5000/large:1', bytes / mebi));
  agent = await startAgent(cluster, { args: everySecond });
  await agent.ready();
  return async () => {
    await gate[Symbol.asyncDispose]();
  };
});

afterEach(() => {
  gate.release();
});

const large = { image: 'slow.test:5000/large:1', script: 'sleep 3600' };

test('without pullHeadroom no image is removed, and the pull fails', async () => {
  await applyPolicy(cluster, 'Enforce', policy(false));
  await createPods(cluster, { 'web-1': large });
  const reason = () =>
    kubectl(cluster, [
      'get',
      'pod',
      'web-1',
      '-o',
      'jsonpath={.status.containerStatuses[0].state.waiting.message}',
    ]);
  await expect.poll(reason, { ...eventually, timeout: 60_000 }).toContain('no space left on device');
  await passesOf(agent, 'imagegc', 2);
  expect(await tags()).toEqual(allUnused);
  const attempts = async () => (await pulls())[0]?.attempts;
  await expect.poll(attempts, { ...eventually, timeout: 90_000 }).toBeGreaterThan(1);
  const [seen = 0, begun] = [await attempts(), await pullingEvents()];
  expect(seen).toBeLessThanOrEqual(begun);
  await kubectl(cluster, ['delete', 'pod', 'web-1']);
  await expect.poll(pulls, eventually).toEqual([]);
});

test('with it, as many unused images as needed are removed while the pull waits for the registry: the pod starts', async () => {
  await applyPolicy(cluster, 'DryRun', policy(true));
  gate.hold(8 * mebi);
  await createPods(cluster, { 'web-1': large, 'web-2': large });
  await expect.poll(() => gate.held.length, eventually).toBe(1);
  await passesOf(agent, 'imagegc', 2);
  const due = await dueInDryRun(agent, 'imagegc', 'PullHeadroom');
  expect(due).toBeGreaterThan(0);
  expect(due).toBeLessThan(unused.length);

  const plan = JSON.parse(await runDustpan('plan', ...onNode(cluster), '-o', 'json')) as PlanDocument;
  const removed = plan.decisions.filter(({ reason: why }) => why === 'PullHeadroom');
  expect(removed).toHaveLength(due);

  const snapshot = await runDustpan('snapshot', '-', '--only-node', ...onNode(cluster));
  const { imagespace } = JSON.parse(snapshot) as { imagespace: { pulls: StoredPull[] } };
  const [received, ...more] = imagespace.pulls.map((one) => one.receivedBytes / one.totalBytes);
  expect(more).toEqual([]);
  expect(received).toBeGreaterThan(0.4);
  expect(received).toBeLessThan(0.6);

  // In mode DryRun nothing makes room for it.
  await expect.poll(async () => (await pulls())[0]?.fit, eventually).toBe('Off');
  const [pull, ...others] = await pulls();
  expect(others).toEqual([]);
  expect(pull).toMatchObject({ image: 'slow.test:5000/large:1', podCount: 2, fit: 'Off' });
  const { neededBytes = 0, availableBytes = 0 } = pull ?? {};
  expect(neededBytes).toBeGreaterThan(availableBytes);
  expect(await tags()).toEqual(allUnused);
  const why = await runDustpan('why', 'pod', 'web-2', `--kubeconfig=${cluster.kubeconfig('admin')}`);
  expect(why).toMatch(/Pod default\/web-\d \(and 1 more\) needs .+ more for/);

  await applyPolicy(cluster, 'Enforce', policy(true));
  await expect.poll(async () => (await tags()).length, eventually).toBe(unused.length - due);
  await passesOf(agent, 'imagegc', 2);
  expect(await tags()).toHaveLength(unused.length - due);
  expect(await metric(agent, 'dustpan_image_garbage_collected_total{reason="space"}')).toBe(due);

  gate.release();
  await untilPhases(cluster, { 'web-1': 'Running', 'web-2': 'Running' });
  await expect.poll(pulls, eventually).toEqual([]);
});
