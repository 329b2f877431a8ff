import type { ClusterConnection } from '../../kube/auth/credentials.ts';
import { KubeletUsage } from '../../node/kubelet/source.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import type { KubeletAccess } from '../cli/config.ts';

interface KubeletOfNode {
  /** Name of the node. */
  readonly name: string;
  readonly kubelet: KubeletAccess;
}

/** Runs one request to the kubelet of this node, as the user of the cluster's kubeconfig; rejects with KubeletError. */
export async function withKubelet<T>(
  { name, kubelet }: KubeletOfNode,
  cluster: ClusterConnection,
  request: (kubelet: KubeletUsage) => Promise<T>,
): Promise<T> {
  const usage = new KubeletUsage({ ...kubelet, nodeName: name, cluster, clock });
  try {
    return await request(usage);
  } finally {
    usage.close();
  }
}
