import type { ImageCandidate, ImageGcPlan, JudgedImage, KeptImage } from '../agent/imagegc/facts.ts';
import type { ImageGcPolicy } from '../api/policy.ts';
import type { ImageKeepReason } from '../api/reasons.ts';
import { formatDuration } from '../runtime/duration.ts';
import { formatRfc3339 } from '../runtime/rfc3339.ts';
import { bytesText } from './plan-bytes.ts';

export interface ImageContext {
  readonly plan: ImageGcPlan;
  /** undefined = no policy says anything about images here. */
  readonly imageGC: ImageGcPolicy | undefined;
}

/** Why an image goes, in one sentence. */
export function removedImageDetail(
  { reason, ...image }: ImageCandidate,
  { plan, imageGC }: ImageContext,
): string {
  if (reason === 'Age')
    return `${usedText(image)}, longer ago than nodes.imageGC.maximumAge=${duration(imageGC?.maximumAgeMs)}.`;
  return `${diskText(plan, imageGC)} and ${bytesText(plan.wantedBytes)} are wanted; ${usedText(image).toLowerCase()}.`;
}

/** Why an image stays, in one sentence. */
export function keptImageDetail(image: KeptImage, context: ImageContext): string {
  return sentences[image.reason](image, context);
}

type Sentence = (image: KeptImage, context: ImageContext) => string;
const plain =
  (text: string): Sentence =>
  () =>
    text;

const sentences: Readonly<Record<ImageKeepReason, Sentence>> = {
  InUse: ({ holds }) =>
    holds.usedBy === 'a mount'
      ? 'A container has mounted it.'
      : `Container ${holds.usedBy ?? ''} was made from it.`,
  BoundPod: ({ holds }) =>
    `Pod ${holds.boundPod?.pod ?? ''}, bound to this node, names it as ${holds.boundPod?.image ?? ''}.`,
  Pinned: plain('The runtime has pinned it.'),
  KeepListed: ({ holds }) => `The keep list has ${holds.keepPattern ?? ''} (nodes.imageGC.keep).`,
  TooYoung: ({ record, minimumAgeMs, isRepulled }) =>
    `First seen at ${timeText(record.firstDetectedMs)}, younger than ${formatDuration(minimumAgeMs)}: nodes.imageGC.minimumAge${isRepulled ? ', doubled as it was pulled again after a removal' : ''}.`,
  UsedRecently: plain('It was in use at this very moment.'),
  BelowThreshold: (_, { plan, imageGC }) => `${diskText(plan, imageGC)}: no space is needed.`,
  TargetMet: plain('Not needed: what goes before it frees enough.'),
  PacingLimit: (_, { imageGC }) =>
    `It could go, but nodes.imageGC.maxImagesPerPass=${imageGC?.maxImagesPerPass ?? 0} is used up by others.`,
  ClockUnsure: plain('The clock has jumped: ages cannot be told.'),
  PodsUnknown: plain('The pods of the node are not known, and one may need it.'),
  ContainersUnknown: plain('The containers of the node, or their images, are not known, and one may use it.'),
  DiskUnknown: plain('How full the image file system is, is not known.'),
  NoPolicy: plain('No policy says anything about this node.'),
  InvalidPolicy: plain('The policy that may govern this node is invalid, and so nothing on it is touched.'),
  KeepMarked: plain('The label gc.dustpan.dev/keep is "true" on the node.'),
  NodeUnknown: plain('The node or the policies are not known.'),
  RuleOff: plain('The policy of the node has no nodes.imageGC.'),
};

function diskText({ usedPercent }: ImageGcPlan, imageGC: ImageGcPolicy | undefined): string {
  const { highThresholdPercent = 0, lowThresholdPercent = 0 } = imageGC ?? {};
  return `The image file system is ${usedPercent ?? '?'} % full (high ${highThresholdPercent}, low ${lowThresholdPercent})`;
}

function usedText({ record: { lastUsedMs, firstDetectedMs } }: Pick<JudgedImage, 'record'>): string {
  return lastUsedMs === undefined
    ? `Never seen in use, first seen at ${timeText(firstDetectedMs)}`
    : `Last used at ${timeText(lastUsedMs)}`;
}

const timeText = (ms: number): string => formatRfc3339(new Date(ms));
const duration = (ms: number | undefined): string => formatDuration(ms ?? 0);
