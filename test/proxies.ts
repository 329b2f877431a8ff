import { once } from 'node:events';
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A proxy on the loopback that connects every request to one port of the loopback. */
export interface LoopbackProxy {
  readonly url: string;
  /** `host:port` as clients requested them. */
  readonly requested: string[];
  stop(): Promise<void>;
}

/** An HTTP proxy: clients use it with CONNECT, or without TLS with the whole URL. With `login`, it refuses others with 407. */
export async function startConnectProxy(port: () => number, login?: string): Promise<LoopbackProxy> {
  const requested: string[] = [];
  const wanted = login === undefined ? undefined : `Basic ${Buffer.from(login).toString('base64')}`;
  const server = createHttpServer();
  server.on('connect', (request, client: Socket, head: Buffer) => {
    if (wanted !== undefined && request.headers['proxy-authorization'] !== wanted) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
      return;
    }
    requested.push(request.url ?? '');
    const target = connect(port(), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      target.write(head);
      join(client, target);
    });
  });
  server.on('request', ({ url = '', method, headers }, response) => {
    const { host, pathname, search } = new URL(url);
    requested.push(host);
    const path = pathname + search;
    httpRequest({ host: '127.0.0.1', port: port(), path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    }).end();
  });
  server.on('upgrade', ({ url = '', method = '', rawHeaders }, client: Socket, head: Buffer) => {
    const { host, pathname, search } = new URL(url);
    requested.push(host);
    const headers = rawHeaders.map((text, i) => (i % 2 === 0 ? `${text}: ` : `${text}\r\n`)).join('');
    const target = connect(port(), '127.0.0.1', () => {
      target.write(`${method} ${pathname}${search} HTTP/1.1\r\n${headers}\r\n`);
      target.write(head);
      join(client, target);
    });
  });
  return running(server, 'http', requested);
}

/** A SOCKS5 proxy without login (RFC 1928) for names and IPv4 addresses. */
export async function startSocksProxy(port: () => number): Promise<LoopbackProxy> {
  const requested: string[] = [];
  const server = createServer((client) => {
    client.once('data', () => {
      client.write(Buffer.from([5, 0]));
      client.once('data', (request: Buffer) => {
        requested.push(targetOf(request));
        const target = connect(port(), '127.0.0.1', () => {
          client.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
          join(client, target);
        });
      });
    });
  });
  return running(server, 'socks5', requested);
}

function targetOf(request: Buffer): string {
  const isName = request[3] === 3;
  const end = isName ? 5 + (request[4] ?? 0) : 8;
  const host = isName ? request.toString('latin1', 5, end) : [...request.subarray(4, end)].join('.');
  return `${host}:${request.readUInt16BE(end)}`;
}

/** A load balancer before one port of the loopback, which can lose the state of its connections without closing them. */
export interface Relay {
  /** With https: only the server and its clients know what passes. */
  readonly url: string;
  /**
   * From now on nothing from the server arrives on the open connections, not even their end; `laterToo`: nor on new ones. What clients send still
   * arrives at the server.
   */
  swallow(options?: { readonly laterToo: boolean }): void;
  /** New connections work again; swallowed ones remain as they are. */
  restore(): void;
  stop(): Promise<void>;
}

export async function startRelay(port: number): Promise<Relay> {
  const links = new Set<{ isSilent: boolean }>();
  let laterAreSilent = false;
  const server = createServer((client) => {
    const target = connect(port, '127.0.0.1');
    const link = { isSilent: laterAreSilent };
    links.add(link);
    client.pipe(target);
    client
      .on('error', () => undefined)
      .on('close', () => {
        links.delete(link);
        target.destroy();
      });
    target.on('data', (bytes: Buffer) => link.isSilent || client.write(bytes));
    target
      .on('error', () => undefined)
      .on('close', () => {
        if (!link.isSilent) client.destroySoon();
      });
  });
  const proxy = await running(server, 'https', []);
  return {
    url: proxy.url,
    swallow: ({ laterToo } = { laterToo: false }) => {
      for (const link of links) link.isSilent = true;
      laterAreSilent = laterToo;
    },
    restore: () => {
      laterAreSilent = false;
    },
    stop: () => proxy.stop(),
  };
}

function join(a: Socket, b: Socket): void {
  a.pipe(b).pipe(a);
  for (const [one, other] of [
    [a, b],
    [b, a],
  ] as const)
    one.on('error', () => other.destroy()).on('close', () => other.destroy());
}

async function running(server: Server, scheme: string, requested: string[]): Promise<LoopbackProxy> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requested,
    stop: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
