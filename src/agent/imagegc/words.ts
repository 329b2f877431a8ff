import { byDiskSignal, isInodes, type DiskSignal } from '../../api/node-pressure.ts';
import { podRefOf } from '../../api/pod-ref.ts';
import type { Thresholds } from '../../api/policy/policy.ts';
import type { ImageKeepReason, ImageRemoveReason } from '../../api/reasons.ts';
import { explainHold, holdMeaning } from '../../gc/reasons/hold-words.ts';
import { explainNode, nodeReasons } from '../../gc/reasons/nodes.ts';
import {
  amountText,
  counted,
  firstOf,
  ordinal,
  podText,
  signalField,
  signalText,
  timeText,
} from '../../gc/reasons/words.ts';
import type { Meaning, Why } from '../../gc/words.ts';
import { bounds } from '../../runtime/bounds.ts';
import { formatDuration } from '../../runtime/text/duration.ts';
import { sizeText } from '../../runtime/text/size-text.ts';
import {
  isDueAnyway,
  signalOf,
  type ImageDecision,
  type ImageGcPlan,
  type KeptBecause,
  type JudgedImage,
  type SpaceUnit,
} from './facts.ts';
import { pullText } from './pull-words.ts';
import { reportedPull } from './pulls.ts';

const nodeLabel = 'Or the label gc.dustpan.dev/keep: "true" on the node.';
const anyUse = `a container or a pod that uses it; a pin in the runtime; an entry in nodes.imageGC.keep. ${nodeLabel}`;
const nextInOrder =
  'this unused image is next in the order of removal: images never used first, then the least recently used.';
const held = { what: 'unused images', field: 'nodes.imageGC' };

export const imageReasons: Readonly<Record<ImageRemoveReason | ImageKeepReason, Meaning>> = {
  ...nodeReasons,
  ...byDiskSignal((signal) => ({
    meaning: `The node is low on ${signalText[signal]}, and ${nextInOrder}`,
    change: `More available than the threshold; ${anyUse}`,
  })),
  RemoveListed: {
    meaning: "It is on the policy's remove list, is older than the minimum age, and nothing uses it.",
    change: `The entry of nodes.imageGC.remove is deleted or ends (until); ${anyUse}`,
  },
  Age: {
    meaning: 'It has been unused for longer than its maximum age.',
    change: `A longer maximum age (nodes.imageGC.maximumAge, or the first matching entry of maximumAgeByImage); ${anyUse}`,
  },
  Space: {
    meaning: `The disk is too full, and ${nextInOrder}`,
    change: `More free space on the disk; ${anyUse}`,
  },
  PullHeadroom: {
    meaning: `An image that a starting pod needs does not fit without it, and ${nextInOrder}`,
    change: `The pod is deleted; more free space on the disk; nodes.imageGC.pullHeadroom is false; ${anyUse}`,
  },
  InUse: {
    meaning: 'A container, running or dead, was or may have been created from it, or has mounted it.',
    change:
      'The last container created from it, running or dead, is removed; containergc removes dead containers.',
  },
  BoundPod: {
    meaning: 'A pod on this node that is running or starting refers to it.',
    change: 'The pod finishes or is deleted.',
  },
  Pinned: {
    meaning:
      'The runtime has pinned it or creates sandboxes from it; if the runtime does not report its sandbox image, dustpan keeps every image with the word pause in the last part of its name.',
    change: 'It is not pinned in the runtime, and the runtime creates sandboxes from another image.',
  },
  KeepListed: {
    meaning: "It is on the policy's keep list.",
    change: 'No pattern of nodes.imageGC.keep matches one of its tags or digests.',
  },
  Wanted: {
    meaning:
      'A DaemonSet, a CronJob, or a workload that is suspended or scaled to zero names it in its pod template, or may do so: dustpan has pinned it, and not all such images are known.',
    change:
      'No such workload whose pods can run on the node names it, the policy has no nodes.imageGC.pinWanted, or entries of nodes.imageGC.remove match all of its names.',
  },
  WantedUnknown: {
    meaning: 'The agent waits for its first list of wanted images (nodes.imageGC.pinWanted).',
    change: 'The controller writes the list, ten minutes have passed, or the kubelet is about to act.',
  },
  NotSelected: {
    meaning: 'The policy removes only other images (nodes.imageGC.only), or it has no name.',
    change: 'Patterns of nodes.imageGC.only match all of its names, or entries of nodes.imageGC.remove do.',
  },
  TooYoung: {
    meaning: "It is younger than the policy's minimum age.",
    change:
      'nodes.imageGC.minimumAge has passed since the agent first observed it (twice that if it was pulled again after a removal), and the disk needs space, the image reaches its maximum age, or an entry of nodes.imageGC.remove matches it.',
  },
  UsedRecently: {
    meaning: 'It was in use during this pass.',
    change: 'The next pass finds it unused.',
  },
  BelowThreshold: {
    meaning: 'It is removable, but the disk has enough free space.',
    change:
      'The disk usage reaches nodes.imageGC.highThresholdPercent, the inode usage reaches nodes.imageGC.inodes.highThresholdPercent, or the image reaches its maximum age.',
  },
  TargetMet: {
    meaning: 'It is removable, but removing the images before it frees enough.',
    change: 'The disk fills up again, or the image reaches its maximum age.',
  },
  Holding: holdMeaning(held),
  PacingLimit: {
    meaning: "It is due, but the pass has reached the policy's limit of removals.",
    change: 'A later pass removes it; with a higher nodes.imageGC.maxImagesPerPass an earlier one.',
  },
  RemovalFailed: {
    meaning:
      'The runtime has refused to remove it; dustpan tries again after a pause, after all other images.',
    change: "The pause has passed. The agent's log has the runtime's response to the last attempt.",
  },
  DiskUnknown: {
    meaning:
      'The usage of the image file system is unknown: the runtime does not name it (ImageFsInfo), it cannot be read, or its capacity is 0.',
    change: 'The image file system reports its capacity, or the image reaches its maximum age.',
  },
  RuleOff: {
    meaning: 'The policy of the node has no rule for images.',
    change: 'The policy sets nodes.imageGC.',
  },
};

/** Explains the decision about one image with its values, whether the kubelet knows of it, and names the entry of the remove list that matches it. */
export function explainImage(decision: ImageDecision, plan: ImageGcPlan): Why {
  const reason = explainReason(decision, plan);
  const why = { ...reason, detail: [reason.detail, ...pinText(decision)].join(' ') };
  const { requested } = decision.target;
  if (requested === undefined || decision.reason === 'RemoveListed') return why;
  const { image, unmatched } = requested;
  const effect =
    unmatched === undefined
      ? `removes it as soon as nothing keeps it, until ${timeText(requested.untilMs)}`
      : `does not remove it, because no entry matches its name ${unmatched}`;
  const field = [...(why.field === undefined ? [] : [why.field]), removeField(requested)].join(', ');
  return { detail: `${why.detail} The entry ${JSON.stringify(image)} of the remove list ${effect}.`, field };
}

function pinText({ reason, target: { image, pinnedFor } }: ImageDecision): readonly string[] {
  const unbound = 'the runtime does not show it as pinned, so the kubelet may remove it.';
  const isKept = reason === 'KeepListed' || reason === 'Wanted';
  if (pinnedFor === undefined) return isKept && !image.pinned ? [`But ${unbound}`] : [];
  const pinned = `dustpan has pinned it in the runtime for the policy ${pinnedFor}`;
  return [image.pinned ? `${pinned}, so the kubelet keeps it.` : `${pinned}, but ${unbound}`];
}

function explainReason(decision: ImageDecision, plan: ImageGcPlan): Why {
  const { target, reason, policy } = decision;
  const { record, ageEntry } = target;
  const { meaning } = imageReasons[reason];
  switch (decision.reason) {
    case 'RemoveListed':
      return explainRequested(target);
    case 'Age': {
      const age = formatDuration(target.maximumAgeMs ?? 0);
      const ofEntry =
        ageEntry === undefined ? '' : ` of images that match ${JSON.stringify(ageEntry.pattern)}`;
      return {
        detail: `It was ${useText(record)}, which is longer ago than the maximum age of ${age}${ofEntry}.`,
        field: ageEntry === undefined ? `nodes.imageGC.maximumAge=${age}` : ageField(ageEntry),
      };
    }
    case 'Space': {
      const hasDue = plan.removals.some((one) => isDueAnyway(one.reason));
      return {
        detail:
          `The image file system ${usageText(plan)}, so dustpan frees ${wantedText(plan)}${hasDue ? ', in addition to images removed by age or by the remove list' : ''}` +
          `; this image (${useText(record)}) is the ${place(decision, plan)} to be removed.`,
        field: crossedOf(plan)
          .map(
            ({ prefix, thresholds }) => `${highField(thresholds, prefix)}, ${lowField(thresholds, prefix)}`,
          )
          .join(', '),
      };
    }
    case 'PullHeadroom':
      return {
        detail: `${freeingText(plan)}, so dustpan frees ${sizeText(pullBytes(plan))}; this image (${useText(record)}) is the ${place(decision, plan)} to be removed.`,
        field: headroomField,
      };
    case 'nodefs.available':
    case 'nodefs.inodesFree':
    case 'imagefs.available':
    case 'imagefs.inodesFree':
      return explainSignal(decision, decision.reason, plan);
    case 'InUse':
      return { detail: userText(decision) };
    case 'BoundPod':
      return { detail: boundText(target.boundPod) };
    case 'Pinned':
      return explainPinned(target);
    case 'KeepListed': {
      const { keepPattern: pattern = '' } = target;
      return {
        detail: `It matches the pattern ${JSON.stringify(pattern)} on the policy's keep list.`,
        field: `nodes.imageGC.keep[${plan.rule?.keep.indexOf(pattern) ?? 0}]=${pattern}`,
      };
    }
    case 'Wanted':
    case 'WantedUnknown':
      return { detail: wantedByText(target, plan), field: 'nodes.imageGC.pinWanted=true' };
    case 'NotSelected':
      return explainNotSelected(target, plan);
    case 'TooYoung':
      return explainYoung(target, plan);
    case 'BelowThreshold':
      return {
        detail: [belowText(plan), ...inodesBelowText(plan), ...ageText(target, plan)].join(' '),
        field: [
          ...partsOf(plan).map(({ prefix, thresholds }) => highField(thresholds, prefix)),
          ...ageFields(target),
        ].join(', '),
      };
    case 'TargetMet':
      return {
        detail: [targetText(plan), ...estimateText(plan), ...ageText(target, plan)].join(' '),
        field: [...targetFields(plan), ...ageFields(target)].join(', '),
      };
    case 'Holding':
      return explainHeld(plan);
    case 'PacingLimit':
      return {
        detail: `It is due, but a pass removes at most ${counted(plan.maxImages, 'image')}, and other images are before it.`,
        field: `nodes.imageGC.maxImagesPerPass=${plan.maxImages}`,
      };
    case 'RemovalFailed':
      return {
        detail: `The runtime has refused ${counted(decision.times, 'time')} to remove it; the pause before the next attempt doubles with each failure.`,
      };
    case 'RuleOff':
      return { detail: meaning, field: 'nodes.imageGC is not set' };
    case 'DiskUnknown':
      return {
        detail: plan.isMeasured
          ? 'It is removable, but the image file system of the node reports a capacity of 0 or an impossible value, so dustpan removes no image for space.'
          : 'It is removable, but the usage of the image file system is not known (ImageFsInfo of the runtime), so dustpan removes no image for space.',
      };
    case 'ContainersUnknown': {
      const { container } = decision;
      if (container === undefined) return explainNode(decision.reason, policy);
      return {
        detail: `The runtime does not report the image of container ${container.name} of ${podText(podRefOf(container))} (${container.id}), which may be this one.`,
      };
    }
    case 'UsedRecently':
      return { detail: meaning };
    default:
      return explainNode(decision.reason, policy);
  }
}

function explainPinned({ image, pinnedFor, isCalledSandbox }: JudgedImage): Why {
  if (image.pinned && pinnedFor === undefined)
    return { detail: 'The runtime has pinned it.', field: 'pinned=true' };
  return {
    detail: isCalledSandbox
      ? 'It may be the sandbox image, without which no pod can start: the runtime does not report which image that is, and this one has the usual name (pause).'
      : 'It is the sandbox image, which the runtime reports: without it no pod can start.',
  };
}

function explainNotSelected({ id, notSelected = id }: JudgedImage, { rule }: ImageGcPlan): Why {
  return {
    detail:
      notSelected === id
        ? 'It has no name that a pattern of nodes.imageGC.only could match.'
        : `No pattern of nodes.imageGC.only matches its name ${notSelected}.`,
    field: `nodes.imageGC.only has ${counted(rule?.only.length ?? 0, 'pattern')}`,
  };
}

function explainRequested({ requested }: JudgedImage): Why {
  if (requested === undefined) return { detail: imageReasons.RemoveListed.meaning };
  return {
    detail: `It matches the entry ${JSON.stringify(requested.image)} of the policy's remove list, which is in force until ${timeText(requested.untilMs)}, and nothing uses it.`,
    field: removeField(requested),
  };
}

const removeField = ({ index, image }: NonNullable<JudgedImage['requested']>): string =>
  `nodes.imageGC.remove[${index}]=${image}`;

function explainSignal(decision: ImageDecision, signal: DiskSignal, plan: ImageGcPlan): Why {
  const { wanted = 0, threshold = '' } = plan.goals.find(({ reason }) => reason === signal) ?? {};
  return {
    detail: `The node is low on ${signalText[signal]}, so dustpan frees ${amountText(signal, wanted)}; this image (${useText(decision.target.record)}) is the ${place(decision, plan)} to be removed.`,
    field: signalField(signal, threshold),
  };
}

const wantedByText = ({ wanted }: JudgedImage, { wantedUnknown }: ImageGcPlan): string =>
  wanted?.workload === undefined
    ? `It may be wanted: ${wantedUnknown}.`
    : `${wanted.workload} names it in its pod template.`;

function explainYoung({ record, minimumAgeMs }: JudgedImage, { rule }: ImageGcPlan): Why {
  const { minimumAgeMs: ofPolicyMs = 0 } = rule ?? {};
  const isDoubled = minimumAgeMs > ofPolicyMs;
  return {
    detail:
      `The agent first observed it at ${timeText(record.firstDetectedMs)} and keeps it for at least ${formatDuration(minimumAgeMs)}` +
      `${isDoubled ? ', twice the minimum age, because it was pulled again soon after a removal' : ''}.`,
    field: `nodes.imageGC.minimumAge=${formatDuration(ofPolicyMs)}${isDoubled ? ', nodes.imageGC.repullBackoff=true' : ''}`,
  };
}

function explainHeld({ rule, selected }: ImageGcPlan): Why {
  if (rule === undefined || selected === undefined) return { detail: imageReasons.Holding.meaning };
  const { due, unused } = selected;
  return explainHold(held, rule.hold, { due, governed: unused, removable: unused });
}

const place = (decision: ImageDecision, { removals }: ImageGcPlan): string =>
  ordinal(removals.findIndex(({ target }) => target.id === decision.target.id) + 1);

const useText = ({ lastUsedMs, firstDetectedMs }: JudgedImage['record']): string =>
  lastUsedMs === undefined
    ? `never used since the agent first observed it at ${timeText(firstDetectedMs)}`
    : `last used at ${timeText(lastUsedMs)}`;

function userText({ user }: Extract<KeptBecause, { reason: 'InUse' }>): string {
  if (user === undefined) return 'A container has mounted it.';
  const isUsed = user.isSure
    ? 'was created from it'
    : 'may have been created from it: the runtime reports neither an id nor a listed digest of its image, and this image has no digest';
  return `Container ${user.name} of ${podText(user.pod)} (${user.state}) ${isUsed}.`;
}

const boundText = ({ pod, image }: JudgedImage['boundPod'] = { pod: '', image: undefined }): string =>
  image === undefined
    ? `Pod ${pod}, bound to this node, has more than ${bounds.images / 1024} KB of image references, so it may use any image.`
    : `Pod ${pod}, bound to this node, refers to it as ${image}.`;

/** Names the entry that sets the maximum age of an image, or why none does. */
function ageText({ ageEntry }: JudgedImage, { wantedUnknown }: ImageGcPlan): readonly string[] {
  if (wantedUnknown !== undefined) return [`It may be wanted, so no age removes it: ${wantedUnknown}.`];
  if (ageEntry === undefined) return [];
  const { pattern, maximumAgeMs } = ageEntry;
  const age = maximumAgeMs === undefined ? 'none' : formatDuration(maximumAgeMs);
  return [`Its maximum age is ${age}, because it matches ${JSON.stringify(pattern)}.`];
}

const ageFields = ({ ageEntry }: JudgedImage): readonly string[] =>
  ageEntry === undefined ? [] : [ageField(ageEntry)];

const ageField = ({ index, pattern, maximumAgeMs = 0 }: NonNullable<JudgedImage['ageEntry']>): string =>
  `nodes.imageGC.maximumAgeByImage[${index}]=${pattern}: ${formatDuration(maximumAgeMs)}`;

const highField = ({ highThresholdPercent }: Thresholds, prefix: string): string =>
  `nodes.imageGC.${prefix}highThresholdPercent=${highThresholdPercent}`;
const lowField = ({ lowThresholdPercent }: Thresholds, prefix: string): string =>
  `nodes.imageGC.${prefix}lowThresholdPercent=${lowThresholdPercent}`;

interface Part {
  readonly unit: SpaceUnit;
  /** Prefix of its policy fields below `nodes.imageGC.`. */
  readonly prefix: string;
  readonly thresholds: Thresholds;
  /** undefined = unknown. */
  readonly usedPercent: number | undefined;
  readonly usageText: string;
  readonly wanted: number;
  /** `12 MiB`, `1200 inodes`. */
  readonly wantedText: string;
}

function partsOf({ rule, ...plan }: ImageGcPlan): readonly Part[] {
  if (rule === undefined) return [];
  const { usedPercent, usedInodesPercent, wantedBytes, wantedInodes } = plan;
  const bytes: Part = {
    unit: 'bytes',
    prefix: '',
    thresholds: rule,
    usedPercent,
    usageText: `is ${usedPercent ?? '?'} % full`,
    wanted: wantedBytes,
    wantedText: sizeText(wantedBytes),
  };
  if (rule.inodes === undefined) return [bytes];
  const inodes: Part = {
    unit: 'inodes',
    prefix: 'inodes.',
    thresholds: rule.inodes,
    usedPercent: usedInodesPercent,
    usageText: `has ${usedInodesPercent ?? '?'} % of its inodes in use`,
    wanted: wantedInodes,
    wantedText: counted(wantedInodes, 'inode'),
  };
  return [bytes, inodes];
}

const crossedOf = (plan: ImageGcPlan): readonly Part[] =>
  partsOf(plan).filter(({ unit }) => plan.crossed.includes(unit));

/** The units that the space step frees; where the removals by age free enough, those that are over their high threshold. */
function targetsOf(plan: ImageGcPlan): readonly Part[] {
  const crossed = crossedOf(plan);
  if (crossed.length > 0) return crossed;
  return partsOf(plan).filter(
    ({ usedPercent = 0, thresholds: { highThresholdPercent } }) =>
      usedPercent >= highThresholdPercent && highThresholdPercent < 100,
  );
}

const usageText = (plan: ImageGcPlan): string =>
  crossedOf(plan)
    .map((part) => part.usageText)
    .join(' and ');

const wantedText = (plan: ImageGcPlan): string =>
  crossedOf(plan)
    .map((part) => `${part.wantedText} to reach ${part.thresholds.lowThresholdPercent} %`)
    .join(' and ');

const headroomField = 'nodes.imageGC.pullHeadroom=true';

const pullBytes = ({ goals }: ImageGcPlan): number =>
  goals.find(({ reason }) => reason === 'PullHeadroom')?.wanted ?? 0;

const freeingText = ({ pulls }: ImageGcPlan): string =>
  firstOf(
    pulls.filter(({ fit }) => fit === 'Freeing').map((pull) => pullText(reportedPull(pull))),
    2,
  );

interface SignalGoal {
  readonly signal: DiskSignal;
  readonly wanted: number;
  readonly threshold: string;
}

const demandsOf = ({ goals }: ImageGcPlan): readonly SignalGoal[] =>
  goals.flatMap((goal) => {
    const signal = signalOf(goal);
    return signal === undefined ? [] : [{ signal, wanted: goal.wanted, threshold: goal.threshold }];
  });

function targetText(plan: ImageGcPlan): string {
  const targets = targetsOf(plan);
  const demands = demandsOf(plan);
  const forPulls = pullBytes(plan);
  const needed = [
    ...(forPulls > 0 ? [`the ${sizeText(forPulls)} that images of starting pods need`] : []),
    ...targets
      .filter(({ wanted }) => wanted > 0)
      .map((part) => `the ${part.wantedText} needed to reach ${part.thresholds.lowThresholdPercent} %`),
    ...demands
      .filter(({ wanted }) => wanted > 0)
      .map(
        ({ signal, wanted }) =>
          `the ${amountText(signal, wanted)} that the node needs of ${signalText[signal]}`,
      ),
  ];
  if (needed.length > 0) return `It is removable, but the images before it free ${needed.join(' and ')}.`;
  const reached = [
    ...targets.map(
      ({ thresholds, unit }) =>
        `${thresholds.lowThresholdPercent} %${unit === 'bytes' ? '' : ' of the inodes'}`,
    ),
    ...demands.map(({ signal, threshold }) => `the threshold ${threshold} of ${signal}`),
  ];
  return `It is removable, but the images that dustpan removes by age or by the remove list are enough to reach ${reached.join(' and ')}.`;
}

const targetFields = (plan: ImageGcPlan): readonly string[] => [
  ...(pullBytes(plan) > 0 ? [headroomField] : []),
  ...targetsOf(plan).map(({ prefix, thresholds }) => lowField(thresholds, prefix)),
  ...demandsOf(plan).map(({ signal, threshold }) => signalField(signal, threshold)),
];

const estimateText = (plan: ImageGcPlan): readonly string[] =>
  plan.crossed.includes('inodes') || demandsOf(plan).some(({ signal }) => isInodes(signal))
    ? [
        'This is an estimate, because the runtime reports no inodes per image: a pass measures the file system after each removal and continues until enough inodes are free.',
      ]
    : [];

const belowText = ({ rule, usedPercent }: ImageGcPlan): string =>
  rule === undefined || rule.highThresholdPercent >= 100
    ? 'It is removable, but with a threshold of 100 % dustpan removes no image for space.'
    : `It is removable, but the image file system is only ${usedPercent ?? '?'} % full, and dustpan removes images from ${rule.highThresholdPercent} % on.`;

function inodesBelowText({ rule, usedInodesPercent }: ImageGcPlan): readonly string[] {
  if (rule?.inodes === undefined) return [];
  if (usedInodesPercent === undefined)
    return ['The file system reports no inodes, so dustpan removes no image for inodes.'];
  const { highThresholdPercent: high } = rule.inodes;
  return high >= 100
    ? ['With a threshold of 100 % dustpan removes no image for inodes.']
    : [`Only ${usedInodesPercent} % of its inodes are in use; dustpan removes images from ${high} % on.`];
}
