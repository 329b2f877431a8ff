import { describe, expect, test } from 'vitest';
import { reliefRule, withRelief } from '../../../../src/agent/imagegc/disk.ts';
import { governed } from '../report/builders.ts';
import { image } from '../../../fakes/runtime.ts';
import { nodesRules, policy } from '../../../builders.ts';
import { pressurePolicy } from '../nodepressure/builders.ts';
import { imageRule } from './builders.ts';
import { Node } from './environment.ts';

describe('the rule for a relief', () => {
  const disk = { capacityBytes: 1_000, availableBytes: 100, inodes: 200, inodesFree: 20 };
  const off = { highThresholdPercent: 100, lowThresholdPercent: 99 };

  test.each([
    [
      'bytes',
      disk,
      'nodefs.available',
      150,
      { highThresholdPercent: 0, lowThresholdPercent: 85, inodes: undefined },
    ],
    [
      'rounded so that enough is free',
      disk,
      'nodefs.available',
      151,
      { highThresholdPercent: 0, lowThresholdPercent: 84 },
    ],
    [
      'inodes',
      disk,
      'imagefs.inodesFree',
      30,
      { ...off, inodes: { highThresholdPercent: 0, lowThresholdPercent: 85 } },
    ],
    [
      'more than there is',
      disk,
      'nodefs.available',
      2_000,
      { highThresholdPercent: 0, lowThresholdPercent: 0 },
    ],
    ['an unknown disk', undefined, 'nodefs.available', 150, { ...off, inodes: undefined }],
    [
      'a file system without inodes',
      { capacityBytes: 1_000, availableBytes: 100 },
      'nodefs.inodesFree',
      30,
      { ...off, inodes: undefined },
    ],
  ] as const)('%s', (...[, measured, signal, until, expected]) => {
    expect(reliefRule(imageRule({ keep: ['nginx'] }), measured, { signal, until })).toMatchObject({
      keep: ['nginx'],
      ...expected,
    });
  });
});

describe('the policy during a relief', () => {
  const disk = { capacityBytes: 1_000, availableBytes: 100 };
  const relief = {
    ...{ signal: 'nodefs.available' as const, until: 150 },
    isEnough: () => Promise.resolve(false),
  };

  test('is the usual one without a relief', () => {
    const usual = governed();
    expect(withRelief(usual, disk, undefined)).toBe(usual);
  });

  test('has the thresholds of the relief', () => {
    const { nodes } = withRelief(governed({ keep: ['nginx'] }), disk, relief) as ReturnType<typeof governed>;
    expect(nodes.imageGC).toMatchObject({
      keep: ['nginx'],
      highThresholdPercent: 0,
      lowThresholdPercent: 85,
    });
  });

  test('removes no image if it has no rule for images, or governs nothing', () => {
    const usual = governed();
    const without = { ...usual, nodes: { ...usual.nodes, imageGC: undefined } };
    expect(withRelief(without, disk, relief)).toEqual(without);
    const kept = { kind: 'keep', reason: 'NoPolicy', policy: undefined } as const;
    expect(withRelief(kept, disk, relief)).toBe(kept);
  });
});

test.each([
  { name: 'while the policy has its threshold', nodePressure: pressurePolicy(), left: '' },
  { name: 'never after the policy has lost its threshold', nodePressure: undefined, left: 'a' },
])('a relief removes images $name', async ({ nodePressure, left }) => {
  const node = new Node();
  node.runtime.add(image('a', { sizeBytes: 500 }));
  await node.observe();
  const nodes = nodesRules({ imageGC: imageRule({ minimumAgeMs: 0 }), nodePressure });
  node.governance = { kind: 'governed', policy: policy({ pods: undefined, nodes }), nodes };
  await node.pass(new AbortController().signal, {
    ...{ signal: 'nodefs.available', until: 9_500 },
    isEnough: () => Promise.resolve(false),
  });
  expect(node.left).toBe(left);
});

test('the gauge of due images counts those for node pressure anew in each pass', async () => {
  const node = new Node();
  node.runtime.add(...['a', 'b', 'c'].map((name) => image(name, { sizeBytes: 500 })));
  await node.observe();
  const nodes = nodesRules({ imageGC: imageRule({ minimumAgeMs: 0 }), nodePressure: pressurePolicy() });
  node.governance = { kind: 'governed', policy: policy({ pods: undefined, nodes, mode: 'DryRun' }), nodes };
  const due = async (until?: number): Promise<number | undefined> => {
    const relief = until === undefined ? undefined : { until, isEnough: () => Promise.resolve(false) };
    await node.pass(new AbortController().signal, relief && { signal: 'nodefs.available', ...relief });
    const labels = { reason: 'nodefs.available', mode: 'DryRun' };
    return await node.metric('dustpan_image_gc_due_images', labels);
  };
  expect([await due(8_000), await due(10_000), await due(8_000), await due()]).toEqual([2, 3, 2, 0]);
});
