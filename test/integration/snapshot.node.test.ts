import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { nodeName, nodesPolicy } from './agent.bed.ts';
import { build, type Built } from './built.ts';
import { planned } from './plan.bed.ts';
import { files, secret, SnapshotBed } from './snapshot.bed.ts';

let built: Built;
let bed: SnapshotBed;

beforeAll(() => {
  built = build();
}, 60_000);
afterAll(() => {
  built.remove();
});
beforeEach(async () => {
  bed = new SnapshotBed(built);
  await bed.startApi();
});
afterEach(async () => {
  await bed.stop();
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
    const { code, stderr } = await bed.snapshot(...snapshotOptions());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const inside = files(['containers', 'imagefs', 'images', 'logs', 'sandboxes', 'state', 'stats']);
    expect(readdirSync(join(bed.directory, 'nodes', nodeName))).toEqual(inside);
    for (const file of inside) expect(bed.text(join('nodes', nodeName, file))).not.toContain(secret);
    const at = ['--now=2031-01-15T12:00:00Z', '--kept', '--assume-quarantine-elapsed'];
    const offline = await planned([`--snapshot=${bed.directory}`, ...at]);
    const live = await planned([`--kubeconfig=${bed.api.kubeconfigFile}`, ...onNode(), ...at]);
    // Here the logs are not where a node has them.
    const usual = JSON.stringify(live.decisions)
      .replaceAll(bed.path('pods'), '/var/log/pods')
      .replaceAll(bed.path('containers'), '/var/log/containers');
    expect(offline.decisions).toEqual(JSON.parse(usual));
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
    const ran = await bed.snapshot(...snapshotOptions(), ...args);
    expect(ran).toMatchObject({ code, stdout: '' });
    expect(ran.stderr).toMatch(line);
    expect(readdirSync(bed.root).filter((name) => name.startsWith('snapshot'))).toEqual([]);
  });

  test('what cannot be used of it is left out, the rest is there', async () => {
    writeFileSync(join(bed.path('state'), 'state.json'), '{');
    const { code, stderr } = await bed.snapshot(...snapshotOptions());
    expect(code).toBe(0);
    expect(stderr).toContain("the agent's state file is not a JSON object; state.json is left out\n");
    expect(readdirSync(join(bed.directory, 'nodes', nodeName))).not.toContain('state.json');
  });
});
