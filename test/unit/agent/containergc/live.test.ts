import { expect, test } from 'vitest';
import type { NodeConfirmation } from '../../../../src/api/node-confirmation.ts';
import type { NodePod } from '../../../../src/api/node-pod.ts';
import { minutesAgo } from '../../../builders.ts';
import { container } from '../../../fakes/runtime.ts';
import { nodePod } from '../imagegc/builders.ts';
import { keptBy } from '../builders.ts';
import { attempts, dead, down, link, log, logsRule } from './builders.ts';
import { governed, nodePolicy, nodeWithPod, Node } from './environment.ts';

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
  const attempt = log('default_pod_uid-pod/old/0.log');
  node.logs.add(attempt, log('default_pod_uid-pod/old/1.log'));
  node.live = { clockSkewMs: 3_600_000 };
  await node.pass();
  expect(node.runtime.changes).toEqual([]);
  expect(node.logs.paths).toContain(attempt.path);
  expect(node.reports.at(-1)).toMatchObject({
    result: 'Unknown',
    message: "the clock of this node is 3600 s ahead of the API server's",
  });
  expect(node.logs.calls).toEqual(
    expect.arrayContaining([expect.stringMatching(/^link/), expect.stringMatching(/^rotated/)]),
  );
});

test('a clock that differs from the API server’s does not matter without a minimum age', async () => {
  const node = await nodeWithRemovals();
  node.live = { clockSkewMs: 3_600_000 };
  await node.pass();
  expect(node.reports.at(-1)).toMatchObject({ result: 'Succeeded', removed: 7 });
});

/** A node with container, sandbox and log of a pod that is still in the API. */
function nodeWithEnded(cached: readonly NodePod[], live: Partial<NodeConfirmation>): Node {
  const node = new Node();
  node.runtime.add(dead('gone-0', 60, { pod: 'gone' }), down('gone', 60));
  node.logs.add(log('default_gone_uid-gone/main/0.log'));
  node.pods = cached;
  node.live = live;
  node.podResponses.set('uid-gone', 'exists');
  return node;
}

const listed = (over: Partial<NodePod>): NodePod[] => [nodePod('gone', [], { uid: 'uid-gone', ...over })];
const evicted = { phase: 'Failed', evicted: true };

test('everything of a pod that exists but was evicted is removed in the second pass', async () => {
  const node = nodeWithEnded(listed(evicted), { pods: listed(evicted) });
  await node.pass();
  expect(node.changes).toEqual([]);
  await node.pass();
  expect(node.left).toEqual([]);
  expect(node.logs.paths).toEqual([]);
});

test('everything of an evicted pod is kept when the API server finds it but does not list it', async () => {
  const node = nodeWithEnded(listed(evicted), { pods: [] });
  await node.passTwice();
  expect(node.changes).toEqual([]);
});

test('an evicted pod that turned out to run must be over for two passes again', async () => {
  const node = nodeWithEnded(listed(evicted), { pods: listed({ phase: 'Running' }) });
  await node.passTwice();
  node.live = { pods: listed(evicted) };
  await node.pass();
  expect(node.changes).toEqual([]);
  await node.pass();
  expect(node.left).toEqual([]);
});

test('the clock of the API server decides whether a deletion is over', async () => {
  const deleted = listed({ deletionAtMs: minutesAgo(1) });
  const node = nodeWithEnded(deleted, { pods: deleted, clockSkewMs: 180_000 });
  await node.passTwice();
  expect(node.changes).toEqual([]);
  node.live = { pods: deleted, clockSkewMs: 30_000 };
  await node.passTwice();
  expect(node.left).toEqual([]);
});
