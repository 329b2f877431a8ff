import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { loadClusterConnection, type ConnectionSources } from '../../../../src/kube/auth/load.ts';
import { FakeClock } from '../../../fakes/clock.ts';

let dir: string;
let file: string;
const { signal } = new AbortController();

const kubeconfig = {
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

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'dustpan-overrides-'));
  file = join(dir, 'config');
  await writeFile(file, JSON.stringify(kubeconfig));
});
afterAll(() => rm(dir, { recursive: true }));

async function connect(sources: ConnectionSources) {
  const { endpoint, auth, namespace } = await loadClusterConnection(sources, new FakeClock());
  const headers = await auth.headers(signal);
  return { server: endpoint.server, name: endpoint.tls?.servername, namespace, headers };
}
const withFile = (sources: ConnectionSources) => connect({ kubeconfig: file, ...sources });

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
  expect(await connect({ overrides, homes: [dir] })).toMatchObject({ ...overrides, headers: {} });
});

test('in a pod, impersonation uses the service account, and a named server does not', async () => {
  const [tokenFile, caFile] = [join(dir, 'token'), join(dir, 'ca')];
  await writeFile(tokenFile, 'pod');
  await writeFile(caFile, 'CA');
  const inCluster = { host: '10.0.0.1', port: '443', tokenFile, caFile };
  const impersonated = await connect({ inCluster, impersonation: { user: 'eve' } });
  expect(impersonated.headers).toEqual({ authorization: 'Bearer pod', 'impersonate-user': 'eve' });
  const overrides = { server: 'https://s.test' };
  expect(await connect({ inCluster, overrides })).toMatchObject({ ...overrides, headers: {} });
});
