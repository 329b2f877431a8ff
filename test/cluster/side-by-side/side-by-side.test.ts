import { describe, test } from 'vitest';
import { deviatingPopulation } from './deviations.ts';
import { isHeld } from './ledger.ts';
import { applyPolicy, deletesOf, differences, podsOf, rest, startSides } from './side-by-side.ts';
import { randomPopulation } from '../population/population.ts';

/** The quarantine and three passes of upstream; then longer than a pass without a change. */
const upstreamIsDone = { afterMs: 100_000, quietMs: 30_000, withinMs: 400_000 };
/** Three passes of upstream, where no quarantine plays a part. */
const afterThreePasses = { afterMs: 45_000, quietMs: 5_000, withinMs: 400_000 };
const timeoutMs = 1_200_000;
const pods = 220;

// Each pair of clusters waits for upstream's clock most of the time, so all of them run at once.
describe('the same population under kube-controller-manager and under dustpan', () => {
  test.for([
    { seed: 1, threshold: 0 },
    { seed: 2, threshold: 40 },
    { seed: 3, threshold: 65 },
    { seed: 4, threshold: 90 },
  ])(
    'the same pods are left: seed $seed, threshold $threshold',
    { concurrent: true, timeout: timeoutMs },
    async ({ seed, threshold }, { expect }) => {
      const population = randomPopulation(seed, { pods });
      // Upstream counts the pods that cannot be deleted; they are the newest, so our threshold is lower by their number.
      const held = population.pods.filter(isHeld).length;
      expect(held).toBeGreaterThan(2);
      const ourThreshold = threshold === 0 ? 0 : threshold - held;
      await using sides = await startSides({ population, threshold, ourThreshold });
      await rest([sides.upstream, sides.dustpan], upstreamIsDone);

      expect(differences(sides)).toEqual([]);
      const { deleted, counted } = podsOf(sides.dustpan);
      expect(sides.upstream.ledger.pods.size).toBe(pods);
      expect(deleted.length).toBeGreaterThan(pods / 5);
      expect(deleted.length).toBeLessThan((pods * 4) / 5);

      // And the comparison can fail: with another threshold it names the three that went too far.
      await applyPolicy(sides.dustpan.cluster, counted.length - 3);
      await expect.poll(() => differences(sides), { timeout: 90_000 }).toHaveLength(3);
    },
  );

  test(
    'differs where docs/deviations.md says so',
    { concurrent: true, timeout: timeoutMs },
    async ({ expect }) => {
      await using sides = await startSides({ population: deviatingPopulation(), threshold: 3 });
      await rest([sides.upstream, sides.dustpan], afterThreePasses);

      // Upstream counts the held pods: the two oldest of them it hits for ever, the two newest push out the pods of another namespace.
      expect(podsOf(sides.upstream).there).toEqual([
        ...['free-3', 'held', 'held-new', 'uncounted', 'uncounted-new'],
      ]);
      // The threshold keeps three; the opted-out pod and the held ones do not count.
      expect(podsOf(sides.dustpan).there).toEqual([
        ...['free-1', 'free-2', 'free-3', 'held', 'held-new', 'marked', 'uncounted', 'uncounted-new'],
      ]);
      expect(podsOf(sides.upstream).terminating).toEqual(['held', 'held-new', 'uncounted']);
      expect(podsOf(sides.dustpan).terminating).toEqual(['held', 'held-new']);

      const theirs = await deletesOf(sides.upstream);
      const ours = await deletesOf(sides.dustpan);
      expect(theirs.get('held')).toBeGreaterThan(1);
      expect(theirs.get('twice')).toBe(2);
      expect(Object.fromEntries(ours)).toEqual({ 'free-0': 1, held: 1, twice: 1 });
    },
  );
});
