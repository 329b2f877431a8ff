import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { dirname, join } from 'node:path';
import { errorLine } from '../../runtime/errors.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { ConfigError } from '../http/connection-errors.ts';
import { impersonationHeaders, type Impersonation } from './impersonation.ts';
import { bearer, RereadCredentials, type ClusterConnection, type Identity } from './credentials.ts';

/** KUBERNETES_SERVICE_HOST and PORT of a pod, and the files of its service account. */
export interface InClusterPaths {
  readonly host: string;
  readonly port: string;
  readonly tokenFile: string;
  readonly caFile: string;
  readonly impersonation?: Impersonation | undefined;
}

/** Connects to the API server with the pod's service account, following rotations of token and CA. */
export async function inClusterConnection(
  paths: InClusterPaths,
  clock: Pick<Clock, 'monotonicMs' | 'sleep'>,
): Promise<ClusterConnection> {
  const auth = new RereadCredentials(serviceAccount(paths), clock);
  await auth.headers(new AbortController().signal);
  const host = isIPv6(paths.host) ? `[${paths.host}]` : paths.host;
  // As kubectl in a pod: its namespace is the default.
  const namespace = await readFile(join(dirname(paths.tokenFile), 'namespace'), 'utf8').catch(() => '');
  return {
    endpoint: auth.endpoint(`https://${host}:${paths.port}`),
    auth,
    source: 'in-cluster',
    namespace: namespace.trim() || undefined,
  };
}

/** Keeps the known identity during an incomplete rotation: it remains valid for a while. */
function serviceAccount({ tokenFile, caFile, impersonation = {} }: InClusterPaths): () => Promise<Identity> {
  let known: Identity | undefined;
  return async () => {
    try {
      const [token, ca] = await Promise.all([readNonEmpty(tokenFile), readNonEmpty(caFile)]);
      known = { headers: { ...bearer(token.trim()), ...impersonationHeaders(impersonation) }, tls: { ca } };
      return known;
    } catch (err) {
      if (known === undefined) throw err;
      return known;
    }
  };
}

async function readNonEmpty(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((err: unknown) => {
    throw new ConfigError(`service account: ${errorLine(err)}`);
  });
  if (text.trim() === '') throw new ConfigError(`service account: ${file} is empty`);
  return text;
}
