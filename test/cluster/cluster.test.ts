import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { startCluster, type Cluster } from './cluster.ts';
import { startContractCluster } from './contract.ts';
import { statusOf } from './probe.ts';

async function statusAs(cluster: Cluster, user: string, path: string): Promise<number | undefined> {
  const ca = readFileSync(cluster.caFile, 'utf8');
  return await statusOf(`${cluster.url}${path}`, { ca, token: cluster.token(user) });
}

async function createNamespace(cluster: Cluster, name: string): Promise<string> {
  const { stdout, stderr } = await cluster.run('kubectl', ['create', 'namespace', name]);
  return stdout + stderr;
}

async function createPod(cluster: Cluster, name: string): Promise<void> {
  const spec = { containers: [{ name: 'c', image: 'example.com/a' }] };
  const pod = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
  const created = await cluster.run('kubectl', ['create', '-f', '-'], pod);
  expect(created).toMatchObject({ code: 0, stdout: `pod/${name} created\n` });
}

async function finishedPod(cluster: Cluster, name: string): Promise<void> {
  await createPod(cluster, name);
  const patch = ['--subresource=status', '--patch', '{"status":{"phase":"Succeeded"}}'];
  expect(await cluster.run('kubectl', ['patch', 'pod', name, ...patch])).toMatchObject({ code: 0 });
}

describe('a control plane with all controllers', () => {
  test('is ready, of the pinned version, and takes namespaces and pods', async () => {
    await using cluster = await startCluster({ parts: ['etcd', 'api', 'kcm'] });

    expect(await statusAs(cluster, 'admin', '/readyz')).toBe(200);
    const version = await cluster.run('kubectl', ['version']);
    expect(version.stdout).toMatch(/Server Version: v1\.36\./);
    expect(await createNamespace(cluster, 'one')).toBe('namespace/one created\n');
    await createPod(cluster, 'a');
  });

  test('collects finished pods when only that controller is asked for', async () => {
    const kcm = {
      controllers: 'pod-garbage-collector-controller',
      args: ['--terminated-pod-gc-threshold=1'],
    };
    await using cluster = await startCluster({ parts: ['etcd', 'api', 'kcm'], kcm });

    // Its first pass comes at once, the next after 20 s: let it find them.
    await cluster.kill('kcm');
    for (const name of ['a', 'b']) await finishedPod(cluster, name);
    await cluster.start('kcm');

    // The oldest goes; within one second of creation the name decides.
    const left = async (): Promise<string> =>
      (await cluster.run('kubectl', ['get', 'pods', '-o', 'name'])).stdout;
    await expect.poll(left, { timeout: 120_000 }).toBe('pod/b\n');
  });
});

describe('an API server with its store', () => {
  test('two live side by side and share nothing', async () => {
    const starting = startCluster({ parts: ['etcd', 'api'] });
    await using one = await startCluster({ parts: ['etcd', 'api'] });
    await using two = await starting;

    await createNamespace(one, 'only-here');
    expect(await statusAs(one, 'admin', '/api/v1/namespaces/only-here')).toBe(200);
    expect(await statusAs(two, 'admin', '/api/v1/namespaces/only-here')).toBe(404);
  });

  test('takes pods although nobody makes service accounts, and answers users by their rules', async () => {
    const reader = { name: 'reader', rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['list'] }] };
    await using cluster = await startCluster({ parts: ['etcd', 'api'], users: [reader, { name: 'nobody' }] });

    await createPod(cluster, 'a');
    expect(await statusAs(cluster, 'reader', '/api/v1/pods')).toBe(200);
    expect(await statusAs(cluster, 'reader', '/api/v1/nodes')).toBe(403);
    expect(await statusAs(cluster, 'nobody', '/api/v1/pods')).toBe(403);
    const lists = await cluster.audit({ user: 'reader', verb: 'list' });
    expect(lists.map(({ objectRef }) => objectRef?.resource)).toEqual(['pods', 'nodes']);
    expect(() => cluster.token('stranger')).toThrow('no user stranger');
  });

  test('keeps data and address when the API server is killed and started again', async () => {
    await using cluster = await startCluster({ parts: ['etcd', 'api'] });
    await createNamespace(cluster, 'kept');
    const before = cluster.pid('api');

    await cluster.kill('api');
    expect(cluster.pid('api')).toBeUndefined();
    expect(await statusAs(cluster, 'admin', '/readyz')).toBeUndefined();

    await cluster.start('api');
    expect(cluster.pid('api')).not.toBe(before);
    expect(await statusAs(cluster, 'admin', '/api/v1/namespaces/kept')).toBe(200);
  });

  test('has the CRDs that the contract suite needs', async () => {
    const server = await startContractCluster();
    const ca = readFileSync(server.caFile ?? '', 'utf8');
    const path = '/apis/gc.dustpan.dev/v1alpha1/gcpolicies';
    expect(await statusOf(server.url + path, { ca, token: server.token })).toBe(200);
    await server.stop();
    expect(await statusOf(server.url + path, { ca, token: server.token })).toBeUndefined();
  });

  test('hangs when stopped, and goes on', async () => {
    await using cluster = await startCluster({ parts: ['etcd', 'api'] });

    await cluster.kill('api', 'SIGSTOP');
    expect(await statusAs(cluster, 'admin', '/readyz')).toBeUndefined();
    await cluster.kill('api', 'SIGCONT');
    expect(await statusAs(cluster, 'admin', '/readyz')).toBe(200);
  });

  test('a part that cannot start is named, with its log', async () => {
    const start = startCluster({ parts: ['etcd', 'api'], api: { args: ['--no-such-flag'] } });
    await expect(start).rejects.toThrow(/^api ended before it was ready; its last lines:\n[^]*no-such-flag/);
  });
});
