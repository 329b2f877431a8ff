import { startCluster } from '../../cluster/servers/cluster.ts';
import { busyboxImage, type ImageSpec } from '../../cluster/node/image.ts';
import { push, pushIndex } from '../../cluster/node/push.ts';
import { isContainerd17 } from '../../cluster/programs/parts.ts';
import type { RuntimeUnderTest } from './kubelet-side.ts';

/** Starts a real containerd. */
export async function startContainerd(): Promise<RuntimeUnderTest> {
  const cluster = await startCluster({ parts: ['ctd', 'registry'] });
  let built = 0;
  const spec = ([ref = '', ...tags]: readonly string[]): ImageSpec => {
    built += 1;
    return { ...busyboxImage, ref, tags, fill: { bytes: 10_000 + built, kind: 'random' } };
  };
  return {
    socket: '/run/containerd/containerd.sock',
    logRoot: '/var/log/pods',
    isContainerd17: isContainerd17(),
    image: async (tags) => {
      const [imported] = await cluster.importImages([spec(tags)]);
      return { id: imported?.id ?? '', tags };
    },
    push: async (references, { index = false } = {}) => {
      if (!index) return await push(cluster.registryUrl, spec(references));
      const { digest, own } = await pushIndex(cluster.registryUrl, spec(references));
      return { id: own.id, digest };
    },
    pause: () => cluster.kill('ctd', 'SIGSTOP'),
    resume: () => cluster.kill('ctd', 'SIGCONT'),
    kill: () => cluster.kill('ctd', 'SIGKILL'),
    start: () => cluster.start('ctd'),
    stop: () => cluster.stop(),
  };
}
