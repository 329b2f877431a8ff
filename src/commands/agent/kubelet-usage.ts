import type { ClusterConnection } from '../../kube/auth/credentials.ts';
import type { StorageUsage } from '../../api/local-storage.ts';
import { KubeletUsage, type KubeletUsageOptions } from '../../node/kubelet/source.ts';
import type { Logger } from '../../runtime/logging/logger.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import type { KubeletAccess } from '../cli/config.ts';

interface KubeletOfNode extends Pick<KubeletUsageOptions, 'devices'> {
  /** Name of the node. */
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

/** Reads the usage; logs values that cannot be, once for each set of them. */
export function loggedUsage(
  read: (signal: AbortSignal) => Promise<StorageUsage>,
  log: Logger,
): (signal: AbortSignal) => Promise<StorageUsage> {
  let logged = '';
  return async (signal) => {
    const usage = await read(signal);
    const impossible = usage.impossible.join(', ');
    if (impossible !== '' && impossible !== logged)
      log.warn({ impossible }, 'the kubelet reports impossible values, which count as unknown');
    logged = impossible;
    return usage;
  };
}
