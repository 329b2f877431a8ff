import { expect, test } from 'vitest';
import { proxyFor, type ProxyVariables } from '../../../../src/kube/http/proxy-choice.ts';

const of = (server: string, variables: ProxyVariables): string | undefined =>
  proxyFor(new URL(server), undefined, variables)?.href;

const https = { httpsProxy: 'http://s' };
const http = { httpProxy: 'http://p' };
test.each<readonly [string, string, ProxyVariables, string | undefined]>([
  ['https uses HTTPS_PROXY', 'https://k.test', { ...https, ...http }, 'http://s/'],
  ['http uses HTTP_PROXY', 'http://k.test', http, 'http://p/'],
  ['https does not use HTTP_PROXY', 'https://k.test', http, undefined],
  ['a variable may lack the scheme', 'https://k.test', { httpsProxy: 'p:3128' }, 'http://p:3128/'],
  ['an empty variable is none', 'https://k.test', { httpsProxy: '' }, undefined],
  ['localhost needs none', 'https://localhost:6443', https, undefined],
  ['127.1.2.3 needs none', 'https://127.1.2.3', https, undefined],
  ['::1 needs none', 'https://[::1]:6443', https, undefined],
  ['a name that begins as the loopback is another host', 'https://127.test', https, 'http://s/'],
])('the proxy of a server: %s', (_name, server, variables, proxy) => {
  expect(of(server, variables)).toBe(proxy);
});

test.each<readonly [string, readonly string[], readonly string[]]>([
  ['*', ['https://a.test', 'https://10.0.0.1'], []],
  ['k.test', ['https://k.test', 'https://a.k.test', 'https://K.TEST'], ['https://ak.test']],
  [' other , .k.test', ['https://a.k.test'], ['https://k.test']],
  ['k.test:6443', ['https://k.test:6443'], ['https://k.test', 'https://k.test:64430']],
  ['k.test:443', ['https://k.test'], ['http://k.test', 'https://k.test:6443']],
  ['fd00::1', ['https://[fd00::1]'], ['https://[fd00::2]']],
  ['10.0.0.0/8', ['https://10.9.9.9'], ['https://11.0.0.1', 'https://a.test', 'https://[fd00::1]']],
  ['fd00::/8', ['https://[fd00::1]:6443'], ['https://[fe00::1]', 'https://10.0.0.1']],
  ['10.0.0.1', ['https://10.0.0.1'], ['https://10.0.0.11', 'https://110.0.0.1']],
  ['10.0.0.0/33,x/8,fd00::/129,10.0.0.0/a,', [], ['https://10.0.0.1', 'https://[fd00::1]']],
])('NO_PROXY=%s', (noProxy, excluded, others) => {
  const proxies = { ...https, ...http, noProxy };
  expect(excluded.filter((server) => of(server, proxies) !== undefined)).toEqual([]);
  expect(others.filter((server) => of(server, proxies) === undefined)).toEqual([]);
});

test('a proxy-url precedes the variables, and NO_PROXY and the loopback do not limit it', () => {
  const configured = { url: 'socks5://s:1', where: 'w' };
  const proxy = proxyFor(new URL('https://127.0.0.1'), configured, { ...https, noProxy: '*' });
  expect(proxy?.href).toBe('socks5://s:1');
});

test.each(['ftp://p', 'http://', 'x y'])('a wrong proxy %s is reported', (url) => {
  expect(() => of('https://a.test', { httpsProxy: url })).toThrow(
    'HTTPS_PROXY is not the URL of a proxy. Use http://, https:// or socks5://HOST:PORT.',
  );
});
