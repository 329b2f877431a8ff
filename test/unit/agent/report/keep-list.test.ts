import { describe, expect, test } from 'vitest';
import type { NodeGCReportStatus } from '../../../../src/api/gen/nodegcreport.gen.ts';
import { planReport } from '../../../../src/agent/report/plan.ts';
import { now } from '../../../builders.ts';
import { disk, facts, gib, governed, images } from './builders.ts';

describe('KeepListAtRisk', () => {
  const conditionOf = ({ conditions = [] }: NodeGCReportStatus) =>
    conditions.find(({ type }) => type === 'KeepListAtRisk');
  const of = (over: Parameters<typeof facts>[0], before?: NodeGCReportStatus): string => {
    const found = conditionOf(planReport(facts(over), before, now));
    return `${found?.status} ${found?.reason}`;
  };

  test.each([
    { name: 'well ahead of the kubelet', over: {}, expected: 'False AheadOfKubelet' },
    {
      name: 'nothing is kept',
      over: { governance: governed({ keep: [], kubeletHighThresholdPercent: 50 }) },
      expected: 'False NoKeepList',
    },
    {
      name: 'no policy',
      over: { governance: { kind: 'keep', reason: 'NoPolicy', policy: undefined } as const },
      expected: 'False NoKeepList',
    },
    {
      name: 'the kubelet begins where we do',
      over: { governance: governed({ kubeletHighThresholdPercent: 85 }) },
      expected: 'True ThresholdTooHigh',
    },
    {
      name: 'our low threshold is right below the one of the kubelet',
      over: {
        governance: governed({
          lowThresholdPercent: 84,
          highThresholdPercent: 87,
          kubeletHighThresholdPercent: 88,
        }),
      },
      expected: 'True ThresholdTooHigh',
    },
    {
      name: 'the image GC of the kubelet is off',
      over: { governance: governed({ kubeletHighThresholdPercent: 100 }) },
      expected: 'False AheadOfKubelet',
    },
    {
      name: 'kept images alone are too many',
      over: { images: images({ kept: { count: 9, bytes: 95 * gib } }) },
      expected: 'True KeepListTooLarge',
    },
    {
      name: 'kept images are just not too many',
      over: { images: images({ kept: { count: 9, bytes: 95 * gib - 1 } }) },
      expected: 'False AheadOfKubelet',
    },
    { name: 'the disk is near the signal', over: { imageDisk: disk(84) }, expected: 'True DiskNearSignal' },
    { name: 'the disk is not yet near', over: { imageDisk: disk(83) }, expected: 'False AheadOfKubelet' },
    {
      name: 'the disk of the node is near its own signal',
      over: { nodeDisk: disk(89) },
      expected: 'True DiskNearSignal',
    },
    { name: 'the disk of the node is not', over: { nodeDisk: disk(88) }, expected: 'False AheadOfKubelet' },
    {
      name: 'inodes of the image file system are near the signal',
      over: { imageDisk: disk(50, { inodesFree: 69 }) },
      expected: 'True DiskNearSignal',
    },
    {
      name: 'inodes of the image file system are not yet near',
      over: { imageDisk: disk(50, { inodesFree: 70 }) },
      expected: 'False AheadOfKubelet',
    },
    {
      name: 'the last pass alone knows the inodes',
      over: { imageDisk: undefined, images: images({ disk: disk(50, { inodesFree: 69 }) }) },
      expected: 'True DiskNearSignal',
    },
    {
      name: 'inodes of the node are near their own signal',
      over: { nodeDisk: disk(50, { inodesFree: 69 }) },
      expected: 'True DiskNearSignal',
    },
    {
      name: 'the image file system does not count inodes',
      over: { imageDisk: disk(50, { inodes: undefined, inodesFree: undefined }) },
      expected: 'False AheadOfKubelet',
    },
    {
      name: 'the disk of the node is near, and images have one of their own',
      over: { nodeDisk: { ...disk(99, { inodesFree: 0 }), capacityBytes: 101 * gib } },
      expected: 'False AheadOfKubelet',
    },
    {
      name: 'images have a disk of their own, and it is near',
      over: { imageDisk: disk(84), nodeDisk: { ...disk(1), capacityBytes: 101 * gib } },
      expected: 'True DiskNearSignal',
    },
    {
      name: 'the disk of the node is near, and that of images is not known',
      over: { imageDisk: undefined, nodeDisk: disk(89) },
      expected: 'True DiskNearSignal',
    },
    { name: 'no disk is known', over: { imageDisk: undefined }, expected: 'Unknown Undecided' },
    { name: 'no image is known', over: { images: undefined }, expected: 'Unknown Undecided' },
  ])('$name', ({ over, expected }) => {
    expect(of(over)).toBe(expected);
  });

  test.each([
    {
      over: { imageDisk: disk(84) },
      says: 'The image file system is near .*\\(imagefs.available below 15 %',
    },
    {
      over: { imageDisk: disk(50, { inodesFree: 0 }) },
      says: 'The image file system is near .*\\(imagefs.inodesFree below 5 %',
    },
    {
      over: { nodeDisk: disk(89) },
      says: 'The file system of the node is near .*\\(nodefs.available below 10 %',
    },
    {
      over: { nodeDisk: disk(50, { inodesFree: 0 }) },
      says: 'The file system of the node is near .*\\(nodefs.inodesFree below 5 %',
    },
  ])('the message names the signal: $says', ({ over, says }) => {
    expect(conditionOf(planReport(facts(over), undefined, now))?.message).toMatch(new RegExp(says));
  });

  test('a disk that was near stays so until it is clearly away', () => {
    const near = planReport(facts({ imageDisk: disk(84) }), undefined, now);
    expect(of({ imageDisk: disk(82) }, near)).toBe('True DiskNearSignal');
    expect(of({ imageDisk: disk(81) }, near)).toBe('False AheadOfKubelet');
  });
});
