import { BlockList, isIP } from 'node:net';
import { ConfigError } from './connection-errors.ts';

/** The variables of the environment that name proxies, as most programs read them; undefined = not set. */
export interface ProxyVariables {
  readonly httpsProxy?: string | undefined;
  readonly httpProxy?: string | undefined;
  readonly noProxy?: string | undefined;
}

/** The proxy-url of a cluster in a kubeconfig, and where it is for messages. */
interface ConfiguredProxy {
  readonly url: string;
  readonly where: string;
}

/** Returns the proxy of a server; undefined = none. As in kubectl, a proxy-url takes precedence over the variables, and no NO_PROXY limits it. */
export function proxyFor(
  server: URL,
  configured: ConfiguredProxy | undefined,
  { httpsProxy, httpProxy, noProxy = '' }: ProxyVariables,
): URL | undefined {
  if (configured !== undefined) return proxyUrl(configured.url, configured.where);
  const isSecure = server.protocol === 'https:';
  const given = isSecure ? httpsProxy : httpProxy;
  if (given === undefined || given === '' || isLocal(server) || isExcluded(server, noProxy)) return undefined;
  // As in Go, a variable may lack the scheme.
  const url = given.includes('://') ? given : `http://${given}`;
  return proxyUrl(url, isSecure ? 'HTTPS_PROXY' : 'HTTP_PROXY');
}

const schemes: ReadonlySet<string> = new Set(['http:', 'https:', 'socks5:', 'socks5h:']);

/** The message does not repeat the URL, which may contain a password. */
function proxyUrl(text: string, where: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && schemes.has(url.protocol) && url.hostname !== '') return url;
  throw new ConfigError(`${where} is not the URL of a proxy. Use http://, https:// or socks5://HOST:PORT.`);
}

const bareHost = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '').toLowerCase();

/** Go never sends requests for this machine to a proxy. */
function isLocal(server: URL): boolean {
  const host = bareHost(server);
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** Matches NO_PROXY as Go does: `*`, a domain with its subdomains, `.domain` for only those, an address, a range of addresses; each may have a port. */
function isExcluded(server: URL, noProxy: string): boolean {
  const host = bareHost(server);
  const port = server.port === '' ? (server.protocol === 'https:' ? '443' : '80') : server.port;
  return noProxy
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry === '*' || matches(entry, { host, port }));
}

function matches(entry: string, { host, port }: { readonly host: string; readonly port: string }): boolean {
  if (entry === '') return false;
  if (entry.includes('/')) return isInRange(host, entry);
  const [, name = '', wantedPort] = /^(.*?)(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [];
  if (wantedPort !== undefined && wantedPort !== port) return false;
  const wanted = name.replace(/^\[|\]$/g, '').replace(/^\*\./, '.');
  return wanted.startsWith('.') ? host.endsWith(wanted) : host === wanted || isSubdomain(host, wanted);
}

const isSubdomain = (host: string, domain: string): boolean =>
  isIP(host) === 0 && domain !== '' && host.endsWith(`.${domain}`);

function isInRange(host: string, range: string): boolean {
  const [address = '', bits = ''] = range.split('/');
  const family = isIP(address);
  if (family === 0 || isIP(host) !== family || !/^\d+$/.test(bits)) return false;
  if (Number(bits) > (family === 4 ? 32 : 128)) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(address, Number(bits), type);
  return list.check(host, type);
}
