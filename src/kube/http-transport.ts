import type { Clock } from '../runtime/clock.ts';
import { Turns } from '../runtime/turns.ts';
import { untilAborted } from './abort.ts';
import { ConnectionError } from './connection-errors.ts';
import type { Credentials, Endpoint } from './credentials.ts';
import { originOf, type Origin } from './http-origin.ts';
import { Connections } from './http-pool.ts';
import { BodyBuffers, bodyPieces } from './http-body.ts';
import type { Attempt, Exchange } from './http-attempt.ts';
import { openExchange } from './http-exchange.ts';
import { leanExchange } from './http-lean-exchange.ts';
import { backoffMs, isTransient, maxRetryAfterMs } from './http-retry.ts';
import { createRateLimit, type RateLimit } from './rate-limit.ts';
import { refusal } from './status-errors.ts';
import { ApiError, type KubeRequest, type KubeResponse, type KubeTransport } from './transport.ts';

interface TransportOptions {
  readonly endpoint: Endpoint;
  readonly auth: Credentials;
  readonly clock: Clock;
  readonly userAgent?: string;
  /** `--kube-api-qps`; 0 or less, the default, = no limit. */
  readonly qps?: number;
  /** `--kube-api-burst`. */
  readonly burst?: number;
  /** Told of every attempt. */
  readonly metrics?: (call: ApiCall) => void;
  /** In [0, 1), for the jitter of retries. */
  readonly random?: () => number;
}

/** One request on the wire, as client-go's `rest_client_*` metrics count it. */
export interface ApiCall {
  readonly verb: KubeRequest['method'];
  readonly host: string;
  /** HTTP status, or `<error>`. */
  readonly code: string;
  /** Until the headers of the answer have come; of a DELETE until all of it has. */
  readonly seconds: number;
}

export interface HttpTransport extends KubeTransport {
  /** Breaks all connections. */
  close(): void;
}

/** A transport on node:http(s), but for deletes, that keeps its connections. */
export function createTransport(options: TransportOptions): HttpTransport {
  return new KeepAliveTransport(options);
}

/** A DELETE has preconditions or finds nothing, a PUT has a resourceVersion: sent twice they do no more than once. */
const idempotent: ReadonlySet<string> = new Set(['GET', 'PUT', 'DELETE']);

const defaultTimeoutMs = 30_000;

/** Sends one attempt, and resolves when there is an answer. */
type Open<E extends Exchange> = (attempt: Attempt, signal: AbortSignal) => Promise<E>;

class KeepAliveTransport implements HttpTransport {
  readonly #options: TransportOptions;
  readonly #buffers = new BodyBuffers();
  readonly #large = new Turns();
  readonly #connections: Connections;
  readonly #rateLimit: RateLimit;
  readonly #origin: Origin;
  #isClosed = false;
  /** Headers that the server has refused: of many requests that used them only the first has the source read again. */
  readonly #refused = new WeakSet();
  readonly #byNode = (attempt: Attempt, signal: AbortSignal): ReturnType<typeof openExchange> =>
    openExchange(attempt, { agent: this.#connections.pool().agent, large: this.#large }, signal);
  readonly #lean: Open<Exchange> = (attempt, signal) =>
    leanExchange(attempt, this.#connections.pool().lean, signal);

  constructor(options: TransportOptions) {
    const { endpoint, clock, qps = 0, burst = 1 } = options;
    this.#options = options;
    this.#origin = originOf(endpoint.server);
    this.#connections = new Connections(endpoint, this.#origin);
    this.#rateLimit = createRateLimit({ qps, burst, clock });
  }

  send(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    const timed = { timeoutMs: defaultTimeoutMs, retries: request.method === 'GET' ? 4 : 0, ...request };
    return this.#retrying(timed.retries, () => this.#sendOnce(timed, signal), signal);
  }

  async *stream(request: KubeRequest, signal: AbortSignal): AsyncGenerator<Buffer> {
    const exchange = await this.#retrying(
      request.retries ?? 0,
      () => this.#open(request, this.#byNode, signal),
      signal,
    );
    try {
      // The server has accepted: on a quiet watch the first byte may take a minute.
      yield Buffer.alloc(0);
      yield* bodyPieces(exchange.response, request.compressed === true, this.#buffers);
    } catch (err) {
      throw exchange.explain(err);
    } finally {
      exchange.close();
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#connections.close();
  }

  async #retrying<T>(retries: number, once: () => Promise<T>, signal: AbortSignal): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await once();
      } catch (err) {
        signal.throwIfAborted();
        if (attempt >= retries || !isTransient(err)) throw err;
        await this.#pause(err, attempt, signal);
      }
    }
  }

  async #pause(err: unknown, attempt: number, signal: AbortSignal): Promise<void> {
    const { clock, random = Math.random } = this.#options;
    const askedMs = err instanceof ApiError ? err.retryAfterMs : undefined;
    if (askedMs !== undefined && askedMs > maxRetryAfterMs) throw err;
    await clock.sleep(askedMs ?? backoffMs(attempt, random()), signal);
    signal.throwIfAborted();
  }

  async #sendOnce(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    const exchange = await this.#open(
      request,
      request.method === 'DELETE' ? this.#lean : this.#byNode,
      signal,
    );
    return exchange.whole();
  }

  /** Opens with the credentials at hand and, should the server not accept them, once more with fresh ones. */
  async #open<E extends Exchange>(request: KubeRequest, open: Open<E>, signal: AbortSignal): Promise<E> {
    const headers = await this.#headers(signal);
    try {
      return await this.#openAs(this.#attempt(request, headers), open, signal);
    } catch (err) {
      if (!isMistrust(err)) throw err;
      this.#refuse(headers);
      return this.#openAs(this.#attempt(request, await this.#headers(signal)), open, signal);
    }
  }

  #attempt(request: KubeRequest, headers: Attempt['headers']): Attempt {
    return { request, headers, userAgent: this.#options.userAgent ?? 'dustpan', origin: this.#origin };
  }

  #headers(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    return untilAborted(this.#options.auth.headers(signal), signal);
  }

  #refuse(headers: object): void {
    if (this.#refused.has(headers)) return;
    this.#refused.add(headers);
    this.#options.auth.refresh();
  }

  async #openAs<E extends Exchange>(attempt: Attempt, open: Open<E>, signal: AbortSignal): Promise<E> {
    await this.#rateLimit.take(signal);
    const { exchange, resent } = await this.#dial(attempt, open, signal);
    // Nor has one that sends us elsewhere, a proxy before a login, done what it was asked to.
    if (exchange.status < 300) return exchange;
    const no = refusal(attempt.request, await exchange.whole());
    no.resent = resent;
    throw no;
  }

  async #dial<E extends Exchange>(
    attempt: Attempt,
    open: Open<E>,
    signal: AbortSignal,
  ): Promise<{ exchange: E; resent: boolean }> {
    const { method } = attempt.request;
    const once = (): Promise<E> => this.#measured(method, open(attempt, signal));
    try {
      return { exchange: await once(), resent: false };
    } catch (err) {
      if (!(err instanceof ConnectionError && err.stale && idempotent.has(method)) || this.#isClosed)
        throw err;
      this.#connections.dropIdle();
      return { exchange: await once(), resent: true };
    }
  }

  async #measured<E extends Exchange>(verb: KubeRequest['method'], opening: Promise<E>): Promise<E> {
    const { clock, metrics } = this.#options;
    const startMs = clock.monotonicMs();
    const report = (code: string): void =>
      metrics?.({
        verb,
        host: this.#origin.host,
        code,
        seconds: (clock.monotonicMs() - startMs) / 1000,
      });
    try {
      const exchange = await opening;
      report(String(exchange.status));
      return exchange;
    } catch (err) {
      report('<error>');
      throw err;
    }
  }
}

/** The server does not know us, or we do not know it: tokens, certificates and CAs rotate. */
function isMistrust(err: unknown): boolean {
  if (err instanceof ApiError) return err.status === 401;
  return err instanceof ConnectionError && err.untrusted;
}
