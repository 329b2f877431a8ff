import { expect, test } from 'vitest';
import type { NodeGCReportStatus } from '../../../../src/api/gen/nodegcreport.gen.ts';
import { NodeReports } from '../../../../src/kube/actions/node-report.ts';
import { FakeApi } from '../../../fakes/api.ts';
import { refusal } from '../../../fakes/transport.ts';
import { ApiServer } from '../../../sandbox/api/api-server.ts';
import type { Manifest } from '../../../sandbox/api/direct-store.ts';

const never = new AbortController().signal;
const node = { name: 'node-1', uid: 'n1' };
const status: NodeGCReportStatus = { agentVersion: '1', reportTime: '2026-01-01T00:00:00Z' };
const stored: Manifest = {
  ...{ apiVersion: 'gc.dustpan.dev/v1alpha1', kind: 'NodeGCReport' },
  metadata: { name: 'node-1', ownerReferences: [{ apiVersion: 'v1', kind: 'Node', ...node }] },
};

const apiServer = new ApiServer();
await apiServer.registry.install('crds');

/** The API server with no other reports, the verbs of the requests and the bodies of the patches. */
function server(...reports: readonly Manifest[]) {
  const api = new FakeApi(apiServer);
  api.objects.delete('NodeGCReport', 'node-1');
  for (const report of reports) api.objects.apply(report);
  return {
    ...{ api, reports: new NodeReports(api) },
    verbs: () =>
      api.requests.map(({ method, path }) => (path.endsWith('/status') ? `${method} status` : method)),
    patches: () => api.requests.filter(({ method }) => method === 'PATCH').map(({ body }) => body),
  };
}

test('reads a report whose creation is a conflict', async () => {
  const { api, verbs, reports } = server();
  api.before = ({ method }) => {
    if (method === 'POST') api.objects.apply(stored);
  };
  expect(await reports.write(node, status, never)).toBe('written');
  expect(verbs()).toEqual(['GET', 'POST', 'GET', 'PATCH status']);
});

test('takes exactly the report over that it has read, if the Node was created again', async () => {
  const { api, verbs, patches, reports } = server(stored);
  const uid = api.objects.get('NodeGCReport', 'node-1')?.metadata.uid;
  await reports.write(node, status, never);
  await reports.write({ ...node, uid: 'n2' }, status, never);
  expect(verbs()).toEqual(['GET', 'PATCH status', 'GET', 'PATCH', 'PATCH status']);
  expect(patches()[1]).toMatchObject({ metadata: { uid } });
});

test('leaves the report to Kubernetes without the right to take it over', async () => {
  const { api, reports } = server(stored);
  api.before = ({ method, path }) => {
    if (method === 'PATCH' && !path.endsWith('/status')) throw refusal(403, 'Forbidden');
  };
  expect(await reports.write({ ...node, uid: 'n2' }, status, never)).toBe('written');
  expect(api.objects.get('NodeGCReport', 'node-1')).toMatchObject({ metadata: stored.metadata, status });
});

test('returns no-kind if the kind is not installed', async () => {
  const reports = new NodeReports(new FakeApi());
  expect(await reports.read(node, never)).toBeUndefined();
  expect(await reports.write(node, status, never)).toBe('no-kind');
});

test('needs one request for each further write, and reads the stored status again after a failed one', async () => {
  const { verbs, reports } = server(stored);
  for (let i = 0; i < 2; i += 1) await reports.write(node, status, never);
  const stopping = AbortSignal.abort(new Error('stopping'));
  await expect(reports.write(node, status, stopping)).rejects.toThrow('stopping');
  await reports.write(node, status, never);
  expect(verbs()).toEqual(['GET', 'PATCH status', 'PATCH status', 'GET', 'PATCH status']);
});
