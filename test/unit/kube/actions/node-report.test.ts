import { expect, test } from 'vitest';
import type { NodeGCReportStatus } from '../../../../src/api/gen/nodegcreport.gen.ts';
import { mergePatchOf, NodeReports } from '../../../../src/kube/actions/node-report.ts';
import { ApiError, type KubeRequest } from '../../../../src/kube/http/transport.ts';
import { FakeTransport } from '../../../fakes/transport.ts';

const never = new AbortController().signal;
const node = { name: 'node-1', uid: 'n1' };
const status: NodeGCReportStatus = { agentVersion: '1', reportTime: '2026-01-01T00:00:00Z' };

interface Stored {
  metadata: { uid?: string; ownerReferences: { uid: string }[] };
  status?: object;
}

/** An API server with one report. Records the verbs of its requests. */
function server(stored?: Stored) {
  const state = { stored, hasKind: true, mayChangeOwner: true, isBusy: false, existsAtCreation: false };
  const verbs: string[] = [];
  const patches: unknown[] = [];
  const missing = new ApiError('not found', { status: 404, reason: 'NotFound' });
  const patch = ({ path, body }: KubeRequest, report: Stored): void => {
    patches.push(body);
    const { metadata } = body as Partial<Stored>;
    if (path.endsWith('/status')) return;
    if (!state.mayChangeOwner) throw new ApiError('no', { status: 403, reason: 'Forbidden' });
    if (metadata !== undefined) report.metadata = metadata;
  };
  const create = (report: Stored): Stored => {
    state.stored = report;
    if (state.existsAtCreation) throw new ApiError('exists', { status: 409 });
    return report;
  };
  const transport = new FakeTransport({
    send: (request) => {
      verbs.push(request.path.endsWith('/status') ? `${request.method} status` : request.method);
      if (!state.hasKind) throw missing;
      if (state.isBusy && request.method === 'PATCH') throw new ApiError('busy', { status: 429 });
      if (request.method === 'POST') return create(request.body as Stored);
      if (state.stored === undefined) throw missing;
      if (request.method === 'PATCH') patch(request, state.stored);
      return state.stored;
    },
  });
  return { state, verbs, patches, reports: new NodeReports(transport) };
}

const owners = [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'n1' }];
const ours = (over: object = {}): Stored => ({ metadata: { ownerReferences: owners }, ...over });

test('reads a report whose creation is a conflict', async () => {
  const { state, verbs, reports } = server();
  state.existsAtCreation = true;
  expect(await reports.write(node, status, never)).toBe('written');
  expect(verbs).toEqual(['GET', 'POST', 'GET', 'PATCH status']);
});

test('needs one request for each further write', async () => {
  const { verbs, reports } = server(ours());
  await reports.write(node, status, never);
  await reports.write(node, status, never);
  expect(verbs).toEqual(['GET', 'PATCH status', 'PATCH status']);
});

test('reads the report once before the first write, whether it exists or not', async () => {
  const [missing, there] = [server(), server(ours({ status }))];
  for (const { reports } of [missing, there]) {
    await reports.read(node, never);
    await reports.write(node, { ...status, agentVersion: '2' }, never);
  }
  expect(missing.verbs).toEqual(['GET', 'POST', 'PATCH status']);
  expect(there.verbs).toEqual(['GET', 'PATCH status']);
  expect(there.patches).toEqual([{ status: { ...status, agentVersion: '2' } }]);
});

test('reads a report again before it creates it a second time', async () => {
  const { state, verbs, reports } = server();
  await reports.read(node, never);
  await reports.write(node, status, never);
  state.stored = undefined;
  await reports.write(node, status, never);
  expect(verbs.slice(3)).toEqual(['PATCH status', 'GET', 'POST', 'PATCH status']);
});

test('takes the report over if the Node was created again', async () => {
  const { state, verbs, patches, reports } = server({ metadata: { ...ours().metadata, uid: 'r1' } });
  await reports.write(node, status, never);
  await reports.write({ ...node, uid: 'n2' }, status, never);
  expect(verbs).toEqual(['GET', 'PATCH status', 'GET', 'PATCH', 'PATCH status']);
  expect(patches[1]).toMatchObject({ metadata: { uid: 'r1' } });
  expect(state.stored?.metadata.ownerReferences).toMatchObject([{ name: 'node-1', uid: 'n2' }]);
});

test('leaves the report to Kubernetes without the right to take it over', async () => {
  const { state, reports } = server(ours());
  state.mayChangeOwner = false;
  expect(await reports.write({ ...node, uid: 'n2' }, status, never)).toBe('written');
  expect(state.stored?.metadata.ownerReferences).toEqual(owners);
});

test('returns no-kind if the kind is not installed', async () => {
  const { state, reports } = server();
  state.hasKind = false;
  expect(await reports.read(node, never)).toBeUndefined();
  expect(await reports.write(node, status, never)).toBe('no-kind');
});

test('reads the stored status again after a failed write', async () => {
  const { verbs, reports } = server(ours());
  await reports.write(node, status, never);
  const stopping = AbortSignal.abort(new Error('stopping'));
  await expect(reports.write(node, status, stopping)).rejects.toThrow('stopping');
  await reports.write(node, status, never);
  expect(verbs).toEqual(['GET', 'PATCH status', 'GET', 'PATCH status']);
});

test('does not read the stored status again after a 429', async () => {
  const { verbs, patches, reports, state } = server(ours({ status: { agentVersion: '0' } }));
  state.isBusy = true;
  await expect(reports.write(node, status, never)).rejects.toThrow('busy');
  await expect(reports.write(node, status, never)).rejects.toThrow('busy');
  state.isBusy = false;
  await reports.write(node, status, never);
  expect(verbs).toEqual(['GET', 'PATCH status', 'PATCH status', 'PATCH status']);
  expect(patches).toEqual([{ status }]);
});

test.each([
  { stored: {}, next: { a: 1 }, patch: { a: 1 } },
  { stored: { a: 1, b: 2 }, next: { a: 1 }, patch: { a: 1, b: null } },
  { stored: { a: { b: 1, c: 2 } }, next: { a: { b: 3 } }, patch: { a: { b: 3, c: null } } },
  { stored: { a: [{ b: 1 }] }, next: { a: [{ c: 1 }] }, patch: { a: [{ c: 1 }] } },
  { stored: { a: { b: 1 } }, next: { a: [1] }, patch: { a: [1] } },
  { stored: { a: 1 }, next: { a: undefined }, patch: { a: null } },
])('the patch from $stored to $next', ({ stored, next, patch }) => {
  expect(mergePatchOf(stored, next)).toEqual(patch);
});
