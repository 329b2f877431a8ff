import { describe, expect, test } from 'vitest';
import { diskUsage, freeDiskSpaceFailed } from '../../../../src/agent/imagegc/events.ts';
import type { ImageGcFacts, ImageGcPlan } from '../../../../src/agent/imagegc/facts.ts';
import { strayContainers } from '../../../../src/agent/imagegc/holds.ts';
import { inventoryOf, outcomeOf, type RemovalResults } from '../../../../src/agent/imagegc/report.ts';
import { planImageGc } from '../../../../src/agent/imagegc/plan.ts';
import type { RemoveEntry } from '../../../../src/api/policy/policy.ts';
import { minutesAgo, now } from '../../../builders.ts';
import { container, image } from '../../../fakes/runtime.ts';
import { facts, governedBy, imageRule, nodePod } from './builders.ts';

const given = { governance: governedBy(imageRule()), now };
const disk = { capacityBytes: 10_000, availableBytes: 1_000 };
const planOf = (over: Partial<ImageGcFacts> = {}): ImageGcPlan =>
  planImageGc({ ...facts([image('a'), image('b')]), ...over }, given);
const plan = planOf();
const results = (over: Partial<RemovalResults> = {}): RemovalResults => ({
  outcomes: [],
  removed: [],
  failed: [],
  freedBytes: 0,
  freedInodes: 0,
  disk: undefined,
  missing: { bytes: 0, inodes: 0, demand: 0 },
  stopped: undefined,
  unknown: undefined,
  ...over,
});
const failing = (reason: 'Age' | 'RemoveListed') =>
  plan.removals.map((one) => ({
    kind: 'failed' as const,
    decision: { ...one, reason },
    error: new Error('busy'),
  }));
const [aged, listed] = [failing('Age'), failing('RemoveListed')];

/** An idle plan with an image, unused for a day, that the runtime has refused to remove. */
const postponed = (maximumAgeMs: number): ImageGcPlan =>
  planImageGc(
    {
      ...facts([image('a')], { disk: { ...disk, availableBytes: 9_000 } }),
      failedBefore: new Map([['sha256:a', { times: 1, retryInMs: 20_000 }]]),
    },
    { governance: governedBy(imageRule({ maximumAgeMs })), now },
  );

describe('a pass ends', () => {
  const dueIn30Days = postponed(30 * 24 * 3_600_000);
  const waiting = { ...postponed(0), selected: { due: 9, unused: 9, holdLeftMs: 1 } };
  const needed = results({ missing: { bytes: 1, inodes: 0, demand: 0 } });

  test.each<
    [name: string, plan: ImageGcPlan, results: RemovalResults | undefined, result: string, message?: string]
  >([
    [
      'in a dry run without enough removable images',
      planOf({ listed: [] }),
      undefined,
      'Short',
      "Insufficient free disk space on the node's image filesystem (90% of 9.8 KiB used). Deleting unused images would free 0 of 1000 bytes.",
    ],
    [
      'with a failed removal of an image that is too old',
      plan,
      results({ failed: aged }),
      'Failed',
      'wanted to free images older than 0s, encountered errors in image deletion: busy',
    ],
    [
      'undecided on an empty node with an unknown disk',
      planOf({ listed: [], disk: undefined }),
      undefined,
      'Unknown',
    ],
    [
      'with a failed removal of an image on the remove list',
      plan,
      results({ failed: listed }),
      'Failed',
      'wanted to remove images on the remove list, encountered errors in image deletion: busy',
    ],
    [
      'short in a dry run, with images that the policy does not select',
      planImageGc(facts([image('a'), image('b')]), {
        governance: governedBy(imageRule({ only: ['ci/*'] })),
        now,
      }),
      undefined,
      'Short',
      "Insufficient free disk space on the node's image filesystem (90% of 9.8 KiB used). Deleting unused images would free 0 of 1000 bytes. nodes.imageGC.only keeps 2 unused images, 1.95 KiB (NotSelected).",
    ],
    ['with an image postponed that is not too old yet', dueIn30Days, results(), 'Idle'],
    [
      'with an image postponed whose space is needed',
      dueIn30Days,
      needed,
      'Failed',
      'the runtime refuses to remove 1 image; dustpan tries again after a pause',
    ],
    [
      'with an image postponed while a large removal waits',
      waiting,
      results(),
      'Idle',
      'the removal of 9 of 9 unused images waits: the generation of the policy is new',
    ],
  ])('%s', (_, made, done, ...expected) => {
    const { result, message } = outcomeOf({ plan: made, results: done, disk, diskTrouble: undefined, now });
    expect([result, message]).toEqual([expected[0], expected[1]]);
  });

  test.each([
    { disk: { capacityBytes: 1023, availableBytes: 0 }, expected: 'filesystem (100% of 1023 B used).' },
    {
      disk: { capacityBytes: 100 * 1024 ** 3, availableBytes: 10 * 1024 ** 3 },
      expected: '(90% of 100.0 GiB used).',
    },
    { disk: { capacityBytes: 3 * 1024 ** 5, availableBytes: 0 }, expected: '(100% of 3072.0 TiB used).' },
    { disk: undefined, expected: "the node's image filesystem. " },
  ])('the message describes the disk as the kubelet does: $expected', ({ disk: full, expected }) => {
    const done = results({ removed: plan.removals, missing: { bytes: 1, inodes: 0, demand: 0 } });
    const { message } = outcomeOf({
      ...{ plan: { ...plan, maxImages: 9 }, results: done, disk: full },
      ...{ diskTrouble: undefined, now },
    });
    expect(message).toContain(expected);
  });
});

describe('the disk usage', () => {
  const { kept } = planOf({ containers: [container('a', { imageId: 'sha256:a' })] });

  test('is unknown for an unknown disk', () => {
    expect(diskUsage({ kept, disk: undefined, stats: undefined, logBytes: undefined })).toBeUndefined();
  });

  test('has a rest that includes unknown parts', () => {
    const unknown = { writableLayerBytes: undefined, logBytes: undefined };
    const usage = diskUsage({ kept, disk, stats: undefined, logBytes: undefined });
    expect(usage).toMatchObject({ ...unknown, restBytes: 8_000 });
    const layer = { id: 'c', labels: {}, writableLayerInodes: undefined };
    const stats = [10, undefined].map((writableLayerBytes) => ({ ...layer, writableLayerBytes }));
    const known = { writableLayerBytes: 10, logBytes: 90 };
    expect(diskUsage({ kept, disk, stats, logBytes: 90 })).toMatchObject({ ...known, restBytes: 7_900 });
  });

  test('is in the Event as far as it is known', () => {
    const node = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' };
    const attribution = diskUsage({ kept, disk, stats: undefined, logBytes: 90 });
    expect(freeDiskSpaceFailed(node, 'Full.', undefined).note).toBe('Full.');
    expect(freeDiskSpaceFailed(node, 'Full.', attribution).note).toBe(
      'Full. Used: 8.79 KiB of 9.77 KiB: images InUse 1000 B (1), writable layers unknown, logs 90 B, rest 7.72 KiB.',
    );
  });
});

test('the remove list counts the images that are left of each entry that has not ended', () => {
  const until = (pattern: string, untilMs = now.getTime() + 1) => ({ image: pattern, untilMs });
  const remove = [until('a'), until('b'), until('c', now.getTime()), until('d')];
  const given = facts([image('a'), image('a2', { tags: ['a:2', 'x:2'] }), image('b'), image('c')], {
    containers: [container('a')],
  });
  const made = planImageGc(given, { governance: governedBy(imageRule({ remove })), now });
  const listOf = (done: RemovalResults | undefined) => inventoryOf(made, done, undefined, now).removeList;
  expect(listOf(undefined)).toEqual([
    { image: 'a', inUse: 1, kept: 1 },
    { image: 'b', inUse: 0, kept: 1 },
    { image: 'd', inUse: 0, kept: 0 },
  ]);
  const removed = made.removals.filter(({ reason }) => reason === 'RemoveListed');
  expect(listOf(results({ removed }))?.[1]).toEqual({ image: 'b', inUse: 0, kept: 0 });
  expect(inventoryOf(plan, undefined, undefined, now).removeList).toBeUndefined();
});

test('an image that several entries match counts for each', () => {
  const until = (pattern: string) => ({ image: pattern, untilMs: now.getTime() + 1 });
  const byDigest = 'a@sha256:0123';
  const given = facts([image('a', { tags: ['a:1'], digests: [byDigest] })], {
    containers: [container('a')],
  });
  const governance = governedBy(imageRule({ remove: [until('a:1'), until(byDigest)] }));
  const made = planImageGc(given, { governance, now });
  expect(inventoryOf(made, undefined, undefined, now).removeList).toEqual([
    { image: 'a:1', inUse: 1, kept: 0 },
    { image: byDigest, inUse: 1, kept: 0 },
  ]);
});

test('an image on the remove list is due at the minimum age, whatever its maximum age', () => {
  const records = { a: { firstDetectedMs: minutesAgo(1), lastUsedMs: undefined } };
  const eligibleAtOf = (remove: readonly RemoveEntry[]) => {
    const governance = governedBy(imageRule({ remove, maximumAgeMs: 3_600_000, highThresholdPercent: 100 }));
    return planImageGc(facts([image('a')], { records }), { governance, now }).kept[0]?.eligibleAt;
  };
  expect(eligibleAtOf([{ image: 'a', untilMs: minutesAgo(-1) }])).toEqual(new Date(minutesAgo(-1)));
  expect(eligibleAtOf([])).toEqual(new Date(minutesAgo(-59)));
});

test('the kept images are those on the keep list, and those that the policy does not select', () => {
  const untilMs = now.getTime() + 1;
  const rule = { keep: ['a', 'b'], only: ['b', 'c'], remove: [{ image: 'd', untilMs }] };
  const images = [...['a', 'b', 'c', 'd', 'e'].map((id) => image(id)), image('p', { pinned: true })];
  const made = planImageGc(facts(images), { governance: governedBy(imageRule(rule)), now });
  expect(inventoryOf(made, undefined, undefined, now).kept.count).toBe(3);
});

test('a container that the kubelet did not create has an unknown pod', () => {
  const stray = container('s', { labels: {} });
  expect(strayContainers([stray, container('c', { pod: 'here' })], [nodePod('here', [])])).toEqual([stray]);
});
