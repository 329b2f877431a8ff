import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StatusView } from '../../../src/commands/status/view.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../../sandbox/server.ts';
import type { SandboxUser } from '../../sandbox/api/users.ts';
import { built, until } from '../built.ts';

let api: Sandbox;
let running: ChildProcess[];

const withoutReports: SandboxUser = {
  ...{ name: 'without-reports', token: 'without-reports' },
  allow: ({ resource }) => resource === 'gcpolicies',
};

const start = async (options: SandboxOptions = { users: [withoutReports] }): Promise<void> => {
  api = await startSandbox(options);
};
beforeEach(() => {
  running = [];
});
afterEach(async () => {
  for (const child of running) child.kill('SIGKILL');
  await api.stop();
});

interface Running {
  readonly child: ChildProcess;
  readonly output: { stdout: string; stderr: string };
  readonly ended: Promise<number | null>;
}

function status(...args: readonly string[]): Running {
  const child = spawn(
    process.execPath,
    [built.main, 'status', `--kubeconfig=${api.kubeconfigFile}`, ...args],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH: process.env['PATH'] },
    },
  );
  running.push(child);
  const output = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()));
  return { child, output, ended: once(child, 'close').then(() => child.exitCode) };
}

const time = (minutesAgo: number): string =>
  new Date(Date.now() - minutesAgo * 60_000).toISOString().replace(/\.\d+Z$/, 'Z');

function policyWith(due: number): void {
  const [tripped, seen] = ['Degraded', 'Accepted'].map((type) => ({
    ...{
      type,
      status: 'True',
      reason: 'Tripped',
      message: 'Nodes missing: 3, 60 % of all; the circuit breaker is open, and orphaned pods are kept',
    },
    lastTransitionTime: time(2),
  }));
  api.store.apply({
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    kind: 'GCPolicy',
    metadata: { name: 'default', creationTimestamp: '2026-01-01T07:05:00Z' },
    spec: { mode: 'Enforce', pods: { orphaned: {} } },
    status: {
      ...{ observedGeneration: 1, lastPassTime: time(1), conditions: [tripped, seen] },
      pods: { governed: 10, due, deletedTotal: 7 },
    },
  });
}

function report(name: string, minutesAgo: number): void {
  api.store.apply({
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    kind: 'NodeGCReport',
    metadata: { name },
    status: {
      reportTime: time(minutesAgo),
      policy: { name: 'default', observedGeneration: 1, mode: 'Enforce' },
      imageFileSystem: { usedPercent: 81 },
      images: { removable: { count: 2, bytes: 3 * 1024 ** 3 } },
      units: [
        { name: 'imagegc', lastPassTime: time(minutesAgo), result: 'Idle', freedBytesTotal: 1024 ** 2 },
      ],
    },
  });
}

describe('once', () => {
  test('problems first, then totals, in 80 columns', async () => {
    await start();
    policyWith(12);
    report('node-a', 2);
    report('node-b', 60);
    const { output, ended } = status();
    expect(await ended).toBe(0);
    expect(output.stderr).toBe('');
    expect(output.stdout).toMatch(/^! GCPolicy default: Tripped [^]*\n! Node node-b: Stale [^]*\n1 policy\n/);
    expect(Math.max(...output.stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  test.each(['json', 'yaml'])('has the same content as %s', async (format) => {
    await start();
    policyWith(12);
    report('node-a', 2);
    const { output, ended } = status('-o', format);
    expect(await ended).toBe(0);
    expect(output.stdout).toMatch(/"?kind"?: "?Status"?/);
    if (format === 'yaml') return;
    const view = JSON.parse(output.stdout) as StatusView;
    expect(view.totals).toMatchObject({ policies: 1, nodes: 1, podsDue: 12, reclaimedBytes: 1024 ** 2 });
    expect(view.trouble.map(({ reason }) => reason)).toEqual(['Tripped']);
  });

  test('reports that the cluster has no policy and no agent', async () => {
    await start();
    const { output, ended } = status();
    expect(await ended).toBe(0);
    expect(output.stdout).toMatch(/^There is no GCPolicy/);
  });

  test('leaves out reports that may not be read, with a warning', async () => {
    await start();
    policyWith(12);
    const { output, ended } = status(`--kubeconfig=${api.kubeconfigOf('without-reports')}`);
    expect(await ended).toBe(0);
    expect(output.stderr).toMatch(/^dustpan: warning: cannot list nodegcreports: .*forbidden.*\n$/);
    expect(output.stdout).toContain('The reports of nodes could not be read.\n');
  });

  test('fails in one line where dustpan is not installed', async () => {
    await start({ crds: false });
    const { output, ended } = status();
    expect(await ended).toBe(1);
    expect(output).toEqual({
      stdout: '',
      stderr: 'dustpan: the kind GCPolicy is not installed in the cluster: is dustpan?\n',
    });
  });
});

describe('--watch', () => {
  const documents = (text: string): number => text.split('"kind": "Status"').length - 1;

  test('shows each change once, and succeeds on Ctrl-C', async () => {
    await start();
    policyWith(12);
    const { child, output, ended } = status('--watch', '-o', 'json');
    await until('the first', () => documents(output.stdout) === 1);
    policyWith(13);
    await until('a change', () => output.stdout.includes('"podsDue": 13'));
    report('node-a', 2);
    await until('a new report', () => output.stdout.includes('"name": "node-a"'));
    expect(documents(output.stdout)).toBe(3);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(output.stderr).toBe('');
  });

  test('a read that fails is reported, and the next one shows the change', async () => {
    await start();
    policyWith(12);
    const { output } = status('-w', '-o', 'json');
    await until('the first', () => documents(output.stdout) === 1);
    api.faults.next(({ path }) => path.endsWith('gcpolicies'), { kind: 'status', status: 403 });
    policyWith(14);
    await until('the change came', () => output.stdout.includes('"podsDue": 14'));
    expect(output.stderr).toMatch(/^dustpan: warning: the values may be stale: [^\n]+\n$/);
  });

  test('without a terminal, prints the table again only after a change', async () => {
    await start();
    policyWith(12);
    const { output } = status('--watch');
    await until('the first', () => output.stdout.includes('pods: 12 due'));
    policyWith(13);
    await until('a change', () => output.stdout.includes('pods: 13 due'));
    expect(output.stdout).not.toContain('\u001b');
    expect(output.stdout.split('1 policy').length - 1).toBe(2);
  });
});
