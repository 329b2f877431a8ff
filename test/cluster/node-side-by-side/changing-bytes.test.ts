// @bed node diskMB=512
import { execFileSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { afterEach, test } from 'vitest';
import { disk, judgedAlike, statsOf } from './changing-total.ts';

const mebi = 1024 ** 2;
const filling = `${disk}/filling`;

afterEach(() => rmSync(filling, { force: true }));

test('bytes: while the disk shrinks and grows, as a dataset of ZFS, the kubelet and dustpan evict a pod', async () => {
  await judgedAlike({
    ...{ signal: 'nodefs.available', threshold: '40%' },
    fill: () => {
      const { bavail, blocks, bsize } = statsOf();
      writeFileSync(filling, Buffer.alloc(bavail * bsize - 0.3 * blocks * bsize));
    },
    change: (second) => {
      execFileSync('mount', ['-o', `remount,size=${512 * mebi - (second % 8) * mebi}`, '/var']);
    },
    total: () => statsOf().blocks,
  });
}, 900_000);
