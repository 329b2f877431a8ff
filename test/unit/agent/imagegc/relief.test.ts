import { describe, expect, test } from 'vitest';
import { reliefRule } from '../../../../src/agent/imagegc/disk.ts';
import { imageRule } from './builders.ts';

describe('the rule for a relief', () => {
  const disk = { capacityBytes: 1_000, availableBytes: 100, inodes: 200, inodesFree: 20 };
  const off = { highThresholdPercent: 100, lowThresholdPercent: 99 };

  test.each([
    [
      'bytes',
      disk,
      'nodefs.available',
      150,
      { highThresholdPercent: 0, lowThresholdPercent: 85, inodes: undefined },
    ],
    [
      'rounded so that enough is free',
      disk,
      'nodefs.available',
      151,
      { highThresholdPercent: 0, lowThresholdPercent: 84 },
    ],
    [
      'inodes',
      disk,
      'imagefs.inodesFree',
      30,
      { ...off, inodes: { highThresholdPercent: 0, lowThresholdPercent: 85 } },
    ],
    [
      'more than there is',
      disk,
      'nodefs.available',
      2_000,
      { highThresholdPercent: 0, lowThresholdPercent: 0 },
    ],
    ['an unknown disk', undefined, 'nodefs.available', 150, { ...off, inodes: undefined }],
    [
      'a file system without inodes',
      { capacityBytes: 1_000, availableBytes: 100 },
      'nodefs.inodesFree',
      30,
      { ...off, inodes: undefined },
    ],
  ] as const)('%s', (...[, measured, signal, until, expected]) => {
    expect(reliefRule(imageRule({ keep: ['nginx'] }), measured, { signal, until })).toMatchObject({
      keep: ['nginx'],
      ...expected,
    });
  });
});
