import { expect, test } from 'vitest';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import { container } from '../../../fakes/runtime.ts';
import { nodePod } from '../imagegc/builders.ts';
import { attempts, dead, down, link, log, logsRule } from './builders.ts';
import { governed, keptBy, nodePolicy, nodeWithPod, type Node } from './environment.ts';

/** A node with a removal of every kind: dead attempts, a gone pod with container, sandbox and logs, a broken link, a rotated log. */
async function nodeWithRemovals(over: Parameters<typeof nodePolicy>[0] = {}): Promise<Node> {
  const node = nodeWithPod(...attempts(3), dead('gone-0', 60, { pod: 'gone' }), container('live'));
  node.governance = keptBy('NoPolicy');
  node.runtime.add(down('gone', 60));
  node.logs.add(
    log('default_gone_uid-gone/main/0.log'),
    log('default_pod_uid-pod/main/0.log'),
    log('default_pod_uid-pod/side/0.log.20260101-000001'),
    link('x_y_z-0123456789.log', 'default_pod_uid-pod/main/9.log'),
  );
  await node.pass();
  node.clock.advance(60_000);
  node.governance = governed(nodePolicy({ logs: logsRule({ maxRotatedPerContainer: 0 }), ...over }));
  return node;
}

/** A node with a container, a sandbox and a log directory of a gone pod to remove. */
async function nodeWithGonePod(): Promise<Node> {
  const node = await nodeWithRemovals({ maxPerPodContainer: undefined, logs: logsRule() });
  node.logs.entries.clear();
  node.logs.add(log('default_gone_uid-gone/main/0.log'));
  return node;
}

test.each<{ name: string; governance: NodeGovernance }>([
  { name: 'the policy is now a dry run', governance: governed(nodePolicy({}, 'DryRun')) },
  { name: 'the node has the keep label', governance: keptBy('KeepMarked') },
])('nothing is removed while the caches are stale when $name', async ({ governance }) => {
  const node = await nodeWithRemovals();
  node.live = { governance };
  await node.pass();
  expect(node.changes).toEqual([]);
  expect(node.reports.at(-1)).toMatchObject({
    result: 'Short',
    removed: 0,
    message: 'policies have changed',
  });
  expect(node.log.lines.filter(({ level }) => level === 'info')).toMatchObject([
    { message: 'pass ended early', fields: { why: 'policies have changed' } },
  ]);
});

test('nothing is removed when the API server does not respond, and the report has the error', async () => {
  const node = await nodeWithRemovals();
  node.live = new Error('reading pods', { cause: new Error('connect ECONNREFUSED') });
  await node.pass();
  expect(node.changes).toEqual([]);
  expect(node.reports.at(-1)).toMatchObject({
    result: 'Unknown',
    removed: 0,
    errors: 0,
    message: 'policies, node and pods cannot be confirmed live: reading pods: connect ECONNREFUSED',
  });
  expect(node.confirmations).toBe(1);
  expect(node.warnings).toHaveLength(1);
  expect(node.recorder.events).toEqual([]);
});

test('everything of a pod that only the API server has is kept', async () => {
  const node = await nodeWithGonePod();
  node.live = { pods: [nodePod('gone', [], { uid: 'uid-gone' })] };
  await node.pass();
  expect(node.changes).toEqual([]);
});

const rotatedLog = '/var/log/pods/default_pod_uid-pod/side/0.log.20260101-000001';
const optedOut = nodePod('pod', [], { uid: 'uid-pod', isOptedOut: true });

test.each<{ readonly name: string; readonly change: (node: Node) => void }>([
  { name: 'the cache is stale', change: (node) => (node.live = { pods: [optedOut] }) },
  {
    name: 'the cache is not synced',
    change: (node) => {
      node.pods = undefined;
      node.live = { pods: [optedOut] };
    },
  },
  {
    name: 'the cache gets the label during the pass',
    change: (node) => {
      node.runtime.before = (call) => {
        if (call === 'listContainers' && node.confirmations > 0) node.pods = [optedOut];
      };
    },
  },
])(
  'containers and rotated logs of a pod that just got the keep label are kept when $name',
  async ({ change }) => {
    const node = await nodeWithRemovals();
    change(node);
    await node.pass();
    const ids = node.runtime.containers.map(({ id }) => id);
    expect(ids).toEqual(expect.arrayContaining(['c0', 'c1', 'c2']));
    expect(node.logs.paths).toContain(rotatedLog);
  },
);

test('a clock that differs from the API server’s keeps objects under a minimum age only', async () => {
  const node = await nodeWithRemovals({ minimumAgeMs: 1_000 });
  node.live = { clockSkewMs: 3_600_000 };
  await node.pass();
  expect(node.runtime.changes).toEqual([]);
  expect(node.reports.at(-1)).toMatchObject({
    result: 'Unknown',
    message: "the clock of this node is 3600 s ahead of the API server's",
  });
  expect(node.logs.calls).toEqual(
    expect.arrayContaining([expect.stringMatching(/^link/), expect.stringMatching(/^rotated/)]),
  );
});

test.each([
  { clockSkewMs: 0, left: ['1.log'] },
  { clockSkewMs: 3_600_000, left: ['0.log', '1.log'] },
])(
  'logs of removed attempts are left with a difference of $clockSkewMs ms: $left',
  async ({ clockSkewMs, left }) => {
    const node = await nodeWithRemovals({ minimumAgeMs: 1_000 });
    const directory = 'default_pod_uid-pod/old';
    node.logs.add(log(`${directory}/0.log`), log(`${directory}/1.log`));
    node.live = { clockSkewMs };
    await node.pass();
    const names = node.logs.paths
      .filter((path) => path.includes(directory))
      .map((path) => path.split('/').at(-1));
    expect(names.sort()).toEqual(left);
  },
);

test('a clock that differs from the API server’s does not matter without a minimum age', async () => {
  const node = await nodeWithRemovals();
  node.live = { clockSkewMs: 3_600_000 };
  await node.pass();
  expect(node.reports.at(-1)).toMatchObject({ result: 'Succeeded', removed: 7 });
});
