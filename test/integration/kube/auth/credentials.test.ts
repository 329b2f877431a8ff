import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { RereadCredentials } from '../../../../src/kube/auth/credentials.ts';
import { DeadlineError } from '../../../../src/kube/http/connection-errors.ts';
import { loadClusterConnection, type ConnectionSources } from '../../../../src/kube/auth/load.ts';
import { ManualClock, until } from '../../../fakes/manual-clock.ts';
import { settled } from '../../../fakes/settling-clock.ts';

let dir: string;
beforeEach(async () => (dir = await mkdtemp(join(tmpdir(), 'dustpan-credentials-'))));
afterEach(() => rm(dir, { recursive: true }));

const { signal } = new AbortController();

async function put(name: string, text: string): Promise<string> {
  const file = join(dir, name);
  await writeFile(file, text, { mode: 0o755 });
  return file;
}

interface Given {
  readonly server?: string;
  readonly cluster?: object;
  readonly user?: object | null;
  readonly current?: string;
}

function kubeconfig({
  server = 'https://k.test',
  cluster = {},
  user = { token: 't' },
  current = 'c',
}: Given): string {
  return JSON.stringify({
    'current-context': current,
    clusters: [{ name: 'k', cluster: { server, ...cluster } }],
    contexts: [{ name: 'c', context: { cluster: 'k', ...(user ? { user: 'u' } : {}) } }],
    users: user ? [{ name: 'u', user }] : [],
  });
}

async function pod(host = '10.0.0.1'): Promise<NonNullable<ConnectionSources['inCluster']>> {
  const [tokenFile, caFile] = await Promise.all([put('token', 'pod-token\n'), put('ca', 'CA')]);
  return { host, port: '443', tokenFile, caFile };
}

describe('the source of the connection', () => {
  const where = async (sources: ConnectionSources): Promise<string> =>
    (await loadClusterConnection(sources, new ManualClock())).endpoint.server;

  test('is the flag, else $KUBECONFIG, else the pod, else the first home directory that has one', async () => {
    const home = join(dir, 'home');
    await mkdir(join(home, '.kube'), { recursive: true });
    await writeFile(join(home, '.kube', 'config'), kubeconfig({ server: 'https://home.test' }));
    const rest = { inCluster: await pod('fd00::1'), homes: [join(dir, 'none'), home, dir] };
    const kubeconfigEnv = await put('env', kubeconfig({ server: 'https://env.test' }));
    const flag = await put('flag', kubeconfig({ server: 'https://flag.test' }));
    expect(await where({ ...rest, kubeconfigEnv, kubeconfig: flag })).toBe('https://flag.test');
    expect(await where({ ...rest, kubeconfigEnv })).toBe('https://env.test');
    expect(await where(rest)).toBe('https://[fd00::1]:443');
    await rm(join(dir, 'token'));
    expect(await where(rest)).toBe('https://home.test');
  });

  test('merges the files of $KUBECONFIG: the first entry of a name counts, missing files are skipped', async () => {
    const first = await put('one', kubeconfig({ server: 'https://one.test', current: '' }));
    const second = await put('two', kubeconfig({ server: 'https://two.test' }));
    const kubeconfigEnv = [join(dir, 'none'), first, second].join(delimiter);
    expect(await where({ kubeconfigEnv })).toBe('https://one.test');
  });

  test.each([
    { name: 'no source', sources: {}, message: 'no kubeconfig: pass --kubeconfig FILE' },
    { name: 'a flag', sources: { kubeconfig: '/none' }, message: 'kubeconfig /none: does not exist' },
    { name: '$KUBECONFIG', sources: { kubeconfigEnv: '/none' }, message: 'KUBECONFIG names /none' },
  ])('is missing: $name', async ({ sources, message }) => {
    await expect(where(sources)).rejects.toThrow(message);
    await expect(where(sources)).rejects.toMatchObject({ name: 'ConfigError' });
  });
});

describe('an invalid kubeconfig', () => {
  const without = (name: string): string => kubeconfig({}).replace(`"name":"${name}"`, '"name":"other"');
  const wrongProxy = kubeconfig({ cluster: { 'proxy-url': 'ftp://p' } });
  test.each([
    ['not YAML', 'a: [', 'file: '],
    ['empty', '', 'file: this is not a kubeconfig'],
    ['no current context', kubeconfig({ current: '' }), 'file: no current-context'],
    ['an unknown context', kubeconfig({ current: 'x' }), 'there is no context "x"'],
    ['no cluster of the context', without('k'), 'context "c" needs cluster "k", which does not exist'],
    ['no user of the context', without('u'), 'context "c" needs user "u", which does not exist'],
    ['no server', kubeconfig({}).replace('"server"', '"sever"'), 'cluster "k" has no valid server'],
    ['a wrong proxy', wrongProxy, 'proxy-url of cluster "k" is not the URL of a proxy'],
  ])('is reported in one line: %s', async (_name, text, message) => {
    const file = await put('file', text);
    const loading = loadClusterConnection({ kubeconfig: file }, new ManualClock());
    await expect(loading).rejects.toMatchObject({ name: 'ConfigError' });
    await expect(loading).rejects.toThrow(message);
    await expect(loading).rejects.toThrow(new RegExp(`^kubeconfig ${file}: [^\\n]+$`));
  });
});

describe('credentials of a kubeconfig', () => {
  async function connect(given: Given, clock = new ManualClock()) {
    const { auth, endpoint } = await loadClusterConnection(
      { kubeconfig: await put('file', kubeconfig(given)) },
      clock,
    );
    return { auth, endpoint, headers: () => auth.headers(signal) };
  }

  const part = (content: object): string => Buffer.from(JSON.stringify(content)).toString('base64url');
  const jwt = `${part({ alg: 'none' })}.${part({ exp: 4_102_444_800 })}.x`;
  const plugin = { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin' } };

  test.each([
    { name: 'a token', user: { token: 't' }, authorization: 'Bearer t' },
    {
      name: 'a current token of OIDC',
      user: { 'auth-provider': { name: 'oidc', config: { 'id-token': jwt } } },
      authorization: `Bearer ${jwt}`,
    },
    { name: 'name and password', user: { username: 'a', password: 'b' }, authorization: 'Basic YTpi' },
  ])('$name', async ({ user, authorization }) => {
    const { headers } = await connect({ user });
    expect(await headers()).toEqual({ authorization });
  });

  test('a token file beside the kubeconfig, read again after a rejection', async () => {
    await put('tok', 'one\n');
    const { auth, headers } = await connect({ user: { tokenFile: 'tok', token: 'stale' } });
    expect(await headers()).toEqual({ authorization: 'Bearer one' });
    await put('tok', 'two\n');
    expect(await headers()).toEqual({ authorization: 'Bearer one' });
    auth.refresh();
    expect(await headers()).toEqual({ authorization: 'Bearer two' });
  });

  test('client certificate and CA, from files and inline, updated after a change', async () => {
    await Promise.all([put('crt', 'CRT'), put('key', 'KEY')]);
    const clock = new ManualClock();
    const cluster = {
      'certificate-authority-data': Buffer.from('CA').toString('base64'),
      'tls-server-name': 'n',
    };
    const user = { 'client-certificate': 'crt', 'client-key': 'key' };
    const { endpoint, headers } = await connect({ cluster, user }, clock);
    await headers();
    const { tls } = endpoint;
    expect(`${String(tls?.ca)} ${String(tls?.cert)} ${String(tls?.key)}`).toBe('CA CRT KEY');
    expect(tls).toMatchObject({ servername: 'n', insecure: false });
    clock.advance(60_000);
    await headers();
    expect(endpoint.tls).toBe(tls);
    await put('crt', 'NEW');
    clock.advance(60_000);
    await headers();
    expect(String(endpoint.tls?.cert)).toBe('NEW');
  });

  test.each([
    ['the CA', { 'certificate-authority-data': 'Q0E=' }, { ca: Buffer.from('CA'), insecure: false }],
    ['no verification', { 'insecure-skip-tls-verify': true }, { ca: undefined, insecure: true }],
  ])('a context without a user may have %s', async (_name, cluster, tls) => {
    const { endpoint, headers } = await connect({ cluster, user: null });
    expect(await headers()).toEqual({});
    expect(endpoint.tls).toMatchObject(tls);
  });

  test.each([
    { given: {}, scheme: 'http' },
    { given: { cluster: { 'insecure-skip-tls-verify': true }, user: { token: 't' } }, scheme: 'https' },
    { given: { cluster: { 'certificate-authority-data': 'Q0E=' } }, scheme: 'https' },
    { given: { user: { 'client-certificate-data': 'Q0E=', 'client-key-data': 'Q0E=' } }, scheme: 'https' },
  ])('a server without a scheme is as with kubectl $scheme: $given', async ({ given, scheme }) => {
    const { endpoint } = await connect({ server: '10.0.0.1:6443', ...given });
    expect(endpoint.server).toBe(`${scheme}://10.0.0.1:6443`);
  });

  test('a token of a plugin, relative to the file, which learns its version, and runs again after a rejection', async () => {
    const count = join(dir, 'count');
    await put(
      'plugin',
      `#!/bin/sh\necho run >>'${count}'\nprintf '{"status":{"token":"%s"}}' \${KUBERNETES_EXEC_INFO:+told-}$(wc -l <'${count}')\n`,
    );
    const { auth, headers } = await connect({ user: plugin });
    const first = await headers();
    expect(first).toEqual({ authorization: 'Bearer told-1' });
    expect(await headers()).toBe(first);
    auth.refresh();
    expect(await headers()).toEqual({ authorization: 'Bearer told-2' });
  });

  test.each<readonly [string, string | undefined, RegExp]>([
    ['fails', 'exit 3', /^kubeconfig .*: getting credentials: the plugin .*plugin failed with 3$/],
    ['returns nothing', 'exit 0', /the plugin .*plugin returned no credential$/],
  ])('a plugin that %s is an error', async (_name, script, problem) => {
    if (script !== undefined) await put('plugin', `#!/bin/sh\n${script}\n`);
    const { headers } = await connect({ user: plugin });
    await expect(headers()).rejects.toThrow(problem);
  });

  test('a plugin that hangs ends with the request', async () => {
    await put('plugin', '#!/bin/sh\nexec sleep 600\n');
    const { auth } = await connect({ user: plugin });
    const late = new DeadlineError('late', { code: 'ETIMEDOUT' });
    const stop = new AbortController();
    const headers = auth.headers(stop.signal);
    stop.abort(late);
    await expect(headers).rejects.toBe(late);
  });

  test('a certificate of a plugin is used until it expires', async () => {
    const count = join(dir, 'count');
    const status =
      '{"clientCertificateData":"C","clientKeyData":"K","expirationTimestamp":"2026-01-01T00:10:00Z"}';
    await put('plugin', `#!/bin/sh\necho run >>'${count}'\necho '{"status":${status}}'\n`);
    const clock = new ManualClock(new Date('2026-01-01T00:00:00Z'));
    const runs = async (): Promise<number> => (await readFile(count, 'utf8')).split('\n').length - 1;
    const { endpoint, headers } = await connect({ user: plugin }, clock);
    await headers();
    expect(endpoint.tls).toMatchObject({ cert: 'C', key: 'K' });
    clock.advance(599_999);
    await headers();
    expect(await runs()).toBe(1);
    clock.advance(60_000);
    await headers();
    expect(await runs()).toBe(2);
  });
});

describe('credentials of a pod', () => {
  test('are the trimmed token and the CA, and follow a rotation within a minute, once it is complete', async () => {
    const clock = new ManualClock();
    const { auth, endpoint, source } = await loadClusterConnection({ inCluster: await pod() }, clock);
    expect(source).toBe('in-cluster');
    const before = endpoint.tls;
    expect(before).toEqual({ ca: 'CA' });
    await put('token', '');
    auth.refresh();
    expect(await auth.headers(signal)).toEqual({ authorization: 'Bearer pod-token' });
    await put('token', 'second');
    clock.advance(59_000);
    expect(await auth.headers(signal)).toEqual({ authorization: 'Bearer pod-token' });
    clock.advance(1000);
    expect(await auth.headers(signal)).toEqual({ authorization: 'Bearer second' });
    expect(endpoint.tls).toBe(before);
    await put('ca', 'CA2');
    clock.advance(60_000);
    await auth.headers(signal);
    expect(endpoint.tls).toEqual({ ca: 'CA2' });
  });
});

test('a source that hangs is awaited for two seconds, then the known identity serves until it ends; there is one read', async () => {
  const clock = new ManualClock();
  let [reads, end] = [0, (): void => undefined];
  const credentials = new RereadCredentials(async () => {
    reads += 1;
    const headers = { authorization: `Bearer ${reads}` };
    if (reads > 1) await new Promise<void>((resolve) => (end = resolve));
    return { headers, tls: {} };
  }, clock);
  const [one, two] = [{ authorization: 'Bearer 1' }, { authorization: 'Bearer 2' }];
  const headers = () => credentials.headers(signal);
  expect(await Promise.all([headers(), headers()])).toEqual([one, one]);
  clock.advance(60_000);
  const first = headers();
  await until(() => clock.sleeping.includes(2_000));
  clock.advance(2_000);
  expect([await first, await headers()]).toEqual([one, one]);
  expect(clock.sleeping).toEqual([]);
  clock.advance(3_600_000);
  expect(await headers()).toEqual(one);
  expect(reads).toBe(2);
  end();
  await settled();
  expect(await headers()).toEqual(two);
});

const several = {
  'current-context': 'one',
  clusters: [
    { name: 'east', cluster: { server: 'https://east.test', 'tls-server-name': 'n' } },
    { name: 'west', cluster: { server: 'https://west.test' } },
  ],
  contexts: [
    { name: 'one', context: { cluster: 'east', user: 'ann', namespace: 'a' } },
    { name: 'two', context: { cluster: 'west', user: 'bob' } },
    { name: 'groups', context: { cluster: 'west', user: 'groups' } },
  ],
  users: [
    { name: 'ann', user: { token: 'ann' } },
    { name: 'bob', user: { token: 'bob', as: 'root', 'as-groups': ['g1', 'g2'], 'as-uid': '7' } },
    { name: 'groups', user: { 'as-groups': ['g'] } },
  ],
};

async function withOverrides(sources: ConnectionSources) {
  const { endpoint, auth, namespace } = await loadClusterConnection(sources, new ManualClock());
  const headers = await auth.headers(signal);
  return { server: endpoint.server, name: endpoint.tls?.servername, namespace, headers };
}
const withFile = async (sources: ConnectionSources) =>
  withOverrides({ kubeconfig: await put('several', JSON.stringify(several)), ...sources });

const ann = { authorization: 'Bearer ann' };
const bob = {
  authorization: 'Bearer bob',
  'impersonate-user': 'root',
  'impersonate-group': ['g1', 'g2'],
  'impersonate-uid': '7',
};

const east = { server: 'https://east.test', name: 'n', namespace: 'a' };
const west = 'https://west.test';
test.each([
  ['none', {}, { ...east, headers: ann }],
  ['a context', { context: 'two' }, { server: west, headers: bob }],
  ['a cluster: user and namespace stay', { cluster: 'west' }, { server: west, namespace: 'a', headers: ann }],
  ['a user: cluster and namespace stay', { user: 'bob' }, { ...east, headers: bob }],
  [
    'a server: the name for TLS was that of the other',
    { server: 'https://s.test' },
    { server: 'https://s.test', namespace: 'a', headers: ann },
  ],
])('overrides of a kubeconfig: %s', async (_, overrides, is) => {
  expect(await withFile({ overrides })).toEqual({ name: undefined, namespace: undefined, ...is });
});

test('impersonation by flags replaces the fields of the kubeconfig one by one', async () => {
  const impersonation = { user: 'eve', groups: [], uid: '8' };
  const { headers } = await withFile({ overrides: { context: 'two' }, impersonation });
  expect(headers).toEqual({ ...bob, 'impersonate-user': 'eve', 'impersonate-uid': '8' });
});

test.each([
  [{ cluster: 'wst' }, '--cluster "wst" does not exist; did you mean west?'],
  [{ context: 'groups' }, 'groups or a uid are impersonated without a user; add --as'],
])('the overrides %o are an error', async (overrides, problem) => {
  await expect(withFile({ overrides })).rejects.toThrow(problem);
});

test('a server suffices without a kubeconfig', async () => {
  const overrides = { server: 'http://127.0.0.1:8001' };
  expect(await withOverrides({ overrides, homes: [dir] })).toMatchObject({ ...overrides, headers: {} });
});

test('in a pod, impersonation uses the service account, and a named server does not', async () => {
  const inCluster = await pod();
  const impersonated = await withOverrides({ inCluster, impersonation: { user: 'eve' } });
  expect(impersonated.headers).toEqual({ authorization: 'Bearer pod-token', 'impersonate-user': 'eve' });
  const overrides = { server: 'https://s.test' };
  expect(await withOverrides({ inCluster, overrides })).toMatchObject({ ...overrides, headers: {} });
});
