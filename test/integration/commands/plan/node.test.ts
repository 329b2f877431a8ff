import { afterEach, beforeEach, expect, test } from 'vitest';
import type { CriSandbox } from '../../../sandbox/cri/server.ts';
import { startSandbox, type Sandbox } from '../../../sandbox/server.ts';
import { dustpan, planned, policy, inputOfEachTest } from './fixture.ts';

const input = inputOfEachTest();
let api: Sandbox;
let cri: CriSandbox;

beforeEach(async () => {
  api = await startSandbox();
  api.store.apply({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } });
  cri = await input.startCri();
});
afterEach(async () => {
  cri.stop();
  await api.stop();
});

const args = (): string[] => [`--kubeconfig=${api.kubeconfigFile}`, ...input.nodeFlags];

test('plans the images and containers of a node, and removes nothing', async () => {
  const nodes = { imageGC: {}, containerGC: { maxPerPodContainer: 0 } };
  input.write('policy.json', policy('mine', { nodes }));
  cri.runtime.addImage({ tags: ['registry.example.com/unused:v1'] });
  const ran = cri.runtime.runPod({
    name: 'web',
    containers: [{ name: 'main', image: 'registry.example.com/app:v1' }],
  });
  const [main] = ran.containers;
  if (main === undefined) throw new Error('no container');
  cri.runtime.exit(main.id);
  cri.runtime.addContainer(ran.sandbox.id, { name: 'main', image: 'registry.example.com/app:v1' });
  const plan = await planned([...args(), `--policy=${input.path('policy.json')}`, '--kept']);
  expect(plan.decisions).toContainEqual(
    expect.objectContaining({
      unit: 'containergc',
      verdict: 'Remove',
      reason: 'DeadContainer',
      policy: 'mine',
      mode: 'DryRun',
      object: expect.objectContaining({ kind: 'Container', id: main.id, node: 'node-1' }) as unknown,
    }),
  );
  const images = plan.decisions.filter(({ unit }) => unit === 'imagegc');
  expect(new Set(images.map(({ reason }) => reason))).toEqual(new Set(['InUse', 'TooYoung']));
  expect(plan.totals.map(({ unit, node }) => `${unit} ${node ?? '-'}`)).toEqual([
    'imagegc node-1',
    'containergc node-1',
  ]);
  expect(cri.changes.filter((name) => /^(Remove|Stop)/.test(name))).toEqual([]);
});

test('a runtime that does not answer is one line and exit code 1', async () => {
  cri.down();
  const { code, stdout, stderr } = await dustpan(['plan', ...args()]);
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^dustpan: [^\n]*cri\.sock[^\n]*\n$/);
});
