// @bed node imageFsMB=512
import { expect, test } from 'vitest';
import { stress } from '../../stress/run.ts';

test(
  'beside a kubelet that collects too, nothing in use is lost, no removal fails, and the counts add up',
  { timeout: 12 * 60_000 },
  async () => {
    const { violations, removals } = await stress({ minutes: 2, hasFaults: false, kubelet: 'collecting' });
    expect(violations).toEqual([]);
    // Which of them finds the disk full first is chance, and in two minutes the other may remove no image.
    for (const by of ['dustpan', 'kubelet']) expect(removals).toHaveProperty(`${by} container`);
  },
);
