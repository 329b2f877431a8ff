import { expect, test } from 'vitest';
import { personConnection, withConnection } from '../../../../src/process/connection.ts';
import { LenientCommand } from '../../../../src/process/option.ts';
import { parsed } from '../../../fakes/command-line.ts';

const command = () => withConnection(new LenientCommand('plan'));
const connectionOf = (argv: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  personConnection(parsed(command(), argv).opts(), env, 'plan');

test("the connection is that of the kubeconfig with a deadline of a minute; kubectl's flags override it", () => {
  expect(connectionOf([])).toMatchObject({ overrides: {}, impersonation: {}, requestTimeoutMs: 60_000 });
  const argv = '--context=a --cluster=b --user=c -s k.test:6443 --as=e --as-group=f --as-group=g --as-uid=h';
  expect(connectionOf([...argv.split(' '), '--request-timeout=0s'])).toMatchObject({
    overrides: { context: 'a', cluster: 'b', user: 'c', server: 'k.test:6443' },
    impersonation: { user: 'e', groups: ['f', 'g'], uid: 'h' },
    requestTimeoutMs: 0,
  });
});

test('proxies are in the variables of either case; the upper case takes precedence', () => {
  const lower = { https_proxy: 'http://a', http_proxy: 'http://b', no_proxy: 'c' };
  const upper = { HTTPS_PROXY: 'http://x', HTTP_PROXY: '' };
  const proxies = { httpsProxy: 'http://x', httpProxy: 'http://b', noProxy: 'c' };
  expect(connectionOf([], { ...lower, ...upper }).proxies).toEqual(proxies);
});

const windows = { USERPROFILE: 'C:\\Users\\x', HOMEDRIVE: 'H:', HOMEPATH: '\\x', HOME: 'D:\\x' };

test.each([
  { name: 'on Linux', env: { HOME: '/home/x' }, homes: ['/home/x'] },
  { name: 'on Windows, as kubectl has them', env: windows, homes: ['D:\\x', 'H:\\x', 'C:\\Users\\x'] },
  { name: 'with a drive alone', env: { ...windows, HOME: '', HOMEPATH: '' }, homes: ['C:\\Users\\x'] },
])('home directories $name: $homes', ({ env, homes }) => {
  expect(connectionOf([], env).homes).toEqual(homes);
});
