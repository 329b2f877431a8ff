// @bed node diskMB=2048 loop
import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import type { NodeGCReportStatusUsage } from '../../../src/api/gen/nodegcreport.gen.ts';
import { usageClasses, type UsageClass } from '../../../src/agent/usage/facts.ts';
import { createOverruns, print, write } from '../local-storage/pods.ts';
import { busyboxImage } from '../node/image.ts';
import type { Cluster } from '../servers/cluster.ts';
import { waitUntil } from '../servers/waiting.ts';
import { startAgent } from './agent.ts';
import { measuring, readReport, startQuietNode } from './environment.ts';

const mebi = 1024 * 1024;
const kubeletRoot = '/var/lib/kubelet';
let cluster: Cluster;

beforeAll(async () => {
  cluster = await startQuietNode({
    images: [busyboxImage],
    // A rotated log is compressed.
    config: { ...measuring, containerLogMaxSize: '1Gi' },
  });
  await createOverruns(cluster, {
    writer: { emptyDirs: { data: '' }, main: { script: `${write('/data/x', 120)}; ${write('/layer', 80)}` } },
    logger: { main: { script: print(40) } },
    finished: { main: { script: `${write('/rest', 30)}; ${print(10)}` }, ends: true },
  });
  // No policy.
  await startAgent(cluster, { args: ['--local-storage-period=2s', '--container-gc-period=5s'] });
});

/** Writes so many MiB for each second that has passed into the emptyDir of the writer, and resolves when the disk is full, or when `signal` aborts. Not by the pod: a busy machine gives its container hardly any CPU. */
async function fill(mebiPerSecond: number, signal: AbortSignal): Promise<void> {
  const pods = join(kubeletRoot, 'pods');
  const volumes = readdirSync(pods).map((uid) => join(pods, uid, 'volumes/kubernetes.io~empty-dir/data'));
  const file = join(volumes.find((path) => existsSync(path)) ?? '', 'fill');
  const oneMebi = Buffer.alloc(mebi);
  const startedMs = performance.now();
  let written = 0;
  while (!signal.aborted) {
    const due = Math.floor(((performance.now() - startedMs) / 1_000) * mebiPerSecond);
    try {
      for (; written < due; written += 1) appendFileSync(file, oneMebi);
    } catch (err) {
      if ((err as NodeJS.ErrnoException).code === 'ENOSPC') return;
      throw err;
    }
    await sleep(1_000);
  }
}

async function reported(): Promise<NodeGCReportStatusUsage> {
  return (await readReport(cluster))?.usage ?? {};
}

/** As `du` counts, in bytes. */
const du = (path: string): number =>
  Number(execFileSync('sh', ['-c', `du -scB1 ${path} | tail -1 | cut -f1`], { encoding: 'utf8' }));

const isNear = (bytes: number | undefined, expected: number): boolean =>
  bytes !== undefined && Math.abs(bytes - expected) <= 0.05 * expected;

const dfUsed = (): number => {
  const { bsize, blocks, bfree } = statfsSync(kubeletRoot);
  return (blocks - bfree) * bsize;
};

const blobs = '/var/lib/containerd/io.containerd.content.v1.content/blobs/sha256';
const snapshots = '/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots';

test('a minute later the report has what du and df show, without a policy', async () => {
  const sizes = () => ({
    used: dfUsed(),
    data: du(`${kubeletRoot}/pods/*/volumes/kubernetes.io~empty-dir/data`),
    layer: du(`$(dirname ${snapshots}/*/fs/layer)`),
    logs: du('/var/log/pods/default_logger_*'),
  });
  await waitUntil(
    'the pods to have written',
    () => Promise.resolve(sizes().data > 119 * mebi && sizes().layer > 79 * mebi && sizes().logs > 39 * mebi),
    { timeout: 420_000 },
  );
  const of = ({ pods = [] }: NodeGCReportStatusUsage, one: string) => pods.find(({ name }) => name === one);
  await waitUntil('the report to agree', async () => {
    const usage = await reported();
    const { used, data, layer, logs } = sizes();
    const [disk] = usage.fileSystems ?? [];
    const pairs = [
      [disk?.usedBytes, used],
      [disk?.packedBytes, du(`${blobs}/*`)],
      [of(usage, 'writer')?.volumesBytes, data],
      [of(usage, 'writer')?.layersBytes, layer],
      [of(usage, 'logger')?.logsBytes, logs],
      // The kubelet measures it no more, and has kept its logs and its layer.
      [of(usage, 'finished')?.layersBytes, 30 * mebi],
      [of(usage, 'finished')?.logsBytes, du('/var/log/pods/default_finished_*')],
    ] as const;
    return pairs.every(([bytes, expected]) => isNear(bytes, expected));
  });
  const { fileSystems = [], namespaces = [], images = [], ...slots } = await reported();
  const [disk] = fileSystems;
  const classes = Object.keys(usageClasses) as UsageClass[];
  const total = classes.reduce((all, one) => all + (disk?.[one] ?? 0), 0);
  expect(Math.abs(total - (disk?.usedBytes ?? NaN))).toBeLessThan(classes.length);
  expect(disk?.otherBytes).toBeLessThan(total / 2);
  expect(namespaces).toMatchObject([{ name: 'default', pods: 3 }]);
  expect(slots).toMatchObject({ podSlots: 110, podSlotsTaken: 2 });
  expect(images.map(({ name, inUse }) => [name, inUse])).toContainEqual([busyboxImage.ref, true]);
});

test('the disk is full when the report says so, and names who fills it', async () => {
  const filling = new AbortController();
  onTestFinished(() => filling.abort());
  const filled = fill(3, filling.signal);
  const forecast = async () => {
    const { fileSystems: [disk] = [], forecast: text = '' } = await reported();
    return text.includes('EmptyDirs of namespace default grow') ? disk?.fullTime : undefined;
  };
  await waitUntil('a forecast', async () => (await forecast()) !== undefined, {
    timeout: 420_000,
    interval: 1_000,
  });
  // The growth is an average of minutes, and began with the first of them.
  await sleep(120_000);
  const predictedAt = Date.now();
  const predictedMs = Date.parse((await forecast()) ?? '') - predictedAt;
  await filled;
  const took = Date.now() - predictedAt;
  expect(Math.abs(predictedMs - took)).toBeLessThan(0.2 * took);
}, 1_800_000);
