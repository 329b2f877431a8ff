import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { errorLine } from '../../runtime/errors.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';
import { ConfigError } from '../http/connection-errors.ts';
import type { ClusterConnection, Credentials, TlsMaterial } from './credentials.ts';

/** What a pod is given: KUBERNETES_SERVICE_HOST and PORT, and the files of its service account. */
export interface InClusterPaths {
  readonly host: string;
  readonly port: string;
  readonly tokenFile: string;
  readonly caFile: string;
}

/** The kubelet replaces a projected token at 80 % of its life, at least 10 minutes' worth: a minute is soon enough (client-go does the same). */
const rereadMs = 60_000;

/** Talks to the API server as the pod's service account, following rotations of token and CA. */
export async function inClusterConnection(
  paths: InClusterPaths,
  clock: Pick<Clock, 'monotonicMs'>,
): Promise<ClusterConnection> {
  const account = new ServiceAccount(paths, clock);
  await account.headers();
  const host = isIPv6(paths.host) ? `[${paths.host}]` : paths.host;
  const endpoint = {
    server: `https://${host}:${paths.port}`,
    get tls(): TlsMaterial {
      return account.tls;
    },
  };
  return { endpoint, auth: account, source: 'in-cluster' };
}

class ServiceAccount implements Credentials {
  readonly #paths: InClusterPaths;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  #headers: Readonly<Record<string, string>> | undefined;
  #tls: TlsMaterial = {};
  #readAtMs = -Infinity;
  #reading: Promise<void> | undefined;

  constructor(paths: InClusterPaths, clock: Pick<Clock, 'monotonicMs'>) {
    this.#paths = paths;
    this.#clock = clock;
  }

  get tls(): TlsMaterial {
    return this.#tls;
  }

  async headers(): Promise<Readonly<Record<string, string>>> {
    if (this.#clock.monotonicMs() - this.#readAtMs >= rereadMs) {
      this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
      await this.#reading;
    }
    return this.#headers ?? {};
  }

  refresh(): void {
    this.#readAtMs = -Infinity;
  }

  async #read(): Promise<void> {
    try {
      const [token, ca] = await Promise.all([
        readNonEmpty(this.#paths.tokenFile),
        readNonEmpty(this.#paths.caFile),
      ]);
      this.#headers = { authorization: `Bearer ${token.trim()}` };
      if (ca !== this.#tls.ca) this.#tls = { ca };
    } catch (err) {
      // A rotation half done: what we have is good for a while longer.
      if (this.#headers === undefined) throw err;
    }
    this.#readAtMs = this.#clock.monotonicMs();
  }
}

async function readNonEmpty(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch((err: unknown) => {
    throw new ConfigError(`service account: ${errorLine(err)}`);
  });
  if (text.trim() === '') throw new ConfigError(`service account: ${file} is empty`);
  return text;
}
