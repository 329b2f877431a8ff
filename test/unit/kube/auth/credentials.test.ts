import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DeadlineError } from '../../../../src/kube/http/connection-errors.ts';
import { loadClusterConnection, type ConnectionSources } from '../../../../src/kube/auth/load.ts';
import { ManualClock } from '../../../fakes/manual-clock.ts';

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
  async function allSources(): Promise<ConnectionSources> {
    const home = join(dir, 'home');
    await mkdir(join(home, '.kube'), { recursive: true });
    await writeFile(join(home, '.kube', 'config'), kubeconfig({ server: 'https://home.test' }));
    return {
      kubeconfig: await put('flag', kubeconfig({ server: 'https://flag.test' })),
      kubeconfigEnv: await put('env', kubeconfig({ server: 'https://env.test' })),
      inCluster: await pod(),
      homes: [join(dir, 'none'), home, dir],
    };
  }
  const where = async (sources: ConnectionSources): Promise<string> =>
    (await loadClusterConnection(sources, new ManualClock())).endpoint.server;

  test('is the flag, else $KUBECONFIG, else the pod, else the first home directory that has one', async () => {
    const sources = await allSources();
    expect(await where(sources)).toBe('https://flag.test');
    expect(await where({ ...sources, kubeconfig: undefined })).toBe('https://env.test');
    const rest = { inCluster: sources.inCluster, homes: sources.homes };
    expect(await where(rest)).toBe('https://10.0.0.1:443');
    expect(await where({ ...rest, inCluster: { ...rest.inCluster, host: undefined } as object })).toBe(
      'https://home.test',
    );
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
    { name: 'a directory', sources: { kubeconfig: tmpdir() }, message: 'is a directory' },
    { name: '$KUBECONFIG', sources: { kubeconfigEnv: '/none' }, message: 'KUBECONFIG names /none' },
  ])('is missing: $name', async ({ sources, message }) => {
    await expect(where(sources)).rejects.toThrow(message);
    await expect(where(sources)).rejects.toMatchObject({ name: 'ConfigError' });
  });

  test('may be an IPv6 service address, which gets brackets', async () => {
    expect(await where({ inCluster: await pod('fd00::1') })).toBe('https://[fd00::1]:443');
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
    ['no server', kubeconfig({}).replace('"server"', '"sever"'), 'clusters[0].cluster.server is missing'],
    [
      'no URL as the server',
      kubeconfig({ server: 'https://:6443' }),
      'cluster "k" has no valid server, such as',
    ],
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

  test.each([
    { name: 'a token', user: { token: 't' }, authorization: 'Bearer t' },
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
    { cluster: {}, user: { token: 't' }, scheme: 'http' },
    { cluster: { 'insecure-skip-tls-verify': true }, user: { token: 't' }, scheme: 'https' },
    { cluster: { 'certificate-authority-data': 'Q0E=' }, user: { token: 't' }, scheme: 'https' },
    { cluster: {}, user: { 'client-certificate-data': 'Q0E=', 'client-key-data': 'Q0E=' }, scheme: 'https' },
  ])(
    'a server without a scheme is as with kubectl $scheme: $cluster $user',
    async ({ cluster, user, scheme }) => {
      const { endpoint } = await connect({ server: '10.0.0.1:6443', cluster, user });
      expect(endpoint.server).toBe(`${scheme}://10.0.0.1:6443`);
    },
  );

  test('a plugin, relative to the file, learns its version and runs again after a rejection', async () => {
    const count = join(dir, 'count');
    await put(
      'plugin',
      `#!/bin/sh
echo run >>'${count}'
kind=$(echo $KUBERNETES_EXEC_INFO | tr -dc a-z0-9/. | cut -c 1-14)
printf '{"status":{"token":"%s-%s"}}' "$kind" "$(wc -l <'${count}' | tr -d ' ')"
`,
    );
    const user = { exec: { apiVersion: 'client.authentication.k8s.io/v1', command: './plugin' } };
    const { auth, headers } = await connect({ user });
    const first = await headers();
    expect(first['authorization']).toMatch(/^Bearer kind[a-z.]+-1$/);
    expect(await headers()).toBe(first);
    auth.refresh();
    expect((await headers())['authorization']).toMatch(/-2$/);
  });

  const plugin = { exec: { apiVersion: 'v', command: './plugin' } };

  test.each<readonly [string, string | undefined, RegExp]>([
    ['fails', 'exit 3', /^kubeconfig .*: getting credentials: the plugin .*plugin failed with 3$/],
    ['returns nothing', 'exit 0', /the plugin .*plugin returned no credential$/],
    ['returns no status', 'echo "{}"', /returned no credential$/],
    ['does not exist', undefined, /getting credentials: spawn .*plugin ENOENT$/],
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
  const connect = async (clock: ManualClock) => loadClusterConnection({ inCluster: await pod() }, clock);

  test('are the trimmed token and the CA, and follow a rotation within a minute', async () => {
    const clock = new ManualClock();
    const { auth, endpoint, source } = await connect(clock);
    expect(source).toBe('in-cluster');
    const before = endpoint.tls;
    expect(before).toEqual({ ca: 'CA' });
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

  test('stay the same during an incomplete rotation', async () => {
    const { auth } = await connect(new ManualClock());
    await put('token', '');
    auth.refresh();
    expect(await auth.headers(signal)).toEqual({ authorization: 'Bearer pod-token' });
  });

  test('that are empty from the start are an error', async () => {
    const inCluster = await pod();
    await put('token', '');
    await expect(loadClusterConnection({ inCluster }, new ManualClock())).rejects.toThrow(
      `service account: ${join(dir, 'token')} is empty`,
    );
  });
});
