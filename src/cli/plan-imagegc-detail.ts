import type {
  ImageCandidate,
  ImageGcPlan,
  ImageHolds,
  JudgedImage,
  KeptImage,
} from '../agent/imagegc/facts.ts';
import { podRefOf } from '../agent/containergc/pods.ts';
import { KEEP_LABEL } from '../api/matching.ts';
import type { InvalidPolicy, ImageGcPolicy } from '../api/policy.ts';
import type { ImageKeepReason } from '../api/reasons.ts';
import type { RuntimeContainer } from '../cri/runtime.ts';
import { bounds } from '../runtime/bounds.ts';
import { formatDuration } from '../runtime/duration.ts';
import { bytesText } from './plan-bytes.ts';
import type { Told } from './plan-document.ts';
import { invalidTold, ordinal, plainly, timeText } from './plan-words.ts';

export interface ImageContext {
  readonly node: string;
  readonly plan: ImageGcPlan;
  /** undefined = no policy says anything about images here. */
  readonly imageGC: ImageGcPolicy | undefined;
  /** Set when one that cannot be followed may govern the node. */
  readonly invalid: InvalidPolicy | undefined;
  readonly containers: readonly RuntimeContainer[];
}

/** Why an image goes; `order` is its place among those that go. */
export function removedImageTold(
  { reason, ...image }: ImageCandidate,
  order: number,
  { plan, imageGC }: ImageContext,
): Told {
  if (reason === 'Age') {
    const maximum = formatDuration(imageGC?.maximumAgeMs ?? 0);
    return {
      detail: `It was ${usedText(image)}, longer ago than the ${maximum} that an unused image may stay.`,
      field: `nodes.imageGC.maximumAge=${maximum}`,
    };
  }
  return {
    detail: `${diskText(plan)}, so${besides(plan)} ${bytesText(plan.wantedBytes)} must go to come down to ${low(imageGC)} %; this one, ${usedText(image)}, is ${ordinal(order)} to go.`,
    field: `${highField(imageGC)}, ${lowField(imageGC)}`,
  };
}

/** What goes by age is counted before. */
const besides = ({ removals }: ImageGcPlan): string =>
  removals.some(({ reason }) => reason === 'Age') ? ', besides what goes by age,' : '';

/** Why an image stays. */
export function keptImageTold(image: KeptImage, context: ImageContext): Told {
  return kept[image.reason](image, context);
}

type Telling = (image: KeptImage, context: ImageContext) => Told;
const told =
  (detail: string, field: string | null = null): Telling =>
  () => ({ detail, field });

const kept: Readonly<Record<ImageKeepReason, Telling>> = {
  InUse: ({ holds }, { containers }) => plainly(usersText(holds.usedBy ?? '', containers)),
  BoundPod: ({ holds }) => plainly(boundText(holds)),
  Pinned: ({ image }) =>
    image.pinned
      ? { detail: 'The runtime has pinned it.', field: 'pinned=true' }
      : plainly('By its name it is the image of the sandboxes, without which no pod can start.'),
  KeepListed: ({ holds: { keepPattern = '' } }, { imageGC }) => ({
    detail: `The keep list of the policy has ${JSON.stringify(keepPattern)}, which names it.`,
    field: `nodes.imageGC.keep[${imageGC?.keep.indexOf(keepPattern) ?? 0}]=${keepPattern}`,
  }),
  TooYoung: tooYoung,
  UsedRecently: told('It was in use at the very moment of this plan.'),
  BelowThreshold: (_, { plan, imageGC }) => ({
    detail:
      high(imageGC) >= 100
        ? 'It may go, but with a threshold of 100 % no image goes for space.'
        : `It may go, but the image file system is only ${plan.usedPercent ?? '?'} % full, and images go from ${high(imageGC)} % on.`,
    field: highField(imageGC),
  }),
  TargetMet: (_, { plan, imageGC }) => ({
    detail:
      plan.wantedBytes > 0
        ? `It may go, but those before it free the ${bytesText(plan.wantedBytes)} it takes to come down to ${low(imageGC)} %.`
        : `It may go, but what goes by age is enough to come down to ${low(imageGC)} %.`,
    field: lowField(imageGC),
  }),
  PacingLimit: (_, { imageGC }) => ({
    detail: `It may go, but a pass removes no more than ${imageGC?.maxImagesPerPass ?? 0} of the images, and others come first.`,
    field: `nodes.imageGC.maxImagesPerPass=${imageGC?.maxImagesPerPass ?? 0}`,
  }),
  ClockUnsure: told('The clock has jumped: ages cannot be told.'),
  PodsUnknown: told('The pods of the node are not known, and one may need it.'),
  ContainersUnknown: told('The containers of the node, or their images, are not known, and one may use it.'),
  DiskUnknown: told('How full the image file system is, is not known.'),
  NoPolicy: told('No GCPolicy says anything about this node.'),
  InvalidPolicy: (_, { invalid }) =>
    invalid === undefined
      ? plainly('A policy that cannot be followed may govern this node, so nothing on it is touched.')
      : invalidTold(invalid, 'this node'),
  KeepMarked: (_, { node }) => ({
    detail: `The label ${KEEP_LABEL} is "true" on node ${node}.`,
    field: `metadata.labels["${KEEP_LABEL}"]=true`,
  }),
  NodeUnknown: told('The node or the policies are not known.'),
  RuleOff: told('The policy of the node has no rule for images.', 'nodes.imageGC is not set'),
};

function tooYoung({ record, minimumAgeMs }: KeptImage, { imageGC }: ImageContext): Told {
  const ownMs = imageGC?.minimumAgeMs ?? 0;
  const isDoubled = minimumAgeMs > ownMs;
  const why = isDoubled ? ', twice as long as others, for it was pulled again soon after a removal' : '';
  const field = `nodes.imageGC.minimumAge=${formatDuration(ownMs)}`;
  return {
    detail: `It was first seen at ${timeText(record.firstDetectedMs)}, and stays for ${formatDuration(minimumAgeMs)} at least${why}.`,
    field: isDoubled ? `${field}, nodes.imageGC.repullBackoff=true` : field,
  };
}

function boundText({ boundPod }: ImageHolds): string {
  const pod = `Pod ${boundPod?.pod ?? ''}, bound to this node,`;
  return boundPod?.image === undefined
    ? `${pod} names more than ${bounds.images / 1024} KB of images, so it may use any image.`
    : `${pod} names it as ${boundPod.image}.`;
}

function usersText(id: string, containers: readonly RuntimeContainer[]): string {
  const user = containers.find((container) => container.id === id);
  return user === undefined ? 'A container has mounted it.' : `${containerText(user)} was made from it.`;
}

function containerText(container: RuntimeContainer): string {
  const { namespace, name } = podRefOf(container);
  const pod = namespace === undefined || name === undefined ? '' : ` of pod ${namespace}/${name}`;
  return `Container ${container.name === '' ? container.id : container.name}${pod} (${stateWords[container.state]})`;
}

const stateWords: Readonly<Record<RuntimeContainer['state'], string>> = {
  Created: 'created',
  Running: 'running',
  Exited: 'dead',
  Unknown: 'state unknown',
};

const high = (imageGC: ImageGcPolicy | undefined): number => imageGC?.highThresholdPercent ?? 0;
const low = (imageGC: ImageGcPolicy | undefined): number => imageGC?.lowThresholdPercent ?? 0;
const highField = (imageGC: ImageGcPolicy | undefined): string =>
  `nodes.imageGC.highThresholdPercent=${high(imageGC)}`;
const lowField = (imageGC: ImageGcPolicy | undefined): string =>
  `nodes.imageGC.lowThresholdPercent=${low(imageGC)}`;

const diskText = ({ usedPercent }: ImageGcPlan): string =>
  `The image file system is ${usedPercent ?? '?'} % full`;

function usedText({ record: { lastUsedMs, firstDetectedMs } }: Pick<JudgedImage, 'record'>): string {
  return lastUsedMs === undefined
    ? `never seen in use and first seen at ${timeText(firstDetectedMs)}`
    : `last used at ${timeText(lastUsedMs)}`;
}
