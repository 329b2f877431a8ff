import { beforeEach, describe, expect, test } from 'vitest';
import type { DiskSpace } from '../../../../src/node/disk/filesystem.ts';
import { image } from '../../../fakes/runtime.ts';
import { facts, planOf, usedMinutesAgo, verdicts } from './builders.ts';
import { governed, Node } from './environment.ts';

const inodes = { highThresholdPercent: 85, lowThresholdPercent: 80 };
/** Half of the bytes and 90 % of the inodes are used: 100 inodes are wanted. */
const crossed: DiskSpace = { capacityBytes: 10_000, availableBytes: 5000, inodes: 1000, inodesFree: 100 };
const three = [
  image('a', { sizeBytes: 100 }),
  image('b', { sizeBytes: 800 }),
  image('c', { sizeBytes: 100 }),
];
/** In the order a, b, c. */
const records = { a: usedMinutesAgo(30), b: usedMinutesAgo(20), c: usedMinutesAgo(10) };

describe('a plan for inodes', () => {
  type Given = { readonly disk?: Partial<DiskSpace> } & Parameters<typeof planOf>[1];
  const enough = 'a Space, b Space';
  const rule = (highThresholdPercent: number, lowThresholdPercent: number) => ({
    inodes: { highThresholdPercent, lowThresholdPercent },
  });
  const minutes = (count: number) => ({ maximumAgeMs: count * 60_000 });
  const uncounted = { state: 'Idle', usedInodesPercent: undefined, isUncounted: true };

  test.each<readonly [name: string, given: Given, removed: string, expected: object]>([
    [
      'spreads the used inodes over the images by size: 90 for a, 720 for b, 90 for c',
      {},
      enough,
      { state: 'Free', crossed: ['inodes'], wantedInodes: 100, plannedInodes: 810 },
    ],
    [
      'does not believe a runtime that counts more inodes than are used',
      { disk: { inodesUsed: 5000 } },
      enough,
      { plannedInodes: 810 },
    ],
    [
      'frees bytes and inodes if both are crossed: the later target decides',
      { disk: { availableBytes: 1000 } },
      'a Space, b Space, c Space',
      { state: 'Free', crossed: ['bytes', 'inodes'], wantedBytes: 1000, wantedInodes: 100 },
    ],
    [
      'leaves the inodes alone that are between their thresholds while bytes are crossed',
      { disk: { availableBytes: 1450, inodesFree: 151 }, ...rule(86, 10) },
      enough,
      { crossed: ['bytes'], wantedBytes: 550, wantedInodes: 0, usedInodesPercent: 85 },
    ],
    ['needs no threshold for bytes', { highThresholdPercent: 100 }, enough, { state: 'Free' }],
    ['needs less by the images that are too old', minutes(25), 'a Age, b Space', { wantedInodes: 10 }],
    [
      'never removes for inodes that the file system does not report',
      { disk: { inodes: undefined, inodesFree: undefined } },
      '',
      uncounted,
    ],
    ['is off without the block', { inodes: undefined }, '', { state: 'Idle' }],
    [
      'does not believe the inodes of a disk without capacity',
      { disk: { capacityBytes: 0, availableBytes: 0 } },
      '',
      { state: 'Unknown', crossed: [] },
    ],
    ['never removes for inodes of which it reports 0', { disk: { inodes: 0, inodesFree: 0 } }, '', uncounted],
  ])('%s', (_, { disk, ...over }, removed, expected) => {
    const plan = planOf(facts(three, { records, disk: { ...crossed, ...disk } }), { inodes, ...over });
    expect(verdicts(plan).removed.join(', ')).toBe(removed);
    expect(plan).toMatchObject(expected);
  });

  test('cannot be made while the disk is unknown, even without a threshold for bytes', () => {
    const plan = planOf(facts(three, { disk: undefined }), { highThresholdPercent: 100, inodes });
    expect(verdicts(plan).kept).toEqual({ a: 'DiskUnknown', b: 'DiskUnknown', c: 'DiskUnknown' });
    expect(plan).toMatchObject({ state: 'Unknown', isUncounted: false });
  });
});

describe('a pass for inodes', () => {
  let node: Node;
  beforeEach(async () => {
    node = new Node();
    node.fill();
    node.otherBytes = -8000;
    node.governance = governed({ inodes });
    await node.observe();
  });

  test('records an Event that names the inodes if all images are not enough', async () => {
    node.inodes = { total: 1000, other: 891, of: () => 1 };
    expect(await node.pass()).toMatchObject({ result: 'Short', removed: 9 });
    const [event] = node.recorder.events;
    expect(event).toMatchObject({ reason: 'FreeDiskSpaceFailed' });
    expect(event?.note).toContain(
      "Insufficient free inodes on the node's image filesystem (90% of 1000 used). Failed to free sufficient inodes by deleting unused images (freed 9 inodes). Wanted 100 inodes.",
    );
    expect(event?.note).not.toContain('disk space');
  });

  test.each([
    { name: 'does not cost every image', bytes: -8000, grown: 0, removed: 1 },
    { name: 'goes on for the bytes', bytes: 0, grown: 700, removed: 4 },
  ])('that the file system does not show as freed inodes $name', async ({ bytes, grown, removed }) => {
    node.otherBytes = bytes;
    let other = 0;
    node.inodes = { total: 1000, other, of: () => 100 };
    node.runtime.before = (call) => {
      if (call !== 'removeImage') return;
      node.otherBytes += grown;
      node.inodes = { total: 1000, other: (other += 100), of: () => 100 };
    };
    expect(await node.pass()).toMatchObject({
      ...{ result: 'Short', removed },
      message:
        'removed images of the planned size, but the usage of the file system did not fall accordingly',
    });
  });

  test('ends if the file system cannot be measured: nothing shows the inodes of an image', async () => {
    node.inodes = { total: 1000, other: 720, of: () => 20 };
    node.runtime.before = (call) => {
      if (call === 'removeImage') node.diskError = new Error('statfs failed');
    };
    expect(await node.pass()).toMatchObject({
      ...{ result: 'Short', removed: 1, message: 'the inodes of the file system cannot be measured' },
    });
  });

  test('warns on a file system that reports no inodes', async () => {
    expect(await node.pass()).toMatchObject({
      ...{ result: 'Idle', removed: 0 },
      message: 'the image file system reports no inodes: nodes.imageGC.inodes removes no image',
    });
  });
});
