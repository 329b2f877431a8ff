import { access } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { ConfigError } from '../http/connection-errors.ts';
import type { ClusterConnection } from './credentials.ts';
import { inClusterConnection, type InClusterPaths } from './in-cluster.ts';
import { kubeconfigConnection } from './kubeconfig.ts';

/** The sources of a connection. The values come from flags and environment, which only the CLI reads. */
export interface ConnectionSources {
  /** `--kubeconfig`. */
  readonly kubeconfig?: string | undefined;
  /** `--context`; default the current one. */
  readonly context?: string | undefined;
  /** `$KUBECONFIG`: a list of files. */
  readonly kubeconfigEnv?: string | undefined;
  /** The directory that holds `.kube/config`. */
  readonly home?: string | undefined;
  readonly inCluster?: Partial<InClusterPaths> | undefined;
}

/** Uses the first source in the order of controller-runtime: flag, $KUBECONFIG, the pod's service account, the home directory. */
export async function loadClusterConnection(
  sources: ConnectionSources,
  clock: Pick<Clock, 'monotonicMs'>,
): Promise<ClusterConnection> {
  const { kubeconfig, kubeconfigEnv, context } = sources;
  if (kubeconfig) return kubeconfigConnection({ files: [kubeconfig], context }, clock);
  const listed = (kubeconfigEnv ?? '').split(delimiter).filter((file) => file !== '');
  if (listed.length > 0) return kubeconfigConnection({ files: await existing(listed), context }, clock);
  const pod = await serviceAccount(sources.inCluster);
  if (pod) return inClusterConnection(pod, clock);
  return kubeconfigConnection({ files: [await homeFile(sources.home)], context }, clock);
}

/** As kubectl, skips missing files of $KUBECONFIG. Without any file it is an error. */
async function existing(files: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(files.map(exists));
  const left = files.filter((_, i) => found[i]);
  if (left.length > 0) return left;
  throw new ConfigError(`no kubeconfig: KUBECONFIG names ${files.join(', ')}, which does not exist`);
}

async function serviceAccount(pod: Partial<InClusterPaths> | undefined): Promise<InClusterPaths | undefined> {
  const { host, port, tokenFile, caFile } = pod ?? {};
  if (!host || !tokenFile || !caFile || !(await exists(tokenFile))) return undefined;
  return { host, port: port ?? '443', tokenFile, caFile };
}

async function homeFile(home: string | undefined): Promise<string> {
  const file = join(home ?? '', '.kube', 'config');
  if (home && (await exists(file))) return file;
  throw new ConfigError(
    'no kubeconfig: pass --kubeconfig FILE, set KUBECONFIG, create ~/.kube/config, or run in a pod with a service account',
  );
}

const exists = (file: string): Promise<boolean> =>
  access(file).then(
    () => true,
    () => false,
  );
