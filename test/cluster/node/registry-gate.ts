import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A proxy before a registry that can hold back the second half of a response, like a slow network. With `login` (`user:password`) it serves
 * nobody else.
 */
export class RegistryGate implements AsyncDisposable {
  readonly #registry: string;
  readonly #server: Server;
  #open: (() => void) | undefined;
  #opened: Promise<void> = Promise.resolve();
  #minBytes = Infinity;
  readonly #held: string[] = [];
  readonly #authorization: string | undefined;

  constructor(registry: string, login?: string) {
    this.#registry = registry;
    this.#authorization = login && `Basic ${Buffer.from(login).toString('base64')}`;
    this.#server = createServer((request, response) => {
      this.#serve(request, response).catch((err: unknown) => response.destroy(err as Error));
    });
  }

  /** Returns the URL of the proxy. */
  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Paths of all responses that were held back. */
  get held(): readonly string[] {
    return this.#held;
  }

  /** From now on holds back every response of at least this size. */
  hold(minBytes: number): void {
    this.#minBytes = minBytes;
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  /** Sends what was held back. */
  release(): void {
    this.#minBytes = Infinity;
    this.#open?.();
  }

  async #serve({ method = 'GET', url = '', headers }: IncomingMessage, to: ServerResponse): Promise<void> {
    const { accept = '*/*', range } = headers;
    if (this.#authorization !== undefined && headers.authorization !== this.#authorization) {
      to.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end();
      return;
    }
    const forwarded = { accept, ...(range !== undefined && { range }) };
    const from = await fetch(`${this.#registry}${url}`, { method, headers: forwarded });
    const body = Buffer.from(await from.arrayBuffer());
    to.writeHead(from.status, Object.fromEntries(from.headers));
    if (body.length >= this.#minBytes) {
      const half = Math.floor(body.length / 2);
      to.write(body.subarray(0, half));
      this.#held.push(url);
      await this.#opened;
      to.end(body.subarray(half));
    } else to.end(body);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release();
    this.#server.close();
    this.#server.closeAllConnections();
    await once(this.#server, 'close');
  }
}
