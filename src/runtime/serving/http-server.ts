import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { parseBindAddress, type BindAddress } from './bind-address.ts';
import type { Logger } from '../logging/logger.ts';
import type { ServingCertificate } from './serving-certificate.ts';

export interface HttpReply {
  readonly status: number;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

interface RequestContext {
  /** The unchanged header. */
  readonly authorization: string | undefined;
  /** Aborts when the client closes the connection. */
  readonly signal: AbortSignal;
}

export type HttpHandler = (url: URL, context: RequestContext) => HttpReply | Promise<HttpReply>;

interface HttpServerOptions {
  /** For error messages: `metrics`. */
  readonly name: string;
  readonly bindAddress: string;
  readonly handler: HttpHandler;
  readonly log: Logger;
  /** If set, serves only TLS; new connections use a renewed certificate. */
  readonly certificate?: ServingCertificate | undefined;
}

export interface ListeningServer {
  /** `127.0.0.1:8080` or `[::]:8080`, with the actual port; undefined = disabled. */
  readonly address: string | undefined;
  /** Stops listening and closes every connection, also idle ones. */
  close(): Promise<void>;
}

const plainText = 'text/plain; charset=utf-8';

// Probes and scrapes are short: a slow client must not hold a socket for Node's default of five minutes.
const limits = { requestTimeout: 10_000, headersTimeout: 10_000, maxHeaderSize: 16_384 };

const tlsLimits = { ...limits, handshakeTimeout: 10_000 };

/** Serves `handler` over HTTP; rejects in one line if the address or the certificate cannot be used. */
export async function startHttpServer(options: HttpServerOptions): Promise<ListeningServer> {
  const address = parseBindAddress(options.bindAddress);
  if (address === undefined) throw new Error(`serving ${options.name}: bad address ${options.bindAddress}`);
  if (address === 'disabled') return { address: undefined, close: () => Promise.resolve() };
  const closing = new AbortController();
  try {
    const server = await createFor(options, closing.signal);
    await listening(server, address);
    server.on('error', (err) => options.log.warn({ err, server: options.name }, 'http server error'));
    return { address: addressOf(server), close: () => close(server, closing) };
  } catch (err) {
    closing.abort();
    throw new Error(`serving ${options.name} on ${options.bindAddress}`, { cause: err });
  }
}

async function createFor(options: HttpServerOptions, closing: AbortSignal): Promise<Server> {
  const { certificate } = options;
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    void respond(request, response, options);
  };
  if (certificate === undefined) return createServer(limits, onRequest);
  const pair = await certificate.read();
  const server = createTlsServer({ ...tlsLimits, ...pair }, onRequest);
  void certificate.follow(pair, (next) => server.setSecureContext(next), closing);
  return server;
}

function listening(server: Server, { host, port }: BindAddress): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function addressOf(server: Server): string {
  const bound = server.address();
  if (bound === null || typeof bound === 'string') return bound ?? '';
  return bound.family === 'IPv6' ? `[${bound.address}]:${bound.port}` : `${bound.address}:${bound.port}`;
}

function close(server: Server, closing: AbortController): Promise<void> {
  closing.abort();
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

async function respond(
  request: IncomingMessage,
  response: ServerResponse,
  options: HttpServerOptions,
): Promise<void> {
  const closed = new AbortController();
  response.once('close', () => closed.abort());
  const reply = await replyTo(request, options, closed.signal);
  const body = Buffer.from(reply.body);
  response.writeHead(reply.status, {
    'content-type': reply.contentType ?? plainText,
    'content-length': body.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...reply.headers,
    ...(reply.status === 405 ? { allow: 'GET, HEAD' } : {}),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

async function replyTo(
  { method, url = '/', headers: { authorization } }: IncomingMessage,
  { name, handler, log }: HttpServerOptions,
  signal: AbortSignal,
): Promise<HttpReply> {
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, body: 'method not allowed\n' };
  const target = `http://server${url}`;
  if (!URL.canParse(target)) return { status: 400, body: 'bad request\n' };
  try {
    return await handler(new URL(target), { authorization, signal });
  } catch (err) {
    if (!signal.aborted) log.error({ err, server: name }, 'request failed');
    return { status: 500, body: 'internal error\n' };
  }
}
