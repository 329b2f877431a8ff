import type { ContractServer } from '../../contract/server.ts';
import { startCluster, type Cluster, type ClusterOptions } from './cluster.ts';

/** A real API server for the contract suite, with etcd behind it and dustpan's CRDs installed. */
export async function startContractCluster(): Promise<ContractServer> {
  return contractServer(await startCrdCluster());
}

/** The same with its parts in reach, for tests that kill and start them again. */
export async function startCrdCluster(options: Partial<ClusterOptions> = {}): Promise<Cluster> {
  return await startCluster({ parts: ['etcd', 'api'], crds: true, ...options });
}

/** A cluster as the contract suite sees it. */
export function contractServer(cluster: Cluster): ContractServer {
  return {
    url: cluster.url,
    caFile: cluster.caFile,
    token: cluster.token('admin'),
    kubeconfigFile: cluster.kubeconfig('admin'),
    stop: () => cluster.stop(),
  };
}
