import type { KubeConfig } from '@kubernetes/client-node';
import type { RequestOptions } from 'node:https';
import { errorLine } from '../../runtime/errors.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { ConfigError } from '../http/connection-errors.ts';
import { RereadCredentials, type ClusterConnection, type Identity } from './credentials.ts';
import { readKubeconfig } from './kubeconfig-file.ts';

interface KubeconfigOptions {
  /** Merged as kubectl does: the first entry with a name counts. */
  readonly files: readonly string[];
  /** undefined = the current context. */
  readonly context?: string | undefined;
}

/** Connects to the cluster of a kubeconfig. Only this loads client-node, which implements exec plugins and OIDC. */
export async function kubeconfigConnection(
  options: KubeconfigOptions,
  clock: Pick<Clock, 'monotonicMs'>,
): Promise<ClusterConnection> {
  let config = await loadKubeConfig(options);
  const name = config.getCurrentContext();
  const server = config.getCurrentCluster()?.server ?? '';
  const namespace = config.getContextObject(name)?.namespace;
  const auth = new RereadCredentials(async (isRejected) => {
    // client-node keeps a plugin's token inside the config.
    if (isRejected) config = await loadKubeConfig(options);
    return identityOf(await authenticate(config, options.files));
  }, clock);
  const source = `${options.files.join(', ')} (context ${name})`;
  return { endpoint: auth.endpoint(server), auth, source, namespace };
}

async function loadKubeConfig({ files, context }: KubeconfigOptions): Promise<KubeConfig> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  const where = `kubeconfig ${files.join(', ')}`;
  const merged = await readKubeconfig(files);
  try {
    config.loadFromString(JSON.stringify(merged));
  } catch (err) {
    throw new ConfigError(`${where}: ${errorLine(err)}`);
  }
  if (context) config.setCurrentContext(context);
  checkContext(config, where);
  return config;
}

function checkContext(config: KubeConfig, where: string): void {
  // client-node types this as a string even if the file has none.
  const name = config.getCurrentContext() as string | undefined;
  if (!name)
    throw new ConfigError(
      `${where}: no current-context; choose one with --context or kubectl config use-context`,
    );
  const context = config.getContextObject(name);
  if (!context) throw new ConfigError(`${where}: there is no context "${name}"`);
  const cluster = config.getCluster(context.cluster);
  if (!cluster)
    throw new ConfigError(
      `${where}: context "${name}" needs cluster "${context.cluster}", which does not exist`,
    );
  if (context.user && !config.getUser(context.user))
    throw new ConfigError(`${where}: context "${name}" needs user "${context.user}", which does not exist`);
  if (cluster.proxyUrl)
    throw new ConfigError(`${where}: proxy-url of cluster "${cluster.name}" is not supported`);
}

async function authenticate(config: KubeConfig, files: readonly string[]): Promise<RequestOptions> {
  const options: RequestOptions = { headers: {} };
  try {
    await config.applyToHTTPSOptions(options);
  } catch (err) {
    throw new ConfigError(`kubeconfig ${files.join(', ')}: getting credentials: ${errorLine(err).trim()}`);
  }
  return options;
}

function identityOf(options: RequestOptions): Identity {
  const { ca, cert, key, servername, rejectUnauthorized } = options;
  return {
    headers: requestHeaders(options),
    tls: {
      ca: pem(ca),
      cert: pem(cert),
      key: pem(key),
      servername,
      insecure: rejectUnauthorized === false,
    },
  };
}

function requestHeaders({ headers, auth }: RequestOptions): Record<string, string> {
  const given = Object.entries(headers ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    String(value).trim(),
  ]);
  const basic = auth ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
  return { ...basic, ...(Object.fromEntries(given) as Record<string, string>) };
}

/** client-node returns one PEM, where Node also accepts a list. */
const pem = (value: RequestOptions['ca'] | RequestOptions['key']): Buffer | string | undefined =>
  typeof value === 'string' || Buffer.isBuffer(value) ? value : undefined;
