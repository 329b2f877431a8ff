// @bed node
import { beforeAll, expect, test } from 'vitest';
import { dustpanImage } from '../../../scripts/image/dustpan-image.ts';
import { ContainerdClient } from '../../../src/containerd/client.ts';
import { policyManifest, unheldNodes } from '../../manifests.ts';
import { criResponse } from '../node/crictl.ts';
import { busyboxImage } from '../node/image.ts';
import { repositoryRoot } from '../repository.ts';
import { startCluster, type Cluster } from '../servers/cluster.ts';
import { apply, helm, kubectl } from '../servers/kubectl.ts';
import { eventually } from '../servers/waiting.ts';
import { chartDirectory } from './chart.ts';

/** What becomes of the pins of a real installation when its agents end. */
const namespace = 'dustpan-system';
const { signal } = new AbortController();
const containerd = new ContainerdClient({ socket: '/run/containerd/containerd.sock' });
const dustpan = dustpanImage({ root: repositoryRoot() });
let cluster: Cluster;

beforeAll(async () => {
  cluster = await startCluster({
    parts: ['etcd', 'api', 'kcm', 'sched', 'ctd', 'kubelet'],
    pinnedImages: [dustpan],
    images: [busyboxImage],
  });
  await helm(cluster, 'install', 'dustpan', chartDirectory, '-n', namespace, '--create-namespace', '--wait');
  const nodes = unheldNodes({ imageGC: { keep: [busyboxImage.ref] } });
  await apply(cluster, policyManifest('nodes', { mode: 'Enforce', nodes }));
});

const namesOfDustpan = async (): Promise<readonly string[]> =>
  ((await containerd.imagesWith('gc.dustpan.dev/pinned', signal)) ?? []).map(({ name }) => name);

/** The tags that CRI, and so the kubelet, shows as pinned. */
async function pinnedTags(): Promise<readonly string[]> {
  const { images } = await criResponse<{ images: { repoTags: string[]; pinned: boolean }[] }>(
    cluster,
    'images',
  );
  return images.flatMap(({ repoTags, pinned }) => (pinned ? repoTags : []));
}

const agents = async (): Promise<string> =>
  await kubectl(cluster, [
    '-n',
    namespace,
    'get',
    'pods',
    '-l',
    'app.kubernetes.io/component=agent',
    '-o',
    'name',
  ]);

const setImage = (image: string): Promise<string> =>
  kubectl(cluster, ['-n', namespace, 'set', 'image', 'daemonset/dustpan-agent', `agent=${image}`]);

test('the image on the keep list is pinned, and stays so while an upgrade cannot start its agent', async () => {
  await expect.poll(pinnedTags, eventually).toContain(busyboxImage.ref);
  const [names, before] = [await namesOfDustpan(), await agents()];
  expect(names.length).toBeGreaterThan(1);
  await setImage('bed.test/missing:1');
  const isReplaced = async (): Promise<boolean> => !(await agents()).includes(before.trim());
  await expect.poll(isReplaced, eventually).toBe(true);
  expect(await namesOfDustpan()).toEqual(names);
  await setImage(dustpan.ref);
  await kubectl(cluster, ['-n', namespace, 'rollout', 'status', 'daemonset/dustpan-agent', '--timeout=120s']);
});

test('after an uninstallation nothing of dustpan is pinned, although the policy is still there', async () => {
  const others = (await pinnedTags()).filter((tag) => tag !== busyboxImage.ref);
  await helm(cluster, 'uninstall', 'dustpan', '-n', namespace);
  await expect.poll(agents, eventually).toBe('');
  expect(await namesOfDustpan()).toEqual([]);
  expect((await pinnedTags()).toSorted()).toEqual(others.toSorted());
  expect(others).not.toEqual([]);
  expect(await kubectl(cluster, ['get', 'gcpolicies', '-o', 'name'])).toContain('nodes');
});
