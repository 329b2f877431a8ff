import { describe, expect, test } from 'vitest';
import type { DiskDemand } from '../../../../src/api/node-pressure.ts';
import type { ImageGcPolicy, NodesPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import type { ImageGcPlan } from '../../../../src/agent/imagegc/facts.ts';
import { planImageGc } from '../../../../src/agent/imagegc/plan.ts';
import { nodesRules, now, policy } from '../../../builders.ts';
import { container, image } from '../../../fakes/runtime.ts';
import { pressurePolicy } from '../nodepressure/builders.ts';
import { facts, governedBy, imageRule, usedMinutesAgo, verdicts } from './builders.ts';
import { keptBy, Node } from './environment.ts';

const demand = (wanted: number, over: Partial<DiskDemand> = {}): DiskDemand => ({
  ...{ signal: 'nodefs.available', threshold: '15%', wanted },
  ...over,
});
const inodesOf = (wanted: number): DiskDemand => demand(wanted, { signal: 'imagefs.inodesFree' });

describe('the plan for a demand', () => {
  const half = { capacityBytes: 10_000, availableBytes: 5_000, inodes: 1_000, inodesFree: 500 };
  const images = ['a', 'b', 'c', 'd'].map((name) => image(name, { sizeBytes: 500 }));
  const planFor = (
    demands: readonly DiskDemand[],
    disk = half,
    rule: Partial<ImageGcPolicy> = {},
    records = {},
  ): ImageGcPlan =>
    planImageGc(facts(images, { disk, records }), {
      ...{ governance: governedBy(imageRule(rule)), now, demands },
    });

  test.each<readonly [string, Parameters<typeof planFor>, readonly string[], string]>([
    [
      'removes no image more than enough',
      [[demand(1_000)]],
      ['a nodefs.available', 'b nodefs.available'],
      'Enough',
    ],
    [
      'counts bytes, not percent',
      [[demand(1_001)]],
      'abc'.split('').map((one) => `${one} nodefs.available`),
      'Enough',
    ],
    [
      'counts inodes: each image has an estimated 125 of the 500',
      [[inodesOf(126)]],
      ['a imagefs.inodesFree', 'b imagefs.inodesFree'],
      'Enough',
    ],
    [
      'removes every image if that is not enough',
      [[demand(9_000)]],
      'abcd'.split('').map((one) => `${one} nodefs.available`),
      'Exhausted',
    ],
    [
      'removes for space first: 1000 bytes to reach 80 %',
      [[demand(1_500)], { ...half, availableBytes: 1_000 }],
      ['a Space', 'b Space', 'c nodefs.available'],
      'Enough',
    ],
    [
      'needs nothing that the space step frees',
      [[demand(900)], { ...half, availableBytes: 1_000 }],
      ['a Space', 'b Space'],
      'Enough',
    ],
    [
      'counts what removals by age free',
      [
        [demand(900)],
        half,
        { maximumAgeMs: 3_600_000 * 23 },
        { b: usedMinutesAgo(1), c: usedMinutesAgo(2), d: usedMinutesAgo(3) },
      ],
      ['a Age', 'd nodefs.available'],
      'Enough',
    ],
    [
      'keeps to the pace, and leaves the rest for the next pass',
      [[demand(1_000)], half, { maxImagesPerPass: 1 }],
      ['a nodefs.available'],
      'MoreLeft',
    ],
    [
      'removes for the first demand, then what the others still need',
      [[demand(1_000), demand(1_300, { signal: 'imagefs.available' }), inodesOf(100)]],
      ['a nodefs.available', 'b nodefs.available', 'c imagefs.available'],
      'Enough',
    ],
  ])('%s', (_, given, removed, result) => {
    const plan = planFor(...given);
    expect(verdicts(plan).removed).toEqual(removed);
    expect([...plan.reclaim.values()][0]).toBe(result);
  });

  test('leaves more to decide while pods are unknown', () => {
    const unknown = facts(images, { disk: half, pods: undefined });
    const plan = planImageGc(unknown, { governance: governedBy(imageRule()), now, demands: [demand(1)] });
    expect([...plan.reclaim.values(), plan.removals.length]).toEqual(['MoreLeft', 0]);
  });
});

const governs = (
  rule: Partial<ImageGcPolicy> | undefined,
  mode: Policy['mode'] = 'Enforce',
  rest: Partial<NodesPolicy> = { nodePressure: pressurePolicy() },
): Node['governance'] => {
  const imageGC = rule && imageRule({ minimumAgeMs: 0, ...rule });
  const nodes = nodesRules({ imageGC, ...rest });
  return { kind: 'governed', policy: policy({ pods: undefined, nodes, mode }), nodes };
};

/** A node with nine old images, a to i, of 500 bytes by the runtime and 1000 on the disk. */
async function filled(governance = governs({ highThresholdPercent: 100 })): Promise<Node> {
  const node = new Node();
  node.fill();
  await node.observe();
  node.governance = governance;
  return node;
}

describe('a relief', () => {
  test('measures after each removal, and stops as soon as enough is available', async () => {
    const node = await filled();
    expect(await node.relieve(1_000)).toBe('Enough');
    expect(node.left).toBe('b c d e f g h i');
  });

  test.each([
    { name: 'every image removed is exhausted', rule: {}, result: 'Exhausted', left: '' },
    {
      name: 'a policy without a rule for images is exhausted',
      rule: undefined,
      result: 'Exhausted',
      left: 'a b c d e f g h i',
    },
    {
      name: 'a paced pass leaves more',
      rule: { maxImagesPerPass: 1 },
      result: 'MoreLeft',
      left: 'b c d e f g h i',
    },
  ])('$name', async ({ rule, result, left }) => {
    const node = await filled(governs(rule));
    expect(await node.relieve(20_000)).toBe(result);
    expect(node.left).toBe(left);
  });

  test('a demand that removals do not meet is Short, without an Event', async () => {
    const node = await filled(governs({ highThresholdPercent: 100 }));
    await node.relieve(20_000);
    expect(node.reports.at(-1)).toMatchObject({
      result: 'Short',
      message: 'Removing unused images frees 8.79 KiB of the 19.5 KiB wanted for nodefs.available.',
    });
    expect(node.recorder.events).toEqual([]);
  });

  test('an image that cannot be removed is a warning, and counts as not removable', async () => {
    const node = await filled(governs({ highThresholdPercent: 100 }));
    node.runtime.fail('removeImage');
    expect(await node.relieve(20_000)).not.toBe('Enough');
    expect(node.log.lines.map(({ message }) => message)).toContain(
      'not every image could be removed for node pressure',
    );
  });

  test('a runtime that frees nothing at once ends the relief, and leaves more', async () => {
    const node = await filled();
    expect(await node.relieve(1_000, { missing: () => Promise.resolve(1_000) })).toBe('MoreLeft');
    expect(node.left).toBe('c d e f g h i');
  });

  test('without a measurement the sizes of the images count', async () => {
    const node = await filled();
    const missing = (): Promise<number> => Promise.reject(new Error('the mount hangs'));
    expect(await node.relieve(1_000, { missing })).toBe('Enough');
    expect(node.left).toBe('c d e f g h i');
  });

  test('a listing that fails rejects', async () => {
    const node = await filled();
    node.runtime.fail('listImages');
    await expect(node.relieve(1_000)).rejects.toThrow('listImages');
  });

  test('removes no image after the policy has lost its threshold', async () => {
    const node = await filled(governs({ highThresholdPercent: 100 }, 'Enforce', {}));
    await node.relieve(1_000);
    node.governance = keptBy('NodeUnknown');
    await node.relieve(1_000);
    expect(node.left).toBe('a b c d e f g h i');
  });
});

describe('a relief in mode DryRun', () => {
  test.each([
    { name: 'would free enough', wanted: 1_000, rule: {}, result: 'Enough', due: 2 },
    { name: 'would not free enough', wanted: 20_000, rule: {}, result: 'Exhausted', due: 9 },
    { name: 'would leave more', wanted: 1_000, rule: { maxImagesPerPass: 1 }, result: 'MoreLeft', due: 1 },
  ])('$name', async ({ wanted, rule, result, due }) => {
    const node = await filled(governs({ highThresholdPercent: 100, ...rule }, 'DryRun'));
    expect(await node.relieve(wanted)).toBe(result);
    expect(node.left).toBe('a b c d e f g h i');
    const labels = { reason: 'nodefs.available', mode: 'DryRun' };
    expect(await node.metric('dustpan_due_objects', labels)).toBe(due);
    expect(node.reports.at(-1)?.result).toBe(result === 'Enough' ? 'Succeeded' : 'Short');
  });

  test('counts a container that would be removed before as removed', async () => {
    const node = await filled(governs({ highThresholdPercent: 100 }, 'DryRun'));
    node.runtime.add(
      ...'abcdefghi'.split('').map((name) => container(name, { imageId: `sha256:${name}`, state: 'Exited' })),
    );
    expect(await node.relieve(500)).toBe('Exhausted');
    expect(await node.relieve(500, { planned: { ids: new Set(['b']), bytes: 0 } })).toBe('Enough');
  });

  test('the gauge of due images counts those for node pressure anew in each pass', async () => {
    const node = await filled(governs({ highThresholdPercent: 100 }, 'DryRun'));
    const due = async (pass: Promise<unknown>): Promise<number | undefined> => {
      await pass;
      return await node.metric('dustpan_due_objects', { reason: 'nodefs.available', mode: 'DryRun' });
    };
    const counts = [await due(node.relieve(1_000)), await due(node.relieve(1_500)), await due(node.pass())];
    expect(counts).toEqual([2, 3, 0]);
    await node.relieve(1_000);
    node.runtime.fail('listImages');
    expect(await due(node.pass())).toBe(0);
  });
});
