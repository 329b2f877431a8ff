// @bed node imageFsMB=512
import { expect, test } from 'vitest';
import { stress } from '../../stress/run.ts';
import { printed, settings } from './settings.ts';

const { minutes, seed } = settings({ minutes: 2 });

test(
  'beside a kubelet that collects too, nothing in use is lost, no removal fails, and the counts add up',
  { timeout: (minutes + 10) * 60_000 },
  async () => {
    const options = { minutes, seed, hasFaults: false, kubelet: 'collecting' } as const;
    const { violations, removals } = await stress(options, printed);
    expect(violations).toEqual([]);
    // Which of them finds the disk full first is chance, and in two minutes the other may remove no image.
    for (const by of ['dustpan', 'kubelet']) expect(removals).toHaveProperty(`${by} container`);
  },
);
