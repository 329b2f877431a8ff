import { describe, expect, test } from 'vitest';
import type { ImageGcPolicy, NodesPolicy, Policy } from '../../../../src/api/policy/policy.ts';
import type { ImageGcPlan } from '../../../../src/agent/imagegc/facts.ts';
import { planImageGc } from '../../../../src/agent/imagegc/plan.ts';
import { now } from '../../../builders.ts';
import { container, image } from '../../../fakes/runtime.ts';
import { pressurePolicy } from '../nodepressure/builders.ts';
import { governedNode, keptBy } from '../builders.ts';
import { facts, governedBy, imageRule, verdicts } from './builders.ts';
import { Node } from './environment.ts';
import type { DiskDemand } from '../../../../src/agent/nodepressure/facts.ts';

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

  const full = { ...half, availableBytes: 1_000 };
  const three = [demand(1_000), demand(1_300, { signal: 'imagefs.available' }), inodesOf(100)];

  test.each<[string, Parameters<typeof planFor>, ...removed: string[]]>([
    [
      'counts bytes, not percent',
      [[demand(1_001)]],
      'a nodefs.available',
      'b nodefs.available',
      'c nodefs.available',
    ],
    [
      'removes for space first: 1000 bytes to reach 80 %',
      [[demand(1_500)], full],
      'a Space',
      'b Space',
      'c nodefs.available',
    ],
    [
      'removes for the first demand, then what the others still need',
      [three],
      'a nodefs.available',
      'b nodefs.available',
      'c imagefs.available',
    ],
  ])('%s', (_, given, ...removed) => {
    const plan = planFor(...given);
    expect(verdicts(plan).removed).toEqual(removed);
    expect([...plan.reclaim.values()][0]).toBe('Enough');
  });

  test.each([
    ['ContainersUnknown', { containers: undefined }, 'MoreLeft'],
    ['InUse', { containers: images.map(({ id }) => container(id, { imageId: id })) }, 'Exhausted'],
  ])('without a rule for images: %s', (_, over, result) => {
    const given = { governance: governs(undefined), now, demands: [demand(1)] };
    const { reclaim } = planImageGc(facts(images, { disk: half, ...over }), given);
    expect([...reclaim.values()]).toEqual([result]);
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
): Node['governance'] =>
  governedNode({ imageGC: rule && imageRule({ minimumAgeMs: 0, ...rule }), ...rest }, { mode });

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
    ['every image removed is exhausted', {}, 'Exhausted', ''],
    ['without a rule for images they stay, ungoverned', undefined, 'Ungoverned', 'a b c d e f g h i'],
    [
      'images that only does not select stay, ungoverned',
      { only: ['ci/*'] },
      'Ungoverned',
      'a b c d e f g h i',
    ],
    ['a paced pass leaves more', { maxImagesPerPass: 1 }, 'MoreLeft', 'b c d e f g h i'],
  ])('%s', async (_name, rule, result, left) => {
    const node = await filled(governs(rule));
    expect(await node.relieve(20_000)).toBe(result);
    expect(node.left).toBe(left);
  });

  test('an image that cannot be removed is a warning, and counts as not removable', async () => {
    const node = await filled(governs({ highThresholdPercent: 100 }));
    node.runtime.fail('removeImage');
    expect(await node.relieve(20_000)).not.toBe('Enough');
    expect(node.log.lines.map(({ message }) => message)).toContain(
      'not every image could be removed for node pressure',
    );
  });

  test.each<[name: string, missing: () => Promise<number>, result: string]>([
    ['a runtime that frees nothing at once leaves more', () => Promise.resolve(1_000), 'MoreLeft'],
    ['without a measurement the sizes count', () => Promise.reject(new Error('it hangs')), 'Enough'],
  ])('%s', async (_, missing, result) => {
    const node = await filled();
    expect(await node.relieve(1_000, { missing })).toBe(result);
    expect(node.left).toBe('c d e f g h i');
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
});
