import { expect, test } from 'vitest';
import type { NodeGCReportStatus } from '../../../../src/api/gen/nodegcreport.gen.ts';
import type { ReportFacts } from '../../../../src/agent/report/facts.ts';
import { planReport } from '../../../../src/agent/report/plan.ts';
import { now } from '../../../builders.ts';
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

test.each<{ readonly name: string; readonly over: Partial<ReportFacts>; readonly expected: string }>([
  { name: 'thresholds well below those of the kubelet', over: {}, expected: ahead },
  {
    name: 'no keep list',
    over: { governance: governed({ keep: [], kubeletHighThresholdPercent: 50 }) },
    expected: noList,
  },
  {
    name: 'no policy',
    over: { governance: { kind: 'keep', reason: 'NoPolicy', policy: undefined } },
    expected: noList,
  },
  {
    name: 'the high threshold of the kubelet',
    over: { governance: governed({ kubeletHighThresholdPercent: 85 }) },
    expected: tooHigh,
  },
  {
    name: 'a low threshold right below the high one of the kubelet',
    over: {
      governance: governed({
        lowThresholdPercent: 84,
        highThresholdPercent: 87,
        kubeletHighThresholdPercent: 88,
      }),
    },
    expected: tooHigh,
  },
  {
    name: 'image GC of the kubelet off',
    over: { governance: governed({ kubeletHighThresholdPercent: 100 }) },
    expected: ahead,
  },
  { name: 'too many kept images', over: kept(95 * gib), expected: 'True KeepListTooLarge' },
  { name: 'kept images just below the limit', over: kept(95 * gib - 1), expected: ahead },
  { name: 'image disk near its signal', over: { imageDisk: disk(84) }, expected: near },
  { name: 'image disk not near', over: { imageDisk: disk(83) }, expected: ahead },
  { name: 'node disk near its signal', over: { nodeDisk: disk(89) }, expected: near },
  { name: 'node disk not near', over: { nodeDisk: disk(88) }, expected: ahead },
  {
    name: 'image inodes near their signal',
    over: { imageDisk: disk(50, { inodesFree: 69 }) },
    expected: near,
  },
  { name: 'image inodes not near', over: { imageDisk: disk(50, { inodesFree: 70 }) }, expected: ahead },
  {
    name: 'inodes known only from the last pass',
    over: { imageDisk: undefined, images: images({ disk: disk(50, { inodesFree: 69 }) }) },
    expected: near,
  },
  { name: 'node inodes near their signal', over: { nodeDisk: disk(50, { inodesFree: 69 }) }, expected: near },
  {
    name: 'a file system that does not count inodes',
    over: { imageDisk: disk(50, { inodes: undefined, inodesFree: undefined }) },
    expected: ahead,
  },
  {
    name: 'node disk near, images on a disk of their own',
    over: { nodeDisk: dedicated(disk(99, { inodesFree: 0 })) },
    expected: ahead,
  },
  {
    name: 'image disk of its own near',
    over: { imageDisk: disk(84), nodeDisk: dedicated(disk(1)) },
    expected: near,
  },
  {
    name: 'node disk near, image disk not known',
    over: { imageDisk: undefined, nodeDisk: disk(89) },
    expected: near,
  },
  {
    name: 'node disk near, devices not known, the image disk of the same size is much emptier',
    over: { nodeDisk: disk(89, { device: undefined }) },
    expected: ahead,
  },
  {
    name: 'node disk near, devices not known, the image disk has the same values',
    over: { nodeDisk: disk(83, { device: undefined, inodesFree: 899 }), imageDisk: disk(83) },
    expected: ahead,
  },
  { name: 'no disk known', over: { imageDisk: undefined }, expected: undecided },
  { name: 'images not known', over: { images: undefined }, expected: undecided },
])('KeepListAtRisk: $name', ({ over, expected }) => {
  expect(stateOf(over)).toBe(expected);
});

test.each([
  {
    over: { imageDisk: disk(84) },
    expected: 'The image file system is near .*\\(imagefs.available below 15 %',
  },
  {
    over: { imageDisk: disk(50, { inodesFree: 0 }) },
    expected: 'The image file system is near .*\\(imagefs.inodesFree below 5 %',
  },
  {
    over: { nodeDisk: disk(89) },
    expected: 'The file system of the node is near .*\\(nodefs.available below 10 %',
  },
  {
    over: { nodeDisk: disk(50, { inodesFree: 0 }) },
    expected: 'The file system of the node is near .*\\(nodefs.inodesFree below 5 %',
  },
])('the message names the signal: $expected', ({ over, expected }) => {
  expect(keepListAtRisk(over)?.message).toMatch(new RegExp(expected));
});

test('a disk that was near stays at risk until it is twice as far away', () => {
  const before = planReport(facts({ imageDisk: disk(84) }), undefined, now);
  expect(stateOf({ imageDisk: disk(82) }, before)).toBe(near);
  expect(stateOf({ imageDisk: disk(81) }, before)).toBe(ahead);
});
