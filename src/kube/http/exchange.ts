import * as http from 'node:http';
import * as https from 'node:https';
import type { Turns } from '../../runtime/scheduling/turns.ts';
import { onAbort } from './abort.ts';
import { connectionError, timeoutError } from './connection-errors.ts';
import { acceptJson } from './media-types.ts';
import type { KubeRequest, KubeResponse } from './transport.ts';

/** One request on its way to a server. */
export interface Attempt {
  /** `timeoutMs` limits the whole exchange, body included; a watch has none. */
  readonly request: KubeRequest;
  /** URL of the server, with a path when it stands behind one. */
  readonly server: string;
  /** User agent and credentials. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Limit of a body that is held whole. The API server's own limit for one object is 3 MiB; a list is read object by object. */
const maxBodyBytes = 64 * 1024 * 1024;
/** A longer body is read whole only while no other is: the response to a write repeats the object, and 64 of 1.4 MB would be 90 MB. */
const largeBytes = 256 * 1024;

/** Notices a dead peer under a silent watch within minutes. */
const tcpKeepAliveMs = 30_000;

/** Sends one request and resolves with the headers of the response; whoever has it reads the whole body or calls `close`. */
export async function openExchange(
  attempt: Attempt,
  agent: http.Agent,
  signal: AbortSignal,
): Promise<Exchange> {
  signal.throwIfAborted();
  const sent = dispatch(attempt, agent);
  const guard = new Guard(attempt, signal, sent);
  try {
    return new Exchange(await responseTo(sent), guard, `${attempt.request.method} ${attempt.request.path}`);
  } catch (err) {
    guard.stop();
    throw guard.explain(err, sent.reusedSocket);
  }
}

/** A response whose headers have arrived. */
export class Exchange {
  readonly #response: http.IncomingMessage;
  readonly #guard: Guard;
  readonly #what: string;

  /** `what` names the request in messages: without the query, which may be long. */
  constructor(response: http.IncomingMessage, guard: Guard, what: string) {
    this.#response = response;
    this.#guard = guard;
    this.#what = what;
  }

  get status(): number {
    return this.#response.statusCode ?? 0;
  }

  /** Yields the body as it arrives. */
  async *chunks(): AsyncGenerator<Buffer> {
    try {
      yield* this.#response as AsyncIterable<Buffer>;
    } catch (err) {
      throw this.#guard.explain(err, false);
    }
  }

  /** Reads the whole body, of long ones one at a time, and closes. */
  async whole(large: Turns): Promise<KubeResponse> {
    const { status } = this;
    const { headers } = this.#response;
    try {
      return { status, headers, body: await readBody(this.#response, this.#what, large) };
    } catch (err) {
      throw this.#guard.explain(err, false);
    } finally {
      this.close();
    }
  }

  /** Keeps the connection for other requests if the whole body was read, else breaks it. */
  close(): void {
    this.#guard.stop();
    this.#response.destroy();
  }
}

function dispatch({ request, server, headers }: Attempt, agent: http.Agent): http.ClientRequest {
  const { method, path, query, accept = acceptJson, contentType = 'application/json' } = request;
  const url = new URL(server);
  const search = query === undefined ? '' : `?${new URLSearchParams(query).toString()}`;
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  const sent = (url.protocol === 'https:' ? https : http).request(url, {
    ...{ agent, method, path: url.pathname.replace(/\/+$/, '') + path + search },
    headers: {
      // gzip costs both sides more CPU than it saves (ADR 36).
      ...{ accept, 'accept-encoding': 'identity', ...headers },
      // Explicit: node:http sends a DELETE without.
      ...(body !== undefined && { 'content-type': contentType, 'content-length': Buffer.byteLength(body) }),
    },
  });
  // The agent sets this only on a connection that becomes idle, and that of a watch never does.
  sent.setSocketKeepAlive(true, tcpKeepAliveMs);
  sent.end(body);
  return sent;
}

const responseTo = (sent: http.ClientRequest): Promise<http.IncomingMessage> =>
  new Promise((resolve, reject) => {
    sent.on('response', resolve);
    // Stays for good: a request may fail again after its response has begun.
    sent.on('error', reject);
  });

/** The body is longer than anything we read whole. */
class OversizeError extends Error {
  override readonly name = 'OversizeError';
}

/** The whole body of the response to the request `what`; holds `large` while it reads a long one. Rejects with OversizeError over the limit. */
async function readBody(response: AsyncIterable<Buffer>, what: string, large: Turns): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  let release: (() => void) | undefined;
  try {
    for await (const chunk of response) {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBodyBytes)
        throw new OversizeError(`the answer to ${what} is longer than ${maxBodyBytes} bytes`);
      chunks.push(chunk);
      if (sizeBytes > largeBytes) release ??= await acquire(large);
    }
  } finally {
    release?.();
  }
  return Buffer.concat(chunks);
}

/** Whoever has a turn reads until its deadline at most, so nobody waits for long. */
const never = new AbortController().signal;

/** Waits for a turn; returns how to end it. */
const acquire = (turns: Turns): Promise<() => void> =>
  new Promise((acquired) => {
    const turn = (): Promise<void> =>
      new Promise((release) => {
        acquired(release);
      });
    void turns.take(turn, never);
  });

/** Breaks a request off at its deadline or when the signal aborts, and knows afterwards which it was. */
class Guard {
  readonly #attempt: Attempt;
  readonly #signal: AbortSignal;
  readonly #forget: () => void;
  readonly #deadline: NodeJS.Timeout | undefined;
  #isLate = false;

  constructor(attempt: Attempt, signal: AbortSignal, sent: http.ClientRequest) {
    const { timeoutMs } = attempt.request;
    this.#attempt = attempt;
    this.#signal = signal;
    this.#forget = onAbort(signal, () => sent.destroy());
    if (timeoutMs === undefined) return;
    // eslint-disable-next-line no-restricted-syntax -- a deadline of a socket is in real time
    this.#deadline = setTimeout(() => {
      this.#isLate = true;
      sent.destroy();
    }, timeoutMs);
  }

  stop(): void {
    this.#forget();
    clearTimeout(this.#deadline);
  }

  /** Returns what an error really is: the abort, the deadline, or a broken connection, `stale` where it was idle and the server had closed it. */
  explain(err: unknown, stale: boolean): unknown {
    if (this.#signal.aborted) return this.#signal.reason;
    const { request, server } = this.#attempt;
    const { method, path, timeoutMs = 0 } = request;
    if (this.#isLate) return timeoutError(`${method} ${path}`, { server, timeoutMs });
    return err instanceof OversizeError ? err : connectionError(err, { server, stale });
  }
}
