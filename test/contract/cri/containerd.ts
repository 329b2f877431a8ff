import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startCluster } from '../../cluster/servers/cluster.ts';
import { busyboxImage, image } from '../../cluster/node/image.ts';
import type { RuntimeUnderTest } from './kubelet-side.ts';

/** Starts a real containerd. */
export async function startContainerd(): Promise<RuntimeUnderTest> {
  const folder = mkdtempSync(join(tmpdir(), 'dustpan-cri-'));
  const cluster = await startCluster({ parts: ['ctd'] });
  let built = 0;
  return {
    socket: '/run/containerd/containerd.sock',
    logRoot: '/var/log/pods',
    image: async (tags, { pinned = false } = {}) => {
      const archive = join(folder, `${(built += 1)}.tar`);
      const [ref = '', ...more] = tags;
      const { id } = await image(
        { ...busyboxImage, ref, tags: more, fill: { bytes: 10_000 + built, kind: 'random' } },
        archive,
      );
      await cluster.importImage({ archive, pinned });
      return { id, tags };
    },
    pause: () => cluster.kill('ctd', 'SIGSTOP'),
    resume: () => cluster.kill('ctd', 'SIGCONT'),
    kill: () => cluster.kill('ctd', 'SIGKILL'),
    start: () => cluster.start('ctd'),
    stop: async () => {
      await cluster.stop();
      rmSync(folder, { recursive: true });
    },
  };
}
