import { expect, test } from 'vitest';
import type {
  Demand,
  PlannedContainers,
  ReclaimResult,
  Relief,
} from '../../../../src/agent/nodepressure/facts.ts';
import { reliefOf } from '../../../../src/daemon/agent/relief.ts';
import type { FileSystemStats } from '../../../../src/node/disk/filesystem.ts';
import { noContainers } from '../../../../src/agent/nodepressure/demands.ts';

type Space = Pick<FileSystemStats, 'availableBytes' | 'inodesFree'>;

interface Row {
  readonly demand?: Partial<Demand>;
  readonly before: Space;
  /** After the pass over containers, and over images. */
  readonly after?: readonly [Space, Space?];
  readonly containers?: ReclaimResult;
  readonly planned?: PlannedContainers;
  readonly images?: ReclaimResult;
}

const space = (availableBytes: number, inodesFree?: number): Space => ({ availableBytes, inodesFree });
const dry: PlannedContainers = { ids: new Set(['c']), bytes: 30 };

const most = space(100);

/** The passes, each with the amount that it has to free. */
test.each<readonly [string, Row, passes: readonly string[], ReclaimResult]>([
  [
    'containers, then images',
    { before: most, after: [space(149), space(150)], images: 'Enough' },
    ['containers 50', 'images 1'],
    'Enough',
  ],
  ['no images once enough is available', { before: most, after: [space(150)] }, ['containers 50'], 'Enough'],
  ['nothing if the measurement of the kubelet is out of date', { before: space(150) }, [], 'Enough'],
  [
    'for inodes, whatever the bytes',
    { demand: { signal: 'imagefs.inodesFree', containers: false }, before: space(1_000, 149) },
    ['images 1'],
    'Exhausted',
  ],
  [
    'nothing for inodes that the file system does not count',
    { demand: { signal: 'nodefs.inodesFree' }, before: most },
    [],
    'Enough',
  ],
  [
    'no images that are on another file system',
    { demand: { images: false }, before: most, containers: 'MoreLeft' },
    ['containers 50'],
    'MoreLeft',
  ],
  [
    'and more is left if the pass over containers ended early',
    { before: most, containers: 'MoreLeft' },
    ['containers 50', 'images 50'],
    'MoreLeft',
  ],
  [
    'in mode DryRun fewer images, by the logs of the containers',
    { before: most, planned: dry },
    ['containers 50', 'images 20 without c'],
    'Exhausted',
  ],
  [
    'in mode DryRun as many images where logs are on another file system',
    { demand: { logs: false }, before: most, planned: dry },
    ['containers 50', 'images 50 without c'],
    'Exhausted',
  ],
])('removes %s', async (_, row, expected, result) => {
  const { demand, before, after: [afterContainers = before, afterImages] = [], planned = noContainers } = row;
  const passes: string[] = [];
  let now = before;
  const relieve = reliefOf({
    containers: {
      relieve: ({ wanted }: Relief) => {
        passes.push(`containers ${wanted}`);
        now = afterContainers;
        return Promise.resolve({ result: row.containers ?? 'Exhausted', planned });
      },
    },
    images: {
      relieve: ({ wanted, planned: { ids } }) => {
        passes.push(`images ${wanted}${[...ids].map((id) => ` without ${id}`).join('')}`);
        now = afterImages ?? now;
        return Promise.resolve(row.images ?? 'Exhausted');
      },
    },
    place: { nodeDisk: () => Promise.resolve(now), imageDisk: () => Promise.resolve(now) },
    alone: (pass, signal) => pass(signal),
  });
  const wanted: Demand = {
    ...{ signal: 'nodefs.available', threshold: '15%', wanted: 50, until: 150 },
    ...{ containers: true, logs: true, images: true },
  };
  expect(await relieve({ ...wanted, ...demand }, new AbortController().signal)).toBe(result);
  expect(passes).toEqual(expected);
});
