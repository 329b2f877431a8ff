import { afterAll, beforeAll, expect, test } from 'vitest';
import { load } from 'js-yaml';
import type { SuggestView } from '../../../src/commands/suggest/suggestions.ts';
import { startSandbox, type Sandbox } from '../../sandbox/server.ts';
import { dustpan } from './plan/fixture.ts';

const gib = 1024 ** 3;
let api: Sandbox;

beforeAll(async () => {
  api = await startSandbox({
    users: [
      {
        ...{ name: 'reports-only', token: 'reports-only' },
        allow: ({ resource }) => resource === 'nodegcreports',
      },
    ],
  });
  api.store.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } });
  api.store.apply({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'node-1' },
    status: { allocatable: { 'ephemeral-storage': '10Gi' } },
  });
  const time = new Date(Date.now() - 60_000).toISOString().replace(/\.\d+Z$/, 'Z');
  const workload = (namespace: string, kind: string, name: string) => ({
    ...{ namespace, kind, name, pods: 1, bytes: gib, highestBytes: gib, watchedSeconds: 604_800 },
    parts: [{ kind: 'container', name: 'main', highestBytes: gib }],
  });
  api.store.apply({
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    kind: 'NodeGCReport',
    metadata: { name: 'node-1' },
    status: {
      reportTime: time,
      usage: {
        measuredTime: time,
        watchedSeconds: 7 * 86_400,
        workloads: [
          workload('shop', 'Deployment', 'web'),
          workload('shop', 'Pod', 'debug'),
          workload('blog', 'Deployment', 'web'),
        ],
      },
    },
  });
});
afterAll(() => api.stop());

const suggest = (...args: readonly string[]) =>
  dustpan(['suggest', `--kubeconfig=${api.kubeconfigFile}`, ...args]);

async function itemsOf(...args: readonly string[]): Promise<SuggestView['items']> {
  const { code, stdout, stderr } = await suggest(...args, '-o', 'json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return (JSON.parse(stdout) as SuggestView).items;
}

test.each([
  { args: ['-A'], expected: ['blog/web', 'shop/debug', 'shop/web'] },
  { args: ['-n', 'shop'], expected: ['shop/debug', 'shop/web'] },
  { args: ['deploy/web', '-n', 'shop'], expected: ['shop/web'] },
  { args: ['Deployments/web', '-A'], expected: ['blog/web', 'shop/web'] },
  { args: [], expected: [] },
])('$args', async ({ args, expected }) => {
  const items = await itemsOf(...args);
  expect(items.map(({ namespace, name }) => `${namespace}/${name}`).sort()).toEqual(expected);
});

test('for scripts: rows with the names of their workload, names for kubectl, parts of the JSON', async () => {
  const all = await suggest('-n', 'shop', '--no-headers');
  expect(all.stdout).toMatch(/^shop +deployment\/web +pod .*\nshop +deployment\/web +container\/main /m);
  expect(all.stdout).not.toContain('NAMESPACE');
  const names = await suggest('-A', '-o', 'name');
  expect(names.stdout.trimEnd().split('\n').sort()).toEqual([
    'deployment/web -n blog',
    'deployment/web -n shop',
    'pod/debug -n shop',
  ]);
  const parts = await suggest('-n', 'shop', '-o', 'jsonpath={.items[*].name}');
  expect(parts.stdout.split(' ').sort()).toEqual(['debug', 'web']);
});

test('the room on a node is known with the right to list nodes', async () => {
  const own = `--kubeconfig=${api.kubeconfigOf('reports-only')}`;
  expect(await itemsOf('deploy/web', '-n', 'shop')).toMatchObject([{ podsPerNode: { least: 8, most: 8 } }]);
  expect((await itemsOf('deploy/web', '-n', 'shop', own))[0]).not.toHaveProperty('podsPerNode');
});

test('a table for people', async () => {
  const { code, stdout } = await suggest('-n', 'shop');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^shop +deployment\/web +pod +1\.0Gi +- → 1280Mi/m);
});

test('patches for kubectl; what has none is named beside them', async () => {
  const one = await suggest('deployment/web', '-n', 'shop', '-o', 'yaml');
  expect({ ...one, stdout: load(one.stdout) }).toEqual({
    code: 0,
    stderr: '',
    stdout: {
      spec: {
        template: {
          spec: {
            containers: [
              {
                name: 'main',
                resources: {
                  requests: { 'ephemeral-storage': '1280Mi' },
                  limits: { 'ephemeral-storage': '1280Mi' },
                },
              },
            ],
          },
        },
      },
    },
  });
  const { code, stderr } = await suggest('-n', 'shop', '-o', 'yaml');
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: '# no patch for pod/debug: -o table has their values, or why there are none\n',
  });
  expect(await suggest('pod/debug', '-n', 'shop', '-o', 'yaml')).toMatchObject({ code: 1, stdout: '' });
});

test.each([
  [['web'], 2, /suggest: "web" is not a workload; use KIND\/NAME/],
  [['a/b/c'], 2, /is not a workload/],
  [['-A', '-n', 'shop'], 2, /-n and -A exclude each other/],
  [['deployment/wep', '-n', 'shop'], 1, /no report lists deployment\/wep in this namespace.*deployment\/web/],
  [['-n', 'shup'], 2, /shup/],
])('%j is refused', async (args, code, message) => {
  const refused = await suggest(...args);
  expect(refused.code).toBe(code);
  expect(refused.stderr).toMatch(message);
});
