import { describe, test } from 'vitest';
import { deviatingWorld } from './side-by-side-deviations.ts';
import { applyPolicy, deletesOf, differences, podsOf, rest, startSides } from './side-by-side.ts';
import { randomWorld } from './world.ts';

/** The quarantine and two passes of upstream; then longer than a pass without a change. */
const upstreamIsDone = { afterMs: 82_000, quietMs: 30_000, withinMs: 400_000 };
/** Three passes of upstream, where no quarantine plays a part. */
const afterThreePasses = { afterMs: 45_000, quietMs: 5_000, withinMs: 400_000 };
const timeoutMs = 1_200_000;
const pods = 220;

// Each pair of clusters waits for upstream's clock most of the time, so all of them run at once.
describe('the same world under kube-controller-manager and under dustpan', () => {
  test.for([
    { seed: 1, threshold: 0 },
    { seed: 2, threshold: 40 },
    { seed: 3, threshold: 65 },
    { seed: 4, threshold: 90 },
  ])(
    'ends the same: seed $seed, threshold $threshold',
    { concurrent: true, timeout: timeoutMs },
    async ({ seed, threshold }, { expect }) => {
      await using sides = await startSides({ world: randomWorld(seed, { pods }), threshold });
      await rest([sides.upstream, sides.dustpan], upstreamIsDone);

      expect(differences(sides)).toEqual([]);
      const { deleted, finished } = podsOf(sides.dustpan);
      expect(sides.upstream.ledger.pods.size).toBe(pods);
      expect(deleted.length).toBeGreaterThan(pods / 5);
      expect(deleted.length).toBeLessThan((pods * 4) / 5);

      // And the comparison can fail: with another threshold it names the three that went too far.
      await applyPolicy(sides.dustpan.cluster, finished.length - 3);
      await expect.poll(() => differences(sides), { timeout: 90_000 }).toHaveLength(3);
    },
  );

  test(
    'differs where docs/deviations.md says so',
    { concurrent: true, timeout: timeoutMs },
    async ({ expect }) => {
      await using sides = await startSides({ world: deviatingWorld(), threshold: 3 });
      await rest([sides.upstream, sides.dustpan], afterThreePasses);

      // Upstream hits the two that a finalizer holds for ever, and stays two above its threshold.
      expect(podsOf(sides.upstream).there).toEqual(['free-1', 'free-2', 'free-3', 'held', 'uncounted']);
      // Three are left here that count; the marked one does not.
      expect(podsOf(sides.dustpan).there).toEqual(['free-3', 'held', 'marked', 'uncounted']);
      expect(podsOf(sides.upstream).terminating).toEqual(['held', 'uncounted']);
      expect(podsOf(sides.dustpan).terminating).toEqual(['held']);

      const theirs = await deletesOf(sides.upstream);
      const ours = await deletesOf(sides.dustpan);
      expect(theirs.get('held')).toBeGreaterThan(1);
      expect(theirs.get('twice')).toBe(2);
      expect(Object.fromEntries(ours)).toEqual({ 'free-0': 1, 'free-1': 1, 'free-2': 1, held: 1, twice: 1 });
    },
  );
});
