// @bed node imageFsMB=512
import { expect, test } from 'vitest';
import { stress } from '../../stress/run.ts';
import { printed, settings } from './settings.ts';

/** The seed is fixed, so that a failure repeats its actions; the environment gives others. */
const { minutes, seed } = settings({ minutes: 2 });

test(
  'under random load and random faults every invariant holds',
  { timeout: (minutes + 10) * 60_000 },
  async () => {
    const options = { minutes, seed, hasFaults: true, kubelet: 'idle' } as const;
    const { violations, removals } = await stress(options, printed);
    expect(violations).toEqual([]);
    // Without removals nothing was tested.
    for (const kind of ['image', 'container', 'sandbox', 'pod', 'other'])
      expect(removals).toHaveProperty(`dustpan ${kind}`);
  },
);
