import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SandboxUser } from '../sandbox/users.ts';
import { AgentBed, nodeName, nodesPolicy } from './agent.bed.ts';
import { build, type Built } from './built.ts';
import { planned } from './plan.bed.ts';

let built: Built;
let bed: AgentBed;
let directory: string;

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

beforeAll(() => {
  built = build();
}, 60_000);
afterAll(() => {
  built.remove();
});
beforeEach(async () => {
  bed = new AgentBed(built);
  directory = bed.path('snapshot');
  await bed.startApi({ users: [halfBlind, podBlind] });
});
afterEach(async () => {
  await bed.stop();
});

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function snapshot(...args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const argv = [built.main, 'snapshot', directory, `--kubeconfig=${bed.api.kubeconfigFile}`, ...args];
    const child = execFile(
      process.execPath,
      argv,
      { env: { PATH: process.env['PATH'] }, cwd: bed.root },
      (_err, stdout, stderr) => {
        resolve({ code: child.exitCode ?? -1, stdout, stderr });
      },
    );
  });
}

const read = (file: string): unknown => JSON.parse(readFileSync(join(directory, file), 'utf8'));
const clusterFiles = ['jobs', 'namespaces', 'nodegcreports', 'nodes', 'pods', 'policies', 'replicasets'];
const files = (names: readonly string[]): string[] => names.map((name) => `${name}.json`);
const secret = 'hunter2';

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
    const { code, stdout, stderr } = await snapshot();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toBe(
      `Snapshot in ${directory}: 1100 pods, 1 nodes, 4 namespaces, 0 jobs, 0 replicasets, 1 policies, 0 nodegcreports\n`,
    );
    expect(readdirSync(directory)).toEqual(files(clusterFiles));
    expect(read('jobs.json')).toEqual({
      apiVersion: 'v1',
      kind: 'List',
      metadata: { resourceVersion: '' },
      items: [],
    });
    for (const file of files(clusterFiles))
      expect(readFileSync(join(directory, file), 'utf8')).not.toContain(secret);
    const at = ['--now=2031-01-15T12:00:00Z', '--kept'];
    const offline = await planned([`--snapshot=${directory}`, ...at]);
    const live = await planned([`--kubeconfig=${bed.api.kubeconfigFile}`, ...at]);
    expect(offline.decisions).toEqual(live.decisions);
    expect(offline.summary).toEqual(live.summary);
    expect(offline.decisions.filter(({ verdict }) => verdict === 'Delete')).toHaveLength(500);
  });

  test('what may not be listed is left out, with the verb and the resource', async () => {
    finishedPods(2);
    const { code, stderr } = await snapshot(`--kubeconfig=${bed.api.kubeconfigOf('half-blind')}`);
    expect(code).toBe(0);
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringMatching(
        /^dustpan: warning: cannot list jobs\.batch: .*cannot list resource "jobs" in API group "batch".*; jobs\.json is left out$/,
      ),
      expect.stringMatching(
        /^dustpan: warning: cannot list gcpolicies\.gc\.dustpan\.dev: .*; policies\.json is left out$/,
      ),
    ]);
    expect(readdirSync(directory)).toEqual(
      files(['namespaces', 'nodegcreports', 'nodes', 'pods', 'replicasets']),
    );
  });

  test('without pods it fails, and keeps what it has', async () => {
    const { code, stderr } = await snapshot(`--kubeconfig=${bed.api.kubeconfigOf('pod-blind')}`);
    expect(code).toBe(1);
    expect(stderr).toContain('cannot list pods: ');
    expect(readdirSync(directory)).toEqual(['nodes.json']);
  });

  test('a list that breaks half-way leaves nothing', async () => {
    finishedPods(600);
    bed.api.faults.next(({ path }) => path.endsWith('/nodes'), {
      kind: 'status',
      status: 400,
      message: 'no such luck',
    });
    const { code, stdout, stderr } = await snapshot();
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^dustpan: listing nodes: .*no such luck\n$/);
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
    expect(await snapshot()).toMatchObject({ code: 0, stderr: '' });
    expect(read('pods.json')).toHaveProperty('items.length', 1100);
  });

  test('what is there is replaced only on demand, and only when it is a snapshot', async () => {
    expect(await snapshot()).toMatchObject({ code: 0 });
    const refused = await snapshot();
    expect(refused).toEqual({
      code: 2,
      stdout: '',
      stderr: `dustpan: snapshot: ${directory} is not empty; --force replaces a snapshot that is there\n`,
    });
    expect(await snapshot('--force')).toMatchObject({ code: 0 });
    writeFileSync(join(directory, 'thesis.doc'), '');
    expect(await snapshot('--force')).toMatchObject({ code: 2 });
    expect(readdirSync(directory)).toContain('thesis.doc');
  });
});

describe('on a node', () => {
  const app = 'registry.example.com/app:v1';
  const onNode = (): string[] => [
    `--node-name=${nodeName}`,
    `--cri-socket=${bed.path('cri.sock')}`,
    `--state-dir=${bed.path('state')}`,
    `--pod-logs-dir=${bed.path('pods')}`,
    `--container-logs-dir=${bed.path('containers')}`,
  ];
  const snapshotOptions = (): string[] => [...onNode(), `--kubelet-root-dir=${bed.path('kubelet')}`];

  beforeEach(async () => {
    const { runtime } = await bed.startCri();
    runtime.addImage({ tags: ['registry.example.com/unused:v1'] });
    runtime.addImage({ tags: ['registry.example.com/pinned:v1'], pinned: true });
    const { sandbox } = runtime.runPod({
      name: 'web',
      annotations: { 'example.com/token': secret },
      containers: [
        { name: 'main', image: app, state: 'Exited', attempt: 0, log: 'first' },
        { name: 'main', image: app, state: 'Exited', attempt: 1, log: 'second' },
        { name: 'main', image: app, attempt: 2, log: 'third' },
      ],
    });
    const gone = runtime.runPod({
      name: 'gone',
      containers: [{ name: 'old', image: app, state: 'Exited', log: 'bye' }],
    });
    gone.sandbox.ready = false;
    bed.apiPod('web', { uid: sandbox.uid, image: app, phase: 'Running' });
    const ids = runtime.images.all.map(({ id }) => id);
    const seen = { firstDetected: '2026-01-01T00:00:00.000Z', lastUsed: null };
    const images = Object.fromEntries(ids.map((id) => [id, seen]));
    writeFileSync(join(bed.path('state'), 'state.json'), JSON.stringify({ version: 1, images, removed: [] }));
    const imageGC = { highThresholdPercent: 2, lowThresholdPercent: 1, maximumAge: '1h' };
    bed.api.store.apply(nodesPolicy('Enforce', { imageGC, containerGC: { logs: {} } }));
  });

  test('its inside is there too, and a plan of it is that of the node', async () => {
    const { code, stderr } = await snapshot(...snapshotOptions());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const inside = files(['containers', 'imagefs', 'images', 'logs', 'sandboxes', 'state', 'stats']);
    expect(readdirSync(join(directory, 'nodes', nodeName))).toEqual(inside);
    for (const file of inside)
      expect(readFileSync(join(directory, 'nodes', nodeName, file), 'utf8')).not.toContain(secret);
    const at = ['--now=2031-01-15T12:00:00Z', '--kept', '--assume-quarantine-elapsed'];
    const offline = await planned([`--snapshot=${directory}`, ...at]);
    const live = await planned([`--kubeconfig=${bed.api.kubeconfigFile}`, ...onNode(), ...at]);
    expect(offline.decisions).toEqual(live.decisions);
    const verdicts = new Set(offline.decisions.map(({ reason, object }) => `${object.kind} ${reason}`));
    expect([...verdicts]).toEqual(
      expect.arrayContaining([
        'Image Age',
        'Image Pinned',
        'Image InUse',
        'Container PodGone',
        'Container DeadContainer',
        'Sandbox Sandbox',
        'LogDirectory OrphanedLogs',
      ]),
    );
  });

  test.each([
    {
      name: 'no runtime',
      args: ['--cri-socket=/nowhere/cri.sock'],
      code: 1,
      line: /^dustpan: .*\/nowhere\/cri\.sock.*\n$/,
    },
    {
      name: 'a name that the cluster does not know',
      args: ['--node-name=node-7'],
      code: 2,
      line: /^dustpan: snapshot: --node-name: there is no node node-7 in the cluster\n$/,
    },
    {
      name: 'no name',
      args: ['--node-name='],
      code: 2,
      line: /^dustpan: snapshot: --cri-socket needs --node-name, or NODE_NAME\n$/,
    },
  ])('$name: one line, and nothing is written', async ({ args, code, line }) => {
    const ran = await snapshot(...snapshotOptions(), ...args);
    expect(ran).toMatchObject({ code, stdout: '' });
    expect(ran.stderr).toMatch(line);
    expect(readdirSync(bed.root).filter((name) => name.startsWith('snapshot'))).toEqual([]);
  });

  test('what cannot be used of it is left out, the rest is there', async () => {
    writeFileSync(join(bed.path('state'), 'state.json'), '{');
    const { code, stderr } = await snapshot(...snapshotOptions());
    expect(code).toBe(0);
    expect(stderr).toContain("the agent's state file is not a JSON object; state.json is left out\n");
    expect(readdirSync(join(directory, 'nodes', nodeName))).not.toContain('state.json');
  });
});

test('bad usage is told before anything is asked', async () => {
  mkdirSync(directory);
  writeFileSync(join(directory, 'mine'), '');
  expect(await snapshot()).toMatchObject({ code: 2 });
  expect(await snapshot('more')).toMatchObject({
    code: 2,
    stderr: 'dustpan: snapshot: unexpected argument "more"\n',
  });
  expect(bed.api.requests).toEqual([]);
});
