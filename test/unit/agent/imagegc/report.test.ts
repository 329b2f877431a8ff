import { describe, expect, test } from 'vitest';
import { freeDiskSpaceFailed } from '../../../../src/agent/imagegc/events.ts';
import type { ImageGcFacts, ImageGcPlan } from '../../../../src/agent/imagegc/facts.ts';
import { inventoryOf, outcomeOf, type RemovalResults } from '../../../../src/agent/imagegc/report.ts';
import { planImageGc } from '../../../../src/agent/imagegc/plan.ts';
import type { NodePod } from '../../../../src/api/node-pod.ts';
import { now } from '../../../builders.ts';
import { container, image } from '../../../fakes/runtime.ts';
import { keptBy } from '../builders.ts';
import { facts, governedBy, imageRule, nodePod, noPins } from './builders.ts';

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
  const needed = results({ missing: { bytes: 1, inodes: 0, demand: 0 } });

  test.each<
    [name: string, plan: ImageGcPlan, results: RemovalResults | undefined, result: string, message?: string]
  >([
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
      'short in a dry run, with images that the policy does not select',
      planImageGc(facts([image('a'), image('b')]), {
        governance: governedBy(imageRule({ only: ['ci/*'] })),
        now,
      }),
      undefined,
      'Short',
      "Insufficient free disk space on the node's image filesystem (90% of 9.8 KiB used). Deleting unused images would free 0 B of 1000 B. nodes.imageGC.only keeps 2 unused images, 1.95 KiB (NotSelected).",
    ],
    [
      'with a failed removal of an image on the remove list',
      plan,
      results({ failed: listed }),
      'Failed',
      'wanted to remove images on the remove list, encountered errors in image deletion: busy',
    ],
    ['with an image postponed that is not too old yet', dueIn30Days, results(), 'Idle'],
    [
      'with an image postponed whose space is needed',
      dueIn30Days,
      needed,
      'Failed',
      'the runtime refuses to remove 1 image; dustpan tries again after a pause',
    ],
  ])('%s', (_, made, done, ...expected) => {
    const { result, message } = outcomeOf({ plan: made, results: done, disk, diskTrouble: undefined, now });
    expect([result, message]).toEqual([expected[0], expected[1]]);
  });
});

test('the message about a disk that is unknown has no size', () => {
  const done = results({ removed: plan.removals, missing: { bytes: 1, inodes: 0, demand: 0 } });
  const { message } = outcomeOf({ plan, results: done, disk: undefined, diskTrouble: undefined, now });
  expect(message).toContain("the node's image filesystem. ");
});

test('an Event about a full disk has its usage as far as it is known', () => {
  const node = { apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' };
  const { kept } = planOf({ containers: [container('a', { imageId: 'sha256:a' })] });
  const noteOf = (over: Partial<Parameters<typeof freeDiskSpaceFailed>[2]>) =>
    freeDiskSpaceFailed(node, 'Full.', {
      ...{ kept, space: undefined, disk, stats: undefined, logBytes: undefined },
      ...over,
    }).note;
  expect(noteOf({ disk: undefined })).toBe('Full.');
  expect(noteOf({ logBytes: 90 })).toBe(
    'Full. Used: 8.79 KiB of 9.77 KiB: images InUse 1000 B (1), writable layers unknown, logs 90 B, rest 7.72 KiB.',
  );
  const layer = { id: 'c', labels: {}, writableLayerInodes: undefined };
  const stats = [1024, undefined].map((writableLayerBytes) => ({ ...layer, writableLayerBytes }));
  expect(noteOf({ stats })).toContain('writable layers 1.00 KiB, logs unknown');
  const [a, b] = ['sha256:a', 'sha256:b'];
  const shares = [
    { images: [a, b], bytes: 3000, heldBy: undefined },
    { images: [a], bytes: 500, heldBy: 'lease l' },
  ];
  const bytes = { unique: 500, shared: 3000, packed: 0, inexactBecause: undefined };
  const space = {
    shares,
    images: new Map([a, b].map((id) => [id, bytes])),
    ownPins: new Map(),
    sandboxImages: new Set<string>(),
  };
  const { kept: shared } = planOf({ space, pods: undefined });
  expect(noteOf({ kept: shared, space })).toContain('images PodsUnknown 3.42 KiB (2),');
  expect(noteOf({ kept: shared, space })).toContain('rest 5.37 KiB');
});

test('the remove list counts the images that are left of each entry that has not ended', () => {
  const until = (pattern: string, untilMs = now.getTime() + 1) => ({ image: pattern, untilMs });
  const remove = [until('a'), until('b'), until('c', now.getTime()), until('d')];
  const given = facts([image('a'), image('a2', { tags: ['a:2', 'x:2'] }), image('b'), image('c')], {
    containers: [container('a')],
  });
  const made = planImageGc(given, { governance: governedBy(imageRule({ remove })), now });
  const listOf = (done: RemovalResults | undefined) =>
    inventoryOf(made, done, undefined, { ...given, now, policy: undefined, matched: new Set(), pins: noPins })
      .removeList;
  expect(listOf(undefined)).toEqual([
    { image: 'a', matched: true, inUse: 1, kept: 1, untagged: 0 },
    { image: 'b', matched: true, inUse: 0, kept: 1, untagged: 0 },
    { image: 'd', matched: false, inUse: 0, kept: 0, untagged: 0 },
  ]);
  const removed = made.removals.filter(({ reason }) => reason === 'RemoveListed');
  expect(listOf(results({ removed }))?.[1]).toEqual({
    image: 'b',
    matched: true,
    inUse: 0,
    kept: 0,
    untagged: 0,
  });
  expect(
    inventoryOf(plan, undefined, undefined, {
      ...given,
      now,
      policy: undefined,
      matched: new Set(),
      pins: noPins,
    }).removeList,
  ).toBeUndefined();
});

test('the entries that match no image of the node, before the removals of the pass', () => {
  const remove = [{ image: 'c', untilMs: now.getTime() + 1 }];
  const rule = imageRule({
    remove,
    keep: ['a', 'ngnix', 'docker.io/library/a:*', 'b:2'],
    only: ['c', 'd'],
    maximumAgeByImage: ['e', 'a', 'e'].map((pattern) => ({ image: pattern, maximumAgeMs: undefined })),
  });
  const governance = governedBy(rule);
  const { policy } = governance;
  const given = facts([image('a'), image('b'), image('c')], { containers: [] });
  const made = planImageGc(given, { governance, now });
  const done = results({ removed: made.removals });
  const unmatchedOf = (by: ImageGcPlan) =>
    inventoryOf(by, done, undefined, { ...given, now, policy, matched: new Set(), pins: noPins }).unmatched;
  expect(done.removed.map(({ target }) => target.name)).toEqual(['docker.io/library/c:latest']);
  expect(unmatchedOf(made)).toEqual({
    policy: { uid: 'uid-default', generation: 1 },
    keep: [1, 3],
    only: [1],
    maximumAgeByImage: [0, 2],
  });
  const kept = planImageGc(given, { governance: keptBy('KeepMarked'), now });
  expect(unmatchedOf(kept)).toBeUndefined();
});

describe('an image that has lost its tag', () => {
  const digest = (char: string): string => `sha256:${char.repeat(64)}`;
  const app = 'registry.example.com/app';
  const old = image('old', { tags: [], digests: [`${app}@${digest('a')}`] });
  const corrected = image('new', { tags: [`${app}:1.2.3`], digests: [`${app}@${digest('b')}`] });
  const none = { containers: [], pods: [] };
  const ranBy = (reference: string, over: Partial<NodePod> = {}) => ({
    containers: [container('c', { imageId: old.id })],
    pods: [nodePod('pod', [reference], over)],
  });
  const left = (inUse: number, kept: number, untagged: number) => ({ inUse, kept, untagged });

  test.each<readonly [string, string, Pick<ImageGcFacts, 'containers' | 'pods'>, ReturnType<typeof left>]>([
    ['is in use, if its pod names the tag', `${app}:1.2*`, ranBy(`${app}:1.2.3`), left(2, 0, 0)],
    ['is perhaps left, if its pod names another', `${app}:1.2*`, ranBy(`${app}:2`), left(0, 1, 1)],
    ['is perhaps left without a pod', `${app}:1.2*`, none, left(0, 1, 1)],
    [
      'is perhaps left, if no pod is its own',
      `${app}:1.2*`,
      ranBy(`${app}:1.2.3`, { uid: 'x' }),
      left(1, 0, 1),
    ],
    [
      'is in use, if its static pod names the tag',
      `${app}:1.2*`,
      ranBy(`${app}:1.2.3`, { uid: 'mirror', configHash: 'uid-pod' }),
      left(2, 0, 0),
    ],
    ['never had a tag of an entry that is no reference', `${app}:`, none, left(0, 0, 0)],
    ['in any registry', '*/app:1.2*', none, left(0, 1, 1)],
    ['is not of another repository', 'registry.example.com/web:1.2*', none, left(0, 0, 0)],
    ['is found by its digest', `${app}@${digest('a')}`, none, left(0, 1, 0)],
    ['is found by its repository', app, none, left(0, 2, 0)],
  ])('%s', (_, pattern, users, expected) => {
    const given = facts([old, corrected], users);
    const remove = [{ image: pattern, untilMs: now.getTime() + 1 }];
    const made = planImageGc(given, { governance: governedBy(imageRule({ remove })), now });
    const { removeList } = inventoryOf(made, undefined, undefined, {
      ...given,
      now,
      policy: undefined,
      matched: new Set(),
      pins: noPins,
    });
    expect(removeList).toMatchObject([{ image: pattern, ...expected }]);
  });
});
