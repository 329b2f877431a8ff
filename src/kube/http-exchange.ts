import type * as http from 'node:http';
import type { Turns } from '../runtime/turns.ts';
import { tcpKeepAliveMs } from './http-pool.ts';
import { bodyOf, describe, headersOf, targetOf, type Attempt, type Exchange } from './http-attempt.ts';
import { readBody } from './http-body.ts';
import { Guard } from './http-guard.ts';
import type { KubeResponse } from './transport.ts';

/** A response that may be read as it comes. Whoever holds it must `close` it, or read the whole. */
interface OpenExchange extends Exchange {
  readonly response: http.IncomingMessage;
  /** What an error met while reading really is: the abort, the deadline, or a broken connection. */
  explain(err: unknown): unknown;
  close(): void;
}

interface Means {
  readonly agent: http.Agent;
  /** In which long bodies come in. */
  readonly large: Turns;
}

/** Sends one request by node:http(s) and waits for the headers of the answer. */
export async function openExchange(
  attempt: Attempt,
  { agent, large }: Means,
  signal: AbortSignal,
): Promise<OpenExchange> {
  signal.throwIfAborted();
  const sent = dispatch(attempt, agent);
  const guard = new Guard(attempt, signal, sent.request);
  try {
    const response = await sent.response;
    const status = response.statusCode ?? 0;
    const open = {
      ...{ response, status },
      explain: (err: unknown) => guard.explain(err, false),
      close: () => {
        guard.stop();
      },
    };
    return { ...open, whole: () => readWhole(open, describe(attempt.request), large) };
  } catch (err) {
    guard.stop();
    throw guard.explain(err, sent.request.reusedSocket);
  }
}

async function readWhole(
  { response, status, explain, close }: Omit<OpenExchange, 'whole'>,
  what: string,
  large: Turns,
): Promise<KubeResponse> {
  try {
    return { status, headers: response.headers, body: await readBody(response, what, large) };
  } catch (err) {
    throw explain(err);
  } finally {
    close();
  }
}

interface Sent {
  readonly request: http.ClientRequest;
  readonly response: Promise<http.IncomingMessage>;
}

function dispatch(attempt: Attempt, agent: http.Agent): Sent {
  const { request, origin } = attempt;
  const body = bodyOf(request);
  const sent = origin.request({
    ...origin.address,
    agent,
    method: request.method,
    path: targetOf(attempt),
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
