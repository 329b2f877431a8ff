import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { TopView } from '../../../src/commands/top/view.ts';
import type { SandboxUser } from '../../sandbox/api/users.ts';
import { startSandbox, type Sandbox } from '../../sandbox/server.ts';
import { built, until } from '../built.ts';

let api: Sandbox;
let running: ChildProcess[];

const reportsOnly: SandboxUser = {
  name: 'reports-only',
  token: 'reports-only',
  allow: ({ resource }) => resource === 'nodegcreports',
};
const ofNamespace: SandboxUser = {
  name: 'of-namespace',
  token: 'of-namespace',
  allow: ({ namespace }) => namespace === 'team-a',
};

beforeEach(async () => {
  running = [];
  api = await startSandbox({ users: [reportsOnly, ofNamespace] });
});
afterEach(async () => {
  for (const child of running) child.kill('SIGKILL');
  await api.stop();
});

function top(...args: readonly string[]) {
  const child = spawn(process.execPath, [built.main, 'top', `--kubeconfig=${api.kubeconfigFile}`, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'] },
  });
  running.push(child);
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  return { child, output, ended: once(child, 'close').then(() => child.exitCode) };
}

const inMinutes = (minutes: number): string =>
  new Date(Date.now() + minutes * 60_000).toISOString().replace(/\.\d+Z$/, 'Z');

const gib = 1024 ** 3;

/** A node with an agent, which namespace team-a fills. */
function node(name: string, usedGib: number, labels: Readonly<Record<string, string>> = {}): void {
  api.store.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } });
  api.store.apply({
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    kind: 'NodeGCReport',
    metadata: { name },
    status: {
      reportTime: inMinutes(-1),
      usage: {
        measuredTime: inMinutes(-1),
        forecast: 'At 2.0 GiB/h, nodefs is full in 6 h. Logs of namespace team-a grow 2.0 GiB/h.',
        fileSystems: [
          {
            name: 'nodefs',
            capacityBytes: 100 * gib,
            availableBytes: (100 - usedGib) * gib,
            usedBytes: usedGib * gib,
          },
        ],
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
      },
    },
  });
}

async function viewOf(...args: readonly string[]): Promise<TopView> {
  const { output, ended } = top(...args, '-o', 'json');
  const code = await ended;
  expect({ code, stderr: output.stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(output.stdout) as TopView;
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
    { args: ['ns', '-l', 'team in (team-b)'], expected: [{ name: 'team-b', nodes: 2 }] },
    { args: ['namespaces', '-n', 'team-a'], expected: [{ name: 'team-a' }] },
    { args: ['pods', '-n=team-b', '--node', 'node-1'], expected: [{ uid: 'node-1-job' }] },
    { args: ['pods', '--node=node-1'], expected: [{ name: 'web' }, { name: 'job' }] },
    { args: ['pods', '-A', '-l', 'app=job'], expected: [{ uid: 'node-1-job' }] },
    { args: ['pods'], expected: [] },
    { args: ['images', '-l', 'pool'], expected: [{ gainBytes: 2 * gib }] },
  ])('$args', async ({ args, expected }) => {
    const { items } = await viewOf(...args);
    expect(items).toMatchObject(expected);
  });

  test('which team fills a node, and until when, in one command', async () => {
    const { output, ended } = top('namespaces', '--node=node-1');
    expect(await ended).toBe(0);
    expect(output.stdout).toMatch(/^node-1 \(1m\): [^]* full in 6 h\.[^]*\nteam-a +2\.0Gi /);
  });

  test('needs only the right to list reports', async () => {
    const view = await viewOf('nodes', `--kubeconfig=${api.kubeconfigOf('reports-only')}`);
    expect(view.items).toHaveLength(2);
    expect(view.notes).toMatchObject([{ reason: 'NodesUnknown' }]);
  });

  test.each([
    {
      name: 'rights in one namespace',
      args: () => ['pods', '-n', 'team-a', `--kubeconfig=${api.kubeconfigOf('of-namespace')}`],
      code: 1,
      message:
        /^dustpan: listing nodegcreports, which a role of a namespace cannot allow: .*; to check it, run kubectl auth can-i list nodegcreports.gc.dustpan.dev; an administrator grants it by a ClusterRole/,
    },
    {
      name: 'no right to list nodes, which a selector needs',
      args: () => ['nodes', '-l', 'pool=a', `--kubeconfig=${api.kubeconfigOf('reports-only')}`],
      code: 1,
      message: /^dustpan: listing nodes: .*; to check it, run kubectl auth can-i list nodes/,
    },
    {
      name: 'an unknown node',
      args: () => ['nodes', '--node=nod-1'],
      code: 2,
      message: /^dustpan: top: there is no report of a node nod-1.*node-1/,
    },
    {
      name: 'an unknown kind',
      args: () => ['constructor'],
      code: 2,
      message: /"constructor" is not listed; use nodes/,
    },
    {
      name: 'an unknown field',
      args: () => ['pods', '--sort-by=gain'],
      code: 2,
      message: /pods cannot be sorted by "gain"; use bytes/,
    },
    {
      name: 'a namespace like a flag',
      args: () => ['pods', '-n', '--all'],
      code: 2,
      message: /--namespace/,
    },
    {
      name: 'a node like a flag',
      args: () => ['pods', '--node=-A'],
      code: 2,
      message: /"-A" is not the name of a node/,
    },
    { name: '-n for nodes', args: () => ['nodes', '-n', 'a'], code: 2, message: /nodes have no namespace/ },
    { name: '-n and -A', args: () => ['pods', '-A', '-n', 'a'], code: 2, message: /exclude each other/ },
  ])('refuses $name', async ({ args, code, message }) => {
    const { output, ended } = top(...args());
    expect(await ended).toBe(code);
    expect(output.stdout).toBe('');
    expect(output.stderr).toMatch(message);
  });
});

test('fails in one line where dustpan is not installed', async () => {
  await api.stop();
  api = await startSandbox({ crds: false });
  const { output, ended } = top('nodes');
  expect(await ended).toBe(1);
  expect(output.stderr).toBe('dustpan: the kind NodeGCReport is not installed in the cluster: is dustpan?\n');
});

test('--watch shows each change once, and succeeds on Ctrl-C', async () => {
  node('node-1', 40);
  const { child, output, ended } = top('nodes', '--watch', '-o', 'wide');
  await until('the first', () => output.stdout.includes(' 40%'));
  node('node-1', 60);
  await until('a change', () => output.stdout.includes(' 60%'));
  child.kill('SIGINT');
  expect(await ended).toBe(0);
  expect(output.stderr).toBe('');
  expect(output.stdout.split('NODE ').length - 1).toBe(2);
});
