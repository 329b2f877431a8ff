import { readFile } from 'node:fs/promises';
import type { OutgoingHttpHeaders } from 'node:http';
import { isObject } from '../../api/json.ts';
import { errorLine } from '../../runtime/errors.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { asText, type JsonObject } from '../codec/json.ts';
import { ConfigError, DeadlineError } from '../http/connection-errors.ts';
import { proxyAt } from '../http/proxy.ts';
import { proxyFor, type ProxyVariables } from '../http/proxy-choice.ts';
import { contextIn, type Context, type Overrides } from './context.ts';
import { bearer, RereadCredentials, type ClusterConnection, type Identity } from './credentials.ts';
import { runPlugin, type PluginCredential } from './exec-plugin.ts';
import { impersonationHeaders, impersonationOf, merged, type Impersonation } from './impersonation.ts';
import { readKubeconfig } from './kubeconfig-file.ts';

interface KubeconfigOptions {
  readonly files: readonly string[];
  readonly overrides?: Overrides | undefined;
  readonly impersonation?: Impersonation | undefined;
  readonly proxies?: ProxyVariables | undefined;
}

/** Connects to the cluster of a kubeconfig. */
export async function kubeconfigConnection(
  options: KubeconfigOptions,
  clock: Clock,
): Promise<ClusterConnection> {
  const { files, proxies = {} } = options;
  const where = files.length === 0 ? 'flags without a kubeconfig' : `kubeconfig ${files.join(', ')}`;
  let user = await readUser(options, where);
  let credential: PluginCredential | undefined;
  const auth = new RereadCredentials(async (isRejected, signal) => {
    if (isRejected) user = await readUser(options, where);
    const { exec } = user.context.user;
    const isUsable =
      !isRejected && credential !== undefined && credential.expiresAtMs > clock.now().getTime();
    try {
      if (!isUsable) credential = isObject(exec) ? await runPlugin(exec, signal) : undefined;
      return await identityOf(user, credential);
    } catch (err) {
      if (err instanceof DeadlineError) throw err;
      throw new ConfigError(`${where}: getting credentials: ${errorLine(err).trim()}`);
    }
  }, clock);
  const { name, namespace, clusterName, cluster, server } = user.context;
  const url = asText(cluster['proxy-url']);
  const configured = { url, where: `${where}: proxy-url of cluster "${clusterName}"` };
  const proxyUrl = proxyFor(new URL(server), url === '' ? undefined : configured, proxies);
  const proxy = proxyUrl && (await proxyAt(proxyUrl, new URL(server)));
  const source = `${files.join(', ')} (context ${name})`;
  return { endpoint: auth.endpoint(server, proxy), auth, source, namespace };
}

interface User {
  readonly context: Context;
  readonly impersonation: Impersonation;
  /** The value of the header Authorization that the `auth-provider` returns. */
  readonly provided: () => Promise<string | undefined>;
}

async function readUser(options: KubeconfigOptions, where: string): Promise<User> {
  const context = contextIn(await readKubeconfig(options.files), options.overrides ?? {}, where);
  const impersonation = merged(options.impersonation ?? {}, impersonationOf(context.user));
  if (impersonation.user === undefined && Object.keys(impersonationHeaders(impersonation)).length > 0)
    throw new ConfigError(`${where}: groups or a uid are impersonated without a user; add --as`);
  return { context, impersonation, provided: await providerOf(context.user['auth-provider']) };
}

/** Only this loads client-node, which implements OIDC and keeps its tokens. */
async function providerOf(authProvider: unknown): Promise<User['provided']> {
  if (!isObject(authProvider)) return () => Promise.resolve(undefined);
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  const cluster = { name: 'cluster', server: 'https://cluster', skipTLSVerify: false };
  config.loadFromClusterAndUser(cluster, { name: 'user', authProvider });
  return async () => {
    const headers: OutgoingHttpHeaders = {};
    await config.applyToHTTPSOptions({ headers });
    return asText(headers['Authorization']) || undefined;
  };
}

/** A token of the kubeconfig takes precedence, then its provider, then a password, then its plugin. */
async function identityOf(
  { context: { cluster, user }, impersonation, provided }: User,
  plugin: PluginCredential | undefined,
): Promise<Identity> {
  const { username, password, tokenFile } = user;
  const token = asText(tokenFile) === '' ? asText(user['token']) : await readFile(asText(tokenFile), 'utf8');
  const authorization = await provided();
  const basic = Buffer.from(`${asText(username)}:${asText(password)}`).toString('base64');
  return {
    headers: {
      ...(plugin?.token !== undefined && bearer(plugin.token)),
      ...(asText(username) !== '' && { authorization: `Basic ${basic}` }),
      ...(authorization !== undefined && { authorization }),
      ...(token !== '' && bearer(token.trim())),
      ...impersonationHeaders(impersonation),
    },
    tls: {
      ca: await pemIn(cluster, 'certificate-authority'),
      cert: plugin?.tls.cert ?? (await pemIn(user, 'client-certificate')),
      key: plugin?.tls.key ?? (await pemIn(user, 'client-key')),
      servername: asText(cluster['tls-server-name']) || undefined,
      insecure: cluster['insecure-skip-tls-verify'] === true,
    },
  };
}

/** As with kubectl, the field with the data takes precedence over the one with a file. */
async function pemIn(fields: JsonObject, name: string): Promise<Buffer | undefined> {
  const data = asText(fields[`${name}-data`]);
  if (data !== '') return Buffer.from(data, 'base64');
  const file = asText(fields[name]);
  return file === '' ? undefined : readFile(file);
}
