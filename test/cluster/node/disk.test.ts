// @bed node diskMB=512
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { archiveOf } from '../agent/environment.ts';
import { createOverruns, fillSteadily } from '../local-storage/pods.ts';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import { kubectl } from '../servers/kubectl.ts';
import { eventually } from '../servers/waiting.ts';
import { busyboxImage } from './image.ts';
import { summaryOf } from './kubelet-api.ts';

const diskBytes = 512 * 1024 * 1024;
const inodes = 32_768;

let cluster: Cluster;

beforeAll(async () => {
  const { archive } = await archiveOf([busyboxImage]);
  cluster = await startCluster({
    parts: ['etcd', 'api', 'kcm', 'ctd', 'kubelet'],
    // Under pressure, the kubelet removes unused images first.
    images: [{ archive, pinned: true }],
    kubelet: {
      config: {
        evictionHard: { 'nodefs.available': '60%', 'nodefs.inodesFree': '60%' },
        // Longer than the period at which the kubelet writes the node's status: it never writes a shorter condition.
        evictionPressureTransitionPeriod: '15s',
      },
    },
  });
});

afterAll(async () => {
  await cluster.stop();
});

const diskPressure = async (): Promise<string> => {
  const path = '{.status.conditions[?(@.type=="DiskPressure")].status}';
  return await kubectl(cluster, ['get', 'node', cluster.node.name, '-o', `jsonpath=${path}`]);
};

/** How much more free space and free inodes the kubelet reports than the kernel does. */
async function surplus(): Promise<readonly object[]> {
  const { fs, runtime } = (await summaryOf(cluster)).node;
  const { bavail, bsize, ffree } = statfsSync('/var/lib/kubelet');
  return [fs, runtime.imageFs].map(({ availableBytes, inodesFree }) => ({
    bytes: availableBytes - bavail * bsize,
    inodes: inodesFree - ffree,
  }));
}

test('pods, logs and images share one disk, and the kubelet reports its size, its inodes and what is free', async () => {
  for (const path of ['/var/lib/kubelet', '/var/log', '/var/lib/containerd', '/var/lib']) {
    const { blocks, bsize, files } = statfsSync(path);
    expect({ path, bytes: blocks * bsize, files }).toEqual({ path, bytes: diskBytes, files: inodes });
  }
  // The kubelet measures every 10 to 15 s.
  const none = { bytes: 0, inodes: 0 };
  await expect.poll(surplus, eventually).toEqual([none, none]);
  const { fs, runtime } = (await summaryOf(cluster)).node;
  const disk = { capacityBytes: diskBytes, inodes };
  expect([fs, runtime.imageFs]).toMatchObject([disk, disk]);
});

test('a pod that fills the disk at a steady rate brings the kubelet to DiskPressure, and is evicted', async () => {
  expect(await diskPressure()).toBe('False');
  await createOverruns(cluster, {
    filler: { emptyDirs: { data: '' }, main: { script: fillSteadily('/data', 8) } },
  });
  await expect.poll(diskPressure, eventually).toBe('True');
  const status = ['get', 'pod', 'filler', '-o', 'jsonpath={.status.reason}: {.status.message}'];
  await expect
    .poll(() => kubectl(cluster, status), eventually)
    .toMatch(/^Evicted: The node was low on resource: ephemeral-storage/);
  await expect.poll(diskPressure, eventually).toBe('False');
});

test('many empty files bring the kubelet to DiskPressure as well', async () => {
  const folder = '/var/log/many';
  mkdirSync(folder);
  for (let i = 0; i < inodes / 2; i++) writeFileSync(join(folder, `${i}`), '');
  await expect.poll(diskPressure, eventually).toBe('True');
  rmSync(folder, { recursive: true });
  await expect.poll(diskPressure, eventually).toBe('False');
});
