import { beforeEach, expect, test } from 'vitest';
import { governedNode, keptBy } from '../builders.ts';
import { pressurePolicy } from '../nodepressure/builders.ts';
import { imageRule } from './builders.ts';
import { governed, Node } from './environment.ts';

/** A large removal waits for three passes: two periods of 5 min after the first. */
const hold = { above: 2, forMs: 600_000 };
let node: Node;
beforeEach(() => {
  node = new Node();
  node.fill();
});

/** Lets the images age, then applies a policy that removes all of them. */
async function empty(over: Parameters<typeof governed>[1] = {}): Promise<void> {
  await node.observe();
  node.governance = governed({ highThresholdPercent: 1, lowThresholdPercent: 0, hold }, over);
}

test('new rules that would empty the node waits, with one Event, and the pass has not failed', async () => {
  await empty();
  expect(await node.pass()).toMatchObject({ result: 'Idle', removed: 0 });
  expect(await node.pass()).toMatchObject({
    ...{ result: 'Idle', removed: 0 },
    message: 'the removal of 9 of 9 unused images waits: the rules of the policy are new',
  });
  expect(node.left).toBe('a b c d e f g h i');
  expect(node.inventories.at(-1)?.held).toEqual({
    due: 9,
    unused: 9,
    until: new Date('2026-01-15T12:20:00Z'),
  });
  expect(node.inventories.at(-1)?.removable.count).toBe(9);
  expect(node.recorder.reasons).toEqual(['ImagesHolding Node/node-1']);
  expect(node.recorder.events[0]?.occasion).toBe('rules-default');
  expect(node.recorder.events[0]?.note).toBe(
    'The rules of the policy are new and would remove 9 of 9 unused images of this node; dustpan waits until 2026-01-15T12:20:00Z. ' +
      'To go on now: kubectl annotate gcpolicy default --overwrite gc.dustpan.dev/skip-hold=rules-default. ' +
      `To take it back: kubectl patch gcpolicy default --type=merge -p '{"spec":{"mode":"DryRun"}}'`,
  );
  expect(await node.metric('dustpan_kept_objects', { reason: 'Holding' })).toBe(9);
  expect(await node.pass()).toMatchObject({ removed: 9 });
  expect(node.inventories.at(-1)?.held).toBeUndefined();
});

test.each([
  { name: 'more than half of them', rule: { lowThresholdPercent: 65 }, removed: 0 },
  { name: 'all by age in small passes', rule: { maximumAgeMs: 1_000, maxImagesPerPass: 1 }, removed: 0 },
])('new rules: $name', async ({ rule, removed }) => {
  await node.observe();
  node.governance = governed({ highThresholdPercent: 85, ...rule, hold });
  expect((await node.pass()).removed).toBe(removed);
});

test('a restarted agent continues the hold, and begins none for old rules', async () => {
  await empty();
  await node.pass();
  node.restart();
  expect((await node.pass()).removed).toBe(0);
  node.restart();
  expect((await node.pass()).removed).toBe(9);
  node.fill();
  await node.observe();
  await empty();
  node.restart();
  expect((await node.pass()).removed).toBe(9);
});

test('a policy that is unknown for a while, or was a dry run under older rules, begins no hold anew', async () => {
  await empty();
  const enforced = node.governance;
  await node.pass();
  node.governance = keptBy('NodeUnknown');
  await node.pass();
  node.governance = enforced;
  expect((await node.pass()).removed).toBe(9);
});

test.each([3_600_000, -3_600_000])(
  'a clock that is set by %d ms neither ends nor prolongs a hold',
  async (ms) => {
    await empty();
    await node.pass();
    node.clock.stepWall(ms);
    expect((await node.pass()).removed).toBe(0);
    expect((await node.pass()).removed).toBe(9);
  },
);

test.each([
  { name: 'waits too, and has more to reclaim', kubeletInMs: undefined, result: 'MoreLeft', left: 9 },
  {
    name: 'waits while the kubelet acts only after the end',
    kubeletInMs: 540_001,
    result: 'MoreLeft',
    left: 9,
  },
  { name: 'does not wait if the kubelet would act before', kubeletInMs: 540_000, result: 'Enough', left: 3 },
])('node pressure under new rules $name', async ({ kubeletInMs, result, left }) => {
  await node.observe();
  const imageGC = imageRule({ minimumAgeMs: 0, highThresholdPercent: 100, hold });
  node.governance = governedNode({ imageGC, nodePressure: pressurePolicy() });
  // The first pass under the rules needs nothing.
  await node.pass();
  expect(await node.relieve(6_000, { kubeletInMs })).toBe(result);
  expect(node.runtime.images).toHaveLength(left);
});
