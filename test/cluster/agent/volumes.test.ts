// @bed node diskMB=1024 loop
import { execFileSync } from 'node:child_process';
import { mkdirSync, statfsSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { TopView } from '../../../src/commands/top/view.ts';
import { overrunPod, write, type Overrun } from '../local-storage/pods.ts';
import { busyboxImage } from '../node/image.ts';
import type { Cluster } from '../servers/cluster.ts';
import { runDustpan } from '../servers/command.ts';
import { create } from '../servers/kubectl.ts';
import { waitUntil } from '../servers/waiting.ts';
import { startAgent } from './agent.ts';
import { measuring, readReport, startQuietNode } from './environment.ts';

const mebi = 1024 * 1024;
const disk = '/var/lib/claims';

/** A file system of 128 MiB, a tenth of which is reserved for root. */
function makeDisk(): void {
  mkdirSync(disk);
  execFileSync('truncate', ['--size', '128M', '/var/lib/claims.img']);
  execFileSync('mkfs.ext4', ['-q', '-m', '10', '/var/lib/claims.img']);
  // With autoclear: the kernel frees the device when it drops the mount.
  execFileSync('mount', ['-o', 'loop', '/var/lib/claims.img', disk]);
}

/** A claim and its volume. */
function claim(cluster: Cluster, name: string, source: object): readonly object[] {
  const common = { accessModes: ['ReadWriteOnce'], storageClassName: '' };
  const expressions = [{ key: 'kubernetes.io/hostname', operator: 'In', values: [cluster.node.name] }];
  return [
    {
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name },
      spec: {
        ...{ ...common, capacity: { storage: '1Gi' }, persistentVolumeReclaimPolicy: 'Retain', ...source },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: expressions }] } },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name, namespace: 'default' },
      spec: { ...common, resources: { requests: { storage: '1Gi' } }, volumeName: name },
    },
  ];
}

/** A pod with an emptyDir of 100Mi at /tmp, and these claims. */
function podOf(cluster: Cluster, name: string, claims: readonly string[], pod: Overrun): object {
  const volumes = [
    { name: 'scratch', emptyDir: { sizeLimit: '100Mi' } },
    ...claims.map((claimName) => ({ name: claimName, persistentVolumeClaim: { claimName } })),
  ];
  const mounts = volumes.map((volume) => ({ name: volume.name, mountPath: `/${volume.name}` }));
  const manifest = overrunPod(cluster.node.name, name, pod) as {
    readonly spec: { readonly containers: readonly object[] };
  };
  const containers = manifest.spec.containers.map((one) => ({ ...one, volumeMounts: mounts }));
  return { ...manifest, spec: { ...manifest.spec, volumes, containers } };
}

test('emptyDirs and claims of local volumes are listed with what df shows, and claims are no local storage', async () => {
  makeDisk();
  const cluster = await startQuietNode({ images: [busyboxImage], config: measuring });
  const script = `${write('/scratch/x', 40)}; ${write('/data/x', 60)}`;
  mkdirSync('/var/lib/host-path');
  await create(
    cluster,
    ...claim(cluster, 'data', { local: { path: disk } }),
    // The kubelet has no metrics of it.
    ...claim(cluster, 'host-path', { hostPath: { path: '/var/lib/host-path' } }),
    podOf(cluster, 'writer', ['data', 'host-path'], { main: { script } }),
    podOf(cluster, 'reader', ['data'], {}),
  );
  await startAgent(cluster, { args: ['--local-storage-period=2s', '--container-gc-period=5s'] });
  const volumes = async () => (await readReport(cluster))?.usage?.volumes ?? [];
  const isAsDf = async (): Promise<boolean> => {
    const { bsize, blocks, bavail, bfree, files, ffree } = statfsSync(disk);
    const found = (await volumes()).find(({ kind }) => kind === 'pvc');
    return (
      found?.usedBytes === (blocks - bfree) * bsize &&
      found.usedBytes > 60 * mebi &&
      found.limitBytes === blocks * bsize &&
      found.usedPercent === Math.round((100 * (blocks - bavail)) / blocks) &&
      found.inodesPercent === Math.round((100 * (files - ffree)) / files)
    );
  };
  await waitUntil('the claim to be measured', isAsDf, { timeout: 300_000 });
  const hasEmptyDir = async (): Promise<boolean> =>
    (await volumes()).some(
      ({ pod, kind, usedPercent }) => kind === 'emptyDir' && pod === 'writer' && usedPercent === 40,
    );
  await waitUntil('the emptyDir to be measured', hasEmptyDir, { timeout: 300_000 });

  const usage = (await readReport(cluster))?.usage;
  expect(usage?.volumes?.map(({ kind, name, pods }) => `${kind} ${name} ${pods}`).toSorted()).toEqual([
    'emptyDir scratch 1',
    'emptyDir scratch 1',
    'pvc data 2',
  ]);
  expect(usage?.volumes?.[0]).toMatchObject({ kind: 'pvc', namespace: 'default' });
  const writer = usage?.pods?.find(({ name }) => name === 'writer');
  expect(writer?.volumesBytes).toBeGreaterThanOrEqual(40 * mebi);
  expect(writer?.volumesBytes).toBeLessThan(41 * mebi);

  const admin = `--kubeconfig=${cluster.kubeconfig('admin')}`;
  const top = JSON.parse(await runDustpan('top', 'volumes', '-A', admin, '-o', 'json')) as TopView;
  expect(top.items).toMatchObject([
    { kind: 'pvc', name: 'data', pods: 2, nodes: [cluster.node.name] },
    { kind: 'emptyDir', pod: 'writer', limitBytes: 100 * mebi, usedPercent: 40 },
    { kind: 'emptyDir', pod: 'reader' },
  ]);

  writeFileSync(`${disk}/fill`, Buffer.alloc(10 * mebi));
  await waitUntil('the new value', isAsDf, { timeout: 300_000 });
}, 900_000);
