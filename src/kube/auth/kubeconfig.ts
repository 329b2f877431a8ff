import type { KubeConfig } from '@kubernetes/client-node';
import type { RequestOptions } from 'node:https';
import { errorLine } from '../../runtime/errors.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { untilAborted } from '../http/abort.ts';
import { ConfigError } from '../http/connection-errors.ts';
import type { ClusterConnection, Credentials, TlsMaterial } from './credentials.ts';
import { readKubeconfig } from './kubeconfig-file.ts';

interface KubeconfigOptions {
  /** Merged as kubectl does: of two entries with one name the first counts. */
  readonly files: readonly string[];
  /** undefined = the current context. */
  readonly context?: string | undefined;
}

/** Certificate and token files are read again, a plugin whose credential names no end is run again, after this. */
const rereadMs = 60_000;

/** Talks to the cluster of a kubeconfig; loads client-node, which knows exec plugins and OIDC, only now. */
export async function kubeconfigConnection(
  options: KubeconfigOptions,
  clock: Pick<Clock, 'monotonicMs'>,
): Promise<ClusterConnection> {
  const account = new KubeconfigAccount(options, clock);
  const { server, context, namespace } = await account.load();
  const endpoint = {
    server,
    get tls(): TlsMaterial {
      return account.tls;
    },
  };
  return { endpoint, auth: account, source: `${options.files.join(', ')} (context ${context})`, namespace };
}

class KubeconfigAccount implements Credentials {
  readonly #options: KubeconfigOptions;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #config: KubeConfig | undefined;
  #headers: Readonly<Record<string, string>> = {};
  #tls: TlsMaterial = {};
  #appliedAtMs = -Infinity;
  #applying: Promise<void> | undefined;

  constructor(options: KubeconfigOptions, clock: Pick<Clock, 'monotonicMs'>) {
    this.#options = options;
    this.#clock = clock;
  }

  get tls(): TlsMaterial {
    return this.#tls;
  }

  async load(): Promise<{ server: string; context: string; namespace: string | undefined }> {
    this.#config = await loadKubeConfig(this.#options);
    const context = this.#config.getCurrentContext();
    return {
      server: this.#config.getCurrentCluster()?.server ?? '',
      context,
      namespace: this.#config.getContextObject(context)?.namespace,
    };
  }

  async headers(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    if (this.#clock.monotonicMs() - this.#appliedAtMs >= rereadMs) {
      this.#applying ??= this.#apply().finally(() => (this.#applying = undefined));
      await untilAborted(this.#applying, signal);
    }
    return this.#headers;
  }

  refresh(): void {
    this.#appliedAtMs = -Infinity;
    // client-node keeps a plugin's token inside this object.
    this.#config = undefined;
  }

  async #apply(): Promise<void> {
    this.#config ??= await loadKubeConfig(this.#options);
    const options = await authenticate(this.#config, this.#options.files);
    this.#headers = requestHeaders(options);
    const tls = tlsMaterial(options);
    if (!sameTls(tls, this.#tls)) this.#tls = tls;
    this.#appliedAtMs = this.#clock.monotonicMs();
  }
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
  // client-node types this as a string whatever the file says.
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
      `${where}: context "${name}" needs cluster "${context.cluster}", which is not there`,
    );
  if (context.user && !config.getUser(context.user))
    throw new ConfigError(`${where}: context "${name}" needs user "${context.user}", which is not there`);
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

function requestHeaders({ headers, auth }: RequestOptions): Record<string, string> {
  const given = Object.entries(headers ?? {}).map(([name, value]) => [
    name.toLowerCase(),
    String(value).trim(),
  ]);
  const basic = auth ? { authorization: `Basic ${Buffer.from(auth).toString('base64')}` } : {};
  return { ...basic, ...(Object.fromEntries(given) as Record<string, string>) };
}

function tlsMaterial({ ca, cert, key, servername, rejectUnauthorized }: RequestOptions): TlsMaterial {
  return {
    ca: pem(ca),
    cert: pem(cert),
    key: pem(key),
    servername,
    insecure: rejectUnauthorized === false,
  };
}

/** client-node hands out one PEM, where Node would also take a list. */
const pem = (value: RequestOptions['ca'] | RequestOptions['key']): Buffer | string | undefined =>
  typeof value === 'string' || Buffer.isBuffer(value) ? value : undefined;

function sameTls(a: TlsMaterial, b: TlsMaterial): boolean {
  const material = ['ca', 'cert', 'key', 'servername', 'insecure'] as const;
  return material.every((name) => String(a[name]) === String(b[name]));
}
