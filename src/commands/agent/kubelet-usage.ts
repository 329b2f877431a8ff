import type { ClusterConnection } from '../../kube/auth/credentials.ts';
import { KubeletUsage } from '../../node/kubelet/source.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import type { KubeletAccess } from '../cli/config.ts';

interface AskedKubelet {
  /** The node that it runs. */
  readonly name: string;
  readonly kubelet: KubeletAccess;
}

/** Asks the kubelet of this node once, as the user of the cluster's kubeconfig; rejects with KubeletError. */
export async function withKubelet<T>(
  { name, kubelet }: AskedKubelet,
  cluster: ClusterConnection,
  ask: (kubelet: KubeletUsage) => Promise<T>,
): Promise<T> {
  const usage = new KubeletUsage({ ...kubelet, nodeName: name, cluster, clock });
  try {
    return await ask(usage);
  } finally {
    usage.close();
  }
}
