import * as http from 'node:http';
import * as https from 'node:https';
import { connect as connectTcp, isIP } from 'node:net';
import { connect as connectTls, createSecureContext } from 'node:tls';
import { urlToHttpOptions } from 'node:url';
import type { Endpoint, TlsMaterial } from './credentials.ts';
import { LeanConnections } from './http-lean-connections.ts';

/** Idle connections of a burst are given back after this; Go's API server closes them itself after about 90 s. */
const idleMs = 60_000;

/** Notices a dead peer under a silent watch within minutes. */
export const tcpKeepAliveMs = 30_000;

/** The same as the agents give to theirs; a request ends by its own deadline long before the timeout of its socket. */
const socketOptions = {
  keepAlive: true,
  keepAliveInitialDelay: tcpKeepAliveMs,
  noDelay: true,
  timeout: idleMs,
};

/** Where requests go, taken apart once for all of them. */
export interface Origin {
  /** As configured, for messages. */
  readonly server: string;
  readonly request: (options: http.RequestOptions) => http.ClientRequest;
  readonly address: Pick<http.RequestOptions, 'protocol' | 'hostname' | 'port'>;
  /** The header; with a port unless it is the protocol's own. */
  readonly host: string;
  /** Without a slash at its end; '' unless the server stands behind a path. */
  readonly pathPrefix: string;
}

/** Throws when the server's URL is none. */
export function originOf(server: string): Origin {
  const url = new URL(server);
  const { protocol, hostname, port } = urlToHttpOptions(url);
  return {
    server,
    request: protocol === 'https:' ? https.request : http.request,
    address: { protocol, hostname, port },
    host: url.host,
    pathPrefix: url.pathname.replace(/\/+$/, ''),
  };
}

/** For TLS material that has not changed. */
interface Pool {
  readonly tls: TlsMaterial | undefined;
  readonly agent: http.Agent;
  readonly lean: LeanConnections;
}

/** The keep-alive connections to one endpoint; a change of its TLS material means new ones. */
export class Connections {
  readonly #endpoint: Endpoint;
  #pool: Pool | undefined;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  /** What carries the next request. */
  pool(): Pool {
    const { tls } = this.#endpoint;
    if (this.#pool && this.#pool.tls === tls) return this.#pool;
    // What is under way on the old connections may end there.
    this.dropIdle();
    this.#pool?.lean.retire();
    this.#pool = createPool(this.#endpoint.server, tls);
    return this.#pool;
  }

  /** After one idle connection turned out to be dead the others most likely are, too. */
  dropIdle(): void {
    for (const sockets of Object.values(this.#pool?.agent.freeSockets ?? {})) {
      for (const socket of sockets ?? []) socket.destroy();
    }
    this.#pool?.lean.dropIdle();
  }

  close(): void {
    this.#pool?.agent.destroy();
    this.#pool?.lean.close();
    this.#pool = undefined;
  }
}

function createPool(server: string, tls: TlsMaterial | undefined): Pool {
  const { protocol, hostname, port } = urlToHttpOptions(new URL(server));
  const kept = { keepAlive: true, keepAliveMsecs: tcpKeepAliveMs, timeout: idleMs };
  const host = hostname ?? '';
  if (protocol !== 'https:') {
    const tcp = { host, port: Number(port ?? 80), ...socketOptions };
    return {
      tls,
      agent: ofOneOrigin(new http.Agent(kept)),
      lean: new LeanConnections(() => connectTcp(tcp)),
    };
  }
  const secure = secureOptions(tls ?? {});
  const agent = ofOneOrigin(new https.Agent({ ...kept, ...secure }));
  // As the agent does: the name that is asked for is that of the certificate, and an address is none.
  const asked = { servername: isIP(host) === 0 ? host : '', ALPNProtocols: ['http/1.1'] };
  const target = { host, port: Number(port ?? 443), ...socketOptions, ...asked, ...secure };
  return { tls, agent, lean: new LeanConnections(() => connectTls(target)) };
}

const secureOptions = ({ ca, cert, key, servername, insecure }: TlsMaterial): https.AgentOptions => ({
  // Made once: else every new connection parses the CA again.
  secureContext: createSecureContext({ ca, cert, key }),
  rejectUnauthorized: insecure !== true,
  ...(servername === undefined ? {} : { servername }),
});

/** All its connections are alike, so they need no name each that is put together, twice a request, of everything TLS can be told. */
function ofOneOrigin<A extends http.Agent>(agent: A): A {
  agent.getName = () => 'api';
  return agent;
}
