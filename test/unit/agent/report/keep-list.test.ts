import { expect, test } from 'vitest';
import type { NodeGCReportStatus } from '../../../../src/api/gen/nodegcreport.gen.ts';
import type { ReportFacts } from '../../../../src/agent/report/facts.ts';
import { planReport } from '../../../../src/agent/report/plan.ts';
import { now } from '../../../builders.ts';
import { keptBy } from '../builders.ts';
import { disk, facts, gib, governed, images } from './builders.ts';

const keepListAtRisk = (over: Partial<ReportFacts>, before?: NodeGCReportStatus) =>
  planReport(facts(over), before, now).conditions?.find(({ type }) => type === 'KeepListAtRisk');
const stateOf = (over: Partial<ReportFacts>, before?: NodeGCReportStatus): string => {
  const found = keepListAtRisk(over, before);
  return `${found?.status} ${found?.reason}`;
};

const [ahead, near] = ['False AheadOfKubelet', 'True DiskNearSignal'];
const [noList, tooHigh] = ['False NoKeepList', 'True ThresholdTooHigh'];
const undecided = 'Unknown Undecided';
const kept = (bytes: number) => ({ images: images({ kept: { count: 9, bytes } }) });
/** Images have a file system of their own, of the same size. */
const dedicated = (nodeDisk: ReturnType<typeof disk>) => ({ ...nodeDisk, device: 2 });

const by = (over: Parameters<typeof governed>[0]) => ({ governance: governed(over) });
const nearKubelet = { lowThresholdPercent: 84, highThresholdPercent: 87, kubeletHighThresholdPercent: 88 };
const unknownDevice = { device: undefined };
const onInodes = (inodesFree: number) => disk(50, { inodesFree });

test.each<[name: string, over: Partial<ReportFacts>, expected: string]>([
  ['thresholds well below those of the kubelet', {}, ahead],
  ['no keep list', by({ keep: [], kubeletHighThresholdPercent: 50 }), noList],
  ['other images than those of `only` kept', by({ keep: [], only: ['ci/*'] }), ahead],
  [
    'the high threshold of the kubelet, and other images than those of `only` kept',
    by({ keep: [], only: ['ci/*'], kubeletHighThresholdPercent: 85 }),
    tooHigh,
  ],
  ['no policy', { governance: keptBy('NoPolicy') }, noList],
  ['the high threshold of the kubelet', by({ kubeletHighThresholdPercent: 85 }), tooHigh],
  ['a low threshold right below the high one of the kubelet', by(nearKubelet), tooHigh],
  ['image GC of the kubelet off', by({ kubeletHighThresholdPercent: 100 }), ahead],
  ['too many kept images', kept(95 * gib), 'True KeepListTooLarge'],
  ['kept images just below the limit', kept(95 * gib - 1), ahead],
  ['image disk near its signal', { imageDisk: disk(84) }, near],
  ['image disk not near', { imageDisk: disk(83) }, ahead],
  ['node disk near its signal', { nodeDisk: disk(89) }, near],
  ['node disk not near', { nodeDisk: disk(88) }, ahead],
  ['image inodes near their signal', { imageDisk: onInodes(69) }, near],
  ['image inodes not near', { imageDisk: onInodes(70) }, ahead],
  [
    'inodes known only from the last pass',
    { imageDisk: undefined, images: images({ disk: onInodes(69) }) },
    near,
  ],
  ['node inodes near their signal', { nodeDisk: onInodes(69) }, near],
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
  ['image disk of its own near', { imageDisk: disk(84), nodeDisk: dedicated(disk(1)) }, near],
  ['node disk near, image disk not known', { imageDisk: undefined, nodeDisk: disk(89) }, near],
  [
    'node disk near, devices not known, the image disk of the same size is much emptier',
    { nodeDisk: disk(89, unknownDevice) },
    ahead,
  ],
  [
    'node disk near, devices not known, the image disk has the same values',
    { nodeDisk: disk(83, { ...unknownDevice, inodesFree: 899 }), imageDisk: disk(83) },
    ahead,
  ],
  ['no disk known', { imageDisk: undefined }, undecided],
  ['images not known', { images: undefined }, undecided],
])('KeepListAtRisk: %s', (_, over, expected) => {
  expect(stateOf(over)).toBe(expected);
});

test.each<[signal: string, fileSystem: string, over: Partial<ReportFacts>]>([
  ['imagefs.available below 15 %', 'image file system', { imageDisk: disk(84) }],
  ['imagefs.inodesFree below 5 %', 'image file system', { imageDisk: onInodes(0) }],
  ['nodefs.available below 10 %', 'file system of the node', { nodeDisk: disk(89) }],
  ['nodefs.inodesFree below 5 %', 'file system of the node', { nodeDisk: onInodes(0) }],
])('the message names the signal: %s', (signal, fileSystem, over) => {
  expect(keepListAtRisk(over)?.message).toMatch(new RegExp(`The ${fileSystem} is near .*\\(${signal}`));
});

test('a disk that was near stays at risk until it is twice as far away', () => {
  const before = planReport(facts({ imageDisk: disk(84) }), undefined, now);
  expect(stateOf({ imageDisk: disk(82) }, before)).toBe(near);
  expect(stateOf({ imageDisk: disk(81) }, before)).toBe(ahead);
});
