import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../cluster/servers/cluster.ts';
import { PartProcess } from '../cluster/servers/part-process.ts';
import { freePorts } from '../cluster/servers/ports.ts';
import { statusOf } from '../cluster/servers/probe.ts';

/** Limits of the peer's client: its defaults, and the limits that a large cluster sets. */
export const peerLimits = { default: { qps: 20, burst: 30 }, raised: { qps: 1_000, burst: 2_000 } } as const;

interface PeerOptions {
  readonly threshold: number;
  readonly limits?: { readonly qps: number; readonly burst: number };
}

/** kube-controller-manager with only its pod garbage collector, not started yet. */
export async function peerProcess(
  cluster: Cluster,
  { threshold, limits = peerLimits.default }: PeerOptions,
): Promise<PartProcess> {
  const [port = 0] = await freePorts(1);
  const kubeconfig = cluster.kubeconfig('kcm');
  return new PartProcess({
    name: 'kube-controller-manager',
    command: join(process.env['DUSTPAN_BED_BIN'] ?? '', 'kube-controller-manager'),
    args: [
      ...['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'].map(
        (flag) => `--${flag}=${kubeconfig}`,
      ),
      '--bind-address=127.0.0.1',
      `--secure-port=${port}`,
      '--tls-cert-file=pki/server.crt',
      '--tls-private-key-file=pki/server.key',
      '--leader-elect=false',
      '--use-service-account-credentials',
      '--controllers=pod-garbage-collector-controller',
      `--terminated-pod-gc-threshold=${threshold}`,
      `--kube-api-qps=${limits.qps}`,
      `--kube-api-burst=${limits.burst}`,
    ],
    cwd: cluster.dir,
    logFile: join(cluster.dir, 'log/peer.log'),
    isReady: async () => {
      const ca = readFileSync(cluster.caFile, 'utf8');
      return (await statusOf(`https://127.0.0.1:${port}/healthz`, { ca })) === 200;
    },
  });
}
