import type { KubeConfig } from '@kubernetes/client-node';
import type { RequestOptions } from 'node:https';
import { errorLine } from '../../runtime/errors.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { isObject } from '../../api/json.ts';
import { ConfigError, DeadlineError } from '../http/connection-errors.ts';
import { proxyAt, type Proxy } from '../http/proxy.ts';
import { proxyFor, type ProxyVariables } from '../http/proxy-choice.ts';
import { bearer, RereadCredentials, type ClusterConnection, type Identity } from './credentials.ts';
import { runPlugin, type PluginCredential } from './exec-plugin.ts';
import { impersonationHeaders, impersonationOf, merged, type Impersonation } from './impersonation.ts';
import { adapted, readKubeconfig } from './kubeconfig-file.ts';
import { overridden, type Overrides } from './overrides.ts';

interface KubeconfigOptions {
  /** Merged as kubectl does: the first entry with a name counts. */
  readonly files: readonly string[];
  readonly overrides?: Overrides | undefined;
  readonly impersonation?: Impersonation | undefined;
  readonly proxies?: ProxyVariables | undefined;
}

/** Connects to the cluster of a kubeconfig. Only this loads client-node, which implements OIDC. */
export async function kubeconfigConnection(
  options: KubeconfigOptions,
  clock: Clock,
): Promise<ClusterConnection> {
  let { config, impersonation, plugin } = await loadKubeConfig(options);
  let credential: PluginCredential | undefined;
  const name = config.getCurrentContext();
  const server = config.getCurrentCluster()?.server ?? '';
  const namespace = config.getContextObject(name)?.namespace;
  const auth = new RereadCredentials(async (isRejected, signal) => {
    if (isRejected) ({ config, impersonation, plugin } = await loadKubeConfig(options));
    const isUsable =
      !isRejected && credential !== undefined && credential.expiresAtMs > clock.now().getTime();
    if (!isUsable)
      credential = plugin && (await gettingCredentials(options.files, runPlugin(plugin, signal)));
    const { headers, tls } = withCredential(
      identityOf(await authenticate(config, options.files)),
      credential,
    );
    return { headers: { ...headers, ...impersonationHeaders(impersonation) }, tls };
  }, clock);
  const source = `${options.files.join(', ')} (context ${name})`;
  const proxy = await proxyOf(config, options);
  return { endpoint: auth.endpoint(server, proxy), auth, source, namespace };
}

const placeOf = (files: readonly string[]): string =>
  files.length === 0 ? 'flags without a kubeconfig' : `kubeconfig ${files.join(', ')}`;

interface Loaded {
  readonly config: KubeConfig;
  readonly impersonation: Impersonation;
  readonly plugin: Readonly<Record<string, unknown>> | undefined;
}

async function loadKubeConfig({ files, overrides = {}, ...given }: KubeconfigOptions): Promise<Loaded> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  const where = placeOf(files);
  const raw = overridden(await readKubeconfig(files), overrides, where);
  try {
    config.loadFromString(JSON.stringify(adapted(raw)));
  } catch (err) {
    throw new ConfigError(`${where}: ${errorLine(err)}`);
  }
  checkContext(config, where);
  const user = raw.users.find((one) => one.name === config.getCurrentUser()?.name)?.['user'];
  const { exec, ...fields } = isObject(user) ? user : {};
  // client-node knows no groups and no uid.
  const impersonation = merged(given.impersonation ?? {}, impersonationOf(fields));
  if (impersonation.user === undefined && Object.keys(impersonationHeaders(impersonation)).length > 0)
    throw new ConfigError(`${where}: groups or a uid are impersonated without a user; add --as`);
  return { config, impersonation, plugin: isObject(exec) ? exec : undefined };
}

function checkContext(config: KubeConfig, where: string): void {
  const wrong = (what: string): ConfigError => new ConfigError(`${where}: ${what}`);
  // client-node types this as a string even if the file has none.
  const name = config.getCurrentContext() as string | undefined;
  if (!name) throw wrong('no current-context; choose one with --context or kubectl config use-context');
  const context = config.getContextObject(name);
  if (!context) throw wrong(`there is no context "${name}"`);
  const cluster = config.getCluster(context.cluster);
  if (!cluster) throw wrong(`context "${name}" needs cluster "${context.cluster}", which does not exist`);
  if (!URL.canParse(cluster.server))
    throw wrong(`cluster "${cluster.name}" has no valid server, such as https://10.0.0.1:6443`);
  if (context.user && !config.getUser(context.user))
    throw wrong(`context "${name}" needs user "${context.user}", which does not exist`);
}

/** undefined = direct connections. */
async function proxyOf(
  config: KubeConfig,
  { files, proxies = {} }: KubeconfigOptions,
): Promise<Proxy | undefined> {
  const { name = '', server = '', proxyUrl } = config.getCurrentCluster() ?? {};
  const where = `${placeOf(files)}: proxy-url of cluster "${name}"`;
  const url = proxyFor(new URL(server), proxyUrl ? { url: proxyUrl, where } : undefined, proxies);
  return url && (await proxyAt(url, new URL(server)));
}

async function authenticate(config: KubeConfig, files: readonly string[]): Promise<RequestOptions> {
  const options: RequestOptions = { headers: {} };
  await gettingCredentials(files, config.applyToHTTPSOptions(options));
  return options;
}

async function gettingCredentials<T>(files: readonly string[], getting: Promise<T>): Promise<T> {
  try {
    return await getting;
  } catch (err) {
    if (err instanceof DeadlineError) throw err;
    throw new ConfigError(`${placeOf(files)}: getting credentials: ${errorLine(err).trim()}`);
  }
}

/** A token of the kubeconfig takes precedence. */
const withCredential = ({ headers, tls }: Identity, credential: PluginCredential | undefined): Identity => ({
  headers: credential?.token === undefined ? headers : { ...bearer(credential.token), ...headers },
  tls: credential?.tls.cert === undefined ? tls : { ...tls, ...credential.tls },
});

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
