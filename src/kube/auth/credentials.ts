import type { Credentials, Endpoint, RequestHeaders, TlsMaterial } from '../http/endpoint.ts';
import type { Proxy } from '../http/proxy.ts';
import type { Clock } from '../../runtime/scheduling/clock.ts';

export interface ClusterConnection {
  readonly endpoint: Endpoint;
  readonly auth: Credentials;
  /** For a log line: the kubeconfig file and context, or `in-cluster`. */
  readonly source: string;
  readonly namespace?: string | undefined;
}

/** A bearer token that never changes. */
export function tokenCredentials(token: string): Credentials {
  const headers = bearer(token);
  return { headers: () => Promise.resolve(headers), refresh: () => undefined };
}

export const bearer = (token: string): RequestHeaders => ({ authorization: `Bearer ${token}` });

export interface Identity {
  readonly headers: RequestHeaders;
  readonly tls: TlsMaterial;
}

/**
 * Files are read again after this time, and a plugin whose credential has no expiry runs again, as in client-go. The kubelet replaces a projected
 * token at 80 % of its life of at least 10 minutes.
 */
const rereadMs = 60_000;

/** A source that needs longer may hang, for example a file on a network mount: the known identity serves meanwhile. */
const patienceMs = 2_000;

/** `isRejected`: the server has rejected the identity that was read last. */
type ReadIdentity = (isRejected: boolean, signal: AbortSignal) => Promise<Identity>;

interface Reading {
  readonly done: Promise<void>;
  readonly sinceMs: number;
}

/** Credentials that follow their source: it is read again after a minute, and at once after a rejection. */
export class RereadCredentials implements Credentials {
  readonly #read: ReadIdentity;
  readonly #clock: Pick<Clock, 'monotonicMs' | 'sleep'>;
  #identity: Identity | undefined;
  #readAtMs = -Infinity;
  #isRejected = false;
  /** At most one at a time: a hung read of a file occupies a thread until it ends. */
  #reading: Reading | undefined;

  constructor(read: ReadIdentity, clock: Pick<Clock, 'monotonicMs' | 'sleep'>) {
    this.#read = read;
    this.#clock = clock;
  }

  /** The endpoint of the server at this URL. Its TLS material follows the source. */
  endpoint(server: string, proxy?: Proxy): Endpoint {
    const material = (): TlsMaterial => this.#identity?.tls ?? {};
    return {
      server,
      proxy,
      get tls() {
        return material();
      },
    };
  }

  async headers(signal: AbortSignal): Promise<RequestHeaders> {
    if (this.#clock.monotonicMs() - this.#readAtMs >= rereadMs) await this.#update(signal);
    return this.#identity?.headers ?? {};
  }

  refresh(): void {
    this.#readAtMs = -Infinity;
    this.#isRejected = true;
  }

  async #update(signal: AbortSignal): Promise<void> {
    const { done, sinceMs } = (this.#reading ??= this.#begin(signal));
    if (this.#identity === undefined || this.#isRejected) {
      await done;
      return;
    }
    const leftMs = sinceMs + patienceMs - this.#clock.monotonicMs();
    if (leftMs <= 0) return;
    const timer = new AbortController();
    await Promise.race([done, this.#clock.sleep(leftMs, timer.signal)]).finally(() => timer.abort());
  }

  #begin(signal: AbortSignal): Reading {
    const done = this.#reread(signal).finally(() => (this.#reading = undefined));
    // It may fail when nobody waits for it any more.
    done.catch(() => undefined);
    return { done, sinceMs: this.#clock.monotonicMs() };
  }

  async #reread(signal: AbortSignal): Promise<void> {
    const isRejected = this.#isRejected;
    const { headers, tls } = await this.#read(isRejected, signal);
    const known = this.#identity?.tls;
    this.#identity = { headers, tls: known !== undefined && isSameTls(tls, known) ? known : tls };
    if (isRejected) this.#isRejected = false;
    this.#readAtMs = this.#clock.monotonicMs();
  }
}

function isSameTls(a: TlsMaterial, b: TlsMaterial): boolean {
  const material = ['ca', 'cert', 'key', 'servername', 'insecure'] as const;
  return material.every((name) => String(a[name]) === String(b[name]));
}
