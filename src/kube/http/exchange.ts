import * as http from 'node:http';
import * as https from 'node:https';
import type { Mutex } from '../../runtime/scheduling/mutex.ts';
import { onAbort, type Deadline } from '../../runtime/scheduling/abort.ts';
import { yieldToEventLoop } from '../../runtime/scheduling/slices.ts';
import { connectionError } from './connection-errors.ts';
import { acceptJson } from './media-types.ts';
import { tcpKeepAliveMs } from './pool.ts';
import type { RequestHeaders } from './endpoint.ts';
import type { KubeRequest, KubeResponse } from './transport.ts';

export interface Attempt {
  readonly request: KubeRequest;
  readonly server: string;
  readonly headers: RequestHeaders;
  /** The proxy on the way, for messages. */
  readonly proxy?: string | undefined;
}

/** Limit of a body that is held whole. The API server's limit for one object is 3 MiB; a list is read object by object. */
const maxBodyBytes = 64 * 1024 * 1024;
/** Longer bodies are read one at a time: the response to a write repeats the object, and 64 of 1.4 MB would be 90 MB. */
const largeBytes = 256 * 1024;

/**
 * Sends one request and resolves when the headers of the response have arrived. The caller reads the whole body or calls `close`. The deadline
 * limits the whole exchange, body included.
 */
export async function openExchange(
  attempt: Attempt,
  agent: http.Agent,
  deadline: Deadline,
): Promise<Exchange> {
  deadline.signal.throwIfAborted();
  const { request, server, proxy } = attempt;
  const sent = dispatch(attempt, agent);
  const forget = onAbort(deadline.signal, () => sent.destroy());
  const guard: Guard = {
    stop: () => {
      forget();
      deadline.stop();
    },
    explain: (err, stale) => {
      if (deadline.signal.aborted) return deadline.signal.reason as unknown;
      return err instanceof OversizeError ? err : connectionError(err, { server, proxy, stale });
    },
  };
  try {
    return new Exchange(await responseTo(sent), guard, `${request.method} ${request.path}`);
  } catch (err) {
    forget();
    throw guard.explain(err, sent.reusedSocket);
  }
}

interface Guard {
  /** Lets the deadline no longer end the request. */
  stop(): void;
  /** Returns the cause of an error: the abort, the deadline, or a broken connection; `stale` = an idle one that the server had closed. */
  explain(err: unknown, stale: boolean): unknown;
}

export class Exchange {
  readonly #response: http.IncomingMessage;
  readonly #guard: Guard;
  readonly #name: string;

  /** `name` is the name of the request in messages: without the query, which may be long. */
  constructor(response: http.IncomingMessage, guard: Guard, name: string) {
    this.#response = response;
    this.#guard = guard;
    this.#name = name;
  }

  get status(): number {
    return this.#response.statusCode ?? 0;
  }

  async *chunks(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of this.#response as AsyncIterable<Buffer>) {
        yield chunk;
        // All that arrives meanwhile is one chunk: each has its price, and the server sends a list in parts of 5 KB.
        await yieldToEventLoop();
      }
    } catch (err) {
      throw this.#guard.explain(err, false);
    }
  }

  /** Reads the whole body, and closes. Holds `large` while it reads a long one. */
  async whole(large: Mutex): Promise<KubeResponse> {
    const { status } = this;
    const { headers } = this.#response;
    try {
      return { status, headers, body: await readBody(this.#response, this.#name, large) };
    } catch (err) {
      throw this.#guard.explain(err, false);
    } finally {
      this.close();
    }
  }

  /** Keeps the connection for other requests if the whole body was read, else closes it. */
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
    agent,
    method,
    path: url.pathname.replace(/\/+$/, '') + path + search,
    headers: {
      // gzip costs both sides more CPU than it saves (ADR 36).
      accept,
      'accept-encoding': 'identity',
      ...headers,
      // Explicit: node:http sends a DELETE without them.
      ...(body !== undefined && { 'content-type': contentType, 'content-length': Buffer.byteLength(body) }),
    },
  });
  // The agent sets this only on idle connections, and the connection of a watch is never idle.
  sent.setSocketKeepAlive(true, tcpKeepAliveMs);
  sent.end(body);
  return sent;
}

const responseTo = (sent: http.ClientRequest): Promise<http.IncomingMessage> =>
  new Promise((resolve, reject) => {
    sent.on('response', resolve);
    // Never removed: a request may fail again after its response has begun.
    sent.on('error', reject);
  });

class OversizeError extends Error {
  override readonly name = 'OversizeError';
}

/** Rejects with OversizeError over the limit. */
async function readBody(response: AsyncIterable<Buffer>, name: string, large: Mutex): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  let release: (() => void) | undefined;
  try {
    for await (const chunk of response) {
      sizeBytes += chunk.length;
      if (sizeBytes > maxBodyBytes)
        throw new OversizeError(`the response to ${name} is longer than ${maxBodyBytes} bytes`);
      chunks.push(chunk);
      if (sizeBytes > largeBytes) release ??= await acquire(large);
    }
  } finally {
    release?.();
  }
  return Buffer.concat(chunks);
}

/** A reader holds the lock until its own deadline at most, so nobody waits long. */
const never = new AbortController().signal;

/** Waits for the lock. Returns the function that releases it. */
const acquire = (lock: Mutex): Promise<() => void> =>
  new Promise((acquired) => {
    const task = (): Promise<void> => new Promise((release) => acquired(release));
    void lock.run(task, never);
  });
