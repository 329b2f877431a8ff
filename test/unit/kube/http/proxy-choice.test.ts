import { expect, test } from 'vitest';
import { proxyFor, type ProxyVariables } from '../../../../src/kube/http/proxy-choice.ts';

const of = (server: string, variables: ProxyVariables): string | undefined =>
  proxyFor(new URL(server), undefined, variables)?.href;

test.each<readonly [string, string, ProxyVariables, string | undefined]>([
  [
    'https uses HTTPS_PROXY',
    'https://k.test',
    { httpsProxy: 'http://s', httpProxy: 'http://p' },
    'http://s/',
  ],
  ['http uses HTTP_PROXY', 'http://k.test', { httpProxy: 'http://p' }, 'http://p/'],
  ['https does not use HTTP_PROXY', 'https://k.test', { httpProxy: 'http://p' }, undefined],
  ['a variable may lack the scheme', 'https://k.test', { httpsProxy: 'p:3128' }, 'http://p:3128/'],
  ['an empty variable is none', 'https://k.test', { httpsProxy: '' }, undefined],
  ['localhost needs none', 'https://localhost:6443', { httpsProxy: 'http://p' }, undefined],
  ['127.1.2.3 needs none', 'https://127.1.2.3', { httpsProxy: 'http://p' }, undefined],
  ['::1 needs none', 'https://[::1]:6443', { httpsProxy: 'http://p' }, undefined],
  [
    'a name that begins as the loopback is another host',
    'https://127.test',
    { httpsProxy: 'http://p' },
    'http://p/',
  ],
])('the proxy of a server: %s', (_name, server, variables, proxy) => {
  expect(of(server, variables)).toBe(proxy);
});

test.each<readonly [string, readonly string[], readonly string[]]>([
  ['*', ['https://a.test', 'https://10.0.0.1'], []],
  ['k.test', ['https://k.test', 'https://a.k.test', 'https://K.TEST'], ['https://ak.test']],
  [' other , .k.test', ['https://a.k.test'], ['https://k.test']],
  ['*.k.test', ['https://a.k.test'], ['https://k.test']],
  ['k.test:6443', ['https://k.test:6443'], ['https://k.test', 'https://k.test:64430']],
  ['k.test:443', ['https://k.test'], ['http://k.test']],
  ['10.0.0.0/8', ['https://10.9.9.9'], ['https://11.0.0.1', 'https://a.test', 'https://[fd00::1]']],
  ['fd00::/8', ['https://[fd00::1]:6443'], ['https://[fe00::1]', 'https://10.0.0.1']],
  ['fd00::1', ['https://[fd00::1]'], ['https://[fd00::2]']],
  ['10.0.0.1', ['https://10.0.0.1'], ['https://10.0.0.11', 'https://110.0.0.1']],
  ['10.0.0.0/33,x/8,fd00::/129,10.0.0.0/a', [], ['https://10.0.0.1', 'https://[fd00::1]']],
  [',', [], ['https://a.test']],
])('NO_PROXY=%s', (noProxy, excluded, others) => {
  const proxies = { httpsProxy: 'http://p', httpProxy: 'http://p', noProxy };
  expect(excluded.filter((server) => of(server, proxies) !== undefined)).toEqual([]);
  expect(others.filter((server) => of(server, proxies) === undefined)).toEqual([]);
});

test('a proxy-url precedes the variables, and NO_PROXY and the loopback do not limit it', () => {
  const configured = { url: 'socks5://s:1', where: 'w' };
  const proxy = proxyFor(new URL('https://127.0.0.1'), configured, { httpsProxy: 'http://p', noProxy: '*' });
  expect(proxy?.href).toBe('socks5://s:1');
});

test.each(['ftp://p', 'http://', 'x y'])('a wrong proxy %s is reported without its password', (url) => {
  expect(() => of('https://a.test', { httpsProxy: url })).toThrow('HTTPS_PROXY is not the URL of a proxy');
  expect(() => of('http://a.test', { httpProxy: url })).toThrow('HTTP_PROXY is not the URL of a proxy');
  expect(() => proxyFor(new URL('https://a'), { url, where: 'proxy-url of k' }, {})).toThrow(
    'proxy-url of k is not the URL of a proxy. Use http://, https:// or socks5://HOST:PORT.',
  );
});
