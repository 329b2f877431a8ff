import { expect, test } from 'vitest';
import { personConnection, withConnection } from '../../../../src/commands/cli/connection.ts';
import { LenientCommand } from '../../../../src/commands/cli/option.ts';
import { parsed, problemOf } from '../../../fakes/command-line.ts';

const command = () => withConnection(new LenientCommand('plan'));
const connectionOf = (argv: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  personConnection(parsed(command(), argv).opts(), env, 'plan');

test('without flags, the connection is that of the kubeconfig, with a deadline of a minute', () => {
  expect(connectionOf([])).toMatchObject({ overrides: {}, impersonation: {}, requestTimeoutMs: 60_000 });
});

test("kubectl's flags override entries of the kubeconfig", () => {
  const argv = '--context=a --cluster=b --user=c -s https://d --as=e --as-group=f --as-group=g --as-uid=h';
  expect(connectionOf([...argv.split(' '), '--request-timeout=0s'])).toMatchObject({
    overrides: { context: 'a', cluster: 'b', user: 'c', server: 'https://d' },
    impersonation: { user: 'e', groups: ['f', 'g'], uid: 'h' },
    requestTimeoutMs: 0,
  });
});

test.each(['--as-group=g', '--as-uid=u'])('%s needs --as', (flag) => {
  expect(() => connectionOf([flag])).toThrow('plan: --as-group and --as-uid need --as');
});

test('the server needs no scheme', () => {
  expect(connectionOf(['-s', 'k.test:6443'])).toMatchObject({ overrides: { server: 'k.test:6443' } });
});

test.each(['ftp://k.test', 'https://', 'https://me@k.test'])('--server=%s is refused', (url) => {
  expect(problemOf(command(), [`--server=${url}`])).toContain('Use a URL such as https://10.0.0.1:6443.');
});

test('proxies are in the variables of either case; the upper case takes precedence', () => {
  const lower = { https_proxy: 'http://a', http_proxy: 'http://b', no_proxy: 'c' };
  const proxies = { httpsProxy: 'http://a', httpProxy: 'http://b', noProxy: 'c' };
  expect(connectionOf([], lower).proxies).toEqual(proxies);
  const upper = { HTTPS_PROXY: 'http://x', HTTP_PROXY: '', NO_PROXY: 'z' };
  const both = { ...proxies, httpsProxy: 'http://x', noProxy: 'z' };
  expect(connectionOf([], { ...lower, ...upper }).proxies).toEqual(both);
});

const drive = { HOMEDRIVE: 'H:', HOMEPATH: '\\x' };
const profile = { USERPROFILE: 'C:\\Users\\x' };

test.each([
  { name: 'on Linux', env: { HOME: '/home/x' }, homes: ['/home/x'] },
  {
    name: 'on Windows, in the order of kubectl',
    env: { ...profile, ...drive, HOME: 'D:\\x' },
    homes: ['D:\\x', 'H:\\x', 'C:\\Users\\x'],
  },
  { name: 'with an empty HOME', env: { ...profile, HOME: '' }, homes: ['C:\\Users\\x'] },
  { name: 'with a drive alone', env: { ...profile, HOMEDRIVE: 'H:' }, homes: ['C:\\Users\\x'] },
  { name: 'with a path alone', env: { HOMEPATH: '\\x' }, homes: [] },
  { name: 'without variables', env: {}, homes: [] },
])('home directories $name: $homes', ({ env, homes }) => {
  expect(connectionOf([], env).homes).toEqual(homes);
});
