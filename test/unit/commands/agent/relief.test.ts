import { expect, test } from 'vitest';
import type { Demand } from '../../../../src/agent/nodepressure/facts.ts';
import type { Relief } from '../../../../src/api/node-pressure.ts';
import { reliefOf } from '../../../../src/commands/agent/relief.ts';
import type { FileSystemStats } from '../../../../src/node/disk/filesystem.ts';

type Space = Pick<FileSystemStats, 'availableBytes' | 'inodesFree'>;

/** The units that a relief runs on a node whose disk has this much space, and more after the containers. */
async function passesFor(demand: Partial<Demand>, before: Space, after = before): Promise<string[]> {
  const passes: string[] = [];
  let space = before;
  const unit = (name: string, left: Space) => ({
    collect: (_: AbortSignal, relief?: Relief) => {
      passes.push(`${name} ${relief?.until ?? ''}`);
      space = left;
      return Promise.resolve();
    },
  });
  const relieve = reliefOf({
    containers: unit('containers', after),
    images: unit('images', after),
    place: { nodeDisk: () => Promise.resolve(space), imageDisk: () => Promise.resolve(space) },
    alone: (pass, signal) => pass(signal),
  });
  const wanted: Demand = { signal: 'nodefs.available', until: 150, containers: true, images: true };
  await relieve({ ...wanted, ...demand }, new AbortController().signal);
  return passes;
}

const space = (availableBytes: number, inodesFree?: number): Space => ({ availableBytes, inodesFree });

test.each([
  {
    name: 'containers, then images',
    before: space(100),
    after: space(149),
    expected: ['containers 150', 'images 150'],
  },
  {
    name: 'no images once enough is available',
    before: space(100),
    after: space(150),
    expected: ['containers 150'],
  },
  { name: 'nothing if the measurement of the kubelet is out of date', before: space(150), expected: [] },
  {
    name: 'for inodes, whatever the bytes',
    demand: { signal: 'imagefs.inodesFree' as const, containers: false },
    before: space(1_000, 149),
    expected: ['images 150'],
  },
  {
    name: 'nothing for inodes that the file system does not count',
    demand: { signal: 'nodefs.inodesFree' as const },
    before: space(100),
    expected: [],
  },
])('removes $name', async ({ demand = {}, before, after, expected }) => {
  expect(await passesFor(demand, before, after)).toEqual(expected);
});
