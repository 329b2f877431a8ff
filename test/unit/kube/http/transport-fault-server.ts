import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type Answer = (response: ServerResponse, request: IncomingMessage) => void;

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
}

/** A server on the loopback that gives the scripted answers in turn, the last one for ever. */
export class FaultServer {
  readonly seen: Seen[] = [];
  readonly connections = new Set<object>();
  readonly #server: Server;

  constructor(...answers: readonly Answer[]) {
    this.#server = createServer((request, response) => {
      const answer = answers[Math.min(this.seen.length, answers.length - 1)];
      const { method = '', url = '', headers } = request;
      this.seen.push({ method, url, headers });
      this.connections.add(request.socket);
      answer?.(response, request);
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

/** Answers `json`. */
export const ok =
  (json: unknown = { kind: 'Ok' }): Answer =>
  (response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(json));
  };

/** Refuses with `status` and, where given, a body and headers. */
export const refuse =
  (status: number, body: string | Buffer = '', headers: Record<string, string> = {}): Answer =>
  (response) => {
    response.writeHead(status, headers).end(body);
  };

/** Takes the request and never says a word. */
export const hang: Answer = () => undefined;

/** Breaks the connection instead of an answer. */
export const reset: Answer = (_, request) => {
  request.socket.resetAndDestroy();
};

/** A metav1.Status as JSON. */
export const statusJson = (message: string, reason: string, details?: object): string =>
  JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message, reason, details });
