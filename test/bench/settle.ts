import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../cluster/servers/cluster.ts';
import { cpuParts } from './cpu-parts.ts';

/**
 * The API server's watch cache keeps the changes of the last 75 s, both states of each pod of them, and grows for them (k8s.io/apiserver,
 * watchCacheHistory): who deletes so soon after others did finds a server that does more. As long a rest after each makes all alike.
 */
export const historySeconds = 80;

const lookMs = 2_000;
const idlePercent = 15;
/** 200 000 pods take minutes on a busy machine. */
const patienceMs = 600_000;

/** Resolves when etcd and the API server have digested what was written: until then they are slower than they are. */
export async function settled(cluster: Pick<Cluster, 'pid'>): Promise<void> {
  const deadline = performance.now() + patienceMs;
  let before = serverCpuSeconds(cluster);
  for (;;) {
    await sleep(lookMs);
    const now = serverCpuSeconds(cluster);
    if (((now - before) * 1_000 * 100) / lookMs < idlePercent) return;
    if (performance.now() > deadline) throw new Error(`the servers are still busy after ${patienceMs} ms`);
    before = now;
  }
}

function serverCpuSeconds(cluster: Pick<Cluster, 'pid'>): number {
  const { etcd, apiServer } = cpuParts(cluster);
  return etcd + apiServer;
}
