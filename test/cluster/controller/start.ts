import { startCluster, type Cluster } from '../servers/cluster.ts';
import { dustpanUser, startDustpan } from './dustpan.ts';
import type { DustpanProcess } from '../servers/dustpan-process.ts';

/** etcd and an API server that the controller may ask. */
export const startControlPlane = (): Promise<Cluster> =>
  startCluster({ parts: ['etcd', 'api'], crds: true, users: [dustpanUser] });

/** Passes a second apart, each so slow that what happens in the middle of one really does. */
export const slowPasses: readonly string[] = ['--pod-gc-period=1s', '--max-delete-qps=40'];

/** The controller of such a cluster. */
export const startController = (cluster: Cluster, args = slowPasses): Promise<DustpanProcess> =>
  startDustpan({ kubeconfig: cluster.kubeconfig(dustpanUser.name), dir: cluster.dir, args });
