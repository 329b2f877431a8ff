import { expect, test } from 'vitest';
import { gib, images, leftovers } from '../report/builders.ts';
import { node } from './environment.ts';

test.each([
  ['none where the policy only reports', leftovers({ removableBytes: 0 }), 0],
  ['those that the policy removes', leftovers({ removableBytes: gib / 4 }), gib / 4],
  ['not more than all', leftovers({ removableBytes: gib }), gib / 2],
  ['unknown before the first search', undefined, undefined],
  ['unknown without containerd', { unknown: 'the runtime is not containerd' }, undefined],
])('collectable leftovers: %s; the other bytes stay known', async (_, found, expected) => {
  const measured = images({
    collectable: { count: 2, bytes: 4 * gib },
    packed: { total: 5 * gib, inUse: gib, collectable: 2 * gib },
    others: { leftovers: gib / 2, namespaces: 0 },
  });
  const { fileSystems } = await node({ images: () => measured, leftovers: () => found }).measure();
  expect(fileSystems?.[0]?.collectable?.leftoversBytes).toBe(expected);
  expect(fileSystems?.[0]?.collectableBytes).toBe(4 * gib + (expected ?? 0));
});
