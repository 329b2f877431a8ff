import { startCluster, type Cluster, type User } from '../cluster/servers/cluster.ts';
import { etcdClient, type EtcdClient } from '../cluster/servers/etcd.ts';
import { waitUntil } from '../cluster/servers/waiting.ts';
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

const idle = { timeout: 600_000, interval: 2_000, percent: 15 };

/** Waits until etcd and the API server have processed the writes so far; 200 000 pods take minutes on a busy machine. */
export async function settled(cluster: Cluster): Promise<void> {
  const cpuMs = (): number =>
    1_000 * (usageOf(cluster.pid('etcd')).cpuSeconds + usageOf(cluster.pid('api')).cpuSeconds);
  let before = -Infinity;
  const isIdle = (): boolean => {
    const now = cpuMs();
    const used = now - before;
    before = now;
    return used * 100 < idle.percent * idle.interval;
  };
  await waitUntil('the servers are idle', isIdle, idle);
}
