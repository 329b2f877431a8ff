import { describe, expect, test } from 'vitest';
import type { NodeGCReportStatus } from '../../../../src/api/gen/nodegcreport.gen.ts';
import type { ImageInventory, PinState, UnpinnedReason } from '../../../../src/agent/imagegc/facts.ts';
import type { ReportFacts } from '../../../../src/agent/report/facts.ts';
import { planReport } from '../../../../src/agent/report/plan.ts';
import { now } from '../../../builders.ts';
import { noPins } from '../imagegc/builders.ts';
import { disk, facts, gib, governed, images } from './builders.ts';

const { policy } = governed();
const unmatched = {
  policy: { uid: policy.uid, generation: policy.generation },
  ...{ keep: [], only: [], maximumAgeByImage: [] },
};
/** Of a pass under the policy. */
const passImages = (over: Partial<ImageInventory>) => images({ unmatched, ...over });

const keepListAtRisk = (over: Partial<ReportFacts>, before?: NodeGCReportStatus) =>
  planReport(facts({ images: passImages({}), ...over }), before, now).conditions?.find(
    ({ type }) => type === 'KeepListAtRisk',
  );
const stateOf = (over: Partial<ReportFacts>, before?: NodeGCReportStatus): string => {
  const found = keepListAtRisk(over, before);
  return `${found?.status} ${found?.reason}`;
};

const [ahead, near] = ['False AheadOfKubelet', 'True DiskNearSignal'];
const [noList, tooHigh] = ['False NoKeepList', 'True ThresholdTooHigh'];
const undecided = 'Unknown Undecided';
const kept = (bytes: number) => ({ images: passImages({ kept: { count: 9, bytes } }) });
/** Images have a file system of their own, of the same size. */
const dedicated = (nodeDisk: ReturnType<typeof disk>) => ({ ...nodeDisk, device: 2 });

const by = (over: Parameters<typeof governed>[0]) => ({ governance: governed(over) });
const unknownDevice = { device: undefined };
const onInodes = (inodesFree: number) => disk(50, { inodesFree });

test.each<[name: string, over: Partial<ReportFacts>, expected: string]>([
  ['thresholds well below those of the kubelet', {}, ahead],
  ['no keep list', by({ keep: [], kubeletHighThresholdPercent: 50 }), noList],
  [
    'the high threshold of the kubelet, and other images than those of `only` kept',
    by({ keep: [], only: ['ci/*'], kubeletHighThresholdPercent: 85 }),
    tooHigh,
  ],
  ['the high threshold of the kubelet', by({ kubeletHighThresholdPercent: 85 }), tooHigh],
  ['no high threshold of its own', by({ highThresholdPercent: 100 }), tooHigh],
  ['image GC of the kubelet off', by({ kubeletHighThresholdPercent: 100 }), ahead],
  ['too many kept images', kept(95 * gib), 'True KeepListTooLarge'],
  ['image disk near its signal', { imageDisk: disk(84) }, near],
  ['node disk near its signal', { nodeDisk: disk(89) }, near],
  ['image inodes near their signal', { imageDisk: onInodes(69) }, near],
  [
    'inodes known only from the last pass',
    { imageDisk: undefined, images: passImages({ disk: onInodes(69) }) },
    near,
  ],
  [
    'a file system that does not count inodes',
    { imageDisk: disk(50, { inodes: undefined, inodesFree: undefined }) },
    ahead,
  ],
  [
    'node disk near, images on a disk of their own',
    { nodeDisk: dedicated(disk(99, { inodesFree: 0 })) },
    ahead,
  ],
  [
    'node disk near, devices not known, the image disk of the same size is much emptier',
    { nodeDisk: disk(89, unknownDevice) },
    ahead,
  ],
  ['no disk known', { imageDisk: undefined }, undecided],
  ['images not known', { images: undefined }, undecided],
])('KeepListAtRisk: %s', (_, over, expected) => {
  expect(stateOf(over)).toBe(expected);
});

test('a disk that was near stays at risk until it is twice as far away', () => {
  const before = planReport(facts({ images: passImages({}), imageDisk: disk(84) }), undefined, now);
  expect(stateOf({ imageDisk: disk(82) }, before)).toBe(near);
  expect(stateOf({ imageDisk: disk(81) }, before)).toBe(ahead);
});

describe('images that are pinned', () => {
  const pinned = (pins: Partial<PinState>, over: Partial<ImageInventory> = {}): Partial<ReportFacts> => ({
    governance: governed({ kubeletHighThresholdPercent: 85 }),
    images: passImages({ pins: { ...noPins, ...pins }, ...over }),
  });
  const unbound = (reason: UnpinnedReason, count = 1) => ({ reason, count, bytes: gib });

  test.each<[name: string, over: Partial<ReportFacts>, expected: string]>([
    ['all are', pinned({ bound: 2 }), 'False Pinned'],
    ['no image is on the list', pinned({}), tooHigh],
    ['one is not', pinned({ bound: 2, unbound: [unbound('NotShown')] }), tooHigh],
    [
      'the last pass was under other rules',
      pinned(
        { bound: 2 },
        { unmatched: { ...unmatched, policy: { uid: unmatched.policy.uid, generation: 99 } } },
      ),
      undecided,
    ],
    ['the last pass has pinned them', pinned({ bound: 1, unbound: [unbound('NotYet')] }), undecided],
    [
      'the last pass has pinned one, and cannot pin another',
      pinned({ unbound: [unbound('Limit'), unbound('NotYet')] }),
      tooHigh,
    ],
    ['images not known', { ...pinned({}), images: undefined }, undecided],
    [
      'only `only` protects others',
      { ...pinned({ bound: 2 }), governance: governed({ only: ['ci/*'], kubeletHighThresholdPercent: 85 }) },
      tooHigh,
    ],
    [
      'pinWanted alone, and no image of the node is wanted',
      { ...pinned({}), governance: governed({ keep: [], pinWanted: true, kubeletHighThresholdPercent: 85 }) },
      tooHigh,
    ],
    ['not all wanted images are known', pinned({ bound: 2 }, { wantedUnknown: 'no list' }), tooHigh],
    ['dustpan is ahead of the kubelet', { ...pinned({}), governance: governed() }, ahead],
  ])('KeepListAtRisk: %s', (_, over, expected) => {
    expect(stateOf(over)).toBe(expected);
  });

  test.each<[UnpinnedReason, because: string]>([
    ['Limit', 'more than maxPinnedPercent'],
    ['NotRead', 'could not be read'],
    ['NotContainerd', 'not containerd'],
    ['NotShown', '1.7.10'],
  ])('the message says why: %s', (reason, because) => {
    const { message } = keepListAtRisk(pinned({ unbound: [unbound(reason, 2), unbound('NotYet')] })) ?? {};
    expect(message).toContain('3 images not pinned: ');
    expect(message).toContain(because);
  });

  test('Degraded says why not all wanted images are known', () => {
    const { conditions } = planReport(
      facts(pinned({ bound: 2 }, { wantedUnknown: 'the list is late' })),
      undefined,
      now,
    );
    const degraded = conditions?.find(({ type }) => type === 'Degraded');
    expect(degraded).toMatchObject({ status: 'True', reason: 'WantedImagesUnknown' });
    expect(degraded?.message).toContain('the list is late');
  });

  test('Degraded says that the limit is reached, and what the kubelet would do', () => {
    const { conditions } = planReport(facts(pinned({ unbound: [unbound('Limit', 2)] })), undefined, now);
    const degraded = conditions?.find(({ type }) => type === 'Degraded');
    expect(degraded).toMatchObject({ status: 'True', reason: 'PinLimit' });
    expect(degraded?.message).toMatch(
      /^2 images that the policy keeps \(1.00 GiB\) .* maxPinnedPercent .* evict pods/,
    );
  });
});
