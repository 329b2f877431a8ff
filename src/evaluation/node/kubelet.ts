import type { ClusterConnection } from '../../kube/auth/credentials.ts';
import { KubeletUsage, type KubeletUsageOptions } from '../../node/kubelet/source.ts';
import type { KubeletAccess } from '../../process/config.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';

interface KubeletOfNode extends Pick<KubeletUsageOptions, 'devices'> {
  readonly name: string;
  readonly kubelet: KubeletAccess;
}

/** Runs one request to the kubelet of this node, as the user of the cluster's kubeconfig; rejects with KubeletError. */
export async function withKubelet<T>(
  { name, kubelet, devices }: KubeletOfNode,
  cluster: ClusterConnection,
  request: (kubelet: KubeletUsage) => Promise<T>,
): Promise<T> {
  const usage = new KubeletUsage({ ...kubelet, nodeName: name, cluster, clock, devices });
  try {
    return await request(usage);
  } finally {
    usage.close();
  }
}
