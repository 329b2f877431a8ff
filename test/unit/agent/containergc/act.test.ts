import { expect, test } from 'vitest';
import { legacyLinkOf, stopSeconds } from '../../../../src/agent/containergc/act.ts';
import { RuntimeError } from '../../../../src/cri/runtime.ts';
import { changeAt, container } from '../../../fakes/runtime.ts';
import { apiPod, attempts, dead, down, log, logsRule } from './builders.ts';
import { governed, Node, nodePolicy, nodeWithPod } from './environment.ts';

test('a container in unknown state that cannot be stopped is kept', async () => {
  const node = new Node();
  node.runtime.add(dead('u', 60, { pod: 'gone', state: 'Unknown' }));
  node.runtime.fail('stopContainer');
  await node.pass();
  await expect(node.pass()).rejects.toThrow('1 of 1 failed');
  expect(node.left).toEqual(['u']);
});

const hung = new RuntimeError('DeadlineExceeded', 'deadline');

test('the pass ends after the first removal that fails because the runtime is unavailable', async () => {
  const node = nodeWithPod(...attempts(4));
  node.runtime.fail('removeContainer', { error: new RuntimeError('no', 'unavailable'), times: 9 });
  await expect(node.pass()).rejects.toThrow('1 of 1 failed');
  expect(node.runtime.changes).toEqual(['removeContainer c0']);
  expect(node.lastRemoved).toEqual([]);
});

test('a container that takes too long to be removed is tried after everything else, and after a pause', async () => {
  const node = nodeWithPod(...attempts(4));
  node.runtime.fail('removeContainer', { target: 'c0', error: hung, times: 2 });
  await expect(node.pass()).rejects.toThrow('1 of 1 failed');
  node.clock.advance(10_000);
  await expect(node.pass()).rejects.toThrow('1 removal failed before');
  expect(node.left).toEqual(['c0', 'c3', 'pod-sandbox']);
  expect(node.reports.at(-1)).toMatchObject({ result: 'Failed', removed: 2, errors: 1 });

  node.runtime.add(...attempts(3).slice(1));
  node.clock.advance(10_000);
  await expect(node.pass()).rejects.toThrow('1 of 3 failed');
  expect(node.runtime.changes.at(-1)).toBe('removeContainer c0');
  node.clock.advance(39_000);
  await expect(node.pass()).rejects.toThrow('1 removal failed before');
  node.clock.advance(1_000);
  await node.pass();
  expect(node.left).toEqual(['c3', 'pod-sandbox']);
});

test('a sandbox whose removal outlasts its deadline, and that is there for longer, was removed by somebody else', async () => {
  const node = new Node();
  node.runtime.add(down('gone', 60));
  await node.pass();
  node.clock.advance(60_000);
  node.runtime.fail('removeSandbox', { error: hung });
  await expect(node.pass()).rejects.toThrow('1 of 1 failed');
  node.governance = governed(nodePolicy({}, 'DryRun'));
  node.clock.advance(5 * 60_000);
  await node.pass();
  node.clock.advance(5 * 60_000);
  await node.pass();
  node.runtime.drop('gone-sandbox');
  await node.pass();
  expect(node.lastRemoved).toEqual([]);
});

test('containers are removed without their logs after the first removal of a log that hangs', async () => {
  const node = nodeWithPod(...attempts(4));
  node.governance = governed(nodePolicy({ logs: logsRule() }));
  const path = '/var/log/pods/default_pod_uid-pod/main/0.log';
  for (const id of ['c0', 'c1', 'c2']) node.runtime.statuses.set(id, { logPath: path });
  node.logs.hangs = true;
  // It ends later in the pass.
  changeAt(node.runtime, 'removeContainer', 2, () => (node.logs.isHanging = false));
  await expect(node.pass()).rejects.toThrow(`removing log ${path}`);
  expect(node.left).toEqual(['c3', 'pod-sandbox']);
  expect(node.logs.calls).toEqual([`log ${path}`]);
  expect(node.reports.at(-1)).toMatchObject({ result: 'Failed', removed: 3, errors: 1 });
});

test('no log is removed after the first removal of a log directory that hangs', async () => {
  const node = new Node(nodePolicy({ logs: logsRule() }));
  node.logs.add(log('default_a_uid-a/main/0.log'), log('default_b_uid-b/main/0.log'));
  await node.pass();
  node.clock.advance(60_000);
  node.logs.hangs = true;
  await expect(node.pass()).rejects.toThrow('1 of 1 failed');
  expect(node.logs.calls).toHaveLength(1);
});

/** A container in unknown state, and a sandbox, of a gone pod: both are stopped before their removal. */
const stopped = [
  ['container', 'stopContainer', 'stopContainer u'],
  ['sandbox', 'stopSandbox', 'stopSandbox gone-sandbox'],
] as const;

/** Changes that forbid the removal. */
const forbidding: readonly (readonly [string, (node: Node) => void])[] = [
  ['the policy became a dry run', (node) => (node.live = { governance: governed(nodePolicy({}, 'DryRun')) })],
  ['the pod was created again', (node) => node.podResponses.set('uid-gone', 'exists')],
  ['a container of the pod started', ({ runtime }) => runtime.add(container('back', { pod: 'gone' }))],
];

test.each(
  forbidding.flatMap(([why, change]) =>
    stopped.map(([kind, ...calls]) => [kind, why, change, calls] as const),
  ),
)('a %s is kept when %s while it was being stopped', async (kind, _, change, [stop, changed]) => {
  const node = new Node();
  if (kind === 'sandbox') node.runtime.add(down('gone', 60));
  else node.runtime.add(dead('u', 60, { pod: 'gone', state: 'Unknown' }));
  node.runtime.statuses.set('u', { logPath: '/var/log/pods/default_gone_uid-gone/main/0.log' });
  await node.pass();
  node.runtime.before = (call) => {
    if (call !== stop) return;
    node.clock.advance(5_000);
    change(node);
  };
  await node.pass();
  expect(node.runtime.changes).toEqual([changed]);
  expect(node.logs.calls).toEqual([]);
});

test('a container that the kubelet removes first is no failure, and does not count as removed', async () => {
  const node = nodeWithPod(...attempts(3));
  changeAt(node.runtime, 'removeContainer', 1, () => {
    node.runtime.containers = node.runtime.containers.filter(({ id }) => id !== 'c0');
  });
  await node.pass();
  expect(node.left).toEqual(['c2', 'pod-sandbox']);
  expect(node.warnings).toEqual([]);
  expect(node.reports).toMatchObject([{ result: 'Succeeded', removed: 1, errors: 0 }]);
  expect(await node.registry.metrics()).toContain(
    'dustpan_removed_objects_total{unit="containergc",reason="DeadContainer"} 1',
  );
});

test('a removal that fails during the shutdown is logged and counted', async () => {
  const node = nodeWithPod(...attempts(2));
  const abort = new AbortController();
  node.runtime.fail('removeContainer');
  changeAt(node.runtime, 'removeContainer', 1, () => abort.abort());
  await expect(node.pass(abort.signal)).rejects.toMatchObject({ name: 'AbortError' });
  expect(node.warnings).toHaveLength(1);
  expect(await node.registry.metrics()).toContain(
    'dustpan_failed_objects_total{unit="containergc",reason="DeadContainer"} 1',
  );
});

test('a sandbox that became ready right before its removal is kept', async () => {
  const node = new Node();
  node.pods = [apiPod('pod')];
  node.runtime.add(down('pod', 9), down('pod', 8, { id: 'newer' }));
  changeAt(node.runtime, 'sandboxStatus', 1, () => {
    node.runtime.sandboxes = node.runtime.sandboxes.map((one) => ({ ...one, state: 'Ready' }));
  });
  await node.pass();
  expect(node.runtime.changes).toEqual([]);
});

test.each([
  ['short', 'crash', 'crash_default_main-abc.log'],
  ['cut to 255 characters, as the kubelet cuts it', 'p'.repeat(253), `${'p'.repeat(251)}.log`],
  ['none for a container that the kubelet did not create', '', undefined],
  ['none for a label that is not a name', '../x', undefined],
])('legacy link: %s', (_, pod, expected) => {
  expect(legacyLinkOf(container('abc', { pod }))).toBe(expected);
});

const deletion = 'io.kubernetes.pod.deletionGracePeriod';
const termination = 'io.kubernetes.pod.terminationGracePeriod';

test.each([
  { annotations: {}, expected: 2 },
  { annotations: { [termination]: '10' }, expected: 10 },
  { annotations: { [termination]: '10', [deletion]: '5' }, expected: 5 },
  { annotations: { [deletion]: '0' }, expected: 2 },
  { annotations: { [deletion]: '86400' }, expected: 30 },
  { annotations: { [deletion]: 'x' }, expected: 2 },
])('seconds to stop: $annotations → $expected', ({ annotations, expected }) => {
  expect(stopSeconds(container('abc', { annotations }))).toBe(expected);
});
