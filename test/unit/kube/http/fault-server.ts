import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Respond = (response: ServerResponse, request: IncomingMessage) => void;

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

/** A server on the loopback. It sends the given responses in turn, and repeats the last one. */
export class FaultServer {
  readonly seen: Seen[] = [];
  readonly connections = new Set<object>();
  readonly #server: Server;

  constructor(...responses: readonly Respond[]) {
    this.#server = createServer((request, response) => {
      const respond = responses[Math.min(this.seen.length, responses.length - 1)];
      const { method = '', url = '', headers } = request;
      this.seen.push({ method, url, headers });
      this.connections.add(request.socket);
      respond?.(response, request);
    });
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** Responds with `json`. */
export const ok =
  (json: unknown = { kind: 'Ok' }): Respond =>
  (response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(json));
  };

/** Responds with an error status. */
export const refuse =
  (status: number, body: string | Buffer = '', headers: Record<string, string> = {}): Respond =>
  (response) => {
    response.writeHead(status, headers).end(body);
  };

/** Never responds. */
export const hang: Respond = () => undefined;

/** Closes the connection without a response. */
export const reset: Respond = (_, request) => {
  request.socket.resetAndDestroy();
};

/** A metav1.Status as JSON. */
export const statusJson = (message: string, reason: string, details?: object): string =>
  JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason, details });
