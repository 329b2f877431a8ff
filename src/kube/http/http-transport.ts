import { systemClock as realTime, type Clock } from '../../runtime/scheduling/clock.ts';
import { Mutex } from '../../runtime/scheduling/mutex.ts';
import { deadlineAfter, untilAborted, type Deadline } from '../../runtime/scheduling/abort.ts';
import { ConnectionError, credentialsTimeout, DeadlineError, timeoutError } from './connection-errors.ts';
import type { Credentials, Endpoint, RequestHeaders } from './endpoint.ts';
import { openExchange, type Attempt, type Exchange } from './exchange.ts';
import { ConnectionPool } from './pool.ts';
import { retrying } from './retry.ts';
import { RateLimit } from './rate-limit.ts';
import { responseError } from './response-error.ts';
import { ApiError, type KubeRequest, type KubeResponse, type KubeTransport } from './transport.ts';

interface TransportOptions {
  readonly endpoint: Endpoint;
  readonly auth: Credentials;
  readonly clock: Clock;
  readonly userAgent?: string;
  /** `--kube-api-qps`; 0 or less, the default, = no limit. */
  readonly qps?: number;
  readonly burst?: number;
  /** Deadline of an attempt, from the reading of the credentials to the end of the body, unless its request has an earlier one; a watch has none. 0 = none. A user sets it, and waits for it once. undefined = 30 s of `send`. */
  readonly requestTimeoutMs?: number | undefined;
  readonly metrics?: (call: ApiCall) => void;
  readonly random?: () => number;
}

/** One attempt of a request, as client-go's `rest_client_*` metrics count it. */
export interface ApiCall {
  readonly verb: KubeRequest['method'];
  readonly host: string;
  readonly code: string;
  readonly seconds: number;
}

export interface HttpTransport extends KubeTransport {
  close(): void;
}

/** Creates a transport over node:http(s) with keep-alive connections, for the API server and for a kubelet. */
export function createTransport(options: TransportOptions): HttpTransport {
  return new KeepAliveTransport(options);
}

/** Methods that have the same effect when sent twice: a DELETE has preconditions or finds nothing, a PUT has a resourceVersion. */
const idempotent: ReadonlySet<string> = new Set(['GET', 'PUT', 'DELETE']);

const defaultTimeoutMs = 30_000;

class KeepAliveTransport implements HttpTransport {
  readonly #options: TransportOptions;
  readonly #host: string;
  readonly #large = new Mutex();
  readonly #pool: ConnectionPool;
  readonly #rateLimit: RateLimit;
  #isClosed = false;
  /** Headers that the server has rejected: only the first of the requests that used them refreshes the credentials. */
  readonly #rejected = new WeakSet();

  constructor(options: TransportOptions) {
    const { endpoint, clock, qps = 0, burst = 1 } = options;
    this.#options = options;
    this.#host = new URL(endpoint.server).host;
    this.#pool = new ConnectionPool(endpoint);
    this.#rateLimit = new RateLimit({ qps, burst, clock });
  }

  async send(request: KubeRequest, signal: AbortSignal): Promise<KubeResponse> {
    const timeoutMs = this.#timeoutMs(request, defaultTimeoutMs);
    const timed = { retries: request.method === 'GET' ? 4 : 0, ...request, timeoutMs };
    return this.#retrying(
      timed.retries,
      async () => (await this.#open(timed, signal)).whole(this.#large),
      signal,
    );
  }

  async *stream(request: KubeRequest, signal: AbortSignal): AsyncGenerator<Buffer> {
    const isWatch = request.query?.['watch'] !== undefined;
    const timed = isWatch ? request : { ...request, timeoutMs: this.#timeoutMs(request, Infinity) };
    const exchange = await this.#retrying(request.retries ?? 0, () => this.#open(timed, signal), signal);
    try {
      // The server has accepted: on a quiet watch the first byte may take a minute.
      yield Buffer.alloc(0);
      yield* exchange.chunks();
    } finally {
      exchange.close();
    }
  }

  close(): void {
    this.#isClosed = true;
    this.#pool.close();
  }

  /** Never more than the user allows. */
  #timeoutMs({ timeoutMs }: KubeRequest, byDefault: number): number {
    const { requestTimeoutMs } = this.#options;
    return requestTimeoutMs === undefined
      ? (timeoutMs ?? byDefault)
      : Math.min(timeoutMs ?? Infinity, requestTimeoutMs === 0 ? Infinity : requestTimeoutMs);
  }

  #retrying<T>(retries: number, once: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const { clock, random = Math.random, requestTimeoutMs } = this.#options;
    // A user who sets the deadline waits for it once.
    const isOver = (err: unknown): boolean =>
      this.#isClosed || (requestTimeoutMs !== undefined && err instanceof DeadlineError);
    return retrying(once, { retries, clock, random, isOver }, signal);
  }

  /** Sends the request with the current credentials and, if the server rejects them, once more with fresh ones. */
  async #open(request: KubeRequest, signal: AbortSignal): Promise<Exchange> {
    const first = await this.#begin(request, signal);
    try {
      return await this.#send(first);
    } catch (err) {
      if (!isUntrusted(err)) throw err;
      this.#markRejected(first.credentials);
      return await this.#send(await this.#begin(request, signal));
    }
  }

  /** The deadline begins before the credentials are read, because their source may hang. */
  async #begin(request: KubeRequest, signal: AbortSignal): Promise<Begun> {
    const { auth, endpoint } = this.#options;
    const { method, path, timeoutMs = Infinity } = request;
    await this.#rateLimit.acquire(signal);
    let isSent = false;
    const late = (): Error =>
      isSent
        ? timeoutError(`${method} ${path}`, {
            server: endpoint.server,
            proxy: endpoint.proxy?.name,
            timeoutMs,
          })
        : credentialsTimeout(timeoutMs);
    const deadline = deadlineAfter(realTime, timeoutMs, late, signal);
    try {
      const credentials = await untilAborted(auth.headers(deadline.signal), deadline.signal);
      isSent = true;
      return { request, credentials, deadline };
    } catch (err) {
      deadline.stop();
      throw err;
    }
  }

  #markRejected(headers: object): void {
    if (this.#rejected.has(headers)) return;
    this.#rejected.add(headers);
    this.#options.auth.refresh();
  }

  async #send({ request, credentials, deadline }: Begun): Promise<Exchange> {
    const { endpoint, userAgent = 'dustpan' } = this.#options;
    const headers = { 'user-agent': userAgent, ...credentials };
    const attempt = { request, headers, server: endpoint.server, proxy: endpoint.proxy?.name };
    try {
      const { exchange, resent } = await this.#dial(attempt, deadline);
      // A redirect, such as a proxy's to its login page, has not executed the request either.
      if (exchange.status < 300) return exchange;
      const error = responseError(request, await exchange.whole(this.#large));
      error.resent = resent;
      throw error;
    } catch (err) {
      deadline.stop();
      throw err;
    }
  }

  async #dial(attempt: Attempt, deadline: Deadline): Promise<{ exchange: Exchange; resent: boolean }> {
    try {
      return { exchange: await this.#measured(attempt, deadline), resent: false };
    } catch (err) {
      const isStale = err instanceof ConnectionError && err.stale;
      if (!isStale || this.#isClosed || !idempotent.has(attempt.request.method)) throw err;
      this.#pool.dropIdle();
      return { exchange: await this.#measured(attempt, deadline), resent: true };
    }
  }

  async #measured(attempt: Attempt, deadline: Deadline): Promise<Exchange> {
    const { clock, metrics } = this.#options;
    const startMs = clock.monotonicMs();
    const report = (code: string): void =>
      metrics?.({
        verb: attempt.request.method,
        host: this.#host,
        code,
        seconds: (clock.monotonicMs() - startMs) / 1000,
      });
    try {
      const exchange = await openExchange(attempt, this.#pool.agent(), deadline);
      report(String(exchange.status));
      return exchange;
    } catch (err) {
      report('<error>');
      throw err;
    }
  }
}

interface Begun {
  readonly request: KubeRequest;
  readonly credentials: RequestHeaders;
  readonly deadline: Deadline;
}

/** The server rejected our credentials, or we its certificate: tokens, certificates and CAs rotate. */
function isUntrusted(err: unknown): boolean {
  if (err instanceof ApiError) return err.status === 401;
  return err instanceof ConnectionError && err.untrusted;
}
