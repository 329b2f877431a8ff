import { expect, test } from 'vitest';
import { changeAt, container, sandbox } from '../../../fakes/runtime.ts';
import { apiPod, attempts, dead, down, link, log, logsRule } from './builders.ts';
import { governed, Node, nodePolicy, nodeWithPod } from './environment.ts';
import { fieldsOfLine } from '../../docs/pages.ts';

const goneLog = '/var/log/pods/default_gone_uid-gone/main/0.log';
const goneLink = 'gone_default_main-gone-0.log';

/** A node with container, sandbox, log and link of a gone pod, and beside it a pod that runs. */
function nodeWithGonePod(by = nodePolicy()): Node {
  const node = new Node(by);
  node.runtime.add(dead('gone-0', 60, { pod: 'gone' }), down('gone', 60), container('live'), sandbox('pod'));
  node.runtime.statuses.set('gone-0', { logPath: goneLog });
  node.logs.add(
    log('default_gone_uid-gone/main/0.log'),
    link(goneLink, goneLog),
    log('default_pod_uid-pod/main/0.log'),
  );
  node.pods = [apiPod('pod')];
  return node;
}

test('container, sandbox, log and link of a pod that is gone for two passes are removed, those of another pod are kept', async () => {
  const node = nodeWithGonePod();
  await node.pass();
  expect(node.runtime.changes).toEqual([]);
  await node.pass();
  expect(node.runtime.changes).toEqual([
    'removeContainer gone-0',
    'stopSandbox gone-sandbox',
    'removeSandbox gone-sandbox',
  ]);
  expect(node.logs.paths).toEqual(['/var/log/pods/default_pod_uid-pod/main/0.log']);
  expect(node.left).toEqual(['live', 'pod-sandbox']);
  expect(node.podRequests).toEqual(['default/gone uid-gone']);
  expect(node.reports.map(({ result, removed, freedBytes }) => [result, removed, freedBytes])).toEqual([
    ['Idle', 0, 0],
    ['Succeeded', 3, 100],
  ]);
});

test.each([
  { answer: 'exists', reason: 'InUse', warnings: [] },
  { answer: 'unknown', reason: 'PodsUnknown', warnings: [] },
  { answer: new Error('refused'), reason: 'PodsUnknown', warnings: ['reading pod failed'] },
] as const)(
  'everything of a pod is kept when the API server responds $answer',
  async ({ answer, reason, warnings }) => {
    const node = nodeWithGonePod();
    node.podResponses.set('uid-gone', answer);
    await node.passTwice();
    expect(node.changes).toEqual([]);
    expect(node.warnings.map(({ message }) => message)).toEqual(warnings);
    expect(await node.registry.metrics()).toMatch(
      new RegExp(`skipped_objects_total{unit="containergc",reason="${reason}"} [1-9]`),
    );
  },
);

test.each<readonly [string, (node: Node) => unknown]>([
  ['the pod is in the cache again', (node) => (node.pods = [apiPod('pod'), apiPod('gone')])],
  ['the pods become unknown', (node) => (node.pods = undefined)],
  ['a container of the pod starts', ({ runtime }) => runtime.add(container('gone-1', { pod: 'gone' }))],
])('nothing is removed when during a pass %s', async (_, change) => {
  const node = nodeWithGonePod();
  await node.pass();
  changeAt(node.runtime, 'listContainers', 2, () => change(node));
  await node.pass();
  expect(node.changes).toEqual([]);
});

test.each(['Running', 'Unknown'] as const)(
  'a container whose state is %s right before its removal is kept',
  async (state) => {
    const node = nodeWithGonePod();
    await node.pass();
    node.runtime.statuses.set('gone-0', { state, logPath: goneLog });
    await node.pass();
    expect(node.changes).toEqual([]);
  },
);

test('a log that cannot be removed keeps its container; the others are removed, and an Event reports the failure', async () => {
  const node = nodeWithPod(...attempts(4));
  node.runtime.statuses.set('c1', { logPath: '/var/log/pods/default_pod_uid-pod/main/1.log' });
  node.logs.failing.add('log /var/log/pods/default_pod_uid-pod/main/1.log');
  await expect(node.pass()).rejects.toThrow('removing containers, sandboxes and logs: 1 of 3 failed');
  expect(node.left).toEqual(['c1', 'c3', 'pod-sandbox']);
  expect(node.reports).toMatchObject([{ result: 'Failed', removed: 2, errors: 1 }]);
  expect(node.recorder.events).toMatchObject([
    {
      type: 'Warning',
      reason: 'ContainerGCFailed',
      regarding: { kind: 'Node', name: 'node-1' },
      note: expect.stringMatching(/EROFS; of 3 planned removals 2 were done and 1 failed$/) as string,
    },
  ]);
});

test('the links to the logs of a directory are removed with it', async () => {
  const node = new Node(nodePolicy({ logs: logsRule({ brokenLinks: false }) }));
  node.logs.add(log('default_gone_uid-gone/main/0.log'), link(goneLink, goneLog));
  await node.passTwice();
  expect(node.logs.paths).toEqual([]);
});

test('a runtime that is no longer ready in the middle of a pass ends the pass', async () => {
  const node = nodeWithPod(...attempts(40));
  node.runtime.before = (call, target) => {
    if (call === 'removeContainer' && target === 'c9') node.runtime.notReady = 'Restarting';
  };
  await expect(node.pass()).rejects.toThrow('checking before a removal');
  expect(node.runtime.changes).toHaveLength(16);
  expect(node.reports).toMatchObject([{ result: 'Failed', removed: 16 }]);
});

test('a pod that looked gone before a pass without a ready runtime must look gone in two passes again', async () => {
  const node = nodeWithGonePod();
  await node.pass();
  node.runtime.notReady = 'Starting: recovering';
  await expect(node.pass()).rejects.toThrow('listing containers and sandboxes');
  node.runtime.notReady = undefined;
  await node.pass();
  expect(node.runtime.changes).toEqual([]);
});

test('containers are removed when the logs cannot be listed, and the pass fails', async () => {
  const node = nodeWithPod(...attempts(2));
  node.logs.failing.add('list');
  await expect(node.pass()).rejects.toThrow('listing logs');
  expect(node.left).toEqual(['c1', 'pod-sandbox']);
});

test('a link whose log is back right before its removal is kept', async () => {
  const node = new Node(nodePolicy({ logs: logsRule() }));
  node.pods = [apiPod('pod')];
  node.logs.add(link('x_y_z-0123456789.log', 'default_pod_uid-pod/main/9.log'));
  node.logs.removeLink = () => Promise.resolve(false);
  await node.pass();
  const metrics = await node.registry.metrics();
  expect(metrics).toContain('dustpan_removed_objects_total{unit="containergc",reason="BrokenLink"} 0');
  expect(metrics).toContain('dustpan_skipped_objects_total{unit="containergc",reason="InUse"} 1');
});

test('each removal is logged, and shows that a long pass is not stuck', async () => {
  const node = nodeWithGonePod();
  await node.passTwice();
  const lines = node.log.lines.filter(({ level }) => level === 'info');
  expect(lines.map(({ message }) => message)).toEqual([
    'removed container',
    'removed sandbox',
    'removed log directory',
  ]);
  for (const { written, promised } of lines.map(fieldsOfLine)) expect(written).toEqual(promised);
  expect(node.progress).toBe(3);
});

test('logs of removed attempts with their rotations, rotated logs and links are removed and counted', async () => {
  const node = nodeWithPod(container('live', { attempt: 2 }), container('b'.repeat(64), { name: 'side' }));
  node.governance = governed(nodePolicy({ logs: logsRule({ maxRotatedPerContainer: 0 }) }));
  const kept = ['1.log', '2.log'].map((it) => log(`default_pod_uid-pod/main/${it}`));
  const removed = ['0.log', '0.log.20260101-000001', '2.log.20260101-000001'].map((it) =>
    log(`default_pod_uid-pod/main/${it}`),
  );
  const outside = (digit: string) => link(`x_y_z-${digit.repeat(64)}.log`, '/var/lib/docker/x.log');
  node.logs.add(...kept, ...removed, outside('a'), outside('b'));
  node.logs.add(link('x_y_z-0123456789.log', 'default_pod_uid-pod/main/9.log'));
  await node.pass();
  expect(node.logs.paths).toEqual([outside('b'), ...kept].map(({ path }) => path));
  const metrics = await node.registry.metrics();
  const counts = { ContainerGone: 1, RotatedLog: 1, BrokenLink: 2, PodGone: 0 };
  for (const [reason, count] of Object.entries(counts))
    expect(metrics).toContain(
      `dustpan_removed_objects_total{unit="containergc",reason="${reason}"} ${count}`,
    );
  expect(metrics).toContain('dustpan_freed_bytes_total{unit="containergc"} 300');
});

test('a clock that jumps ahead makes no container old, neither in that pass nor in the next', async () => {
  const node = new Node(nodePolicy({ minimumAgeMs: 30 * 60_000, maxPerPodContainer: undefined }));
  node.runtime.add(dead('young', 5, { pod: 'gone' }));
  await node.pass();
  node.clock.advance(60_000);
  node.clock.stepWall(3_600_000);
  await node.pass();
  expect(node.reports.at(-1)).toMatchObject({ result: 'Unknown', message: 'the clock has jumped' });
  expect(await node.registry.metrics()).toContain(
    'dustpan_kept_objects{unit="containergc",reason="ClockUnsure"} 1',
  );
  for (let minutes = 2; minutes <= 25; minutes += 1) {
    node.clock.advance(60_000);
    await node.pass();
    expect(node.left, `${minutes} minutes later`).toEqual(minutes < 25 ? ['young'] : []);
  }
});

test('the report names what was removed, newest first, with its pod, reason, policy, size and time', async () => {
  const node = new Node();
  const goneLog = '/var/log/pods/default_gone_uid-gone/main/0.log';
  node.runtime.add(dead('gone-0', 60, { pod: 'gone' }), down('gone', 60));
  node.runtime.statuses.set('gone-0', { logPath: goneLog });
  node.logs.add(
    log('default_gone_uid-gone/main/0.log'),
    log('default_gone_uid-gone/main/0.log.20260101-000001'),
    log('default_gone_uid-gone/side/0.log'),
    link('stray_default_main-0123456789.log', '/var/log/pods/default_x_uid-x/main/0.log'),
  );
  node.pods = [];
  await node.pass();
  expect(node.lastRemoved).toMatchObject([{ kind: 'LogLink' }]);
  node.clock.advance(60_000);
  await node.pass();
  const shown = node.lastRemoved.map(({ kind, name, pod, reason, bytes }) => [
    ...[kind, name, pod?.name, reason, bytes],
  ]);
  expect(shown).toEqual([
    ['LogDirectory', undefined, 'gone', 'OrphanedLogs', 100],
    ['Sandbox', undefined, 'gone', 'Sandbox', undefined],
    ['Container', 'main', 'gone', 'PodGone', 200],
    ['LogLink', undefined, undefined, 'BrokenLink', undefined],
  ]);
  const [directory, , container, stray] = node.lastRemoved;
  expect(directory).toMatchObject({
    ...{ id: '/var/log/pods/default_gone_uid-gone', policy: 'default', time: '2026-01-15T12:01:00Z' },
  });
  expect([container?.id, stray?.time]).toEqual(['gone-0', '2026-01-15T12:00:00Z']);
});
