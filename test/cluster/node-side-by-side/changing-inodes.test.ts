// @bed node diskMB=512 loop=xfs
import { rmSync, writeFileSync } from 'node:fs';
import { afterEach, expect, test } from 'vitest';
import { disk, judgedAlike, statsOf } from './changing-total.ts';

const mebi = 1024 ** 2;
const [filling, wavering] = [`${disk}/filling`, `${disk}/wavering`];
/** The magic number of statfs(2). */
const xfs = 0x58465342;

afterEach(() => {
  for (const file of [filling, wavering]) rmSync(file, { force: true });
});

test('inodes of XFS, whose number follows the free bytes: the kubelet and dustpan evict a pod', async () => {
  expect(statsOf().type).toBe(xfs);
  await judgedAlike({
    ...{ signal: 'nodefs.inodesFree', threshold: '220000' },
    // Less than a quarter of the disk, and eight inodes in each free block.
    fill: () => {
      const { bavail, bsize } = statsOf();
      writeFileSync(filling, Buffer.alloc(bavail * bsize - 60 * mebi));
    },
    change: (second) => writeFileSync(wavering, Buffer.alloc((second % 8) * mebi)),
    total: () => statsOf().files,
  });
}, 900_000);
