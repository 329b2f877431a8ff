import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nodeName, nodesPolicy } from './agent.bed.ts';
import { startKubeletSandbox, type KubeletSandbox } from '../sandbox/kubelet/server.ts';
import { builtForFile } from './built.ts';
import { planned } from './plan.bed.ts';
import { diskAside, files, secret, SnapshotBed } from './snapshot.bed.ts';

const built = builtForFile();
let bed: SnapshotBed;

beforeEach(async () => {
  bed = new SnapshotBed(built);
  await bed.startApi();
});
afterEach(async () => {
  await bed.stop();
});

describe('on a node', () => {
  const app = 'registry.example.com/app:v1';
  const model = 'registry.example.com/model:v1';
  const infra = 'registry.example.com/infra:v1';
  const emptyUid = '9f1d7a52-1c0e-4a70-8f4e-0d2f4c1b7a11';
  let kubelet: KubeletSandbox;
  const onNode = (): string[] => [
    `--kubelet-endpoint=${kubelet.endpoint}`,
    '--kubelet-insecure-tls',
    `--node-name=${nodeName}`,
    `--cri-socket=${bed.path('cri.sock')}`,
    `--state-dir=${bed.path('state')}`,
    `--pod-logs-dir=${bed.path('pods')}`,
    `--container-logs-dir=${bed.path('containers')}`,
  ];
  const snapshotOptions = (): string[] => [...onNode(), `--kubelet-root-dir=${bed.path('kubelet')}`];

  beforeEach(async () => {
    const { runtime } = await bed.startCri({ sandboxImage: infra });
    runtime.addImage({ tags: [infra] });
    kubelet = await startKubeletSandbox({ nodeName, token: bed.api.token });
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
    // Runs, and no API server knows it: only the runtime can tell of the image that it has mounted.
    runtime.addImage({ tags: [model] });
    runtime.runPod({
      name: 'stray',
      labels: { team: secret },
      containers: [{ name: 'main', image: app, mountedImages: [model] }],
    });
    mkdirSync(join(bed.path('pods'), `default_empty_${emptyUid}`));
    symlinkSync(
      join(bed.path('pods'), 'default_lost_1', 'main', '0.log'),
      join(bed.path('containers'), 'lost_default_main-0123456789.log'),
    );
    bed.apiPod('web', { uid: sandbox.uid, image: app, phase: 'Running' });
    const ids = runtime.images.all.map(({ id }) => id);
    const seen = { firstDetected: '2026-01-01T00:00:00.000Z', lastUsed: null };
    const images = Object.fromEntries(ids.map((id) => [id, seen]));
    writeFileSync(join(bed.path('state'), 'state.json'), JSON.stringify({ version: 1, images, removed: [] }));
    const imageGC = { highThresholdPercent: 2, lowThresholdPercent: 1, maximumAge: '1h' };
    const localStorageEviction = { defaultLimits: { pod: '1Mi' } };
    bed.api.store.apply(nodesPolicy('Enforce', { imageGC, containerGC: { logs: {} }, localStorageEviction }));
    bed.api.store.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
    kubelet.pods = [{ uid: sandbox.uid, name: 'web', containers: [{ name: 'main', layer: 2e6, logs: 1e6 }] }];
    for (const name of [nodeName, 'node-2'])
      bed.api.store.apply({
        apiVersion: 'gc.dustpan.dev/v1alpha1',
        kind: 'NodeGCReport',
        metadata: { name },
        status: { reportTime: '2026-01-15T12:00:00Z', images: { removable: { count: 4, bytes: 5000 } } },
      });
  });

  afterEach(() => kubelet.stop());

  const at = ['--now=2031-01-15T12:00:00Z', '--kept'];
  const offline = async (...args: readonly string[]) =>
    diskAside(await planned([`--snapshot=${bed.directory}`, ...at, ...args]));

  /** Here the logs are not where a node has them. */
  async function live(...args: readonly string[]): Promise<unknown> {
    const plan = await planned([`--kubeconfig=${bed.api.kubeconfigFile}`, ...onNode(), ...at, ...args]);
    const usual = JSON.stringify(diskAside(plan))
      .replaceAll(bed.path('pods'), '/var/log/pods')
      .replaceAll(bed.path('containers'), '/var/log/containers');
    return JSON.parse(usual);
  }

  test('its inside is there too, without secrets', async () => {
    const { code, stderr } = await bed.snapshot(...snapshotOptions());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const inside = [
      ...['containers', 'imagefs', 'images', 'info', 'loglisting', 'logs', 'sandboxes', 'state', 'stats'],
    ];
    expect(readdirSync(join(bed.directory, 'nodes', nodeName))).toEqual(files(inside));
    for (const file of files(inside)) expect(bed.text(join('nodes', nodeName, file))).not.toContain(secret);
    // A directory is no log.
    expect(bed.text(join('nodes', nodeName, 'logs.json'))).not.toContain(emptyUid);
  });

  test.each([
    {
      name: 'governed',
      change: () => undefined,
      reasons: ['Image Age', 'Image Pinned', 'Image InUse', 'Pod ephemeralpodfs.limit'],
    },
    {
      name: 'not governed',
      change: () => {
        bed.api.store.delete('GCPolicy', 'default');
      },
      reasons: ['Image NoPolicy', 'Container NoPolicy', 'LogDirectory NoPolicy'],
    },
  ])('a plan of it is that of the node, $name', async ({ change, reasons }) => {
    change();
    await bed.snapshot(...snapshotOptions());
    for (const args of [[], ['--assume-quarantine-elapsed']])
      expect(await offline(...args)).toEqual(await live(...args));
    const { decisions } = await offline();
    expect(decisions.map(({ reason, object }) => `${object.kind} ${reason}`)).toEqual(
      expect.arrayContaining(reasons),
    );
  });

  test('and it rests on each thing that the snapshot tells', async () => {
    await bed.snapshot(...snapshotOptions());
    const plan = await offline('--assume-quarantine-elapsed');
    expect(plan.decisions.map(({ reason, object }) => `${object.kind} ${reason}`)).toEqual(
      expect.arrayContaining([
        'Container PodGone',
        'Container DeadContainer',
        'Sandbox Sandbox',
        'LogDirectory OrphanedLogs',
        'LogLink BrokenLink',
      ]),
    );
    expect(plan.decisions).toContainEqual(
      expect.objectContaining({
        reason: 'OrphanedLogs',
        object: expect.objectContaining({ path: `/var/log/pods/default_empty_${emptyUid}` }) as unknown,
      }),
    );
    expect(plan.decisions).toContainEqual(
      expect.objectContaining({
        reason: 'InUse',
        object: expect.objectContaining({ name: model }) as unknown,
        detail: 'A container has mounted it.',
      }),
    );
    expect(plan.totals).toContainEqual(expect.objectContaining({ node: 'node-2', removable: 4 }));
    for (const file of ['loglisting', 'containers', 'sandboxes', 'images', 'info', 'logs', 'state', 'stats'])
      await without(join('nodes', nodeName, `${file}.json`), plan);
    for (const file of ['nodegcreports', 'policies', 'pods']) await without(`${file}.json`, plan);
  });

  /** The plan is another one when this file is not there. */
  async function without(file: string, plan: unknown): Promise<void> {
    const path = join(bed.directory, file);
    renameSync(path, `${bed.directory}.aside`);
    expect(await offline('--assume-quarantine-elapsed'), file).not.toEqual(plan);
    renameSync(`${bed.directory}.aside`, path);
  }

  test('logs that could not all be listed are told apart from those that do not exist', async () => {
    rmSync(bed.path('pods'), { recursive: true });
    const { stderr } = await bed.snapshot(...snapshotOptions());
    expect(stderr).toContain('not all logs could be listed; logs.json is left out');
    expect(await offline()).toEqual(await live());
    const links = (await offline()).decisions.filter(({ object }) => object.kind === 'LogLink');
    expect(links.length).toBeGreaterThan(1);
    expect(new Set(links.map(({ reason }) => reason))).toEqual(new Set(['InUse']));
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
    const ran = await bed.snapshot(...snapshotOptions(), ...args);
    expect(ran).toMatchObject({ code, stdout: '' });
    expect(ran.stderr).toMatch(line);
    expect(readdirSync(bed.root).filter((name) => name.startsWith('snapshot'))).toEqual([]);
  });

  test('a kubelet that is away: what pods use is not known, and the rest is as it was', async () => {
    kubelet.faults.push({ kind: 'status', status: 503 }, { kind: 'status', status: 503 });
    const { code, stderr } = await bed.snapshot(...snapshotOptions());
    expect({ code, lines: stderr.trim().split('\n') }).toEqual({
      code: 0,
      lines: [
        expect.stringMatching(/the kubelet answers .* 503; stats\.json says nothing of what pods use$/),
      ],
    });
    const there = await planned([`--kubeconfig=${bed.api.kubeconfigFile}`, ...onNode(), ...at]);
    for (const { notes } of [there, await offline()])
      expect(notes).toContain(
        `Node ${nodeName}: what its pods use is not known: none is evicted or warned about.`,
      );
    expect(there.notes.join()).toContain('503');
    const stays = (await offline()).decisions.filter(({ unit }) => unit === 'localstorage');
    expect(stays.map(({ verdict, reason }) => `${verdict} ${reason}`)).toEqual(['Keep UsageUnknown']);
  });

  test('nobody asks the kubelet for a plan when no policy speaks of local storage', async () => {
    bed.api.store.apply(nodesPolicy('Enforce', { imageGC: {} }));
    const plan = await planned([`--kubeconfig=${bed.api.kubeconfigFile}`, ...onNode(), ...at]);
    expect(kubelet.requests).toEqual([]);
    expect(plan.decisions.filter(({ unit }) => unit === 'localstorage')).toEqual([]);
  });

  test('what cannot be used of it is left out, the rest is there', async () => {
    writeFileSync(join(bed.path('state'), 'state.json'), '{');
    const { code, stderr } = await bed.snapshot(...snapshotOptions());
    expect(code).toBe(0);
    expect(stderr).toContain("the agent's state file is not a JSON object; state.json is left out\n");
    expect(readdirSync(join(bed.directory, 'nodes', nodeName))).not.toContain('state.json');
  });
});
