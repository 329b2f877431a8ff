import * as http from 'node:http';
import * as https from 'node:https';
import { onAbort } from './abort.ts';
import { connectionError, timeoutError } from './connection-errors.ts';
import { tcpKeepAliveMs } from './http-agent.ts';
import type { KubeRequest } from './transport.ts';

/** The API server's own limit for one object is 3 MiB; a page of 500 stays far below this. */
const maxBodyBytes = 64 * 1024 * 1024;

/** One request on its way; `request.timeoutMs` is for the whole exchange, body included, and absent for a stream. */
export interface Attempt {
  readonly request: KubeRequest;
  readonly server: string;
  readonly agent: http.Agent;
  readonly headers: Readonly<Record<string, string>>;
}

/** A response whose headers have come. Whoever holds it must `close` it. */
export interface Exchange {
  readonly response: http.IncomingMessage;
  /** What an error met while reading really is: the abort, the deadline, or a broken connection. */
  explain(err: unknown): unknown;
  close(): void;
}

/** Sends one request and waits for the headers of the answer. */
export async function openExchange(attempt: Attempt, signal: AbortSignal): Promise<Exchange> {
  signal.throwIfAborted();
  const sent = dispatch(attempt);
  const watch = watchAborts(attempt, signal, () => sent.request.destroy());
  try {
    return { response: await sent.response, explain: (err) => watch.explain(err, false), close: watch.stop };
  } catch (err) {
    watch.stop();
    throw watch.explain(err, sent.request.reusedSocket);
  }
}

/** The whole body, unless it is absurdly long. */
export async function readBody(response: http.IncomingMessage, what: string): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBodyBytes)
      throw new OversizeError(`the answer to ${what} is longer than ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, sizeBytes);
}

class OversizeError extends Error {
  override readonly name = 'OversizeError';
}

interface Sent {
  readonly request: http.ClientRequest;
  readonly response: Promise<http.IncomingMessage>;
}

function dispatch({ request, server, agent, headers }: Attempt): Sent {
  const body = request.body === undefined ? undefined : Buffer.from(JSON.stringify(request.body));
  const url = requestUrl(server, request);
  const send = url.protocol === 'https:' ? https.request : http.request;
  const sent = send(url, { agent, method: request.method, headers: requestHeaders(request, headers, body) });
  sent.on('socket', (socket) => {
    socket.setKeepAlive(true, tcpKeepAliveMs);
    // The agent's timeout is for idle connections, not for a quiet watch.
    socket.setTimeout(0);
  });
  const response = new Promise<http.IncomingMessage>((resolve, reject) => {
    sent.on('response', resolve);
    // Stays for good: a request may fail again after its response has begun.
    sent.on('error', reject);
  });
  sent.end(body);
  return { request: sent, response };
}

function requestUrl(server: string, { path, query }: KubeRequest): URL {
  const search = query === undefined ? '' : `?${new URLSearchParams(query).toString()}`;
  return new URL(`${server.replace(/\/+$/, '')}${path}${search}`);
}

function requestHeaders(
  { accept, contentType }: KubeRequest,
  given: Readonly<Record<string, string>>,
  body: Buffer | undefined,
): Record<string, string | number> {
  const headers = { accept: accept ?? 'application/json', 'accept-encoding': 'identity', ...given };
  if (body === undefined) return headers;
  return { ...headers, 'content-type': contentType ?? 'application/json', 'content-length': body.length };
}

interface AbortWatch {
  readonly stop: () => void;
  explain(err: unknown, stale: boolean): unknown;
}

function watchAborts({ request, server }: Attempt, signal: AbortSignal, destroy: () => void): AbortWatch {
  const { timeoutMs } = request;
  const deadline = timeoutMs === undefined ? undefined : AbortSignal.timeout(timeoutMs);
  const forget = onAbort(signal, destroy);
  const forgetDeadline = deadline ? onAbort(deadline, destroy) : undefined;
  return {
    stop: (): void => {
      forget();
      forgetDeadline?.();
    },
    explain: (err: unknown, stale: boolean): unknown => {
      if (signal.aborted) return signal.reason;
      if (deadline?.aborted) return timeoutError(describe(request), { server, timeoutMs: timeoutMs ?? 0 });
      return err instanceof OversizeError ? err : connectionError(err, { server, stale });
    },
  };
}

/** `GET /api/v1/nodes`: for messages, so without the query. */
export const describe = ({ method, path }: KubeRequest): string => `${method} ${path}`;
