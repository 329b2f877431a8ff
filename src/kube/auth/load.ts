import { access, readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { delimiter, dirname, join } from 'node:path';
import { errorLine } from '../../runtime/errors.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { ConfigError } from '../http/connection-errors.ts';
import type { ProxyVariables } from '../http/proxy-choice.ts';
import { bearer, RereadCredentials, type ClusterConnection, type Identity } from './credentials.ts';
import { impersonationHeaders, type Impersonation } from './impersonation.ts';
import type { Overrides } from './context.ts';

/** The sources of a connection. The values come from flags and environment, which only the CLI reads. */
export interface ConnectionSources {
  /** `--kubeconfig`. */
  readonly kubeconfig?: string | undefined;
  readonly overrides?: Overrides | undefined;
  readonly impersonation?: Impersonation | undefined;
  /** Used with a kubeconfig only: in a pod, requests to the API server need no proxy. */
  readonly proxies?: ProxyVariables | undefined;
  /** `$KUBECONFIG`: a list of files. */
  readonly kubeconfigEnv?: string | undefined;
  /** Directories of which the first that has `.kube/config` counts. */
  readonly homes?: readonly string[] | undefined;
  readonly inCluster?: Partial<InClusterPaths> | undefined;
}

/** Uses the first source in the order of controller-runtime: flag, $KUBECONFIG, the pod's service account, the home directory. */
export async function loadClusterConnection(
  sources: ConnectionSources,
  clock: Clock,
): Promise<ClusterConnection> {
  const { kubeconfig, kubeconfigEnv, overrides = {}, impersonation, proxies } = sources;
  const from = async (files: readonly string[]): Promise<ClusterConnection> => {
    // A pod needs neither its code nor that of plugins.
    const { kubeconfigConnection } = await import('./kubeconfig.ts');
    return kubeconfigConnection({ files, overrides, impersonation, proxies }, clock);
  };
  if (kubeconfig) return from([kubeconfig]);
  const listed = filesIn(kubeconfigEnv ?? '');
  if (listed.length > 0) return from(await someExisting(listed));
  // The overrides name entries of a kubeconfig.
  const isOverridden = Object.values(overrides).some((one) => one !== undefined);
  const pod = isOverridden ? undefined : await serviceAccount(sources.inCluster);
  if (pod) return inClusterConnection({ ...pod, impersonation }, clock);
  const [home] = await existing((sources.homes ?? []).map(kubeconfigOf));
  if (home !== undefined) return from([home]);
  if (overrides.server !== undefined) return from([]);
  throw new ConfigError(
    'no kubeconfig: pass --kubeconfig FILE, set KUBECONFIG, create ~/.kube/config, or run in a pod with a service account',
  );
}

/** The kubeconfig files of these sources; empty if there are none. */
export async function kubeconfigFiles({
  kubeconfig,
  kubeconfigEnv = '',
  homes = [],
}: ConnectionSources): Promise<readonly string[]> {
  if (kubeconfig) return [kubeconfig];
  const listed = await existing(filesIn(kubeconfigEnv));
  if (listed.length > 0) return listed;
  return (await existing(homes.map(kubeconfigOf))).slice(0, 1);
}

const filesIn = (variable: string): readonly string[] =>
  variable.split(delimiter).filter((file) => file !== '');
const kubeconfigOf = (home: string): string => join(home, '.kube', 'config');

/** Skips missing files of $KUBECONFIG, as kubectl does. It is an error if all are missing. */
async function someExisting(files: readonly string[]): Promise<readonly string[]> {
  const left = await existing(files);
  if (left.length > 0) return left;
  throw new ConfigError(`no kubeconfig: KUBECONFIG names ${files.join(', ')}, which does not exist`);
}

async function existing(files: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(files.map(exists));
  return files.filter((_, i) => found[i]);
}

async function serviceAccount(pod: Partial<InClusterPaths> | undefined): Promise<InClusterPaths | undefined> {
  const { host, port, tokenFile, caFile } = pod ?? {};
  if (!host || !tokenFile || !caFile || !(await exists(tokenFile))) return undefined;
  return { host, port: port ?? '443', tokenFile, caFile };
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );

/** KUBERNETES_SERVICE_HOST and PORT of a pod, and the files of its service account. */
interface InClusterPaths {
  readonly host: string;
  readonly port: string;
  readonly tokenFile: string;
  readonly caFile: string;
  readonly impersonation?: Impersonation | undefined;
}

/** Connects to the API server with the pod's service account, following rotations of token and CA. */
async function inClusterConnection(
  paths: InClusterPaths,
  clock: Pick<Clock, 'monotonicMs' | 'sleep'>,
): Promise<ClusterConnection> {
  const auth = new RereadCredentials(rereadAccount(paths), clock);
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
function rereadAccount({ tokenFile, caFile, impersonation = {} }: InClusterPaths): () => Promise<Identity> {
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
