import { expect, test } from 'vitest';
import { proxyFor, type ProxyVariables } from '../../../../src/kube/http/proxy-choice.ts';

const of = (server: string, variables: ProxyVariables): string | undefined =>
  proxyFor(new URL(server), undefined, variables)?.href;

test.each([
  {
    name: 'https uses HTTPS_PROXY',
    server: 'https://k.test',
    is: 'http://s/',
    variables: { httpsProxy: 'http://s', httpProxy: 'http://p' },
  },
  {
    name: 'http uses HTTP_PROXY',
    server: 'http://k.test',
    is: 'http://p/',
    variables: { httpProxy: 'http://p' },
  },
  { name: 'https does not use HTTP_PROXY', server: 'https://k.test', variables: { httpProxy: 'http://p' } },
  {
    name: 'a variable may lack the scheme',
    server: 'https://k.test',
    is: 'http://p:3128/',
    variables: { httpsProxy: 'p:3128' },
  },
  { name: 'an empty variable is none', server: 'https://k.test', variables: { httpsProxy: '' } },
  { name: 'localhost needs none', server: 'https://localhost:6443', variables: { httpsProxy: 'http://p' } },
  { name: '127.1.2.3 needs none', server: 'https://127.1.2.3', variables: { httpsProxy: 'http://p' } },
  { name: '::1 needs none', server: 'https://[::1]:6443', variables: { httpsProxy: 'http://p' } },
  {
    name: 'a name that begins as the loopback is another host',
    ...{ server: 'https://127.test', variables: { httpsProxy: 'http://p' }, is: 'http://p/' },
  },
])('the proxy of a server: $name', ({ server, variables, is }) => {
  expect(of(server, variables)).toBe(is);
});

test.each([
  { noProxy: '*', excluded: ['https://a.test', 'https://10.0.0.1'], others: [] },
  {
    noProxy: 'k.test',
    excluded: ['https://k.test', 'https://a.k.test', 'https://K.TEST'],
    others: ['https://ak.test'],
  },
  { noProxy: ' other , .k.test', excluded: ['https://a.k.test'], others: ['https://k.test'] },
  { noProxy: '*.k.test', excluded: ['https://a.k.test'], others: ['https://k.test'] },
  {
    noProxy: 'k.test:6443',
    excluded: ['https://k.test:6443'],
    others: ['https://k.test', 'https://k.test:64430'],
  },
  { noProxy: 'k.test:443', excluded: ['https://k.test'], others: ['http://k.test'] },
  {
    noProxy: '10.0.0.0/8',
    excluded: ['https://10.9.9.9'],
    others: ['https://11.0.0.1', 'https://a.test', 'https://[fd00::1]'],
  },
  {
    noProxy: 'fd00::/8',
    excluded: ['https://[fd00::1]:6443'],
    others: ['https://[fe00::1]', 'https://10.0.0.1'],
  },
  { noProxy: 'fd00::1', excluded: ['https://[fd00::1]'], others: ['https://[fd00::2]'] },
  { noProxy: '10.0.0.1', excluded: ['https://10.0.0.1'], others: ['https://10.0.0.11', 'https://110.0.0.1'] },
  {
    noProxy: '10.0.0.0/33,x/8,fd00::/129,10.0.0.0/a',
    excluded: [],
    others: ['https://10.0.0.1', 'https://[fd00::1]'],
  },
  { noProxy: ',', excluded: [], others: ['https://a.test'] },
])('NO_PROXY=$noProxy', ({ noProxy, excluded, others }) => {
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
