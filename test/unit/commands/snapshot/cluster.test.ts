import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeClusterPart } from '../../../../src/commands/snapshot/cluster.ts';
import { snapshotLists } from '../../../../src/commands/snapshot/kinds.ts';
import { ApiError, type KubeRequest } from '../../../../src/kube/http/transport.ts';
import { ManualClock } from '../../../fakes/manual-clock.ts';
import { FakeTransport } from '../../../fakes/transport.ts';

const never = new AbortController().signal;
let root: string;
let warnings: string[];
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'dustpan-snapshot-'));
  warnings = [];
});
afterEach(() => rm(root, { recursive: true }));

const kindOf = (path: string): string =>
  `${snapshotLists.find((list) => list.path === path)?.kind ?? ''}List`;
const podPath = '/api/v1/pods';

function page({ path, query }: KubeRequest, total: number): string {
  const from = Number(query?.['continue'] ?? 0);
  const to = Math.min(total, from + Number(query?.['limit']));
  const items = Array.from({ length: to - from }, (_, i) => ({
    metadata: { name: `p${from + i}`, uid: `u${from + i}`, managedFields: [{}] },
  }));
  const more = to < total ? { continue: String(to) } : {};
  return JSON.stringify({ kind: kindOf(path), metadata: { resourceVersion: '1', ...more }, items });
}

type Answer = (request: KubeRequest) => string;
const refused = (status: number, message = 'no'): ApiError => new ApiError(message, { status });

function write(answer: Answer, signal = never): Promise<ReadonlyMap<string, number>> {
  const transport = new FakeTransport({ stream: (request) => [answer(request)] });
  return writeClusterPart(
    {
      ...{ transport, clock: new ManualClock(), onProgress: () => undefined },
      pathOf: (file) => join(root, file),
      warn: (line) => warnings.push(line),
    },
    signal,
  );
}

const pods = async (): Promise<{ items: { metadata: { name: string } }[] }> =>
  JSON.parse(await readFile(join(root, 'pods.json'), 'utf8')) as { items: { metadata: { name: string } }[] };

test('every list is written page by page as kubectl would write it', async () => {
  const written = await write((request) => page(request, request.path === podPath ? 1203 : 0));
  expect(written.get('pods')).toBe(1203);
  expect((await readdir(root)).toSorted()).toEqual(
    snapshotLists.map(({ name }) => `${name}.json`).toSorted(),
  );
  const list = await pods();
  expect(list).toMatchObject({ apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' } });
  expect(list.items.map(({ metadata }) => metadata.name)).toEqual(
    Array.from({ length: 1203 }, (_, i) => `p${i}`),
  );
  expect(list.items[0]).toEqual({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p0', uid: 'u0' } });
  expect(JSON.parse(await readFile(join(root, 'jobs.json'), 'utf8'))).toMatchObject({
    kind: 'List',
    items: [],
  });
  expect(warnings).toEqual([]);
});

test('pods are listed before what they refer to', () => {
  expect(snapshotLists[0]?.name).toBe('pods');
});

test('what is forbidden is left out, and a kind of ours that is not installed has no objects; one line each', async () => {
  const forbidden =
    'pods is forbidden: User "u" cannot list resource "pods" in API group "" at the cluster scope';
  const written = await write((request) => {
    if (request.path === podPath) throw refused(403, forbidden);
    if (request.path.includes('gc.dustpan.dev')) throw refused(404);
    return page(request, 1);
  });
  expect([...written.keys()]).toEqual([
    ...['nodes', 'namespaces', 'jobs', 'replicasets', 'policies', 'nodegcreports'],
  ]);
  expect((await readdir(root)).toSorted()).toEqual(
    [...written.keys()].map((name) => `${name}.json`).toSorted(),
  );
  expect(JSON.parse(await readFile(join(root, 'policies.json'), 'utf8'))).toEqual({
    ...{ apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' }, items: [], kindMissing: true },
  });
  expect(warnings).toEqual([
    `cannot list pods: ${forbidden}; pods.json is left out`,
    'the cluster does not have gcpolicies.gc.dustpan.dev: policies.json is empty',
    'the cluster does not have nodegcreports.gc.dustpan.dev: nodegcreports.json is empty',
  ]);
});

test('a kind of Kubernetes itself that is not there is not known', async () => {
  const written = await write((request) => {
    if (request.path.endsWith('/jobs')) throw refused(404);
    return page(request, 1);
  });
  expect(written.has('jobs')).toBe(false);
  expect(warnings).toEqual([
    'cannot list jobs.batch: the cluster does not have this kind; jobs.json is left out',
  ]);
});

test('policies that nobody could apply are named, because the cluster has them all the same', async () => {
  const policies = [
    { metadata: { name: 'good', uid: '1' }, spec: {} },
    { metadata: { name: 'no-such-mode', uid: '2' }, spec: { mode: 'Delete' } },
    { metadata: { name: 'newer', uid: '3' }, spec: { secrets: {} } },
  ];
  await write((request) =>
    request.path.endsWith('/gcpolicies')
      ? JSON.stringify({ kind: 'GCPolicyList', metadata: { resourceVersion: '1' }, items: policies })
      : page(request, 0),
  );
  const list = JSON.parse(await readFile(join(root, 'policies.json'), 'utf8')) as object;
  expect(list).toMatchObject({ kind: 'List', storedInvalid: ['no-such-mode', 'newer'] });
  expect(list).toHaveProperty('items.length', 3);
});

test('a list that may not be read to its end is left out, not cut', async () => {
  await write((request) => {
    if (request.path === podPath && request.query?.['continue'] !== undefined) throw refused(403);
    return page(request, 1203);
  });
  expect(await readdir(root)).not.toContain('pods.json');
});

test('a list that the server forgot on the way is begun again', async () => {
  let forgotten = 0;
  await write((request) => {
    if (request.path === podPath && request.query?.['continue'] === '1000' && forgotten++ < 2)
      throw refused(410);
    return page(request, 1203);
  });
  expect((await pods()).items.map(({ metadata }) => metadata.name)).toEqual(
    Array.from({ length: 1203 }, (_, i) => `p${i}`),
  );
});

test.each([
  { name: 'that forgets every time', error: refused(410, 'expired'), line: 'listing nodes' },
  { name: 'that is broken', error: refused(500, 'etcd'), line: 'listing nodes' },
  { name: 'that does not know us', error: refused(401, 'who?'), line: 'listing nodes' },
  { name: 'that is away', error: new Error('ECONNREFUSED'), line: 'listing nodes' },
])('a server $name ends it', async ({ error, line }) => {
  const answer: Answer = (request) => {
    if (request.path === '/api/v1/nodes') throw error;
    return page(request, 1);
  };
  await expect(write(answer)).rejects.toThrow(line);
});

test('an abort ends it with its reason', async () => {
  const stop = new AbortController();
  const answer: Answer = (request) => {
    stop.abort(new Error('Ctrl-C'));
    return page(request, 1203);
  };
  await expect(write(answer, stop.signal)).rejects.toThrow('Ctrl-C');
});
