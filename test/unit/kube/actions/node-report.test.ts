import { expect, test } from 'vitest';
import type { NodeGCReportStatus } from '../../../../src/api/gen/nodegcreport.gen.ts';
import { nodeReports } from '../../../../src/kube/actions/node-report.ts';
import { nodeReportsResource } from '../../../../src/kube/cache/node-report-facts.ts';
import { mergePatchOf } from '../../../../src/kube/actions/merge-patch.ts';
import { ApiError, type KubeRequest } from '../../../../src/kube/http/transport.ts';
import { FakeTransport } from '../../../fakes/transport.ts';

const never = new AbortController().signal;
const node = { name: 'node-1', uid: 'n1' };
const status: NodeGCReportStatus = { agentVersion: '1', reportTime: '2026-01-01T00:00:00Z' };

interface Stored {
  metadata: { ownerReferences: { uid: string }[] };
  status?: object;
}

/** One report on an API server; what it is asked is told by verb. */
function server(stored?: Stored) {
  const world = { stored, hasKind: true, mayChangeOwner: true, isBusy: false };
  const verbs: string[] = [];
  const patches: unknown[] = [];
  const missing = new ApiError('not found', { status: 404, reason: 'NotFound' });
  const patch = ({ path, body }: KubeRequest, report: Stored): void => {
    patches.push(body);
    const { metadata } = body as Partial<Stored>;
    if (path.endsWith('/status')) return;
    if (!world.mayChangeOwner) throw new ApiError('no', { status: 403, reason: 'Forbidden' });
    if (metadata !== undefined) report.metadata = metadata;
  };
  const transport = new FakeTransport({
    send: (request) => {
      verbs.push(request.path.endsWith('/status') ? `${request.method} status` : request.method);
      if (!world.hasKind) throw missing;
      if (world.isBusy && request.method === 'PATCH') throw new ApiError('busy', { status: 429 });
      if (request.method === 'POST') world.stored = request.body as Stored;
      else if (world.stored === undefined) throw missing;
      else if (request.method === 'PATCH') patch(request, world.stored);
      return world.stored;
    },
  });
  return { world, verbs, patches, reports: nodeReports(transport) };
}

const owners = [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'n1' }];
const ours = (over: object = {}): Stored => ({ metadata: { ownerReferences: owners }, ...over });

test('is made where it is missing, for its Node', async () => {
  const { world, verbs, reports } = server();
  expect(await reports.write(node, status, never)).toBe('written');
  expect(world.stored).toEqual({
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    kind: 'NodeGCReport',
    metadata: { name: 'node-1', ownerReferences: owners },
  });
  expect(verbs).toEqual(['GET', 'POST', 'PATCH status']);
});

test('then costs one request a write', async () => {
  const { verbs, reports } = server(ours());
  await reports.write(node, status, never);
  await reports.write(node, status, never);
  expect(verbs).toEqual(['GET', 'PATCH status', 'PATCH status']);
});

test('is looked at once before the first write, whether it was there or not', async () => {
  const [missing, there] = [server(), server(ours({ status }))];
  for (const { reports } of [missing, there]) {
    await reports.read(node, never);
    await reports.write(node, { ...status, agentVersion: '2' }, never);
  }
  expect(missing.verbs).toEqual(['GET', 'POST', 'PATCH status']);
  expect(there.verbs).toEqual(['GET', 'PATCH status']);
  expect(there.patches).toEqual([{ status: { ...status, agentVersion: '2' } }]);
});

test('one that was read and belongs to a Node of old is looked at again and taken over', async () => {
  const { world, verbs, reports } = server(ours({ status }));
  const again = { ...node, uid: 'n2' };
  expect(await reports.read(again, never)).toEqual(status);
  await reports.write(again, status, never);
  expect(verbs).toEqual(['GET', 'GET', 'PATCH', 'PATCH status']);
  expect(world.stored?.metadata.ownerReferences).toMatchObject([{ uid: 'n2' }]);
});

test('what was missing once is looked at again before it is made a second time', async () => {
  const { world, verbs, reports } = server();
  await reports.read(node, never);
  await reports.write(node, status, never);
  world.stored = undefined;
  await reports.write(node, status, never);
  expect(verbs.slice(3)).toEqual(['PATCH status', 'GET', 'POST', 'PATCH status']);
});

test('takes away what is stored and not said any more, also after a restart', async () => {
  const { patches, reports } = server(ours({ status: { ...status, policy: { name: 'old' } } }));
  await reports.write(node, { ...status, images: { total: { count: 1 } } }, never);
  await reports.write(node, status, never);
  expect(patches).toEqual([
    { status: { ...status, policy: null, images: { total: { count: 1 } } } },
    { status: { ...status, images: null } },
  ]);
});

test('is made again when it was deleted', async () => {
  const { world, verbs, reports } = server(ours());
  await reports.write(node, status, never);
  world.stored = undefined;
  expect(await reports.write(node, status, never)).toBe('written');
  expect(verbs.slice(2)).toEqual(['PATCH status', 'GET', 'POST', 'PATCH status']);
});

test('is taken over when the Node was made again', async () => {
  const { world, reports } = server(ours());
  await reports.write({ ...node, uid: 'n2' }, status, never);
  expect(world.stored?.metadata.ownerReferences).toMatchObject([{ name: 'node-1', uid: 'n2' }]);
});

test('is left to Kubernetes when it may not be taken over', async () => {
  const { world, reports } = server(ours());
  world.mayChangeOwner = false;
  expect(await reports.write({ ...node, uid: 'n2' }, status, never)).toBe('written');
  expect(world.stored?.metadata.ownerReferences).toEqual(owners);
});

test('a kind that is not installed is told, not thrown', async () => {
  const { world, reports } = server();
  world.hasKind = false;
  expect(await reports.read(node, never)).toBeUndefined();
  expect(await reports.write(node, status, never)).toBe('no-kind');
});

test('after a write that failed what is stored is read again', async () => {
  const { verbs, reports } = server(ours());
  const failing = nodeReports(
    new FakeTransport({
      send: () => {
        throw new ApiError('busy', { status: 503 });
      },
    }),
  );
  await expect(failing.write(node, status, never)).rejects.toThrow('busy');
  await reports.write(node, status, never);
  await expect(reports.write(node, status, AbortSignal.abort(new Error('stopping')))).rejects.toThrow(
    'stopping',
  );
  await reports.write(node, status, never);
  expect(verbs).toEqual(['GET', 'PATCH status', 'GET', 'PATCH status']);
});

test('after a write that was turned away with 429 what is stored is still known', async () => {
  const { verbs, patches, reports, world } = server(ours({ status: { agentVersion: '0' } }));
  world.isBusy = true;
  await expect(reports.write(node, status, never)).rejects.toThrow('busy');
  await expect(reports.write(node, status, never)).rejects.toThrow('busy');
  world.isBusy = false;
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

const reported = {
  metadata: { name: 'node-1', uid: 'r1', resourceVersion: '5' },
  status: {
    reportTime: '2026-01-01T00:00:00Z',
    policy: { name: 'p', uid: 'p1', observedGeneration: 3 },
    conditions: [
      { type: 'Degraded', status: 'True' },
      { type: 'KeepListAtRisk', status: 'False' },
    ],
    images: { removable: { count: 2, bytes: 200 } },
    containers: { removable: 4 },
    units: [
      { name: 'containergc', freedBytesTotal: 1 },
      { name: 'imagegc', freedBytesTotal: 50 },
    ],
    storageWarningCount: 6,
    evictionRequestCount: 7,
  },
};
const silent = {
  ...{ reportedAtMs: undefined, policyUid: '', policyGeneration: 0, degraded: false, keepListAtRisk: false },
  ...{ imagesRemovable: 0, imageBytesRemovable: 0, imageBytesFreed: 0, containersRemovable: 0 },
  ...{ storageWarnings: 0, evictionRequests: 0, requests: [] },
};

test.each([
  {
    name: 'a whole one',
    report: reported,
    expected: {
      ...{ reportedAtMs: Date.parse('2026-01-01T00:00:00Z'), policyUid: 'p1', policyGeneration: 3 },
      ...{ degraded: true, keepListAtRisk: false, imagesRemovable: 2, imageBytesRemovable: 200 },
      ...{
        imageBytesFreed: 50,
        containersRemovable: 4,
        storageWarnings: 6,
        evictionRequests: 7,
        requests: [],
      },
    },
  },
  { name: 'one without a status', report: { metadata: reported.metadata }, expected: silent },
  {
    name: 'one that holds nonsense',
    report: { ...reported, status: { reportTime: 7, conditions: 'x', units: [3], images: null } },
    expected: silent,
  },
])('what the controller keeps of a report: $name', ({ report, expected }) => {
  const { codec } = nodeReportsResource();
  const facts = codec.fromJson(report);
  expect(facts).toEqual({ uid: 'r1', name: 'node-1', resourceVersion: '5', ...expected });
  expect(codec.fromJson(report, new Map([['r1', facts]]))).toBe(facts);
});
