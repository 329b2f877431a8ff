// @bed node imageFsMB=512
import { expect, test } from 'vitest';
import { stress } from '../../stress/run.ts';

test('under random load and random faults every invariant holds', { timeout: 12 * 60_000 }, async () => {
  const { violations, removals } = await stress({ minutes: 2, hasFaults: true, kubelet: 'idle' });
  expect(violations).toEqual([]);
  // Without removals nothing was tested.
  for (const kind of ['image', 'container', 'sandbox', 'pod', 'other'])
    expect(removals).toHaveProperty(`dustpan ${kind}`);
});
