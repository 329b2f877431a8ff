import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { UsageError } from '../../../../src/process/exit.ts';
import { writeClusterPart } from '../../../../src/commands/snapshot/cluster.ts';
import { snapshotLists } from '../../../../src/commands/snapshot/kinds.ts';
import { ApiError, type KubeRequest } from '../../../../src/kube/http/transport.ts';
import { ManualClock } from '../../../fakes/manual-clock.ts';
import { FakeTransport } from '../../../fakes/transport.ts';

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

function write(answer: Answer, namespace?: string): Promise<ReadonlyMap<string, number>> {
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
    new AbortController().signal,
  );
}

const json = async (file: string) => JSON.parse(await readFile(join(root, `${file}.json`), 'utf8')) as object;
const heading = { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: '' } };

test('a namespace that does not exist is bad usage, with the nearest name', async () => {
  const team = { metadata: { name: 'team', uid: 'u', resourceVersion: '1' } };
  const list = JSON.stringify({ kind: 'NamespaceList', metadata: { resourceVersion: '1' }, items: [team] });
  const answer: Answer = (request) => {
    if (request.path === '/api/v1/namespaces/tema') throw refused(404);
    return request.path === '/api/v1/namespaces' ? list : page(request, 0);
  };
  const problem = 'there is no namespace tema; did you mean team?';
  await expect(write(answer, 'tema')).rejects.toEqual(new UsageError([problem]));
});

test('leaves out a forbidden kind, and writes no objects of a dustpan kind that is not installed; one warning each', async () => {
  const forbidden =
    'pods is forbidden: User "u" cannot list resource "pods" in API group "" at the cluster scope';
  const written = await write((request) => {
    if (request.path === podPath) throw refused(403, forbidden);
    if (/gc.dustpan.dev|jobs/.test(request.path)) throw refused(404);
    return page(request, 1);
  });
  const names = ['nodes', 'namespaces', 'replicasets', 'policies', 'nodegcreports'];
  expect([...written.keys()]).toEqual(names);
  expect((await readdir(root)).toSorted()).toEqual(names.map((name) => `${name}.json`).toSorted());
  expect(await json('policies')).toEqual({ ...heading, items: [], kindMissing: true });
  expect(warnings).toEqual([
    `cannot list pods: ${forbidden}; pods.json is left out`,
    'cannot list jobs.batch: the cluster does not have this kind; jobs.json is left out',
    'the cluster does not have gcpolicies.gc.dustpan.dev: policies.json is empty',
    'the cluster does not have nodegcreports.gc.dustpan.dev: nodegcreports.json is empty',
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
  ['that refuses the credentials', refused(401, 'who?')],
  ['that is unreachable', new Error('ECONNREFUSED')],
])('rejects for a server %s', async (_, error) => {
  const answer: Answer = (request) => {
    if (request.path === '/api/v1/nodes') throw error;
    return page(request, 1);
  };
  await expect(write(answer)).rejects.toThrow('listing nodes');
});
