import { expect, test } from 'vitest';
import type { NodeConfirmation } from '../../../../src/api/node-confirmation.ts';
import type { NodePod } from '../../../../src/api/report/node-pass.ts';
import { minutesAgo } from '../../../builders.ts';
import { nodePod } from '../imagegc/builders.ts';
import { dead, down, log } from './builders.ts';
import { Node } from './environment.ts';

const goneLog = '/var/log/pods/default_gone_uid-gone/main/0.log';

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

test.each([
  { name: 'evicted', over: evicted },
  { name: 'deleted longer than its grace period ago', over: { deletionAtMs: minutesAgo(1) } },
])('everything of a pod that exists but was $name is removed in the second pass', async ({ over }) => {
  const node = nodeWithEnded(listed(over), { pods: listed(over) });
  await node.pass();
  expect(node.changes).toEqual([]);
  await node.pass();
  expect(node.left).toEqual([]);
  expect(node.logs.paths).not.toContain(goneLog);
});

test.each<{ name: string; live: Partial<NodeConfirmation> }>([
  { name: 'lists it as running', live: { pods: listed({ phase: 'Running' }) } },
  { name: 'finds it but does not list it', live: { pods: [] } },
  { name: 'lists it with the keep label', live: { pods: listed({ ...evicted, isOptedOut: true }) } },
])('everything of an evicted pod is kept when the API server $name', async ({ live }) => {
  const node = nodeWithEnded(listed(evicted), live);
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
