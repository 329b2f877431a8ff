import { describe, expect, test } from 'vitest';
import { applyPolicy, differences, rest, startSides, type Side } from './side-by-side.ts';
import { randomWorld } from './world.ts';

/** The quarantine and two passes of upstream; then longer than a pass without a change. */
const upstreamIsDone = { afterMs: 82_000, quietMs: 22_000, withinMs: 200_000 };
const timeoutMs = 400_000;

const deletedOf = ({ ledger }: Side): string[] =>
  [...ledger.pods.values()].filter(({ deleted }) => deleted).map(({ name }) => name);

describe('the same random world under kube-controller-manager and under dustpan', () => {
  test.concurrent.each([
    { seed: 1, threshold: 0 },
    { seed: 2, threshold: 40 },
    { seed: 3, threshold: 65 },
    { seed: 4, threshold: 90 },
  ])(
    'ends the same: seed $seed, threshold $threshold',
    async ({ seed, threshold }) => {
      const world = randomWorld(seed, { pods: 220 });
      await using sides = await startSides({ world, threshold });
      await rest([sides.upstream, sides.dustpan], upstreamIsDone);

      expect(differences(sides)).toEqual([]);
      expect(sides.upstream.ledger.pods.size).toBe(220);
      const gone = deletedOf(sides.dustpan).length;
      console.info('seed', seed, 'gone', gone);
      expect(gone).toBeGreaterThan(40);
      expect(gone).toBeLessThan(180);

      // The comparison can fail: with another threshold it says which pods differ.
      if (threshold === 0) return;
      await applyPolicy(sides.dustpan.cluster, threshold - 3);
      await expect.poll(() => differences(sides), { timeout: 30_000 }).toHaveLength(3);
    },
    timeoutMs,
  );
});
