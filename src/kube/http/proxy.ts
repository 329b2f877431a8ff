import * as http from 'node:http';
import * as https from 'node:https';

export interface Proxy {
  /** Its URL without user and password. */
  readonly name: string;
  agent(options: https.AgentOptions): http.Agent;
}

/** Loads the library for a SOCKS proxy: only kubeconfigs have proxies, and a node's agent has no memory to spare. */
export async function proxyAt(url: URL, server: URL): Promise<Proxy> {
  const name = `${url.protocol}//${url.host}`;
  if (url.protocol.startsWith('socks')) {
    const { SocksProxyAgent } = await import('socks-proxy-agent');
    // As in Go, the proxy looks up the server's name with both schemes.
    const resolving = new URL(url.href.replace(/^socks5:/, 'socks5h:'));
    return { name, agent: (options) => new SocksProxyAgent(resolving, options) };
  }
  return server.protocol === 'https:'
    ? { name, agent: (options) => new https.Agent({ ...options, proxyEnv: { HTTPS_PROXY: url.href } }) }
    : { name, agent: (options) => new http.Agent({ ...options, proxyEnv: { HTTP_PROXY: url.href } }) };
}
