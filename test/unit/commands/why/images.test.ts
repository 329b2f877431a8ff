import { expect, test } from 'vitest';
import type { ImageGcPolicy } from '../../../../src/api/policy/policy.ts';
import { diskSignals, isInodes, type DiskSignal } from '../../../../src/api/node-pressure.ts';
import { imageKeepReasons, imageRemoveReasons, nodeKeepReasons } from '../../../../src/api/reasons.ts';
import { signalText } from '../../../../src/gc/reasons/words.ts';
import type { NodePart } from '../../../../src/snapshot/plan-facts.ts';
import { container, image } from '../../../fakes/runtime.ts';
import { minutesAgo, node, now } from '../../../builders.ts';
import { imageRule, usedMinutesAgo } from '../../agent/imagegc/builders.ts';
import {
  boundPod,
  broken,
  expectExplanation,
  explained,
  flat,
  nodesPolicy,
  partOf,
  factsOf,
  shortOf,
  type Facts,
  type ReasonRow,
} from './fixtures.ts';

interface Row extends ReasonRow {
  readonly rule?: Partial<ImageGcPolicy>;
  readonly part?: Partial<NodePart>;
  readonly facts?: Facts;
}

/** The image `x` is a day old and was used an hour ago; 90 % of the disk are used, and 1000 bytes must be freed. */
const imagePart = (
  over: Partial<NodePart> = {},
  used: Record<string, number | undefined> = { x: 60 },
): NodePart => ({
  ...partOf({ images: [image('x')] }),
  state: {
    images: new Map(
      Object.entries(used).map(([name, minutes]) => [`sha256:${name}`, usedMinutesAgo(minutes)]),
    ),
    removed: [],
  },
  ...over,
});

const inodes = { highThresholdPercent: 85, lowThresholdPercent: 70 };
/** 90 % of the bytes and of the inodes are used. */
const crossed = { capacityBytes: 10_000, availableBytes: 1000, inodes: 1000, inodesFree: 100 };

const both = { images: [image('x'), image('y')] };
const governed = (rule: Partial<ImageGcPolicy> = {}, part: Partial<NodePart> = {}): Facts => ({
  policies: [nodesPolicy({ imageGC: imageRule(rule) })],
  part,
});

const rows: readonly Row[] = [
  {
    reason: 'Age',
    rule: { maximumAgeMs: 1_800_000 },
    field: 'nodes.imageGC.maximumAge=30m',
    why: 'It was last used at 2026-01-15T11:00:00Z, which is longer ago than the maximum age of 30m.',
  },
  {
    reason: 'Space',
    field: 'nodes.imageGC.highThresholdPercent=85, nodes.imageGC.lowThresholdPercent=80',
    why: 'The image file system is 90 % full, so dustpan frees 1000 B to reach 80 %; this image (last used at 2026-01-15T11:00:00Z) is the 1st to be removed.',
  },
  {
    reason: 'Space',
    rule: { maximumAgeMs: 4_800_000 },
    part: imagePart({ images: [image('x'), image('y', { sizeBytes: 100 })] }, { x: 60, y: 90 }),
    field: 'nodes.imageGC.highThresholdPercent=85, nodes.imageGC.lowThresholdPercent=80',
    why: 'The image file system is 90 % full, so dustpan frees 900 B to reach 80 %, in addition to images removed by age; this image (last used at 2026-01-15T11:00:00Z) is the 2nd to be removed.',
  },
  {
    reason: 'Age',
    rule: {
      maximumAgeByImage: [
        { image: 'base:*', maximumAgeMs: undefined },
        { image: 'x:*', maximumAgeMs: 1_800_000 },
      ],
    },
    field: 'nodes.imageGC.maximumAgeByImage[1]=x:*: 30m',
    why: 'It was last used at 2026-01-15T11:00:00Z, which is longer ago than the maximum age of 30m of images that match "x:*".',
  },
  {
    reason: 'BelowThreshold',
    rule: { maximumAgeMs: 1_800_000, maximumAgeByImage: [{ image: 'x:*', maximumAgeMs: undefined }] },
    part: imagePart({ disk: { capacityBytes: 10_000, availableBytes: 5000 } }),
    field: 'nodes.imageGC.highThresholdPercent=85, nodes.imageGC.maximumAgeByImage[0]=x:*: 0s',
    why: 'It is removable, but the image file system is only 50 % full, and dustpan removes images from 85 % on. Its maximum age is none, because it matches "x:*".',
  },
  {
    reason: 'Space',
    rule: { inodes },
    part: imagePart({ disk: { ...crossed, availableBytes: 5000 } }),
    field: 'nodes.imageGC.inodes.highThresholdPercent=85, nodes.imageGC.inodes.lowThresholdPercent=70',
    why: 'The image file system has 90 % of its inodes in use, so dustpan frees 200 inodes to reach 70 %; this image (last used at 2026-01-15T11:00:00Z) is the 1st to be removed.',
  },
  {
    reason: 'Space',
    rule: { inodes },
    part: imagePart({ disk: crossed }),
    field:
      'nodes.imageGC.highThresholdPercent=85, nodes.imageGC.lowThresholdPercent=80, nodes.imageGC.inodes.highThresholdPercent=85, nodes.imageGC.inodes.lowThresholdPercent=70',
    why: 'The image file system is 90 % full and has 90 % of its inodes in use, so dustpan frees 1000 B to reach 80 % and 200 inodes to reach 70 %; this image (last used at 2026-01-15T11:00:00Z) is the 1st to be removed.',
  },
  {
    reason: 'TargetMet',
    rule: { inodes },
    part: imagePart({ ...both, disk: { ...crossed, availableBytes: 5000 } }, { x: 60, y: 90 }),
    field: 'nodes.imageGC.inodes.lowThresholdPercent=70',
    why: 'It is removable, but the images before it free the 200 inodes needed to reach 70 %. This is an estimate, because the runtime reports no inodes per image: a pass measures the file system after each removal and continues until enough inodes are free.',
  },
  {
    reason: 'TargetMet',
    rule: { inodes, maximumAgeMs: 4_800_000 },
    part: imagePart({ ...both, disk: { ...crossed, availableBytes: 5000 } }, { x: 60, y: 90 }),
    field: 'nodes.imageGC.inodes.lowThresholdPercent=70',
    why: 'It is removable, but the images that dustpan removes by age are enough to reach 70 % of the inodes.',
  },
  {
    reason: 'BelowThreshold',
    rule: { inodes },
    part: imagePart({ disk: { ...crossed, availableBytes: 5000, inodesFree: 500 } }),
    field: 'nodes.imageGC.highThresholdPercent=85, nodes.imageGC.inodes.highThresholdPercent=85',
    why: 'It is removable, but the image file system is only 50 % full, and dustpan removes images from 85 % on. Only 50 % of its inodes are in use; dustpan removes images from 85 % on.',
  },
  {
    reason: 'BelowThreshold',
    rule: { inodes: { ...inodes, highThresholdPercent: 100 } },
    part: imagePart({ disk: { ...crossed, availableBytes: 5000 } }),
    field: 'nodes.imageGC.highThresholdPercent=85, nodes.imageGC.inodes.highThresholdPercent=100',
    why: 'It is removable, but the image file system is only 50 % full, and dustpan removes images from 85 % on. With a threshold of 100 % dustpan removes no image for inodes.',
  },
  {
    reason: 'BelowThreshold',
    rule: { inodes },
    part: imagePart({ disk: { capacityBytes: 10_000, availableBytes: 5000 } }),
    field: 'nodes.imageGC.highThresholdPercent=85, nodes.imageGC.inodes.highThresholdPercent=85',
    why: 'It is removable, but the image file system is only 50 % full, and dustpan removes images from 85 % on. The file system reports no inodes, so dustpan removes no image for inodes.',
  },
  {
    reason: 'InUse',
    part: imagePart({ containers: [container('c', { pod: 'web', imageId: 'sha256:x', state: 'Exited' })] }),
    field: null,
    why: 'Container main of pod default/web (Exited) was created from it.',
  },
  {
    reason: 'InUse',
    part: imagePart({ containers: [container('c', { name: '', pod: 'web', imageId: 'sha256:x' })] }),
    field: null,
    why: 'Container c of pod default/web (Running) was created from it.',
  },
  {
    reason: 'InUse',
    part: imagePart({ containers: [container('c', { pod: 'web', imageId: '', imageRef: 'sha256:y' })] }),
    field: null,
    why: 'Container main of pod default/web (Running) may have been created from it: the runtime reports neither an id nor a listed digest of its image, and this image has no digest.',
  },
  {
    reason: 'InUse',
    part: imagePart({ containers: [container('c', { pod: 'web', imageId: '', imageRef: 'sha256:x' })] }),
    field: null,
    why: 'Container main of pod default/web (Running) was created from it.',
  },
  {
    reason: 'InUse',
    part: imagePart({ mounted: ['sha256:x'] }),
    field: null,
    why: 'A container has mounted it.',
  },
  {
    reason: 'BoundPod',
    part: imagePart({ pods: [boundPod('web', ['x'])] }),
    field: null,
    why: 'Pod default/web, bound to this node, refers to it as x.',
  },
  {
    reason: 'BoundPod',
    part: imagePart({ pods: [{ ...boundPod('web', []), images: undefined }] }),
    field: null,
    why: 'Pod default/web, bound to this node, has more than 16 KB of image references, so it may use any image.',
  },
  {
    reason: 'Pinned',
    part: imagePart({ images: [image('x', { pinned: true })] }),
    field: 'pinned=true',
    why: 'The runtime has pinned it.',
  },
  {
    reason: 'Pinned',
    part: imagePart({ images: [image('x', { tags: ['registry.k8s.io/pause:3.10'] })] }),
    field: null,
    why: 'It is the sandbox image: without it no pod can start.',
  },
  {
    reason: 'KeepListed',
    rule: { keep: ['a', 'x:*'] },
    field: 'nodes.imageGC.keep[1]=x:*',
    why: `It matches the pattern "x:*" on the policy's keep list.`,
  },
  {
    reason: 'TooYoung',
    rule: { minimumAgeMs: 90_000_000 },
    field: 'nodes.imageGC.minimumAge=25h',
    why: 'The agent first observed it at 2026-01-14T12:00:00Z and keeps it for at least 25h.',
  },
  {
    reason: 'TooYoung',
    rule: { minimumAgeMs: 50_400_000 },
    part: imagePart({
      state: {
        images: new Map([['sha256:x', usedMinutesAgo(60)]]),
        removed: [{ digest: 'sha256:x', atMs: minutesAgo(25 * 60) }],
      },
    }),
    field: 'nodes.imageGC.minimumAge=14h, nodes.imageGC.repullBackoff=true',
    why: 'The agent first observed it at 2026-01-14T12:00:00Z and keeps it for at least 28h, twice the minimum age, because it was pulled again soon after a removal.',
  },
  {
    reason: 'UsedRecently',
    part: imagePart({}, { x: 0 }),
    field: null,
    why: 'It was in use during this pass.',
  },
  {
    reason: 'BelowThreshold',
    part: imagePart({ disk: { capacityBytes: 10_000, availableBytes: 5000 } }),
    field: 'nodes.imageGC.highThresholdPercent=85',
    why: 'It is removable, but the image file system is only 50 % full, and dustpan removes images from 85 % on.',
  },
  {
    reason: 'BelowThreshold',
    rule: { highThresholdPercent: 100 },
    field: 'nodes.imageGC.highThresholdPercent=100',
    why: 'It is removable, but with a threshold of 100 % dustpan removes no image for space.',
  },
  {
    reason: 'TargetMet',
    part: imagePart(both, { x: 60, y: 90 }),
    field: 'nodes.imageGC.lowThresholdPercent=80',
    why: 'It is removable, but the images before it free the 1000 B needed to reach 80 %.',
  },
  {
    reason: 'TargetMet',
    rule: { maximumAgeMs: 4_800_000 },
    part: imagePart(both, { x: 60, y: 90 }),
    field: 'nodes.imageGC.lowThresholdPercent=80',
    why: 'It is removable, but the images that dustpan removes by age are enough to reach 80 %.',
  },
  {
    reason: 'Holding',
    rule: { maximumAgeMs: 1_800_000, hold: { above: 1, forMs: 300_000 } },
    part: {
      ...imagePart(both, { x: 60, y: 90 }),
      state: {
        ...imagePart(both, { x: 60, y: 90 }).state,
        inForce: { policyUid: 'uid-nodes', generation: 1, since: now },
      },
    },
    field: 'nodes.imageGC.holdAbove=1, nodes.imageGC.holdFor=5m',
    why: 'It is due, but generation 1 of the policy would remove 2 of 2 unused images: more than 1, and more than half. The first such pass of a generation waits 5m.',
  },
  {
    reason: 'PacingLimit',
    rule: { maximumAgeMs: 1_800_000, maxImagesPerPass: 1 },
    part: imagePart(both, { x: 60, y: 90 }),
    field: 'nodes.imageGC.maxImagesPerPass=1',
    why: 'It is due, but a pass removes at most 1 image, and other images are before it.',
  },
  {
    reason: 'PodsUnknown',
    part: imagePart({ pods: undefined }),
    field: null,
    why: 'The agent does not know the pods of the node, and one may need it.',
  },
  {
    reason: 'ContainersUnknown',
    part: imagePart({ containers: undefined }),
    field: null,
    why: 'The agent does not know the containers of the node or their images, and one may need it.',
  },
  {
    reason: 'DiskUnknown',
    part: imagePart({ disk: undefined }),
    field: null,
    why: 'The usage of the disk cannot be measured.',
  },
  {
    reason: 'NoPolicy',
    facts: { policies: [] },
    policy: null,
    field: null,
    why: 'No GCPolicy selects the node.',
  },
  {
    reason: 'InvalidPolicy',
    facts: { policies: [broken] },
    policy: 'broken',
    field: 'spec.pods.terminated.treshold',
    why: 'GCPolicy broken is invalid and may select this node, so dustpan keeps it: spec.pods.terminated.treshold: is not a known field.',
  },
  {
    reason: 'KeepMarked',
    facts: { ...governed(), nodes: [node('node-1', { labels: { 'gc.dustpan.dev/keep': 'true' } })] },
    field: 'metadata.labels["gc.dustpan.dev/keep"]',
    why: 'The node has the label gc.dustpan.dev/keep.',
  },
  {
    reason: 'NodeUnknown',
    facts: { ...governed(), nodes: undefined },
    policy: null,
    field: null,
    why: 'The agent does not know the node or the policies.',
  },
  {
    reason: 'RuleOff',
    facts: { policies: [nodesPolicy({})] },
    field: 'nodes.imageGC is not set',
    why: 'The policy of the node has no rule for images.',
  },
];

/** Half of the disk is free, and removing images frees what a signal is short of. */
const short = (signal: DiskSignal, images: readonly string[]): Facts => {
  const { nodePressure, usage } = shortOf(signal);
  const part = imagePart({ images: images.map((name) => image(name)), usage, disk: half }, { x: 60, y: 90 });
  return { policies: [nodesPolicy({ imageGC: imageRule(), nodePressure })], part };
};
const half = { capacityBytes: 10_000, availableBytes: 5_000, inodes: 10_000, inodesFree: 5_000 };

test.each(diskSignals)('%s: the image is removed for node pressure', (signal) => {
  const wanted = isInodes(signal) ? '500 inodes' : '500 B';
  expectExplanation({ kind: 'image', text: 'x', node: undefined }, short(signal, ['x']), {
    reason: signal,
    field: `nodes.nodePressure.thresholds["${signal}"]=15%`,
    why: `The node is low on ${signalText[signal]}, so dustpan frees ${wanted}; this image (last used at 2026-01-15T11:00:00Z) is the 1st to be removed.`,
  });
});

test('an image that node pressure does not need names the amount that the images before it free', () => {
  expectExplanation({ kind: 'image', text: 'x', node: undefined }, short('nodefs.available', ['x', 'y']), {
    reason: 'TargetMet',
    field: 'nodes.nodePressure.thresholds["nodefs.available"]=15%',
    why: `It is removable, but the images before it free the 500 B that the node needs of ${signalText['nodefs.available']}.`,
  });
});

test('an image that node pressure does not need after the removals by age names the threshold', () => {
  const facts = short('nodefs.available', ['x', 'y']);
  const nodePressure = shortOf('nodefs.available').nodePressure;
  const policies = [nodesPolicy({ imageGC: imageRule({ maximumAgeMs: 4_800_000 }), nodePressure })];
  expectExplanation(
    { kind: 'image', text: 'x', node: undefined },
    { ...facts, policies },
    {
      reason: 'TargetMet',
      field: 'nodes.nodePressure.thresholds["nodefs.available"]=15%',
      why: 'It is removable, but the images that dustpan removes by age are enough to reach the threshold 15% of nodefs.available.',
    },
  );
});

test.each(rows)('$reason: $why', ({ rule, facts = governed(rule), part = imagePart(), ...row }) => {
  const text = part.images?.[0]?.tags[0] ?? '';
  expectExplanation({ kind: 'image', text, node: undefined }, { ...facts, part }, row);
});

test('the table has every reason that a plan of images can give', () => {
  // Only an agent observes a jump of the clock, and removals that fail.
  const possible = [...imageRemoveReasons, ...imageKeepReasons, ...nodeKeepReasons].filter(
    (one) => one !== 'ClockUnsure' && one !== 'RemovalFailed',
  );
  expect(new Set([...diskSignals, ...rows.map(({ reason }) => reason)])).toEqual(new Set(possible));
});

test('the explanation lists every container and pod that needs the image', () => {
  const containers = [
    container('a', { pod: 'web', imageId: 'sha256:x' }),
    container('b', { pod: 'api', imageId: 'sha256:x', state: 'Exited' }),
    container('c', { pod: 'db', imageId: 'sha256:y' }),
  ];
  const pods = [boundPod('web', ['x']), boundPod('next', ['docker.io/library/x:latest'])];
  const { explanation, table } = explained({
    question: { kind: 'image', text: 'x', node: undefined },
    facts: factsOf(governed({}, imagePart({ ...both, containers, pods }))),
  });
  expect(explanation.heldBy).toEqual([
    { container: { id: 'a', name: 'main', state: 'Running' }, pod: 'default/web' },
    { container: { id: 'b', name: 'main', state: 'Exited' }, pod: 'default/api' },
    { container: null, pod: 'default/next' },
  ]);
  expect(flat(table)).toContain(
    'Held by container main of pod default/web (Running), container main of pod default/api (Exited), pod default/next (names it)',
  );
});
