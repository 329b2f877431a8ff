import { beforeEach, describe, expect, test } from 'vitest';
import type { NodeGovernance } from '../../../../src/api/policy/node-governance.ts';
import { nodePod } from './builders.ts';
import { Bed, governed } from './environment.ts';

let bed: Bed;
beforeEach(async () => {
  bed = new Bed();
  bed.fill();
  await bed.settle();
});

const keptBy = (reason: 'NoPolicy' | 'KeepMarked' | 'NodeUnknown'): NodeGovernance => ({
  kind: 'keep',
  reason,
  policy: undefined,
});

describe('while the caches still show what was', () => {
  test.each<{ name: string; governance: NodeGovernance }>([
    { name: 'the policy says DryRun by now', governance: governed({}, { mode: 'DryRun' }) },
    { name: 'the policy has changed', governance: governed({}, { generation: 2 }) },
    { name: 'another policy governs the node', governance: governed({}, { uid: 'other' }) },
    { name: 'a default of the policy has changed', governance: governed({ keep: ['*/a:*'] }) },
    { name: 'the policy says nothing of images', governance: governed(undefined) },
    { name: 'there is no policy', governance: keptBy('NoPolicy') },
    { name: 'the node carries the keep label', governance: keptBy('KeepMarked') },
    { name: 'there is no such node', governance: keptBy('NodeUnknown') },
  ])('nothing goes when $name', async ({ governance }) => {
    bed.live = { governance };
    expect(await bed.pass()).toMatchObject({ removed: 0, message: 'policies have changed' });
    expect(bed.runtime.changes).toEqual([]);
    expect(bed.log.lines.filter(({ level }) => level === 'info')).toMatchObject([
      { message: 'pass ended early', fields: { why: 'policies have changed' } },
    ]);
  });

  test('a pod that was bound meanwhile protects its image, and the next goes', async () => {
    bed.live = { pods: [nodePod('new', ['a'])] };
    expect(await bed.pass()).toMatchObject({ result: 'Succeeded', removed: 1 });
    expect(bed.left).toEqual(['a', 'c', 'd', 'e', 'f', 'g', 'h', 'i']);
    expect(await bed.metric('dustpan_image_gc_skipped_images_total', { reason: 'BoundPod' })).toBe(1);
  });

  test('so does one that only the cache still knows', async () => {
    bed.runtime.before = (call) => {
      if (call === 'listImages' && bed.asked > 0) bed.pods = [nodePod('old', ['a'])];
    };
    bed.live = { pods: [] };
    await bed.pass();
    expect(bed.left).toContain('a');
  });
});

test('when the API server does not answer, nothing goes, and the pass says why', async () => {
  bed.liveError = new Error('reading pods', { cause: new Error('connect ECONNREFUSED') });
  expect(await bed.pass()).toMatchObject({
    result: 'Unknown',
    removed: 0,
    message: 'policies, node and pods cannot be confirmed live: reading pods: connect ECONNREFUSED',
  });
  expect(bed.runtime.changes).toEqual([]);
  expect(bed.asked).toBe(1);
  expect(bed.log.lines.filter(({ level }) => level === 'warn')).toHaveLength(1);
  expect(bed.recorder.events).toEqual([]);
  bed.liveError = undefined;
  expect(await bed.pass()).toMatchObject({ result: 'Succeeded', removed: 1 });
});

test('when it stops to answer in the middle of a long pass, what was done is told and nothing more goes', async () => {
  bed.otherBytes = 500;
  bed.runtime.before = (call) => {
    if (call !== 'removeImage') return;
    bed.clock.advance(5_000);
    bed.liveError = new Error('no answer');
  };
  expect(await bed.pass()).toMatchObject({ result: 'Unknown', removed: 1 });
  expect(bed.asked).toBe(2);
});

test('a shutdown while it is asked ends the pass as any other', async () => {
  const stop = new AbortController();
  bed.liveError = new Error('aborted');
  bed.beforeAnswer = () => {
    stop.abort();
  };
  expect(await bed.pass(stop.signal)).toMatchObject({ removed: 0, message: 'shutting down' });
  expect(bed.log.lines.filter(({ level }) => level === 'warn')).toEqual([]);
});

describe('the API server is asked', () => {
  test('once for what is removed within 5 s', async () => {
    bed.otherBytes = 900;
    expect((await bed.pass()).removed).toBe(2);
    expect(bed.asked).toBe(1);
  });

  test('again after 5 s', async () => {
    bed.otherBytes = 900;
    bed.runtime.before = (call) => {
      if (call === 'removeImage') bed.clock.advance(5_000);
    };
    expect((await bed.pass()).removed).toBe(2);
    expect(bed.asked).toBe(2);
  });

  test('again when listing took so long that its answer is old', async () => {
    bed.runtime.before = (call) => {
      if (call === 'listContainers' && bed.asked === 1) {
        bed.clock.advance(5_000);
        bed.live = { pods: [nodePod('new', ['a'])] };
      }
    };
    await bed.pass();
    expect(bed.left).toContain('a');
  });

  test('never in mode DryRun', async () => {
    bed.governance = governed({}, { mode: 'DryRun' });
    expect((await bed.pass()).result).toBe('Succeeded');
    expect(bed.asked).toBe(0);
  });

  test('never when there is nothing to remove', async () => {
    bed.otherBytes = -5_000;
    expect((await bed.pass()).result).toBe('Idle');
    expect(bed.asked).toBe(0);
  });
});

describe('a clock that differs from the API server’s', () => {
  test.each([61_000, -61_000])('by %d ms judges no age', async (clockSkewMs) => {
    bed.otherBytes = -5_000;
    bed.governance = governed({ maximumAgeMs: 1 });
    bed.live = { clockSkewMs };
    expect(await bed.pass()).toMatchObject({
      result: 'Unknown',
      removed: 0,
      message: `the clock of this node is 61 s ${clockSkewMs > 0 ? 'ahead of' : 'behind'} the API server's`,
    });
    expect(await bed.metric('dustpan_image_gc_skipped_images_total', { reason: 'ClockUnsure' })).toBe(9);
  });

  test('by a minute is right enough', async () => {
    bed.otherBytes = -5_000;
    bed.governance = governed({ maximumAgeMs: 1 });
    bed.live = { clockSkewMs: 60_000 };
    expect(await bed.pass()).toMatchObject({ result: 'Succeeded', removed: 9 });
  });

  test('does not keep what has to go for space', async () => {
    bed.live = { clockSkewMs: 3_600_000 };
    expect(await bed.pass()).toMatchObject({ result: 'Succeeded', removed: 1 });
  });
});
