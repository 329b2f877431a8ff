import { byDiskSignal, type DiskDemand, type DiskSignal } from '../../api/node-pressure.ts';
import type { ImageKeepReason, ImageRemoveReason } from '../../api/reasons.ts';
import { bounds } from '../../runtime/bounds.ts';
import { formatDuration } from '../../runtime/text/duration.ts';
import type { NoEvidence, ReasonCatalog, ReasonEntry } from './entry.ts';
import { holdReason, type HoldEvidence } from './hold-words.ts';
import { nodeReasons, type NodeEvidence } from './nodes.ts';
import {
  belowText,
  crossedFields,
  estimateText,
  inodesBelowText,
  targetFields,
  targetText,
  thresholdFields,
  usageText,
  wantedText,
  type SpaceEvidence,
} from './space-words.ts';
import { amountText, counted, ordinal, podText, signalField, signalText, timeText } from './words.ts';

export type ImageReason = ImageRemoveReason | ImageKeepReason;

/** When an image was first seen and last used, Unix milliseconds. */
interface Use {
  readonly firstDetectedMs: number;
  /** undefined = no container has used it. */
  readonly lastUsedMs: number | undefined;
}

/** The entry of nodes.imageGC.maximumAgeByImage that sets the maximum age of an image. */
export interface AgeEntry {
  readonly index: number;
  readonly pattern: string;
  /** undefined = no limit. */
  readonly maximumAgeMs: number | undefined;
}

/** undefined = nodes.imageGC.maximumAge decides. */
interface Aging {
  readonly ageEntry: AgeEntry | undefined;
}

interface Placed extends Use {
  /** Its place in the order of removal, from 1. */
  readonly place: number;
}

type RemovedForPressure = Placed & Pick<DiskDemand, 'threshold' | 'wanted'>;

export interface ImageEvidence extends NodeEvidence, Record<DiskSignal, RemovedForPressure> {
  Age: Use & Aging & { readonly maximumAgeMs: number };
  Space: Placed &
    SpaceEvidence & {
      /** Whether other images are removed by age before. */
      readonly hasAged: boolean;
    };
  InUse: {
    /** undefined = a container has only mounted the image. */
    readonly container:
      | {
          /** False: the runtime does not report which image the container uses, and this one has no digest. */
          readonly isSure: boolean;
          readonly name: string;
          readonly pod: { readonly namespace: string | undefined; readonly name: string | undefined };
          readonly state: string;
        }
      | undefined;
  };
  BoundPod: {
    readonly pod: string;
    /** The reference in the pod; undefined = the pod names more images than dustpan reads. */
    readonly image: string | undefined;
  };
  Pinned: { readonly isByRuntime: boolean };
  KeepListed: { readonly pattern: string; readonly index: number };
  TooYoung: {
    readonly firstDetectedMs: number;
    /** The minimum age of this image. */
    readonly minimumAgeMs: number;
    readonly policyMinimumAgeMs: number;
  };
  UsedRecently: NoEvidence;
  BelowThreshold: SpaceEvidence & Aging;
  TargetMet: SpaceEvidence & Aging;
  Holding: HoldEvidence;
  PacingLimit: { readonly maxImagesPerPass: number };
  /** How often in a row. */
  RemovalFailed: { readonly times: number };
  DiskUnknown: NoEvidence;
  RuleOff: NoEvidence;
}

const nodeLabel = 'Or the label gc.dustpan.dev/keep: "true" on the node.';
const anyUse = `a container or a pod that uses it; a pin in the runtime; an entry in nodes.imageGC.keep. ${nodeLabel}`;

const short = (signal: DiskSignal): ReasonEntry<RemovedForPressure> => ({
  meaning: `The node is low on ${signalText[signal]}, and this unused image is next in the order of removal: images never used first, then the least recently used.`,
  sentence: ({ place, wanted, ...use }) =>
    `The node is low on ${signalText[signal]}, so dustpan frees ${amountText(signal, wanted)}; this image (${useText(use)}) is the ${ordinal(place)} to be removed.`,
  field: ({ threshold }) => signalField(signal, threshold),
  change: `More available than the threshold; ${anyUse}`,
});

/** Reasons of imagegc. */
export const imageReasons: ReasonCatalog<ImageEvidence> = {
  ...nodeReasons,
  Age: {
    meaning: 'It has been unused for longer than its maximum age.',
    sentence: ({ maximumAgeMs, ageEntry, ...use }) =>
      `It was ${useText(use)}, which is longer ago than the maximum age of ${formatDuration(maximumAgeMs)}` +
      `${ageEntry === undefined ? '' : ` of images that match ${JSON.stringify(ageEntry.pattern)}`}.`,
    field: ({ maximumAgeMs, ageEntry }) =>
      ageEntry === undefined
        ? `nodes.imageGC.maximumAge=${formatDuration(maximumAgeMs)}`
        : ageField(ageEntry),
    change: `A longer maximum age (nodes.imageGC.maximumAge, or the first matching entry of maximumAgeByImage); ${anyUse}`,
  },
  Space: {
    meaning:
      'The disk is too full, and this unused image is next in the order of removal: images never used first, then the least recently used.',
    sentence: ({ place, hasAged, ...rest }) =>
      `The image file system ${usageText(rest)}, so dustpan frees ${wantedText(rest)}${hasAged ? ', in addition to images removed by age' : ''}` +
      `; this image (${useText(rest)}) is the ${ordinal(place)} to be removed.`,
    field: crossedFields,
    change: `More free space on the disk; ${anyUse}`,
  },
  ...byDiskSignal(short),
  InUse: {
    meaning: 'A container, running or dead, was or may have been created from it, or has mounted it.',
    sentence: ({ container }) =>
      container === undefined
        ? 'A container has mounted it.'
        : `Container ${container.name} of ${podText(container.pod)} (${container.state}) ${
            container.isSure
              ? 'was created from it'
              : 'may have been created from it: the runtime reports neither an id nor a listed digest of its image, and this image has no digest'
          }.`,
    change:
      'The last container created from it, running or dead, is removed; containergc removes dead containers.',
  },
  BoundPod: {
    meaning: 'A pod on this node that is running or starting refers to it.',
    sentence: ({ pod, image }) =>
      image === undefined
        ? `Pod ${pod}, bound to this node, has more than ${bounds.images / 1024} KB of image references, so it may use any image.`
        : `Pod ${pod}, bound to this node, refers to it as ${image}.`,
    change: 'The pod finishes or is deleted.',
  },
  Pinned: {
    meaning:
      'The runtime has pinned it or creates sandboxes from it; if the runtime does not report its sandbox image, dustpan keeps every image with the word pause in the last part of its name.',
    sentence: ({ isByRuntime }) =>
      isByRuntime ? 'The runtime has pinned it.' : 'It is the sandbox image: without it no pod can start.',
    field: ({ isByRuntime }) => (isByRuntime ? 'pinned=true' : undefined),
    change: 'It is not pinned in the runtime, and the runtime creates sandboxes from another image.',
  },
  KeepListed: {
    meaning: "It is on the policy's keep list.",
    sentence: ({ pattern }) => `It matches the pattern ${JSON.stringify(pattern)} on the policy's keep list.`,
    field: ({ pattern, index }) => `nodes.imageGC.keep[${index}]=${pattern}`,
    change: 'No pattern of nodes.imageGC.keep matches one of its tags or digests.',
  },
  TooYoung: {
    meaning: "It is younger than the policy's minimum age.",
    sentence: ({ firstDetectedMs, minimumAgeMs, policyMinimumAgeMs }) =>
      `The agent first observed it at ${timeText(firstDetectedMs)} and keeps it for at least ${formatDuration(minimumAgeMs)}` +
      `${minimumAgeMs > policyMinimumAgeMs ? ', twice the minimum age, because it was pulled again soon after a removal' : ''}.`,
    field: ({ minimumAgeMs, policyMinimumAgeMs }) =>
      `nodes.imageGC.minimumAge=${formatDuration(policyMinimumAgeMs)}` +
      (minimumAgeMs > policyMinimumAgeMs ? ', nodes.imageGC.repullBackoff=true' : ''),
    change:
      'nodes.imageGC.minimumAge has passed since the agent first observed it (twice that if it was pulled again after a removal), and the disk needs space or the image reaches its maximum age.',
  },
  UsedRecently: {
    meaning: 'It was in use during this pass.',
    change: 'The next pass finds it unused.',
  },
  BelowThreshold: {
    meaning: 'It is removable, but the disk has enough free space.',
    sentence: (space) => [belowText(space), ...inodesBelowText(space), ...ageText(space)].join(' '),
    field: (space) => [...thresholdFields(space), ...ageFields(space)].join(', '),
    change:
      'The disk usage reaches nodes.imageGC.highThresholdPercent, the inode usage reaches nodes.imageGC.inodes.highThresholdPercent, or the image reaches its maximum age.',
  },
  TargetMet: {
    meaning: 'It is removable, but removing the images before it frees enough.',
    sentence: (space) => [targetText(space), ...estimateText(space), ...ageText(space)].join(' '),
    field: (space) => [...targetFields(space), ...ageFields(space)].join(', '),
    change: 'The disk fills up again, or the image reaches its maximum age.',
  },
  Holding: holdReason('unused images', 'nodes.imageGC'),
  PacingLimit: {
    meaning: "It is due, but the pass has reached the policy's limit of removals.",
    sentence: ({ maxImagesPerPass }) =>
      `It is due, but a pass removes at most ${counted(maxImagesPerPass, 'image')}, and other images are before it.`,
    field: ({ maxImagesPerPass }) => `nodes.imageGC.maxImagesPerPass=${maxImagesPerPass}`,
    change: 'A later pass removes it; with a higher nodes.imageGC.maxImagesPerPass an earlier one.',
  },
  RemovalFailed: {
    meaning:
      'The runtime has refused to remove it; dustpan tries again after a pause, after all other images.',
    sentence: ({ times }) =>
      `The runtime has refused ${counted(times, 'time')} to remove it; the pause before the next attempt doubles with each failure.`,
    change: "The pause has passed. The agent's log has the runtime's response to the last attempt.",
  },
  DiskUnknown: {
    meaning: 'The usage of the disk cannot be measured.',
    change: 'The image file system can be measured.',
  },
  RuleOff: {
    meaning: 'The policy of the node has no rule for images.',
    field: () => 'nodes.imageGC is not set',
    change: 'The policy sets nodes.imageGC.',
  },
};

const useText = ({ lastUsedMs, firstDetectedMs }: Use): string =>
  lastUsedMs === undefined
    ? `never used since the agent first observed it at ${timeText(firstDetectedMs)}`
    : `last used at ${timeText(lastUsedMs)}`;

/** Names the entry that sets the maximum age of an image. */
function ageText({ ageEntry }: Aging): readonly string[] {
  if (ageEntry === undefined) return [];
  const { pattern, maximumAgeMs } = ageEntry;
  const age = maximumAgeMs === undefined ? 'none' : formatDuration(maximumAgeMs);
  return [`Its maximum age is ${age}, because it matches ${JSON.stringify(pattern)}.`];
}

const ageFields = ({ ageEntry }: Aging): readonly string[] =>
  ageEntry === undefined ? [] : [ageField(ageEntry)];

const ageField = ({ index, pattern, maximumAgeMs = 0 }: AgeEntry): string =>
  `nodes.imageGC.maximumAgeByImage[${index}]=${pattern}: ${formatDuration(maximumAgeMs)}`;
