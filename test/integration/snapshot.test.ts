import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { SandboxUser } from '../sandbox/users.ts';
import { nodeName, nodesPolicy } from './agent.bed.ts';
import { builtForFile, until } from './built.ts';
import { planned } from './plan.bed.ts';
import { files, secret, SnapshotBed } from './snapshot.bed.ts';

const built = builtForFile();
let bed: SnapshotBed;

/** May do all but list Jobs and policies. */
const halfBlind: SandboxUser = {
  ...{ name: 'half-blind', token: 'half-blind' },
  allow: ({ resource }) => !['jobs', 'gcpolicies'].includes(resource),
};
/** May list nodes alone. */
const podBlind: SandboxUser = {
  ...{ name: 'pod-blind', token: 'pod-blind' },
  allow: ({ resource }) => resource === 'nodes',
};

beforeEach(async () => {
  bed = new SnapshotBed(built);
  await bed.startApi({ users: [halfBlind, podBlind] });
});
afterEach(async () => {
  await bed.stop();
});

const clusterFiles = ['jobs', 'namespaces', 'nodegcreports', 'nodes', 'pods', 'policies', 'replicasets'];

function finishedPods(count: number): void {
  for (let i = 0; i < count; i += 1)
    bed.api.store.apply({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: `p${i}`,
        namespace: 'default',
        annotations: { 'kubectl.kubernetes.io/last-applied-configuration': secret },
      },
      spec: {
        nodeName,
        containers: [{ name: 'c', image: 'i', env: [{ name: 'A', value: secret }], args: [secret] }],
      },
      status: { phase: 'Succeeded' },
    });
}

const podsPolicy = {
  ...nodesPolicy('DryRun', {}),
  spec: { mode: 'DryRun', pods: { terminated: { threshold: 600 }, orphaned: {} } },
};

describe('of a cluster', () => {
  test('all lists are there as kubectl would write them, without secrets, and a plan of them is that of the cluster', async () => {
    finishedPods(1100);
    bed.api.store.apply(podsPolicy);
    const { code, stdout, stderr } = await bed.snapshot();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(
      `Snapshot in ${bed.directory}: 1100 pods, 1 nodes, 4 namespaces, 0 jobs, 0 replicasets, 1 policies, 0 nodegcreports\n`,
    );
    expect(readdirSync(bed.directory)).toEqual(files(clusterFiles));
    expect(bed.json('jobs.json')).toEqual({
      apiVersion: 'v1',
      kind: 'List',
      metadata: { resourceVersion: '' },
      items: [],
    });
    for (const file of files(clusterFiles)) expect(bed.text(file)).not.toContain(secret);
    const at = ['--now=2031-01-15T12:00:00Z', '--kept'];
    const offline = await planned([`--snapshot=${bed.directory}`, ...at]);
    const live = await planned([`--kubeconfig=${bed.api.kubeconfigFile}`, ...at]);
    expect(offline.decisions).toEqual(live.decisions);
    expect(offline.totals).toEqual(live.totals);
    expect(offline.decisions.filter(({ verdict }) => verdict === 'Delete')).toHaveLength(500);
  });

  test('without our kinds a plan of it is that of the cluster, and says so', async () => {
    await bed.stop();
    bed = new SnapshotBed(built);
    await bed.startApi({ crds: false });
    finishedPods(2);
    const { code, stderr } = await bed.snapshot();
    expect({ code, lines: stderr.trim().split('\n') }).toEqual({
      code: 0,
      lines: [
        'dustpan: warning: the cluster does not have gcpolicies.gc.dustpan.dev: policies.json is empty',
        'dustpan: warning: the cluster does not have nodegcreports.gc.dustpan.dev: nodegcreports.json is empty',
      ],
    });
    const at = ['--now=2031-01-15T12:00:00Z', '--kept'];
    const offline = await planned([`--snapshot=${bed.directory}`, ...at]);
    expect(offline).toEqual(await planned([`--kubeconfig=${bed.api.kubeconfigFile}`, ...at]));
    expect(offline.notes).toContain('The kind GCPolicy is not installed in the cluster.');
  });

  test('what may not be listed is left out, with the verb and the resource', async () => {
    finishedPods(2);
    const { code, stderr } = await bed.snapshot(`--kubeconfig=${bed.api.kubeconfigOf('half-blind')}`);
    expect(code).toBe(0);
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringMatching(
        /^dustpan: warning: cannot list jobs\.batch: .*cannot list resource "jobs" in API group "batch".*; jobs\.json is left out$/,
      ),
      expect.stringMatching(
        /^dustpan: warning: cannot list gcpolicies\.gc\.dustpan\.dev: .*; policies\.json is left out$/,
      ),
    ]);
    expect(readdirSync(bed.directory)).toEqual(
      files(['namespaces', 'nodegcreports', 'nodes', 'pods', 'replicasets']),
    );
  });

  test('without pods it fails, and keeps what it has', async () => {
    const { code, stderr } = await bed.snapshot(`--kubeconfig=${bed.api.kubeconfigOf('pod-blind')}`);
    expect(code).toBe(1);
    expect(stderr).toContain('cannot list pods: ');
    expect(readdirSync(bed.directory)).toEqual(['nodes.json']);
  });

  test('a list that breaks half-way leaves nothing', async () => {
    finishedPods(600);
    bed.api.faults.next(({ path }) => path.endsWith('/nodes'), {
      kind: 'status',
      status: 400,
      message: 'no such luck',
    });
    const { code, stdout, stderr } = await bed.snapshot();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^dustpan: listing nodes: .*no such luck\n$/);
    expect(readdirSync(bed.root).filter((name) => name.startsWith('snapshot'))).toEqual([]);
  });

  test('Ctrl-C leaves nothing', async () => {
    bed.api.faults.next(({ path }) => path.endsWith('/jobs'), { kind: 'hang' });
    const child = spawn(process.execPath, bed.argv(), { stdio: ['ignore', 'ignore', 'pipe'], env: {} });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
    await until('it waits for jobs', () => bed.api.requests.some(({ path }) => path.endsWith('/jobs')));
    child.kill('SIGINT');
    await once(child, 'close');
    expect([child.exitCode, stderr]).toEqual([1, 'dustpan: snapshot: interrupted, nothing was written\n']);
    expect(readdirSync(bed.root).filter((name) => name.startsWith('snapshot'))).toEqual([]);
  });

  test('a busy server is asked again, a forgotten page listed anew', async () => {
    finishedPods(1100);
    bed.api.faults.next(({ path }) => path.endsWith('/pods'), {
      kind: 'status',
      status: 429,
      retryAfterSeconds: 0,
    });
    bed.api.faults.next(({ query }) => query.has('continue'), {
      kind: 'status',
      status: 410,
      reason: 'Expired',
    });
    expect(await bed.snapshot()).toMatchObject({ code: 0, stderr: '' });
    expect(bed.json('pods.json')).toHaveProperty('items.length', 1100);
  });

  test('what is there is replaced only on demand, and only when it is a snapshot', async () => {
    expect(await bed.snapshot()).toMatchObject({ code: 0 });
    const refused = await bed.snapshot();
    expect(refused).toEqual({
      code: 2,
      stdout: '',
      stderr: `dustpan: snapshot: ${bed.directory} is not empty; --force replaces a snapshot that is there\n`,
    });
    expect(await bed.snapshot('--force')).toMatchObject({ code: 0 });
    writeFileSync(join(bed.directory, 'thesis.doc'), '');
    expect(await bed.snapshot('--force')).toMatchObject({ code: 2 });
    expect(readdirSync(bed.directory)).toContain('thesis.doc');
  });
});

test('bad usage is told before anything is asked', async () => {
  mkdirSync(bed.directory);
  writeFileSync(join(bed.directory, 'mine'), '');
  expect(await bed.snapshot()).toMatchObject({ code: 2 });
  expect(await bed.snapshot('more')).toMatchObject({
    code: 2,
    stderr: "dustpan: snapshot: too many arguments for 'snapshot'. Expected 1 argument but got 2.\n",
  });
  expect(bed.api.requests).toEqual([]);
});
