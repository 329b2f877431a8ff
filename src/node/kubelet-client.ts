import type { IncomingMessage } from 'node:http';
import * as https from 'node:https';
import { isIP } from 'node:net';
import { checkServerIdentity, createSecureContext, type PeerCertificate } from 'node:tls';
import { urlToHttpOptions } from 'node:url';
import { onAbort, untilAborted } from '../kube/abort.ts';
import type { ClusterConnection } from '../kube/credentials.ts';
import { errorCode } from '../runtime/errors.ts';
import { connectionFailure, isMistrust, KubeletError, refusal } from './kubelet-error.ts';
import { readTrust, type KubeletTrust, type TrustMaterial } from './kubelet-trust.ts';

export interface KubeletClientOptions {
  /** `https://IP:10250`. */
  readonly endpoint: string;
  /** The name that the kubelet's certificate is for; the endpoint's own host will do as well. */
  readonly nodeName: string;
  /** Who we are to the API server we are to the kubelet. */
  readonly cluster: ClusterConnection;
  readonly trust: KubeletTrust;
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
}

/** A summary takes the kubelet a second or two at most: it walks nothing for it. */
const defaultTimeoutMs = 10_000;
/** Twenty times that of a full node. */
const defaultMaxBytes = 32 * 1024 * 1024;
/** Of the answer to a request that was refused. */
const maxRefusalBytes = 4096;

interface Connections {
  readonly agent: https.Agent;
  /** That they were made with: other material means new ones. */
  readonly tls: ClusterConnection['endpoint']['tls'];
  readonly material: TrustMaterial;
}

/** GET from this node's kubelet over one connection that is kept. */
export class KubeletClient {
  readonly #options: KubeletClientOptions;
  readonly #url: URL;
  #connections: Connections | undefined;

  constructor(options: KubeletClientOptions) {
    this.#options = options;
    this.#url = new URL(options.endpoint);
  }

  /** Hands on the body as it comes; each try has a `start` of its own, so that the second does not add to the first. Rejects with KubeletError. */
  async get(path: string, start: () => (chunk: Buffer) => void, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const old = new Set<Renewable>();
    for (;;) {
      try {
        await this.#once(path, start(), signal);
        return;
      } catch (err) {
        signal.throwIfAborted();
        const what = renewable(err);
        if (what === undefined || old.has(what)) throw this.#explained(err);
        old.add(what);
        this.#renew(what);
      }
    }
  }

  close(): void {
    this.#connections?.agent.destroy();
    this.#connections = undefined;
  }

  #renew(what: Renewable): void {
    if (what === 'token') this.#options.cluster.auth.refresh();
    if (what === 'trust') this.close();
  }

  #explained(err: unknown): KubeletError {
    if (err instanceof KubeletError) return err;
    if (err instanceof StatusError) return refusal(err.status, err.path, err.answer);
    const { endpoint, nodeName } = this.#options;
    const names = [...new Set([nodeName, this.#host])];
    const cause = err instanceof StaleError ? err.cause : err;
    return connectionFailure(cause, endpoint, { tried: this.#connections?.material.tried ?? [], names });
  }

  async #once(path: string, sink: (chunk: Buffer) => void, signal: AbortSignal): Promise<void> {
    const headers = await untilAborted(this.#options.cluster.auth.headers(signal), signal);
    // Only now: the headers bring the TLS material up to date, of which a kubeconfig has none before.
    const { agent } = await this.#connected();
    const { timeoutMs = defaultTimeoutMs, maxBytes = defaultMaxBytes } = this.#options;
    const request = https.get({
      ...this.#address,
      ...{ agent, path: `${this.#url.pathname.replace(/\/+$/, '')}${path}` },
      headers: { ...headers, 'user-agent': 'dustpan', accept: 'application/json' },
    });
    const deadline = AbortSignal.timeout(timeoutMs);
    const end = (): void => void request.destroy();
    const forget = [onAbort(signal, end), onAbort(deadline, end)];
    try {
      await received(request, { path, sink, maxBytes });
    } catch (err) {
      // Not after a success: where the answer overtook the end of the request, that would break the connection that is to be kept.
      request.destroy();
      if (!deadline.aborted) throw err;
      const what = `the kubelet ${this.#options.endpoint} did not answer ${path} within ${timeoutMs / 1000} s`;
      throw new KubeletError(what, 'deadline');
    } finally {
      for (const one of forget) one();
    }
  }

  get #address(): Pick<https.RequestOptions, 'hostname' | 'port'> {
    const { hostname, port } = urlToHttpOptions(this.#url);
    return { hostname, port };
  }

  get #host(): string {
    return this.#url.hostname.replace(/^\[|\]$/g, '');
  }

  async #connected(): Promise<Connections> {
    const { trust, cluster, nodeName } = this.#options;
    const { tls } = cluster.endpoint;
    if (this.#connections !== undefined && this.#connections.tls === tls) return this.#connections;
    this.close();
    const material = trust.isInsecure ? { ca: [], tried: [] } : await readTrust(trust, tls);
    if (!trust.isInsecure && material.ca.length === 0)
      throw connectionFailure(noCa, this.#options.endpoint, { ...material, names: [] });
    const agent = new https.Agent({
      keepAlive: true,
      maxSockets: 1,
      // Some nodes are named by their address, which is no name to ask for.
      servername: isIP(nodeName) === 0 ? nodeName : '',
      rejectUnauthorized: !trust.isInsecure,
      secureContext: createSecureContext({
        ca: trust.isInsecure ? undefined : [...material.ca],
        cert: tls?.cert,
        key: tls?.key,
      }),
      checkServerIdentity: (_, certificate) => this.#checked(certificate),
    });
    this.#connections = { agent, material, tls };
    return this.#connections;
  }

  #checked(certificate: PeerCertificate): Error | undefined {
    const wrong = checkServerIdentity(this.#options.nodeName, certificate);
    return wrong === undefined || checkServerIdentity(this.#host, certificate) === undefined
      ? undefined
      : wrong;
  }
}

const noCa = Object.assign(new Error('there is no CA'), { code: 'UNABLE_TO_GET_ISSUER_CERT' });

/** What may only have become old since the last request. */
type Renewable = 'token' | 'trust' | 'connection';

function renewable(err: unknown): Renewable | undefined {
  if (err instanceof StatusError) return err.status === 401 ? 'token' : undefined;
  if (err instanceof StaleError) return 'connection';
  return !(err instanceof KubeletError) && isMistrust(errorCode(err) ?? '') ? 'trust' : undefined;
}

/** An answer that is a refusal. */
class StatusError extends Error {
  readonly status: number;
  readonly path: string;
  readonly answer: string;

  constructor(status: number, path: string, answer: string) {
    super(`status ${status}`);
    this.status = status;
    this.path = path;
    this.answer = answer;
  }
}

/** An idle connection was closed before the first byte came. */
class StaleError extends Error {}

interface Receiving {
  readonly path: string;
  readonly sink: (chunk: Buffer) => void;
  readonly maxBytes: number;
}

async function received(request: ReturnType<typeof https.get>, to: Receiving): Promise<void> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    request.on('response', resolve);
    // Stays for good: a request may fail again after its response has begun.
    request.on('error', (cause) => {
      reject(request.reusedSocket ? new StaleError('stale', { cause }) : cause);
    });
  });
  const status = response.statusCode ?? 0;
  if (status === 200) return readInto(response, to);
  const parts: Buffer[] = [];
  const sink = (chunk: Buffer): void => void parts.push(chunk);
  await readInto(response, { ...to, sink, maxBytes: maxRefusalBytes }).catch(() => undefined);
  throw new StatusError(status, to.path, Buffer.concat(parts).toString());
}

function readInto(response: IncomingMessage, { path, sink, maxBytes }: Receiving): Promise<void> {
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const fail = (message: string, cause?: unknown): void => {
      reject(new KubeletError(`${message} (${path})`, 'malformed', { cause }));
      response.destroy();
    };
    response.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) {
        fail(`the kubelet's answer is longer than ${maxBytes} bytes`);
        return;
      }
      try {
        sink(chunk);
      } catch (cause) {
        fail("the kubelet's answer is no JSON", cause);
      }
    });
    response.on('end', resolve);
    response.on('error', reject);
    response.on('close', () => {
      if (response.complete) return;
      reject(new KubeletError("the kubelet's answer was cut off", 'unavailable'));
    });
  });
}
