import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { nodeName, nodesPolicy } from '../../agent/environment.ts';
import { startKubeletSandbox, type KubeletSandbox } from '../../../sandbox/kubelet/server.ts';
import { dustpan, planned } from '../plan/fixture.ts';
import { withoutDisk, SnapshotFixture } from './fixture.ts';

let fixture: SnapshotFixture;

beforeEach(async () => {
  fixture = new SnapshotFixture();
  await fixture.startApi();
});
afterEach(async () => {
  await fixture.stop();
});

describe('on a node', () => {
  const app = 'registry.example.com/app:v1';
  const model = 'registry.example.com/model:v1';
  const infra = 'registry.example.com/infra:v1';
  const emptyUid = '9f1d7a52-1c0e-4a70-8f4e-0d2f4c1b7a11';
  let kubelet: KubeletSandbox;
  /** The requests to the runtime that change something. */
  let changes: () => readonly string[];
  const onNode = (): string[] => [
    `--kubelet-endpoint=${kubelet.endpoint}`,
    '--kubelet-insecure-tls',
    `--node-name=${nodeName}`,
    `--cri-socket=${fixture.path('cri.sock')}`,
    `--state-dir=${fixture.path('state')}`,
    `--pod-logs-dir=${fixture.path('pods')}`,
    `--container-logs-dir=${fixture.path('containers')}`,
  ];
  const snapshotOptions = (): string[] => [...onNode(), `--kubelet-root-dir=${fixture.path('kubelet')}`];

  beforeEach(async () => {
    const cri = await fixture.startCri({ sandboxImage: infra });
    const { runtime } = cri;
    changes = () => cri.changes;
    const digestOf = (name: string): string => `registry.example.com/${name}@sha256:${name.padEnd(64, '0')}`;
    runtime.addImage({ tags: [infra], digests: [digestOf('infra')] });
    kubelet = await startKubeletSandbox({ nodeName, token: fixture.api.token });
    runtime.addImage({ tags: ['registry.example.com/unused:v1'], digests: [digestOf('unused')] });
    const pinned = { tags: ['registry.example.com/pinned:v1'], digests: [digestOf('pinned')], pinned: true };
    runtime.addImage(pinned);
    const { sandbox } = runtime.runPod({
      name: 'web',
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
    // A running pod that the API server does not know: only the runtime knows its mounted image.
    runtime.addImage({ tags: [model] });
    runtime.runPod({
      name: 'stray',
      containers: [{ name: 'main', image: app, mountedImages: [model] }],
    });
    mkdirSync(join(fixture.path('pods'), `default_empty_${emptyUid}`));
    symlinkSync(
      join(fixture.path('pods'), 'default_lost_1', 'main', '0.log'),
      join(fixture.path('containers'), 'lost_default_main-0123456789.log'),
    );
    fixture.apiPod('web', { uid: sandbox.uid, image: app, phase: 'Running' });
    const ids = runtime.images.all.map(({ id }) => id);
    const seen = { firstDetected: '2026-01-01T00:00:00.000Z', lastUsed: null };
    const images = Object.fromEntries(ids.map((id) => [id, seen]));
    const state = JSON.stringify({ version: 1, images, removed: [] });
    writeFileSync(join(fixture.path('state'), 'state.json'), state);
    const imageGC = { highThresholdPercent: 2, lowThresholdPercent: 1, maximumAge: '1h' };
    const localStorageEviction = { defaultLimits: { pod: '1Mi' } };
    fixture.api.store.apply(
      nodesPolicy('Enforce', { imageGC, containerGC: { logs: {} }, localStorageEviction }),
    );
    fixture.api.store.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
    kubelet.pods = [{ uid: sandbox.uid, name: 'web', containers: [{ name: 'main', layer: 2e6, logs: 1e6 }] }];
    for (const name of [nodeName, 'node-2'])
      fixture.api.store.apply({
        apiVersion: 'gc.dustpan.dev/v1alpha1',
        kind: 'NodeGCReport',
        metadata: { name },
        status: { reportTime: '2026-01-15T12:00:00Z', images: { removable: { count: 4, bytes: 5000 } } },
      });
  });

  afterEach(() => kubelet.stop());

  const at = ['--now=2031-01-15T12:00:00Z', '--kept'];
  /** The advice on how to list the objects of other nodes differs on purpose. */
  async function planOfSnapshot(...args: readonly string[]) {
    const plan = withoutDisk(await planned([`--snapshot=${fixture.directory}`, ...at, ...args]));
    return { ...plan, notes: plan.notes.map((note) => note.replace(/ To list the objects of .*/, '')) };
  }

  /** With the paths of logs replaced by the default ones. */
  async function planOfNode(...args: readonly string[]): Promise<unknown> {
    const plan = await planned([`--kubeconfig=${fixture.api.kubeconfigFile}`, ...onNode(), ...at, ...args]);
    const usual = JSON.stringify(withoutDisk(plan))
      .replaceAll(fixture.path('pods'), '/var/log/pods')
      .replaceAll(fixture.path('containers'), '/var/log/containers');
    return JSON.parse(usual);
  }

  test('its objects alone are one JSON object on standard output, the same as in the files', async () => {
    await fixture.snapshot(...snapshotOptions());
    const kubeconfig = `--kubeconfig=${fixture.api.kubeconfigFile}`;
    const flags = ['-', '--only-node', kubeconfig, ...snapshotOptions()];
    const { code, stdout, stderr } = await dustpan(['snapshot', ...flags]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const written = JSON.parse(stdout) as Record<string, unknown>;
    const files = readdirSync(join(fixture.directory, 'nodes', nodeName));
    const names = files.map((file) => file.replace('.json', ''));
    expect(Object.keys(written).sort()).toEqual(names);
    // The usage of disks and the times of their measurements change.
    for (const name of names.filter((one) => !['imagefs', 'stats'].includes(one)))
      expect({ [name]: written[name] }).toEqual({
        [name]: fixture.json(join('nodes', nodeName, `${name}.json`)),
      });
  });

  test.each([
    ['governed', () => undefined, ['Image Age', 'Image Pinned', 'Image InUse', 'Pod ephemeralpodfs.limit']],
    [
      'not governed',
      () => fixture.api.store.delete('GCPolicy', 'default'),
      ['Image NoPolicy', 'Container NoPolicy', 'LogDirectory NoPolicy'],
    ],
  ])('the plan of the snapshot equals the plan of the node, %s', async (_, change, reasons) => {
    change();
    await fixture.snapshot(...snapshotOptions());
    for (const args of [[], ['--assume-quarantine-elapsed']])
      expect(await planOfSnapshot(...args)).toEqual(await planOfNode(...args));
    const { decisions } = await planOfSnapshot();
    expect(decisions.map(({ reason, object }) => `${object.kind} ${reason}`)).toEqual(
      expect.arrayContaining(reasons),
    );
    expect(changes().filter((name) => /^(Remove|Stop)/.test(name))).toEqual([]);
  });

  test('the plan has the objects of each file of the snapshot', async () => {
    await fixture.snapshot(...snapshotOptions());
    const plan = await planOfSnapshot('--assume-quarantine-elapsed');
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
  });

  test('distinguishes logs that could not be listed from logs that do not exist', async () => {
    rmSync(fixture.path('pods'), { recursive: true });
    const { stderr } = await fixture.snapshot(...snapshotOptions());
    expect(stderr).toContain('not all logs could be listed; logs.json is left out');
    expect(await planOfSnapshot()).toEqual(await planOfNode());
    const links = (await planOfSnapshot()).decisions.filter(({ object }) => object.kind === 'LogLink');
    expect(links.length).toBeGreaterThan(1);
    expect(new Set(links.map(({ reason }) => reason))).toEqual(new Set(['InUse']));
  });

  test.each([
    ['no runtime', ['--cri-socket=/nowhere/cri.sock'], 1, /^dustpan: .*\/nowhere\/cri\.sock.*\n$/],
    [
      'an unknown node name',
      ['--node-name=node-7'],
      2,
      /^dustpan: --node-name: there is no node node-7 in the cluster\n$/,
    ],
  ])('%s: one line, and nothing is written', async (_, args, code, line) => {
    const ran = await fixture.snapshot(...snapshotOptions(), ...args);
    expect(ran).toMatchObject({ code, stdout: '' });
    expect(ran.stderr).toMatch(line);
    expect(readdirSync(fixture.root).filter((name) => name.startsWith('snapshot'))).toEqual([]);
  });

  const ofAnotherType = (): void => {
    const status = { nodeInfo: { containerRuntimeVersion: 'cri-o://1.34.0' } };
    fixture.api.store.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName }, status });
  };
  const withoutItsPods = (): void =>
    fixture.apiPod('web', { uid: 'uid-elsewhere', image: app, phase: 'Running' });

  test.each([
    ['snapshot', ofAnotherType, () => ['snapshot', fixture.directory, ...snapshotOptions()]],
    ['plan', ofAnotherType, () => ['plan', ...onNode()]],
    ['why', withoutItsPods, () => ['why', 'image', 'registry.example.com/unused:v1', ...onNode()]],
  ])('%s reads no runtime that is not the kubelet’s: one line', async (_, change, words) => {
    change();
    const ran = await dustpan([...words(), `--kubeconfig=${fixture.api.kubeconfigFile}`]);
    expect(ran).toMatchObject({ code: 1, stdout: '' });
    expect(ran.stderr).toMatch(/^dustpan: [^\n]+ is not the kubelet's: [^\n]+; --cri-socket [^\n]+\n$/);
    expect(readdirSync(fixture.root).filter((name) => name.startsWith('snapshot'))).toEqual([]);
  });

  test('without the API server, the objects of the node alone are read, with a warning for each list', async () => {
    const flags = ['--server=https://127.0.0.1:1', `--kubeconfig=${fixture.api.kubeconfigFile}`];
    const ran = await dustpan(['snapshot', '-', '--only-node', ...flags, ...snapshotOptions()]);
    expect(ran.code).toBe(0);
    expect(Object.keys(JSON.parse(ran.stdout) as object)).toContain('images');
    for (const list of ['nodes', 'pods'])
      expect(ran.stderr).toContain(
        `dustpan: warning: node ${nodeName}: whether its container runtime is the kubelet's is not known: listing ${list}: `,
      );
  });
});
