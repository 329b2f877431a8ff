import * as http from 'node:http';
import * as https from 'node:https';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext } from 'node:tls';
import type { Endpoint, TlsMaterial } from './credentials.ts';
import { LeanConnections } from './http-lean-connections.ts';
import type { Origin } from './http-origin.ts';

/** Idle connections of a burst are given back after this; Go's API server closes them itself after about 90 s. */
const idleMs = 60_000;

/** Notices a dead peer under a silent watch within minutes. */
export const tcpKeepAliveMs = 30_000;

/** For TLS material that has not changed. */
interface Pool {
  readonly tls: TlsMaterial | undefined;
  readonly agent: http.Agent;
  readonly lean: LeanConnections;
}

/** The keep-alive connections to one endpoint; a change of its TLS material means new ones. */
export class Connections {
  readonly #endpoint: Endpoint;
  readonly #origin: Origin;
  #pool: Pool | undefined;

  constructor(endpoint: Endpoint, origin: Origin) {
    this.#endpoint = endpoint;
    this.#origin = origin;
  }

  /** What carries the next request. */
  pool(): Pool {
    const { tls } = this.#endpoint;
    if (this.#pool && this.#pool.tls === tls) return this.#pool;
    // What is under way on the old connections may end there.
    this.dropIdle();
    this.#pool?.lean.retire();
    this.#pool = createPool(this.#origin.address, tls);
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

function createPool({ protocol, hostname, port }: Origin['address'], tls: TlsMaterial | undefined): Pool {
  const kept = { keepAlive: true, keepAliveMsecs: tcpKeepAliveMs, timeout: idleMs };
  const host = hostname ?? '';
  if (protocol !== 'https:') {
    const target = { host, port: Number(port ?? 80) };
    return {
      tls,
      agent: ofOneOrigin(new http.Agent(kept)),
      lean: new LeanConnections(() => tuned(connectTcp(target))),
    };
  }
  const secure = secureOptions(tls ?? {});
  // As the agent has it: the certificate is to be that of the host, and an address is no name to ask for.
  const target = { host, port: Number(port ?? 443), servername: isIP(host) === 0 ? host : '', ...secure };
  return {
    tls,
    agent: ofOneOrigin(new https.Agent({ ...kept, ...secure })),
    lean: new LeanConnections(() => tuned(connectTls(target))),
  };
}

/** As the agents do; tls.connect() takes no options for these. */
function tuned<S extends Socket>(socket: S): S {
  socket.setTimeout(idleMs);
  socket.once('connect', () => {
    socket.setKeepAlive(true, tcpKeepAliveMs).setNoDelay(true);
  });
  return socket;
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
