import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { parseBindAddress, type BindAddress } from './bind-address.ts';
import type { Logger } from './logger.ts';

export interface HttpReply {
  readonly status: number;
  /** Default: plain text. */
  readonly contentType?: string;
  readonly body: string;
}

/** Answers a GET or HEAD. */
export type HttpHandler = (url: URL) => HttpReply | Promise<HttpReply>;

export interface HttpServerOptions {
  /** What is served, for error messages: `metrics`. */
  readonly name: string;
  readonly bindAddress: string;
  readonly handler: HttpHandler;
  readonly log: Logger;
}

export interface ListeningServer {
  /** `127.0.0.1:8080` or `[::]:8080`, with the real port; undefined when the bind address disables the server. */
  readonly address: string | undefined;
  /** Stops listening and ends every connection, idle keep-alive ones too. */
  close(): Promise<void>;
}

const plainText = 'text/plain; charset=utf-8';

// Probes and scrapes are small and quick: a client that dawdles must not hold a socket for Node's five minutes.
const limits = { requestTimeout: 10_000, headersTimeout: 10_000, maxHeaderSize: 16_384 };

/** Serves `handler` over plain HTTP; rejects in one line when the address cannot be had. */
export async function startHttpServer(options: HttpServerOptions): Promise<ListeningServer> {
  const where = parseBindAddress(options.bindAddress);
  if (where === undefined) throw new Error(`serving ${options.name}: bad address ${options.bindAddress}`);
  if (where === 'disabled') return { address: undefined, close: () => Promise.resolve() };
  const server = createServer(limits, (request, response) => {
    void answer(request, response, options);
  });
  try {
    await listening(server, where);
  } catch (err) {
    throw new Error(`serving ${options.name} on ${options.bindAddress}`, { cause: err });
  }
  server.on('error', (err) => {
    options.log.warn({ err, server: options.name }, 'http server error');
  });
  return { address: addressOf(server), close: () => close(server) };
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

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => {
      resolve();
    });
    server.closeAllConnections();
  });
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  options: HttpServerOptions,
): Promise<void> {
  const reply = await replyTo(request, options);
  const body = Buffer.from(reply.body);
  response.writeHead(reply.status, {
    'content-type': reply.contentType ?? plainText,
    'content-length': body.length,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    ...(reply.status === 405 ? { allow: 'GET, HEAD' } : {}),
  });
  response.end(request.method === 'HEAD' ? undefined : body);
}

async function replyTo(
  { method, url = '/' }: IncomingMessage,
  { name, handler, log }: HttpServerOptions,
): Promise<HttpReply> {
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, body: 'method not allowed\n' };
  const target = `http://server${url}`;
  if (!URL.canParse(target)) return { status: 400, body: 'bad request\n' };
  try {
    return await handler(new URL(target));
  } catch (err) {
    log.error({ err, server: name }, 'answering failed');
    return { status: 500, body: 'internal error\n' };
  }
}
