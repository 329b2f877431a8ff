import { beforeEach, describe, expect, test } from 'vitest';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import { changeAt } from '../../../fakes/runtime.ts';
import { nodePod } from './builders.ts';
import { governed, keptBy, Node } from './environment.ts';

let node: Node;
beforeEach(async () => {
  node = new Node();
  node.fill();
  await node.observe();
});

describe('while the caches are stale', () => {
  test.each<{ name: string; governance: NodeGovernance }>([
    { name: 'the policy is now a dry run', governance: governed({}, { mode: 'DryRun' }) },
    { name: 'the policy has no rule for images', governance: governed(undefined) },
    { name: 'there is no policy', governance: keptBy('NoPolicy') },
    { name: 'the node has the keep label', governance: keptBy('KeepMarked') },
    { name: 'the node does not exist', governance: keptBy('NodeUnknown') },
  ])('nothing is removed when $name', async ({ governance }) => {
    node.live = { governance };
    expect(await node.pass()).toMatchObject({ removed: 0, message: 'policies have changed' });
    expect(node.runtime.changes).toEqual([]);
    expect(node.log.lines.filter(({ level }) => level === 'info')).toMatchObject([
      { message: 'pass ended early', fields: { why: 'policies have changed' } },
    ]);
  });

  test('a pod that only the API server has protects its image, and the pass removes the next image', async () => {
    node.live = { pods: [nodePod('new', ['a'])] };
    expect(await node.pass()).toMatchObject({ result: 'Succeeded', removed: 1 });
    expect(node.left).toBe('a c d e f g h i');
    expect(await node.metric('dustpan_skipped_objects_total', { reason: 'BoundPod' })).toBe(1);
  });

  test('a pod that only the cache has protects its image as well', async () => {
    changeAt(node.runtime, 'listImages', 2, () => {
      node.pods = [nodePod('old', ['a'])];
    });
    node.live = { pods: [] };
    await node.pass();
    expect(node.left).toBe('a c d e f g h i');
  });
});

test('an image that is gone meanwhile is neither removed nor kept', async () => {
  changeAt(node.runtime, 'listImages', 2, () => {
    node.runtime.images = node.runtime.images.slice(1);
  });
  await node.pass();
  expect(node.runtime.changes).not.toContain('removeImage a');
  expect(node.log.lines.map(({ message }) => message)).toContain('image is already gone');
  expect(await node.metric('dustpan_skipped_objects_total', { reason: 'Gone' })).toBeUndefined();
});

test('nothing is removed when the API server does not respond, and the report has the error', async () => {
  node.liveError = new Error('reading pods', { cause: new Error('connect ECONNREFUSED') });
  expect(await node.pass()).toMatchObject({
    ...{ result: 'Unknown', removed: 0 },
    message: 'policies, node and pods cannot be confirmed live: reading pods: connect ECONNREFUSED',
  });
  expect(node.runtime.changes).toEqual([]);
  expect(node.requests).toBe(1);
  expect(node.log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  expect(node.recorder.events).toEqual([]);
  node.liveError = undefined;
  expect(await node.pass()).toMatchObject({ result: 'Succeeded', removed: 1 });
});

test('when the API server stops responding in a long pass, the pass reports its removals and ends', async () => {
  node.otherBytes = 500;
  changeAt(node.runtime, 'removeImage', 1, () => {
    node.clock.advance(5_000);
    node.liveError = new Error('no response');
  });
  expect(await node.pass()).toMatchObject({ result: 'Unknown', removed: 1 });
  expect(node.requests).toBe(2);
});

test('a shutdown during the request ends the pass without a warning', async () => {
  const stop = new AbortController();
  node.liveError = new Error('aborted');
  node.beforeResponse = () => {
    stop.abort();
  };
  expect(await node.pass(stop.signal)).toMatchObject({ removed: 0, message: 'shutting down' });
  expect(node.log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
});

describe('the agent queries the API server', () => {
  test.each([
    ['once for removals within 5 s', 0, 1],
    ['again after 5 s', 5_000, 2],
  ])('%s', async (_name, ms, requests) => {
    node.otherBytes = 900;
    node.runtime.before = (call) => {
      if (call === 'removeImage') node.clock.advance(ms);
    };
    expect((await node.pass()).removed).toBe(2);
    expect(node.requests).toBe(requests);
  });

  test.each([
    ['in mode DryRun', 'Succeeded', 0, governed({}, { mode: 'DryRun' })],
    ['without anything to remove', 'Idle', -5_000, governed({})],
  ])('never %s', async (_name, result, otherBytes, governance) => {
    node.governance = governance;
    node.otherBytes = otherBytes;
    expect((await node.pass()).result).toBe(result);
    expect(node.requests).toBe(0);
  });
});

describe('a clock that differs from the API server’s', () => {
  test.each([61_000, -61_000])('by %d ms keeps images that are only too old', async (clockSkewMs) => {
    node.otherBytes = -5_000;
    node.governance = governed({ maximumAgeMs: 1 });
    node.live = { clockSkewMs };
    expect(await node.pass()).toMatchObject({
      ...{ result: 'Unknown', removed: 0 },
      message: `the clock of this node is 61 s ${clockSkewMs > 0 ? 'ahead of' : 'behind'} the API server's`,
    });
    expect(await node.metric('dustpan_skipped_objects_total', { reason: 'ClockUnsure' })).toBe(9);
  });

  test('by one minute is tolerated', async () => {
    node.otherBytes = -5_000;
    node.governance = governed({ maximumAgeMs: 1 });
    node.live = { clockSkewMs: 60_000 };
    expect(await node.pass()).toMatchObject({ result: 'Succeeded', removed: 9 });
  });

  test('does not keep images that are removed for space', async () => {
    node.live = { clockSkewMs: 3_600_000 };
    expect(await node.pass()).toMatchObject({ result: 'Succeeded', removed: 1 });
  });
});
