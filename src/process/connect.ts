import { ConfigError } from '../kube/http/connection-errors.ts';
import { type ClusterConnection } from '../kube/auth/credentials.ts';
import { loadClusterConnection } from '../kube/auth/load.ts';
import { createTransport, type ApiCall, type HttpTransport } from '../kube/http/http-transport.ts';
import { systemClock as clock } from '../runtime/scheduling/clock.ts';
import type { KubeConfigSource } from './config.ts';
import type { PersonConnection } from './connection.ts';
import { UsageError } from './exit.ts';
import { userAgent } from '../runtime/version.ts';

const serviceAccount = '/var/run/secrets/kubernetes.io/serviceaccount';

export interface Connected {
  /** Address and credentials; the kubelet accepts the same credentials. */
  readonly connection: ClusterConnection;
  /** For lists, watches, status and Events: limited by --kube-api-qps. */
  readonly transport: HttpTransport;
  /** For deletions and their checks: limited only by the number in flight and by the server's status 429. */
  readonly acts: HttpTransport;
  /** For renewals of the lease: own connections, so that no other request can delay them. */
  readonly lease: HttpTransport;
  /** For the authorization of metrics readers: own limits, so that clients with ever new tokens cannot delay our work. */
  readonly reviews: HttpTransport;
  close(): void;
}

/** A person may override entries of the kubeconfig; the controller and the agent cannot. */
type Source = KubeConfigSource & Partial<PersonConnection>;

/** Opens connections to the API server; a configuration without a server is a usage error. */
export async function connect(
  config: { readonly kube: Source; readonly kubeApiQps: number; readonly kubeApiBurst: number },
  metrics: (call: ApiCall) => void,
): Promise<Connected> {
  const connection = await load(config.kube);
  const open = (limits: { qps?: number; burst?: number }): HttpTransport =>
    createTransport({
      ...connection,
      ...limits,
      clock,
      metrics,
      userAgent: userAgent(),
      requestTimeoutMs: config.kube.requestTimeoutMs,
    });
  const limits = { qps: config.kubeApiQps, burst: config.kubeApiBurst };
  const [transport, reviews] = [open(limits), open(limits)];
  const [acts, lease] = [open({}), open({})];
  return {
    connection,
    transport,
    acts,
    lease,
    reviews,
    close: () => {
      for (const one of [transport, acts, lease, reviews]) one.close();
    },
  };
}

/** Calls `use` with a connection for one command, without request limits, and closes it. */
export async function usingCluster<T>(
  kube: PersonConnection,
  use: (cluster: Connected) => Promise<T>,
): Promise<T> {
  const cluster = await connect({ kube, kubeApiQps: 0, kubeApiBurst: 1 }, () => undefined);
  try {
    return await use(cluster);
  } finally {
    cluster.close();
  }
}

async function load(source: Source): Promise<ClusterConnection> {
  const { kubeconfig, context, kubeconfigVariable, homes, serviceHost, servicePort } = source;
  const { overrides = { context }, impersonation, proxies } = source;
  const inCluster = {
    ...(serviceHost !== undefined && { host: serviceHost }),
    ...(servicePort !== undefined && { port: servicePort }),
    tokenFile: `${serviceAccount}/token`,
    caFile: `${serviceAccount}/ca.crt`,
  };
  try {
    return await loadClusterConnection(
      {
        kubeconfig,
        kubeconfigEnv: kubeconfigVariable,
        homes,
        inCluster,
        overrides,
        impersonation,
        proxies,
      },
      clock,
    );
  } catch (err) {
    if (err instanceof ConfigError) throw new UsageError([err.message]);
    throw err;
  }
}
