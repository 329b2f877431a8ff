import { readFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import type { ContractServer } from './server.ts';

export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly retryAfter: string | undefined;
  readonly bytes: Buffer;
}

export interface Sent {
  readonly body?: unknown;
  readonly accept?: string;
  readonly contentType?: string;
  /** Another token than the administrator's; '' for none. */
  readonly token?: string;
}

/** Plain HTTP to the server under test, without any of dustpan's code: the suite judges servers, not clients. */
export class Api {
  readonly #server: ContractServer;
  readonly #ca: Buffer | undefined;

  private constructor(server: ContractServer, ca: Buffer | undefined) {
    this.#server = server;
    this.#ca = ca;
  }

  static async of(server: ContractServer): Promise<Api> {
    return new Api(server, server.caFile === undefined ? undefined : await readFile(server.caFile));
  }

  async send(method: string, path: string, sent: Sent = {}): Promise<Answer> {
    const response = await this.open(method, path, sent);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const { statusCode = 0, headers } = response;
    const type = headers['content-type'] ?? '';
    return { status: statusCode, type, retryAfter: headers['retry-after'], bytes: Buffer.concat(chunks) };
  }

  /** Resolves with the head of the answer; its body streams. */
  open(
    method: string,
    path: string,
    { body, accept, contentType, token }: Sent = {},
  ): Promise<http.IncomingMessage> {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const authorization = `Bearer ${token ?? this.#server.token}`;
    const headers = {
      accept: accept ?? 'application/json',
      ...(token === '' ? {} : { authorization }),
      // Node sends no length with a DELETE unless told so, and a server then takes the body for nothing.
      ...(body === undefined
        ? {}
        : { 'content-type': contentType ?? 'application/json', 'content-length': Buffer.byteLength(text) }),
    };
    return new Promise((resolve, reject) => {
      const url = `${this.#server.url}${path}`;
      const request =
        this.#ca === undefined
          ? http.request(url, { method, headers, agent: false }, resolve)
          : https.request(url, { method, headers, agent: false, ca: this.#ca }, resolve);
      request.on('error', reject);
      request.end(body === undefined ? undefined : text);
    });
  }
}

/** The body as JSON. */
export const json = ({ bytes }: Answer): unknown => JSON.parse(bytes.toString());
