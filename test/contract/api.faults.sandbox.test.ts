import { existsSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Sandbox, SandboxOptions } from '../sandbox/server.ts';
import { startSandbox } from '../sandbox/server.ts';
import { serviceAccountUser } from '../sandbox/rbac.ts';
import { json, Api } from './api.http.ts';
import { Bed, pod, policies, policy, refusal } from './api.bed.ts';

// What the sandbox does that a real server cannot be told to do, and what only tests may do with it.

let sandbox: Sandbox;
let bed: Bed;

const start = async (options: SandboxOptions = {}): Promise<void> => {
  sandbox = await startSandbox(options);
  bed = await Bed.on(sandbox);
};

beforeEach(() => start());
afterEach(() => sandbox.stop());

const ofPods = ({ path }: { readonly path: string }): boolean => path.endsWith('/pods');

test('a status fault happens as often as planned, with its Retry-After', async () => {
  sandbox.faults.next(ofPods, { kind: 'status', status: 429, retryAfterSeconds: 3 }, 2);
  const first = await bed.send('GET', bed.pods());
  expect([first.status, first.retryAfter]).toEqual([429, '3']);
  expect(json(first)).toMatchObject({
    kind: 'Status',
    reason: 'TooManyRequests',
    details: { retryAfterSeconds: 3 },
  });
  expect((await bed.send('GET', bed.pods())).status).toBe(429);
  expect((await bed.send('GET', bed.pods())).status).toBe(200);
  expect(sandbox.faults.pending).toBe(0);
});

test('a fault that is forgotten does not happen', async () => {
  sandbox.faults.next(ofPods, { kind: 'status', status: 500 });
  sandbox.faults.clear();
  expect((await bed.send('GET', bed.pods())).status).toBe(200);
});

test('a delayed request is served', async () => {
  sandbox.faults.next(ofPods, { kind: 'delay', ms: 30 });
  expect((await bed.send('GET', bed.pods())).status).toBe(200);
});

test('a request that hangs is over when the server stops', async () => {
  sandbox.faults.next(ofPods, { kind: 'hang' });
  const hanging = bed.send('GET', bed.pods());
  const outcome = expect(hanging).rejects.toThrow('socket hang up');
  while (!sandbox.requests.some((request) => ofPods(request) && request.status === undefined)) {
    await new Promise(setImmediate);
  }
  await sandbox.stop();
  await outcome;
  await start();
});

test('a list is cut off', async () => {
  await bed.createPod('a');
  sandbox.faults.next(ofPods, { kind: 'cut', afterBytes: 40 });
  await expect(bed.send('GET', bed.pods())).rejects.toThrow('aborted');
});

test('a watch is cut off in the middle of a frame', async () => {
  await bed.createPod('a');
  sandbox.faults.next(ofPods, { kind: 'cut', afterBytes: 40 });
  const response = await (await Api.of(sandbox)).open('GET', `${bed.pods()}?watch=true`);
  let text = '';
  await expect(
    (async () => {
      for await (const chunk of response) text += String(chunk);
    })(),
  ).rejects.toThrow('aborted');
  expect(text).toHaveLength(40);
});

test('a slow list arrives', async () => {
  await bed.createPod('a');
  sandbox.faults.next(ofPods, { kind: 'slow', pauseMs: 20 });
  expect(await bed.names(bed.pods())).toEqual(['a']);
});

const whenWatching = async (): Promise<void> => {
  while (!sandbox.requests.some(({ query, status }) => query.has('watch') && status === 200)) {
    await new Promise(setImmediate);
  }
};

test('watches are closed', async () => {
  const watching = bed.watch(`${bed.pods()}?watch=true`);
  await whenWatching();
  sandbox.faults.closeWatches(ofPods);
  expect(await watching).toEqual([]);
});

test('watches expire, and the versions before', async () => {
  const before = await bed.now();
  const watching = bed.watch(`${bed.pods()}?watch=true`);
  await whenWatching();
  sandbox.faults.expireWatches();
  const expired = { type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } };
  expect(await watching).toMatchObject([expired]);
  expect(await bed.watch(`${bed.pods()}?watch=true&resourceVersion=${before}`)).toMatchObject([expired]);
});

test('continue tokens expire, and offer to go on', async () => {
  for (const name of ['a', 'b', 'c']) await bed.createPod(name);
  const { metadata } = await bed.get(`${bed.pods()}?limit=1`);
  sandbox.faults.expireWatches();
  const { status, body } = await bed.ask('GET', `${bed.pods()}?limit=1&continue=${metadata.continue ?? ''}`);
  // Word for word what a real server said about a token from before its compaction.
  const message = expect.stringMatching(/^The provided continue parameter is too old to display/) as unknown;
  expect({ status, body }).toMatchObject({ status: 410, body: { reason: 'Expired', code: 410, message } });
  const { metadata: offered } = body as { readonly metadata: { readonly continue: string } };
  expect(await bed.names(`${bed.pods()}?continue=${offered.continue}`)).toEqual(['b', 'c']);
});

test('the past is bounded', async () => {
  await sandbox.stop();
  await start({ historyLimit: 5 });
  const since = await bed.now();
  for (let i = 0; i < 11; i += 1) sandbox.store.apply(configured(`p-${i}`));
  const events = await bed.watch(`${bed.pods()}?watch=true&resourceVersion=${since}`);
  expect(events).toMatchObject([{ type: 'ERROR', object: { code: 410 } }]);
});

const configured = (name: string): Parameters<Sandbox['store']['apply']>[0] => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'direct' },
});

test('what a test stores is there as it is, in a namespace made for it', async () => {
  const creationTimestamp = '2020-01-01T00:00:00Z';
  sandbox.store.apply({
    ...configured('a'),
    metadata: { name: 'a', namespace: 'direct', uid: 'u', creationTimestamp },
    status: { phase: 'Failed' },
  });
  expect(await bed.get('/api/v1/namespaces/direct/pods/a')).toMatchObject({
    metadata: { uid: 'u', creationTimestamp, generation: 1 },
    status: { phase: 'Failed' },
  });
  expect(sandbox.store.get('Pod', 'a', 'direct')).toBeDefined();
  expect(sandbox.store.list('Pod')).toHaveLength(1);
  expect(sandbox.store.delete('Pod', 'a', 'direct')).toBe(true);
  expect(sandbox.store.delete('Pod', 'a', 'direct')).toBe(false);
});

test('what a test stores, replaces and deletes reaches the watchers', async () => {
  const since = sandbox.store.resourceVersion;
  sandbox.store.apply(configured('a'));
  sandbox.store.apply({ ...configured('a'), status: { phase: 'Failed' } });
  sandbox.store.delete('Pod', 'a', 'direct');
  const events = await bed.watch(`/api/v1/pods?watch=true&resourceVersion=${since}`, 3);
  expect(events.map(({ type }) => type)).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
  expect(events[1]).toMatchObject({ object: { status: { phase: 'Failed' } } });
});

test('a policy that a test stores is completed, and must be valid', () => {
  const stored = sandbox.store.apply({ ...direct, spec: {} });
  expect(stored).toMatchObject({ spec: { mode: 'DryRun', priority: 0 } });
  expect(() => sandbox.store.apply({ ...direct, spec: { mode: 'Foo' } })).toThrow(
    'spec.mode: Unsupported value',
  );
});

const direct = { apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'GCPolicy', metadata: { name: 'direct' } };

test('without CRDs nothing is served below the group, until they are installed', async () => {
  await sandbox.stop();
  await start({ crds: false });
  expect(await bed.send('GET', policies)).toMatchObject({ status: 404, type: 'text/plain; charset=utf-8' });
  await sandbox.installCrds();
  expect(await bed.names(policies)).toEqual([]);
  expect(await bed.ask('POST', policies, { body: policy('a') })).toMatchObject({ status: 201 });
});

test('a user may do what its rules say, and nothing else', async () => {
  await sandbox.stop();
  const rules = [
    { apiGroups: [''], resources: ['pods'], verbs: ['list'] },
    { apiGroups: [''], resources: ['pods/status'], verbs: ['patch'], namespace: 'other' },
  ];
  await start({ users: [{ name: 'x', token: 'x-token', rules }] });
  const token = 'x-token';
  expect(await bed.send('GET', '/api/v1/pods', { token })).toMatchObject({ status: 200 });
  expect(await bed.ask('GET', '/api/v1/pods?watch=true', { token })).toMatchObject(
    refusal(403, 'Forbidden', {
      message:
        'pods is forbidden: User "x" cannot watch resource "pods" in API group "" at the cluster scope',
      details: { kind: 'pods' },
    }),
  );
  const path = `${bed.pods('a')}/status`;
  expect(await bed.ask('PATCH', path, { token, body: {} })).toMatchObject(
    refusal(403, 'Forbidden', {
      message: `pods "a" is forbidden: User "x" cannot patch resource "pods/status" in API group "" in the namespace "${bed.namespace}"`,
    }),
  );
});

test('a service account has what rendered manifests bind to it', async () => {
  const account = { namespace: 'ns', name: 'sa' };
  const manifests = [
    {
      kind: 'Role',
      metadata: { name: 'lease', namespace: 'ns' },
      rules: [
        { apiGroups: ['coordination.k8s.io'], resources: ['leases'], resourceNames: ['l'], verbs: ['get'] },
      ],
    },
    {
      kind: 'RoleBinding',
      metadata: { name: 'lease', namespace: 'ns' },
      roleRef: { kind: 'Role', name: 'lease' },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    },
  ];
  const user = serviceAccountUser(manifests, account);
  await sandbox.stop();
  await start({ users: [user] });
  const code = async (path: string): Promise<number> =>
    (await bed.send('GET', `/apis/coordination.k8s.io/v1/namespaces/${path}`, { token: user.token })).status;
  expect(await code('ns/leases/l')).toBe(404);
  expect(await code('ns/leases/other')).toBe(403);
  expect(await code('default/leases/l')).toBe(403);
});

test('requests are logged with their user and status', async () => {
  await bed.send('POST', `${bed.pods()}?dryRun=All`, { body: pod('a') });
  expect(sandbox.requests.at(-1)).toMatchObject({
    method: 'POST',
    path: bed.pods(),
    user: 'kubernetes-admin',
    status: 201,
  });
  expect(sandbox.requests.at(-1)?.query.get('dryRun')).toBe('All');
});

test('is healthy, has a version, and can be discovered', async () => {
  for (const path of ['/readyz', '/healthz']) {
    expect((await bed.send('GET', path, { token: '' })).bytes.toString()).toBe('ok');
  }
  expect(json(await bed.send('GET', '/version'))).toMatchObject({ major: '1' });
  expect(await bed.get('/apis/gc.dustpan.dev/v1alpha1')).toMatchObject({ kind: 'APIResourceList' });
});

test('takes its kubeconfig files away when it stops', async () => {
  const { kubeconfigFile } = sandbox;
  expect(existsSync(kubeconfigFile)).toBe(true);
  await sandbox.stop();
  expect(existsSync(kubeconfigFile)).toBe(false);
  await start();
});
