// @bed node imageFsMB=512
import { beforeAll, describe, expect, test } from 'vitest';
import { shortMessage } from '../../../src/agent/imagegc/events.ts';
import { quickPeriods } from '../programs/kubelet-quick.ts';
import { applyNodesPolicy, startCollecting, startNode } from './side-by-side.ts';
import {
  collect,
  failuresOf,
  imagesListed,
  play,
  playDeviation,
  wordsOf,
  type ImageSide,
  type Thresholds,
} from './images.ts';
import { imageRounds, megabyte } from './random-images.ts';
import { passesOf } from '../servers/dustpan-process.ts';

const thresholds: Thresholds = { high: 63, low: 60, minimumAgeMs: 20_000 };
const lower: Thresholds = { ...thresholds, high: 56, low: 55 };
const policyOf = ({ high, low, minimumAgeMs }: Thresholds): object => ({
  imageGC: { highThresholdPercent: high, lowThresholdPercent: low, minimumAge: `${minimumAgeMs / 1000}s` },
});

/** Three percent of the file system, and the rest of a percent. */
const rounds = imageRounds(1, { leastBytes: 21 * megabyte });
const [, , last] = rounds;

/** What the kubelet's message begins with: ours has the same text, which is that of the kubelet since 1.35. */
function kubeletsWords(): string {
  if (process.env['DUSTPAN_KUBERNETES'] === '1.34')
    return 'FreeDiskSpaceFailed: Failed to garbage collect required amount of images. ';
  const disk = { capacityBytes: 1024, availableBytes: 1 };
  const step = { crossed: ['bytes'], wantedBytes: 1, wantedInodes: 0 } as const;
  const [first, second] = wordsOf(shortMessage(disk, step, { bytes: 1, inodes: 0 })).split('. ');
  return `FreeDiskSpaceFailed: ${first}. ${second}. `;
}

/** The images that were left. */
interface Played {
  readonly rounds: readonly (readonly string[])[];
  readonly deviation: readonly string[];
  readonly failures: Readonly<Record<'before' | 'after', readonly string[]>>;
  /** With thresholds that differ from the other side's. */
  readonly unequal?: readonly string[];
}

async function underKubelet(): Promise<Played> {
  await using cluster = await startNode({
    kubelet: {
      program: 'kubelet-quick',
      config: {
        imageGCHighThresholdPercent: thresholds.high,
        imageGCLowThresholdPercent: thresholds.low,
        imageMinimumGCAge: `${thresholds.minimumAgeMs / 1000}s`,
      },
      // The kubelet's disk measurements are at most a second old, well below its image period.
      args: ['--housekeeping-interval=500ms'],
    },
    ctd: { logLevel: 'trace' },
  });
  // Other loops list images too, and one listing may be on its way: before the last of these, a detection has begun and ended.
  const noticed = (): Promise<void> => imagesListed(cluster, 5);
  const signal: ImageSide['signal'] = (name) => cluster.kill('kubelet', name);
  const side: ImageSide = { cluster, thresholds, noticed, quietMs: 1.2 * quickPeriods.imageGcMs, signal };
  return await playAll(side, 'kubelet');
}

async function underDustpan(): Promise<Played> {
  await using cluster = await startNode({ kubelet: { program: 'kubelet-quick' } });
  await using agent = await startCollecting(cluster, policyOf(thresholds));
  const noticed = (): Promise<void> => passesOf(agent, 'imagegc', 1, ['success']);
  const signal: ImageSide['signal'] = (name) => agent.kill(name);
  const side: ImageSide = { cluster, thresholds, noticed, quietMs: 2_500, signal };
  return await playAll(side, 'dustpan');
}

async function playAll(side: ImageSide, collector: 'kubelet' | 'dustpan'): Promise<Played> {
  const left = [];
  for (const round of rounds) left.push(await play(side, round));
  const unequal = collector === 'dustpan' ? { unequal: await playUnequal(side) } : {};
  const before = await failuresOf(side.cluster, collector);
  const deviation = last === undefined ? [] : await playDeviation(side, last);
  const failures = { before, after: await failuresOf(side.cluster, collector) };
  return { rounds: left, ...unequal, deviation, failures };
}

async function playUnequal(side: ImageSide): Promise<readonly string[]> {
  await applyNodesPolicy(side.cluster, policyOf(lower));
  const left = await collect({ ...side, thresholds: lower }, 8 * megabyte);
  await applyNodesPolicy(side.cluster, policyOf(thresholds));
  return left;
}

describe('the same images under the kubelet and under dustpan', () => {
  let theirs: Played;
  let ours: Played;

  beforeAll(async () => {
    theirs = await underKubelet();
    ours = await underDustpan();
  }, 1_200_000);

  test.each(rounds.map((round, index) => ({ ...round, index })))(
    'the same are left: $name, $wanted idle images must be removed',
    ({ index, idle, wanted, fresh }) => {
      const left = theirs.rounds[index] ?? [];
      expect(ours.rounds[index]).toEqual(left);
      // As planned: idle images from the front, not the one that is too young.
      const isLeft = ({ ref }: { readonly ref: string }): boolean =>
        left.some((names) => names.startsWith(ref));
      expect(idle.map(isLeft)).toEqual(idle.map((_, nth) => nth >= wanted));
      expect(isLeft(fresh)).toBe(true);
    },
  );

  test('a lower threshold removes more: the comparison detects a difference', () => {
    const left = theirs.rounds.at(-1) ?? [];
    expect(ours.unequal).not.toEqual(left);
    expect(left).toEqual(expect.arrayContaining([...(ours.unequal ?? [])]));
  });

  test('differs where docs/deviations.md says so', () => {
    // The kubelet counts packed sizes: all images are not enough, so it removes all, including the awaited one, and reports a failure.
    const isTwice = (names: string): boolean => names.startsWith('bed.test/twice-');
    expect(theirs.deviation.filter(isTwice)).toEqual([]);
    expect(theirs.deviation).not.toContain('bed.test/awaited:1');
    expect(theirs.failures).toEqual({
      before: [],
      after: [expect.stringContaining(kubeletsWords()) as string],
    });

    expect(ours.deviation.filter(isTwice)).toHaveLength(2);
    expect(ours.deviation).toContain('bed.test/awaited:1');
    expect(ours.failures).toEqual({ before: [], after: [] });
  });
});
