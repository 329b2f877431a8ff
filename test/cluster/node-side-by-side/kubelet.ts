import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../servers/cluster.ts';
import { kubeletFlags } from '../node/spec.ts';
import { PartProcess } from '../servers/part-process.ts';
import { statusOf } from '../servers/probe.ts';
import { waitUntil } from '../servers/waiting.ts';

const healthz = 'http://127.0.0.1:10248/healthz';
const startTimeoutMs = 120_000;

/** Runs a kubelet-quick with these flags in place of the node's kubelet, which has ended; resolves when it knows its pods. */
export async function startOtherKubelet(
  cluster: Cluster,
  args: readonly string[],
): Promise<Pick<PartProcess, 'kill'>> {
  const { DUSTPAN_BED_BIN: bin = '' } = process.env;
  const logFile = join(cluster.dir, 'log/other-kubelet.log');
  const kubelet = new PartProcess({
    name: 'other-kubelet',
    command: join(bin, 'kubelet-quick'),
    args: [...kubeletFlags(cluster.kubeconfig('kubelet'), cluster.node.address), ...args],
    cwd: cluster.dir,
    logFile,
    isReady: async () => (await statusOf(healthz)) === 200,
  });
  const before = heardOfPods(logFile);
  await kubelet.start(startTimeoutMs);
  await waitUntil('the kubelet to know its pods', () => Promise.resolve(heardOfPods(logFile) > before));
  return kubelet;
}

const heardOfPods = (logFile: string): number => {
  try {
    return readFileSync(logFile, 'utf8').split('"SyncLoop ADD" source="api"').length;
  } catch {
    return 0; // none has run yet
  }
};
