import { expect, test } from 'vitest';
import { policyManifest } from '../../manifests.ts';
import { startEnvironment } from './environment.ts';

const { objects } = await startEnvironment();

const gc = '/apis/gc.dustpan.dev/v1alpha1';
const tableType = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

const read = async (path: string, accept = 'application/json'): Promise<unknown> =>
  JSON.parse((await objects.request({ method: 'GET', path, accept })).toString());

test('kubectl finds the policies and their short name among the served APIs', async () => {
  const containing = (...some: readonly object[]): unknown =>
    expect.arrayContaining(some.map((one) => expect.objectContaining(one) as unknown));
  const groupVersion = 'gc.dustpan.dev/v1alpha1';
  const group = { name: 'gc.dustpan.dev', preferredVersion: { groupVersion, version: 'v1alpha1' } };
  expect(await read('/api')).toMatchObject({ kind: 'APIVersions', versions: ['v1'] });
  expect(await read('/apis')).toMatchObject({ kind: 'APIGroupList', groups: containing(group) });
  const policies = { name: 'gcpolicies', kind: 'GCPolicy', namespaced: false, shortNames: ['gcpol'] };
  const served = { kind: 'APIResourceList', groupVersion, resources: containing(policies) };
  expect(await read(gc)).toMatchObject(served);
  const pods = { name: 'pods', kind: 'Pod', namespaced: true };
  expect(await read('/api/v1')).toMatchObject({ resources: containing(pods, { name: 'pods/status' }) });
});

test('kubectl get prints the columns of the custom resource, from a list and for one object', async () => {
  await objects.post(`${gc}/gcpolicies`, policyManifest('columns', { mode: 'Enforce', priority: 7 }));
  const condition = { status: 'True', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const conditions = ['Ready', 'Accepted'].map((type) => ({ ...condition, type, reason: type }));
  await objects.patch(`${gc}/gcpolicies/columns/status`, {
    status: { observedGeneration: 1, lastPassTime: new Date().toISOString(), conditions },
  });
  const one = (await read(`${gc}/gcpolicies/columns`, tableType)) as Table;
  expect(one.kind).toBe('Table');
  const heads = [
    ...'Name Mode Priority Accepted Degraded Nodes Desired Due'.split(' '),
    ...['On Hold', 'Deleted', 'Reason', 'Last Pass', 'Age'],
  ];
  expect(one.columnDefinitions.map(({ name }) => name)).toEqual(heads);
  const wide = ['Desired', 'Due', 'On Hold', 'Deleted', 'Reason', 'Last Pass'];
  expect(one.columnDefinitions.filter(({ priority }) => priority > 0).map(({ name }) => name)).toEqual(wide);
  const age = expect.stringMatching(/^\d+[sm]$/) as unknown;
  const cells = ['columns', 'Enforce', 7, 'True', null, null, null, null, null, null, 'Ready', age];
  expect(one.rows.map((row) => row.cells)).toEqual([[...cells, age]]);
  expect(one.rows[0]?.object.metadata.name).toBe('columns');
  const all = (await read(`${gc}/gcpolicies`, tableType)) as Table;
  expect(all.rows.map((row) => row.cells)).toEqual([[...cells, age]]);
});

interface Table {
  readonly kind: string;
  readonly columnDefinitions: readonly { readonly name: string; readonly priority: number }[];
  readonly rows: readonly {
    readonly cells: readonly unknown[];
    readonly object: { readonly metadata: { readonly name: string } };
  }[];
}

test('kubectl apply finds that the server validates the fields of a policy', async () => {
  const { paths } = (await read('/openapi/v3')) as {
    readonly paths: Readonly<Record<string, { readonly serverRelativeURL: string }>>;
  };
  const { pathname } = new URL(paths[gc.slice(1)]?.serverRelativeURL ?? '', 'http://server');
  const parameter = expect.objectContaining({ name: 'fieldValidation', in: 'query' }) as unknown;
  const patch = {
    parameters: expect.arrayContaining([parameter]) as unknown,
    'x-kubernetes-group-version-kind': { group: 'gc.dustpan.dev', version: 'v1alpha1', kind: 'GCPolicy' },
  };
  expect(await read(pathname)).toMatchObject({ paths: { [`${gc}/gcpolicies/{name}`]: { patch } } });
});
