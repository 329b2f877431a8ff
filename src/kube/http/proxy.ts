import type * as http from 'node:http';
import type * as https from 'node:https';
import { isIPv6 } from 'node:net';
import { checkServerIdentity, type ConnectionOptions, type PeerCertificate } from 'node:tls';

/** A proxy between us and one server. */
export interface Proxy {
  /** Its URL without user and password. */
  readonly name: string;
  /** An agent whose connections go through it. */
  agent(options: https.AgentOptions): http.Agent;
}

/** Loads the library for the kind of proxy: only kubeconfigs have proxies, and a node's agent has no memory to spare. */
export async function proxyAt(url: URL, server: URL): Promise<Proxy> {
  const name = `${url.protocol}//${url.host}`;
  if (url.protocol.startsWith('socks')) {
    const { SocksProxyAgent } = await import('socks-proxy-agent');
    // As in Go, the proxy looks up the server's name with both schemes.
    const resolving = new URL(url.href.replace(/^socks5:/, 'socks5h:'));
    return { name, agent: (options) => new SocksProxyAgent(resolving, options) };
  }
  const { HttpProxyAgent, HttpsProxyAgent } = await import('hpagent');
  const proxy = url.href;
  return server.protocol === 'https:'
    ? { name, agent: (options) => bracketing(new HttpsProxyAgent({ ...options, proxy })) }
    : { name, agent: (options) => bracketing(new HttpProxyAgent({ ...options, proxy })) };
}

/** hpagent requests an IPv6 address without its brackets. The certificate is verified for the address without them. */
function bracketing<A extends http.Agent>(agent: A): A {
  const createConnection = agent.createConnection.bind(agent);
  agent.createConnection = (options: ConnectionOptions, callback) => {
    const { host = '', servername, checkServerIdentity: check = checkServerIdentity } = options;
    if (!isIPv6(host)) return createConnection(options, callback);
    const named = (_: string, certificate: PeerCertificate): Error | undefined =>
      check(servername === undefined || servername === '' ? host : servername, certificate);
    const bracketed = { ...options, host: `[${host}]`, checkServerIdentity: named };
    return createConnection(bracketed, callback);
  };
  return agent;
}
