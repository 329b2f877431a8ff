import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { UsageError } from '../../../../src/commands/cli/exit.ts';
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

function write(answer: Answer, signal = never, namespace?: string): Promise<ReadonlyMap<string, number>> {
  const transport = new FakeTransport({
    stream: (request) => [answer(request)],
    send: (request) => Buffer.from(answer(request)),
  });
  return writeClusterPart(
    {
      pods: { namespace, selector: undefined },
      ...{ transport, clock: new ManualClock(), onProgress: () => undefined },
      pathOf: (file) => join(root, file),
      warn: (line) => warnings.push(line),
    },
    signal,
  );
}

const json = async (file: string) => JSON.parse(await readFile(join(root, `${file}.json`), 'utf8')) as object;
const heading = { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' } };

test.each([
  ['with the nearest name', true, 'there is no namespace tema; did you mean team?'],
  ['alone where no others may be listed', false, 'there is no namespace tema'],
])('a namespace that does not exist is bad usage, %s', async (_, canList, problem) => {
  const team = { metadata: { name: 'team', uid: 'u', resourceVersion: '1' } };
  const list = JSON.stringify({ kind: 'NamespaceList', metadata: { resourceVersion: '1' }, items: [team] });
  const answer: Answer = (request) => {
    if (request.path === '/api/v1/namespaces/tema') throw refused(404);
    if (request.path !== '/api/v1/namespaces') return page(request, 0);
    if (canList) return list;
    throw refused(403);
  };
  await expect(write(answer, never, 'tema')).rejects.toEqual(new UsageError([problem]));
  expect(warnings).toEqual([]);
});

test('leaves out a forbidden kind, and writes no objects of a dustpan kind that is not installed; one warning each', async () => {
  const forbidden =
    'pods is forbidden: User "u" cannot list resource "pods" in API group "" at the cluster scope';
  const written = await write((request) => {
    if (request.path === podPath) throw refused(403, forbidden);
    if (request.path.includes('gc.dustpan.dev')) throw refused(404);
    return page(request, 1);
  });
  const names = ['nodes', 'namespaces', 'jobs', 'replicasets', 'policies', 'nodegcreports'];
  expect([...written.keys()]).toEqual(names);
  expect((await readdir(root)).toSorted()).toEqual(names.map((name) => `${name}.json`).toSorted());
  expect(await json('policies')).toEqual({ ...heading, items: [], kindMissing: true });
  expect(warnings).toEqual([
    `cannot list pods: ${forbidden}; pods.json is left out`,
    'the cluster does not have gcpolicies.gc.dustpan.dev: policies.json is empty',
    'the cluster does not have nodegcreports.gc.dustpan.dev: nodegcreports.json is empty',
  ]);
});

test('leaves out a missing kind of Kubernetes itself', async () => {
  const written = await write((request) => {
    if (request.path.endsWith('/jobs')) throw refused(404);
    return page(request, 1);
  });
  expect(written.has('jobs')).toBe(false);
  expect(warnings).toEqual([
    'cannot list jobs.batch: the cluster does not have this kind; jobs.json is left out',
  ]);
});

test('names stored policies that validation refuses', async () => {
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
  const list = await json('policies');
  expect(list).toMatchObject({ kind: 'List', storedInvalid: ['no-such-mode', 'newer'] });
  expect(list).toHaveProperty('items.length', 3);
});

test('leaves out a list of which only the first page may be read', async () => {
  await write((request) => {
    if (request.path === podPath && request.query?.['continue'] !== undefined) throw refused(403);
    return page(request, 1203);
  });
  expect(await readdir(root)).not.toContain('pods.json');
});

test.each([
  ['whose tokens always expire', refused(410, 'expired')],
  ['with an internal error', refused(500, 'etcd')],
  ['that refuses the credentials', refused(401, 'who?')],
  ['that is unreachable', new Error('ECONNREFUSED')],
])('rejects for a server %s', async (_, error) => {
  const answer: Answer = (request) => {
    if (request.path === '/api/v1/nodes') throw error;
    return page(request, 1);
  };
  await expect(write(answer)).rejects.toThrow('listing nodes');
});

test('rejects with the reason of an abort', async () => {
  const stop = new AbortController();
  const answer: Answer = (request) => {
    stop.abort(new Error('Ctrl-C'));
    return page(request, 1203);
  };
  await expect(write(answer, stop.signal)).rejects.toThrow('Ctrl-C');
});
