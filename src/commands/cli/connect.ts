import { ConfigError } from '../../kube/http/connection-errors.ts';
import { type ClusterConnection } from '../../kube/auth/credentials.ts';
import { loadClusterConnection } from '../../kube/auth/load.ts';
import { createTransport, type ApiCall, type HttpTransport } from '../../kube/http/http-transport.ts';
import { systemClock as clock } from '../../runtime/scheduling/clock.ts';
import type { KubeConfigSource } from './config.ts';
import { UsageError } from './exit.ts';
import { userAgent } from '../version/version.ts';

const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface Connected {
  /** For a log line: where the credentials come from. */
  readonly source: string;
  /** Where a name without one is looked for; undefined = not said. */
  readonly namespace: string | undefined;
  /** What the ways below are made of: the kubelet takes the same credentials. */
  readonly connection: ClusterConnection;
  /** Lists, watches, status, Events: under --kube-api-qps. */
  readonly transport: HttpTransport;
  /** Deletes and the requests that belong to them: a fixed number in flight and the server's 429 limit them, so that limit does not. */
  readonly acts: HttpTransport;
  /** Renewals of the lease: their own connections, so that nothing can starve them. */
  readonly lease: HttpTransport;
  /** Who may read our metrics: under the limits too, but of their own, so that whoever asks with ever new tokens takes nothing from our work. */
  readonly reviews: HttpTransport;
  close(): void;
}

/** Opens the ways to the API server; a configuration that names none is a usage error. */
export async function connect(
  config: { readonly kube: KubeConfigSource; readonly kubeApiQps: number; readonly kubeApiBurst: number },
  metrics: (call: ApiCall) => void,
): Promise<Connected> {
  const connection = await load(config.kube);
  const open = (limits: { qps?: number; burst?: number }): HttpTransport =>
    createTransport({ ...connection, ...limits, clock, metrics, userAgent: userAgent() });
  const limits = { qps: config.kubeApiQps, burst: config.kubeApiBurst };
  const [transport, reviews] = [open(limits), open(limits)];
  const [acts, lease] = [open({}), open({})];
  return {
    source: connection.source,
    namespace: connection.namespace,
    ...{ connection, transport, acts, lease, reviews },
    close: () => {
      for (const one of [transport, acts, lease, reviews]) one.close();
    },
  };
}

async function load(source: KubeConfigSource): Promise<ClusterConnection> {
  const { kubeconfig, context, kubeconfigVariable, home, serviceHost, servicePort } = source;
  const inCluster = {
    ...(serviceHost !== undefined && { host: serviceHost }),
    ...(servicePort !== undefined && { port: servicePort }),
    tokenFile: `${serviceAccount}/token`,
    caFile: `${serviceAccount}/ca.crt`,
  };
  try {
    return await loadClusterConnection(
      { kubeconfig, context, kubeconfigEnv: kubeconfigVariable, home, inCluster },
      clock,
    );
  } catch (err) {
    if (err instanceof ConfigError) throw new UsageError([err.message]);
    throw err;
  }
}
