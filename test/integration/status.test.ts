import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { StatusView } from '../../src/commands/status/view.ts';
import { startSandbox, type Sandbox, type SandboxOptions } from '../sandbox/server.ts';
import type { SandboxUser } from '../sandbox/users.ts';
import { builtForFile, until } from './built.ts';

const built = builtForFile();
let api: Sandbox;
let running: ChildProcess[];

const reportBlind: SandboxUser = {
  ...{ name: 'report-blind', token: 'report-blind' },
  allow: ({ resource }) => resource === 'gcpolicies',
};

const start = async (options: SandboxOptions = { users: [reportBlind] }): Promise<void> => {
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
  readonly said: { stdout: string; stderr: string };
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
  const said = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk: Buffer) => (said.stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said.stderr += chunk.toString()));
  return { child, said, ended: once(child, 'close').then(() => child.exitCode) };
}

const time = (minutesAgo: number): string =>
  new Date(Date.now() - minutesAgo * 60_000).toISOString().replace(/\.\d+Z$/, 'Z');

function policyWith(due: number): void {
  const [tripped, seen] = ['Degraded', 'Accepted'].map((type) => ({
    ...{
      type,
      status: 'True',
      reason: 'Tripped',
      message: 'Nodes missing: 3, 60 % of all: orphans are kept',
    },
    lastTransitionTime: time(2),
  }));
  api.store.apply({
    apiVersion: 'gc.dustpan.dev/v1alpha1',
    kind: 'GCPolicy',
    metadata: { name: 'default' },
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
    const { said, ended } = status();
    expect(await ended).toBe(0);
    expect(said.stderr).toBe('');
    expect(said.stdout.replaceAll(/ +/g, ' ').split('\n')).toEqual([
      '! GCPolicy default: Tripped (2m): Nodes missing: 3, 60 % of all: orphans are',
      ' kept',
      '! Node node-b: Stale (1h): The agent has not reported for more than 15 minutes:',
      ' is it running?',
      '',
      '1 policy',
      'pods: 12 due, 7 deleted',
      '2 nodes: 6.0 GiB can be freed, 2.0 MiB were freed',
      'Details: kubectl get gcpolicies,nodegcreports -o wide',
      '',
    ]);
    expect(Math.max(...said.stdout.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(80);
  });

  test.each(['json', 'yaml'])('as %s it has the same', async (format) => {
    await start();
    policyWith(12);
    report('node-a', 2);
    const { said, ended } = status('-o', format);
    expect(await ended).toBe(0);
    expect(said.stdout).toMatch(/"?kind"?: "?Status"?/);
    if (format === 'yaml') return;
    const view = JSON.parse(said.stdout) as StatusView;
    expect(view.totals).toMatchObject({ policies: 1, nodes: 1, podsDue: 12, reclaimedBytes: 1024 ** 2 });
    expect(view.trouble.map(({ reason }) => reason)).toEqual(['Tripped']);
  });

  test('an empty cluster says so', async () => {
    await start();
    const { said, ended } = status();
    expect(await ended).toBe(0);
    expect(said.stdout).toBe(
      'There is no GCPolicy: nothing is removed.\nNo agent has reported.\nDetails: kubectl get gcpolicies,nodegcreports -o wide\n',
    );
  });

  test('reports that may not be read are left out with a warning', async () => {
    await start();
    policyWith(12);
    const { said, ended } = status(`--kubeconfig=${api.kubeconfigOf('report-blind')}`);
    expect(await ended).toBe(0);
    expect(said.stderr).toMatch(/^dustpan: warning: cannot list nodegcreports: .*forbidden.*\n$/);
    expect(said.stdout).toContain('The reports of nodes are not known.\n');
  });

  test('where dustpan is not installed it fails in one line', async () => {
    await start({ crds: false });
    const { said, ended } = status();
    expect(await ended).toBe(1);
    expect(said).toEqual({
      stdout: '',
      stderr: 'dustpan: the kind GCPolicy is not installed in the cluster: is dustpan?\n',
    });
  });
});

describe('--watch', () => {
  const documents = (text: string): number => text.split('"kind": "Status"').length - 1;

  test('shows each change once, and ends well on Ctrl-C', async () => {
    await start();
    policyWith(12);
    const { child, said, ended } = status('--watch', '-o', 'json');
    await until('the first', () => documents(said.stdout) === 1);
    policyWith(13);
    await until('a change', () => said.stdout.includes('"podsDue": 13'));
    report('node-a', 2);
    await until('a new report', () => said.stdout.includes('"name": "node-a"'));
    expect(documents(said.stdout)).toBe(3);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(said.stderr).toBe('');
  });

  test('a read that fails is reported, and the next one shows the change', async () => {
    await start();
    policyWith(12);
    const { said } = status('-w', '-o', 'json');
    await until('the first', () => documents(said.stdout) === 1);
    api.faults.next(({ path }) => path.endsWith('gcpolicies'), { kind: 'status', status: 403 });
    policyWith(14);
    await until('the change came', () => said.stdout.includes('"podsDue": 14'));
    expect(said.stderr).toMatch(/^dustpan: warning: the values may be old: [^\n]+\n$/);
  });

  test('elsewhere than on a terminal a table is written again only when something changed', async () => {
    await start();
    policyWith(12);
    const { said } = status('--watch');
    await until('the first', () => said.stdout.includes('pods: 12 due'));
    policyWith(13);
    await until('a change', () => said.stdout.includes('pods: 13 due'));
    expect(said.stdout).not.toContain('\u001b');
    expect(said.stdout.split('1 policy').length - 1).toBe(2);
  });
});
