import { setTimeout as sleep } from 'node:timers/promises';
import { startCluster, type Cluster, type User } from '../cluster/servers/cluster.ts';
import { etcdClient, type EtcdClient } from '../cluster/servers/etcd.ts';
import { apiClient, type ApiClient } from './api-client.ts';
import { progress } from './bench.ts';
import { usageOf } from './process.ts';

/** A running etcd and API server. */
export interface Servers extends AsyncDisposable {
  readonly cluster: Cluster;
  readonly etcd: EtcdClient;
  readonly api: ApiClient;
  readonly version: string;
}

/** Starts both with dustpan's CRDs, without an audit log. */
export async function startServers(users: readonly User[]): Promise<Servers> {
  progress('starting etcd and kube-apiserver');
  const cluster = await startCluster({ parts: ['etcd', 'api'], crds: true, users, api: { audit: false } });
  const [etcd, api] = [etcdClient(cluster.etcdUrl), apiClient(cluster)];
  const { gitVersion } = JSON.parse((await api.send('GET', '/version')).toString()) as { gitVersion: string };
  return {
    ...{ cluster, etcd, api, version: `Kubernetes ${gitVersion}` },
    [Symbol.asyncDispose]: () => {
      api.close();
      return cluster.stop();
    },
  };
}

/**
 * The API server's watch cache keeps the changes of the last 75 s (k8s.io/apiserver, watchCacheHistory) and needs more CPU for it.
 * Each measurement of deletes begins after this time, so that all meet the same server.
 */
export const historySeconds = 80;

const intervalMs = 2_000;
const idlePercent = 15;
/** 200 000 pods take minutes on a busy machine. */
const timeoutMs = 600_000;

/** Waits until etcd and the API server have processed the writes so far. */
export async function settled(cluster: Cluster): Promise<void> {
  const cpuMs = (): number =>
    1_000 * (usageOf(cluster.pid('etcd')).cpuSeconds + usageOf(cluster.pid('api')).cpuSeconds);
  const deadline = performance.now() + timeoutMs;
  let before = cpuMs();
  for (;;) {
    await sleep(intervalMs);
    const now = cpuMs();
    if ((now - before) * 100 < idlePercent * intervalMs) return;
    if (performance.now() > deadline) throw new Error(`the servers are still busy after ${timeoutMs} ms`);
    before = now;
  }
}
