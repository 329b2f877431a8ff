// @bed node
import { mkdirSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { dustpanImage } from '../../../scripts/image/dustpan-image.ts';
import { chartDirectory } from './chart.ts';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import { runCommand } from '../servers/command.ts';
import { helm, kubectl } from '../servers/kubectl.ts';
import { repositoryRoot } from '../repository.ts';

/** A node whose containerd has the socket and the root of k3s, and the chart with `platform: k3s`. */
const root = '/var/lib/rancher/k3s/agent/containerd';
const namespace = 'dustpan-system';
let cluster: Cluster;

beforeAll(async () => {
  await bind('/var/lib/containerd', root);
  await bind('/run/containerd', '/run/k3s/containerd');
  cluster = await startCluster({
    parts: ['etcd', 'api', 'kcm', 'sched', 'ctd', 'kubelet'],
    ctd: { root },
    pinnedImages: [dustpanImage({ root: repositoryRoot() })],
  });
  const waited = ['--create-namespace', '--wait', '--timeout=300s'];
  await helm(
    cluster,
    'install',
    'dustpan',
    chartDirectory,
    '--namespace',
    namespace,
    // Its kubelet is not that of k3s.
    '--set=platform=k3s,platformCheck=false',
    ...waited,
  );
});

/** Mounts of the jail, which end with it. */
async function bind(from: string, to: string): Promise<void> {
  mkdirSync(to, { recursive: true });
  const { code, stderr } = await runCommand(['mount', '--bind', from, to], { env: process.env });
  if (code !== 0) throw new Error(stderr);
}

const see = (...args: readonly string[]): Promise<string> =>
  kubectl(cluster, [...args, '--namespace', namespace]);

test('the agent measures the images of this containerd', async () => {
  const shown = '-o=jsonpath={.items[*].status.imageFileSystem.mountpoint}';
  const mountpoint = () => see('get', 'nodegcreports', shown);
  await expect.poll(mountpoint, { timeout: 180_000, interval: 2_000 }).toMatch(new RegExp(`^${root}`));
});

test('the agent misses no mount, right or flag', async () => {
  const lines = (await see('logs', 'daemonset/dustpan-agent'))
    .split('\n')
    .filter((line) => line.startsWith('{'));
  const logged = lines.map((line) => JSON.parse(line) as { readonly level: string; readonly msg: string });
  expect(logged.map(({ msg }) => msg)).toContain('container runtime answers');
  expect(logged.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
});
