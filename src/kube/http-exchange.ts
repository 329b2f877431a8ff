import type * as http from 'node:http';
import { onAbort } from './abort.ts';
import { connectionError, timeoutError } from './connection-errors.ts';
import { tcpKeepAliveMs, type Origin } from './http-agent.ts';
import { OversizeError } from './http-body.ts';
import type { KubeRequest } from './transport.ts';
import { acceptJson } from './media-types.ts';

/** One request on its way; `request.timeoutMs` is for the whole exchange, body included, and absent for a stream. */
interface Attempt {
  readonly request: KubeRequest;
  readonly origin: Origin;
  readonly agent: http.Agent;
  readonly userAgent: string;
  /** What authenticates. */
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
  const guard = new Guard(attempt, signal, sent.request);
  try {
    const response = await sent.response;
    return {
      response,
      explain: (err) => guard.explain(err, false),
      close: () => {
        guard.stop();
      },
    };
  } catch (err) {
    guard.stop();
    throw guard.explain(err, sent.request.reusedSocket);
  }
}

interface Sent {
  readonly request: http.ClientRequest;
  readonly response: Promise<http.IncomingMessage>;
}

function dispatch(attempt: Attempt): Sent {
  const { request, origin, agent } = attempt;
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  const sent = origin.request({
    ...origin.address,
    agent,
    method: request.method,
    path: origin.pathPrefix + request.path + search(request),
    headers: headersOf(attempt, body),
  });
  // The agent sets this only when a connection has become idle, and a watch never does.
  sent.on('socket', (socket) => {
    if (!sent.reusedSocket) socket.setKeepAlive(true, tcpKeepAliveMs);
  });
  const response = new Promise<http.IncomingMessage>((resolve, reject) => {
    sent.on('response', resolve);
    // Stays for good: a request may fail again after its response has begun.
    sent.on('error', reject);
  });
  // As text it leaves together with the headers.
  sent.end(body);
  return { request: sent, response };
}

const search = ({ query }: KubeRequest): string =>
  query === undefined ? '' : `?${new URLSearchParams(query).toString()}`;

/** Names and values in turn: that spares node:http a table of its own for each request. */
function headersOf(
  { request: { accept, contentType, compressed }, origin, userAgent, headers }: Attempt,
  body: string | undefined,
): string[] {
  const list = [
    ...['host', origin.host, 'user-agent', userAgent],
    ...['accept', accept ?? acceptJson],
    ...['accept-encoding', compressed === true ? 'gzip' : 'identity'],
  ];
  for (const [name, value] of Object.entries(headers)) list.push(name, value);
  if (body === undefined) return list;
  list.push('content-type', contentType ?? 'application/json');
  list.push('content-length', String(Buffer.byteLength(body)));
  return list;
}

/** Breaks a request off at its deadline or when the signal aborts, and knows afterwards which it was. */
class Guard {
  readonly #attempt: Attempt;
  readonly #signal: AbortSignal;
  readonly #forget: () => void;
  readonly #deadline: NodeJS.Timeout | undefined;
  #late = false;

  constructor(attempt: Attempt, signal: AbortSignal, sent: http.ClientRequest) {
    const { timeoutMs } = attempt.request;
    this.#attempt = attempt;
    this.#signal = signal;
    this.#forget = onAbort(signal, () => sent.destroy());
    if (timeoutMs === undefined) return;
    // eslint-disable-next-line no-restricted-syntax -- of a socket, so in real time; AbortSignal.timeout does the same with an EventTarget a request
    this.#deadline = setTimeout(() => {
      this.#late = true;
      sent.destroy();
    }, timeoutMs);
  }

  stop(): void {
    this.#forget();
    clearTimeout(this.#deadline);
  }

  explain(err: unknown, stale: boolean): unknown {
    if (this.#signal.aborted) return this.#signal.reason;
    const { request, origin } = this.#attempt;
    const { server } = origin;
    if (this.#late) return timeoutError(describe(request), { server, timeoutMs: request.timeoutMs ?? 0 });
    return err instanceof OversizeError ? err : connectionError(err, { server, stale });
  }
}

/** `GET /api/v1/nodes`: for messages, so without the query. */
export const describe = ({ method, path }: KubeRequest): string => `${method} ${path}`;
