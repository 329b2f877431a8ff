import { byDiskSignal, type DiskSignal } from '../../../../src/api/node-pressure.ts';
import type { ImageGcPolicy } from '../../../../src/api/policy/policy.ts';
import { imageKeepReasons, imageRemoveReasons } from '../../../../src/api/reasons.ts';
import type { ImageDecision, ImageGcFacts } from '../../../../src/agent/imagegc/facts.ts';
import { planImageGc } from '../../../../src/agent/imagegc/plan.ts';
import { explainImage } from '../../../../src/agent/imagegc/words.ts';
import type { NodePart } from '../../../../src/snapshot/plan-facts.ts';
import { minutesAgo, node, now } from '../../../builders.ts';
import { container, image } from '../../../fakes/runtime.ts';
import { facts, governedBy, imageRule, usedMinutesAgo } from '../../agent/imagegc/builders.ts';
import { boundPod, keepMark, nodesPolicy, partOf, shortOf, type Facts } from '../facts.ts';
import { actedCases, casesOf, explained, testReasons, type Cases, type NodeWide } from './catalogue.ts';

/** The image `x` is a day old and was used an hour ago; 90 % of the disk are used, and 1000 bytes must be freed. */
const partWith = (over: Partial<NodePart> = {}, used: Record<string, number> = { x: 60 }): NodePart => ({
  ...partOf({ images: [image('x')] }),
  state: {
    images: new Map(
      Object.entries(used).map(([name, minutes]) => [`sha256:${name}`, usedMinutesAgo(minutes)]),
    ),
    removed: [],
  },
  ...over,
});

const governed = (rule: Partial<ImageGcPolicy> = {}, part: NodePart = partWith()): Facts => ({
  policies: [nodesPolicy({ imageGC: imageRule(rule) })],
  part,
});
const on = (over: Partial<NodePart>): Facts => governed({}, partWith(over));

const half = { capacityBytes: 10_000, availableBytes: 5000 };
const smallImage = image('y', { sizeBytes: 100 });
const inodes = { highThresholdPercent: 85, lowThresholdPercent: 70 };
/** 90 % of the inodes are used. */
const fewInodes = { ...half, inodes: 1000, inodesFree: 100 };
const listed = (pattern: string) => ({ image: pattern, untilMs: minutesAgo(-60) });

/** Another image, used before `x`. */
const two = (over: Partial<NodePart> = {}): NodePart =>
  partWith({ images: [image('x'), image('y')], ...over }, { x: 60, y: 90 });
/** `y` is too old, `x` is not. */
const isOld = { maximumAgeMs: 4_800_000 };

/** Half of the disk is free, and removing images frees what a signal is short of. */
const short = (signal: DiskSignal, part: NodePart = partWith(), rule: Partial<ImageGcPolicy> = {}): Facts => {
  const { nodePressure, usage } = shortOf(signal);
  return {
    policies: [nodesPolicy({ imageGC: imageRule(rule), nodePressure })],
    part: { ...part, usage, disk: { ...half, inodes: 10_000, inodesFree: 5_000 } },
  };
};

/** Half of the disk is free, 3500 bytes below 85 %; the pull needs 4000. */
const pulling: NodePart = two({
  disk: half,
  pods: ['web-1', 'web-2'].map((name) => ({
    ...boundPod(name, ['big:1']),
    awaited: [{ image: 'big:1', reason: 'ContainerCreating' }],
  })),
  state: { ...two().state, pullBytes: new Map([['docker.io/library/big:1', 4000]]) },
});

const pinnedBy = (policy: string, pinned: boolean): NodePart =>
  partWith({
    images: [image('x', { pinned })],
    space: {
      shares: [],
      images: new Map(),
      ownPins: new Map([['sha256:x', policy]]),
      sandboxImages: new Set<string>(),
    },
  });

const madeFrom = (id: string, over: Parameters<typeof container>[1]): Facts =>
  on({ containers: [container(id, { pod: 'web', ...over })] });

/** Only an agent observes a jump of the clock, and removals that fail, and waits for its first list of wanted images. */
const live: Readonly<Record<'ClockUnsure' | 'RemovalFailed' | 'WantedUnknown', Partial<ImageGcFacts>>> = {
  ClockUnsure: { clockUnsure: true },
  WantedUnknown: { wanted: { images: [], elsewhere: [], unknownBecause: 'no list', awaitedForMs: 1 } },
  RemovalFailed: { failedBefore: new Map([['sha256:x', { times: 1, retryInMs: 20_000 }]]) },
};

/** About the image `x`, unless `ask` names another. */
const planned: Cases<
  Exclude<ImageDecision['reason'], keyof typeof live | NodeWide>,
  Facts & { readonly ask?: string }
> = {
  RemoveListed: { 'the second entry': governed({ remove: [listed('y'), listed('x:*')] }) },
  Age: {
    'the age of all': governed({ maximumAgeMs: 1_800_000 }),
  },
  Space: {
    'after one that is removed by age': governed(isOld, two({ images: [image('x'), smallImage] })),
    'for bytes and inodes': governed({ inodes }, partWith({ disk: { ...fewInodes, availableBytes: 1000 } })),
  },
  PullHeadroom: {
    'two pods wait for an image': { ...governed({ pullHeadroom: true }, pulling), ask: 'y' },
  },
  ...byDiskSignal((signal) => ({ 'for node pressure': short(signal) })),
  InUse: {
    'by a container that has ended, without a name': madeFrom('c', {
      ...{ imageId: 'sha256:x', state: 'Exited', name: '' },
    }),
    'perhaps, by a container of an unknown image': madeFrom('c', { imageId: '', imageRef: 'sha256:y' }),
    'by a container, on the remove list': governed(
      { remove: [listed('x')] },
      partWith({ containers: [container('c', { pod: 'web', imageId: 'sha256:x' })] }),
    ),
    'by containers that have its layers': on({
      containers: [container('c', { pod: 'web', imageId: 'sha256:x' })],
      space: {
        ...{ ownPins: new Map<string, string>(), sandboxImages: new Set<string>() },
        shares: ['container c', 'container of-ctr'].map((heldBy) => ({
          ...{ images: ['sha256:x'], bytes: 1024, packedBytes: 0, heldBy },
        })),
        images: new Map([['sha256:x', { unique: 4096, shared: 0, packed: 1024, inexactBecause: undefined }]]),
      },
    }),
    'by a mount': on({ mounted: ['sha256:x'] }),
  },
  BoundPod: {
    'which names it': on({ pods: [boundPod('web', ['x'])] }),
    'with too many references': on({ pods: [{ ...boundPod('web'), images: undefined }] }),
  },
  Pinned: {
    'by the runtime': on({ images: [image('x', { pinned: true })] }),
    'as the sandbox image that the runtime reports': on({ sandboxImage: 'x' }),
    'by the name of a sandbox image': on({
      images: [image('x', { tags: ['docker.io/library/x:latest', 'example.com/pause:1'] })],
    }),
  },
  NotSelected: {
    'another name': governed({ only: ['registry.example.com/ci/*'] }),
  },
  KeepListed: {
    'by the second pattern': governed({ keep: ['a', 'x:*'] }),
    'pinned by dustpan': governed({ keep: ['x'] }, pinnedBy('nodes', true)),
    'pinned by dustpan, which the runtime does not show': governed({ keep: ['x'] }, pinnedBy('nodes', false)),
  },
  Wanted: {
    'by a CronJob': {
      ...governed({ pinWanted: true }),
      wanted: {
        listedAtMs: now.getTime(),
        images: [{ image: 'x', workload: 'CronJob batch/report', nodeSelector: {} }],
        omitted: 0,
      },
    },
    'perhaps, pinned by dustpan': {
      ...governed({ pinWanted: true }, pinnedBy('nodes', true)),
      wanted: 'the controller has not written ConfigMap dustpan-system/dustpan-wanted-images',
    },
  },
  TooYoung: {
    'the age of all': governed({ minimumAgeMs: 90_000_000 }),
  },
  UsedRecently: { 'in this pass': governed({}, partWith({}, { x: 0 })) },
  BelowThreshold: {
    'and not all wanted images are known': {
      ...on({ disk: half }),
      ...governed({ pinWanted: true, maximumAgeMs: 1_800_000 }, partWith({ disk: half })),
      wanted: 'the controller has not written ConfigMap dustpan-system/dustpan-wanted-images',
    },
    'of bytes': on({ disk: half }),
    'of bytes and inodes': governed({ inodes }, partWith({ disk: { ...fewInodes, inodesFree: 500 } })),
  },
  TargetMet: {
    'by images before it': governed({}, two()),
    'of node pressure, by images before it': short('nodefs.available', two()),
    'of a pull, by images before it': governed({ pullHeadroom: true }, pulling),
  },
  Holding: {
    'new rules': governed(
      { maximumAgeMs: 1_800_000, hold: { above: 1, forMs: 300_000 } },
      two({ state: { ...two().state, inForce: { rulesId: 'rules-nodes', since: now } } }),
    ),
  },
  PacingLimit: { 'others are before it': governed({ maximumAgeMs: 1_800_000, maxImagesPerPass: 1 }, two()) },
  PodsUnknown: { 'not listed': on({ pods: undefined }) },
  ContainersUnknown: {
    'not listed': on({ containers: undefined }),
    'the image of one': on({ containers: [container('c1', { pod: 'web', imageId: '', imageRef: '' })] }),
  },
  DiskUnknown: {
    'not measured': on({ disk: undefined }),
  },
  KeepMarked: { 'its node': { ...governed(), nodes: [node('node-1', { labels: keepMark })] } },
  RuleOff: { 'no rule for images': { policies: [nodesPolicy({})], part: partWith() } },
};

testReasons(
  'images',
  [...imageRemoveReasons, ...imageKeepReasons, 'KeepMarked', 'RuleOff'],
  [
    ...casesOf(planned, ({ ask: text = 'x', ...facts }) =>
      explained({ kind: 'image', text, node: undefined }, facts),
    ),
    ...actedCases(
      Object.values(live).flatMap((over) => {
        const plan = planImageGc(
          { ...facts([image('x')]), ...over },
          { governance: governedBy(imageRule({ pinWanted: true })), now },
        );
        return plan.kept.map((one) => [{ ...one, eligibleAt: undefined }, explainImage(one, plan)] as const);
      }),
    ),
  ],
);
