import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { TopView } from '../../../src/commands/top/view.ts';
import type { SandboxUser } from '../../sandbox/api/users.ts';
import { startSandbox, type Sandbox } from '../../sandbox/server.ts';
import { built, until } from '../built.ts';
import { RunningProcess } from '../running-process.ts';
import { dustpan } from './plan/fixture.ts';

let api: Sandbox;
let running: RunningProcess | undefined;

const users: readonly SandboxUser[] = [
  {
    ...{ name: 'reports-only', token: 'reports-only' },
    allow: ({ resource }) => resource === 'nodegcreports',
  },
  { name: 'of-namespace', token: 'of-namespace', allow: ({ namespace }) => namespace === 'team-a' },
];

beforeEach(async () => {
  api = await startSandbox({ users });
});
afterEach(async () => {
  running?.kill('SIGKILL');
  await api.stop();
});

const top = (...args: readonly string[]) => dustpan(['top', `--kubeconfig=${api.kubeconfigFile}`, ...args]);

const inMinutes = (minutes: number): string =>
  new Date(Date.now() + minutes * 60_000).toISOString().replace(/\.\d+Z$/, 'Z');

const gib = 1024 ** 3;

/** A node with an agent, which namespace team-a fills. */
function node(name: string, usedGib: number, labels: Readonly<Record<string, string>> = {}): void {
  api.store.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } });
  const availableBytes = (100 - usedGib) * gib;
  const disk = { capacityBytes: 100 * gib, availableBytes, usedBytes: usedGib * gib };
  api.store.apply({
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    kind: 'NodeGCReport',
    metadata: { name },
    status: {
      reportTime: inMinutes(-1),
      usage: {
        measuredTime: inMinutes(-1),
        fileSystems: [{ name: 'nodefs', ...disk }],
        podCount: 2,
        namespaces: [
          { name: 'team-a', pods: 1, bytes: 2 * gib },
          { name: 'team-b', pods: 1, bytes: gib },
        ],
        pods: [
          { namespace: 'team-a', name: 'web', uid: `${name}-web`, bytes: 2 * gib },
          { namespace: 'team-b', name: 'job', uid: `${name}-job`, bytes: gib },
        ],
        images: [{ id: 'sha256:1', name: 'docker.io/library/web:1', bytes: gib, inUse: false }],
        volumes: [
          {
            ...{
              kind: 'pvc',
              namespace: 'team-a',
              pod: `web-${name}`,
              name: 'data',
              pods: 1,
              usedBytes: gib,
            },
            ...{ limitBytes: 10 * gib, usedPercent: 10, inodesPercent: 1, measuredTime: inMinutes(-1) },
          },
        ],
        workloads: [
          {
            ...{ namespace: 'team-a', kind: 'Deployment', name: 'web', pods: 1, bytes: 2 * gib },
            ...{ highestBytes: 3 * gib, watchedSeconds: 604_800 },
            parts: [{ kind: 'container', name: 'main', highestBytes: 3 * gib }],
          },
        ],
      },
    },
  });
}

async function viewOf(...args: readonly string[]): Promise<TopView> {
  const { code, stdout, stderr } = await top(...args, '-o', 'json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as TopView;
}

describe('lists', () => {
  beforeEach(() => {
    node('node-1', 40, { pool: 'a' });
    node('node-2', 80, { pool: 'b' });
    api.store.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-3' } });
    for (const name of ['team-a', 'team-b'])
      api.store.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels: { team: name } } });
    api.store.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { namespace: 'team-b', name: 'job', uid: 'node-1-job', labels: { app: 'job' } },
      spec: { nodeName: 'node-1', containers: [] },
    });
  });

  test.each([
    { args: ['nodes'], expected: [{ name: 'node-2' }, { name: 'node-1' }, { name: 'node-3' }] },
    { args: ['no', '-l', 'pool=a'], expected: [{ name: 'node-1' }] },
    {
      args: ['nodes', '--sort-by=name', '--node=node-2,node-1'],
      expected: [{ name: 'node-1' }, { name: 'node-2' }],
    },
    { args: ['namespaces'], expected: [{ name: 'team-a', bytes: 4 * gib }, { name: 'team-b' }] },
    { args: ['namespaces', '-n', 'team-a'], expected: [{ name: 'team-a' }] },
    { args: ['ns', '-l', 'team in (team-b)'], expected: [{ name: 'team-b', nodes: 2 }] },
    { args: ['pods', '-n=team-b', '--node', 'node-1'], expected: [{ uid: 'node-1-job' }] },
    { args: ['pods', '-A', '-l', 'app=job'], expected: [{ uid: 'node-1-job' }] },
    { args: ['pod', 'job', '-A'], expected: [{ uid: 'node-1-job' }] },
    { args: ['node', 'node-2'], expected: [{ name: 'node-2' }] },
    { args: ['pods'], expected: [] },
    {
      args: ['disk', '--sort-by=kind', '-l', 'pool'],
      expected: Array(10).fill({ lowerBound: true }),
    },
    { args: ['workloads', '-A'], expected: [{ name: 'web', pods: 2, highestBytes: 3 * gib }] },
    { args: ['workload', '-n=team-a', '--node=node-1', '-l', 'pool=a'], expected: [{ pods: 1, nodes: 1 }] },
    { args: ['workloads', '-n', 'team-b'], expected: [] },
    { args: ['volumes', '-A', '--sort-by=full'], expected: [{ kind: 'pvc', name: 'data', pods: 2 }] },
    { args: ['pvc', '-n=team-a', '-l', 'pool=a'], expected: [{ nodes: ['node-1'], pod: 'web-node-1' }] },
    { args: ['volumes'], expected: [] },
    { args: ['images', '-l', 'pool'], expected: [{ gainBytes: 2 * gib }] },
  ])('$args', async ({ args, expected }) => {
    const { items } = await viewOf(...args);
    expect(items).toMatchObject(expected);
  });

  test('--no-headers prints only rows', async () => {
    const { stdout } = await top('nodes', '--no-headers');
    expect(stdout.split('\n').map((line) => line.split(' ')[0])).toEqual(['node-2', 'node-1', 'node-3', '']);
    expect((await top('pods', '--no-headers')).stdout).toBe('');
  });

  test('needs only the right to list reports', async () => {
    const view = await viewOf('nodes', `--kubeconfig=${api.kubeconfigOf('reports-only')}`);
    expect(view.items).toHaveLength(2);
    expect(view.notes).toMatchObject([{ reason: 'NodesUnknown' }]);
  });

  test.each([
    [
      'rights in one namespace',
      () => ['pods', '-n', 'team-a', `--kubeconfig=${api.kubeconfigOf('of-namespace')}`],
      1,
      /^dustpan: listing nodegcreports, which a role of a namespace cannot allow: .*; to check it, run kubectl auth can-i list nodegcreports.gc.dustpan.dev; an administrator grants it by a ClusterRole/,
    ],
    [
      'no right to list nodes, which a selector needs',
      () => ['nodes', '-l', 'pool=a', `--kubeconfig=${api.kubeconfigOf('reports-only')}`],
      1,
      /^dustpan: listing nodes: .*; to check it, run kubectl auth can-i list nodes/,
    ],
    [
      'an unknown node',
      () => ['nodes', '--node=nod-1'],
      2,
      /^dustpan: top: there is no report of a node nod-1.*node-1/,
    ],
    [
      'an unknown pod',
      () => ['pod', 'web', '-n', 'team-b'],
      2,
      /^dustpan: top: there is no pod web in team-b/,
    ],
  ])('refuses %s', async (_, args, code, message) => {
    const { stderr, ...ended } = await top(...args());
    expect(ended).toEqual({ code, stdout: '' });
    expect(stderr).toMatch(message);
  });
});

test('fails in one line where dustpan is not installed', async () => {
  await api.stop();
  api = await startSandbox({ crds: false });
  expect(await top('nodes')).toMatchObject({
    ...{ code: 1, stderr: 'dustpan: the kind NodeGCReport is not installed in the cluster: is dustpan?\n' },
  });
});

test('--watch shows each change once, and succeeds on Ctrl-C', async () => {
  node('node-1', 40);
  const at = `--kubeconfig=${api.kubeconfigFile}`;
  const watching = new RunningProcess([built.main, 'top', at, 'nodes', '--watch', '-o', 'wide']);
  running = watching;
  try {
    await until('the first', () => watching.stdout.includes(' 40%'));
    node('node-1', 60);
    await until('a change', () => watching.stdout.includes(' 60%'));
  } finally {
    watching.kill('SIGINT');
  }
  expect(await watching.ended()).toBe(0);
  expect(watching.stderr).toBe('');
  expect(watching.stdout.split('NODE ').length - 1).toBe(2);
});
