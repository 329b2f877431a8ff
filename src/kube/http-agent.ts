import * as http from 'node:http';
import * as https from 'node:https';
import { createSecureContext } from 'node:tls';
import { urlToHttpOptions } from 'node:url';
import type { Endpoint, TlsMaterial } from './credentials.ts';

/** Idle connections of a burst are given back after this; Go's API server closes them itself after about 90 s. */
const idleMs = 60_000;

/** Notices a dead peer under a silent watch within minutes. */
export const tcpKeepAliveMs = 30_000;

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

/** The keep-alive connections to one endpoint; a change of its TLS material means new ones. */
export class Connections {
  readonly #endpoint: Endpoint;
  readonly #maxSockets: number;
  #tls: TlsMaterial | undefined;
  #agent: http.Agent | undefined;

  constructor(endpoint: Endpoint, maxSockets: number) {
    this.#endpoint = endpoint;
    this.#maxSockets = maxSockets;
  }

  /** The agent for the next request. */
  agent(): http.Agent {
    const { tls } = this.#endpoint;
    if (this.#agent && this.#tls === tls) return this.#agent;
    // What is under way on the old connections may end there.
    this.dropIdle();
    this.#tls = tls;
    this.#agent = this.#createAgent(tls ?? {});
    return this.#agent;
  }

  /** After one idle connection turned out to be dead the others most likely are, too. */
  dropIdle(): void {
    for (const sockets of Object.values(this.#agent?.freeSockets ?? {})) {
      for (const socket of sockets ?? []) socket.destroy();
    }
  }

  close(): void {
    this.#agent?.destroy();
    this.#agent = undefined;
  }

  #createAgent({ ca, cert, key, servername, insecure }: TlsMaterial): http.Agent {
    const options = {
      keepAlive: true,
      keepAliveMsecs: tcpKeepAliveMs,
      timeout: idleMs,
      maxSockets: this.#maxSockets,
    };
    if (!this.#endpoint.server.startsWith('https:')) return ofOneOrigin(new http.Agent(options));
    const agent = new https.Agent({
      ...options,
      // Made once: else every new connection parses the CA again.
      secureContext: createSecureContext({ ca, cert, key }),
      rejectUnauthorized: insecure !== true,
      ...(servername === undefined ? {} : { servername }),
    });
    return ofOneOrigin(agent);
  }
}

/** All its connections are alike, so they need no name each that is put together, twice a request, of everything TLS can be told. */
function ofOneOrigin<A extends http.Agent>(agent: A): A {
  agent.getName = () => 'api';
  return agent;
}
