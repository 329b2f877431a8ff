import * as http from 'node:http';
import * as https from 'node:https';
import { checkServerIdentity, createSecureContext, type PeerCertificate } from 'node:tls';
import type { Endpoint, TlsMaterial } from './endpoint.ts';

/** Idle connections are closed after this time, which is longer than a pause between two polls; Go's HTTP server closes them after about 90 s. */
const idleMs = 80_000;

/** Keep-alive connections to one endpoint. When its TLS material changes, new requests get new connections. */
export class ConnectionPool {
  readonly #endpoint: Endpoint;
  #current: { readonly tls: TlsMaterial | undefined; readonly agent: http.Agent } | undefined;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  agent(): http.Agent {
    const { server, tls, proxy } = this.#endpoint;
    if (this.#current?.tls === tls && this.#current !== undefined) return this.#current.agent;
    this.#retire();
    const isSecure = new URL(server).protocol === 'https:';
    const options = isSecure ? { ...kept, ...secure(tls ?? {}) } : kept;
    const agent = proxy?.agent(options) ?? (isSecure ? new https.Agent(options) : new http.Agent(options));
    this.#current = { tls, agent };
    return agent;
  }

  /** Closes idle connections: after one was dead, the others most likely are too. */
  dropIdle(): void {
    for (const sockets of Object.values(this.#current?.agent.freeSockets ?? {})) {
      for (const socket of sockets ?? []) socket.destroy();
    }
  }

  close(): void {
    this.#current?.agent.destroy();
    this.#current = undefined;
  }

  /** Requests in progress end on the old connections, which are closed afterwards. */
  #retire(): void {
    this.dropIdle();
    if (this.#current !== undefined) this.#current.agent.maxFreeSockets = 0;
  }
}

/** Detects a dead peer under a silent watch within minutes. */
export const tcpKeepAliveMs = 30_000;

/** An idle connection has the same time as a busy one: two would be changed by each request, in eight system calls. */
const kept = { keepAlive: true, keepAliveMsecs: tcpKeepAliveMs, timeout: idleMs };

const secure = ({ ca, cert, key, servername, names, insecure }: TlsMaterial): https.AgentOptions => ({
  // Created once: otherwise every new connection would parse the CAs again.
  secureContext: createSecureContext({ ca: ca === undefined ? ca : [ca].flat(), cert, key }),
  rejectUnauthorized: insecure !== true,
  ...(servername === undefined ? {} : { servername }),
  ...(names === undefined ? {} : { checkServerIdentity: anyOf(names) }),
});

const anyOf = (names: readonly string[]) => (_: string, certificate: PeerCertificate) => {
  const problems = names.map((name) => checkServerIdentity(name, certificate));
  return problems.includes(undefined) ? undefined : problems[0];
};
