import { corrected, unmarked, type ReasonMeanings } from './reason-meanings.ts';
import type {
  ContainerKeepReason,
  ContainerRemoveReason,
  ImageKeepReason,
  ImageRemoveReason,
  NodeKeepReason,
} from './reasons.ts';

const inUse = 'Something that stays needs it.';
const tooYoung = "It has not been here for the policy's minimum age yet.";
const ruleOff = 'The policy has no rule for it.';

const nodeMark = 'The label gc.dustpan.dev/keep: "true" on the node keeps it.';
/** Of a pod that still exists. */
const podMark = 'The label gc.dustpan.dev/keep: "true" on its pod or on the node keeps it.';

/** What says the same of images as of containers, sandboxes and logs. */
const shared: ReasonMeanings<
  Exclude<NodeKeepReason, 'RuleOff'> | 'ClockUnsure' | 'PodsUnknown' | 'ContainersUnknown'
> = {
  ClockUnsure: {
    sentence: 'Its age cannot be trusted: the clock has jumped.',
    change: 'The next pass finds that the clock goes steadily and agrees with that of the API server.',
  },
  PodsUnknown: {
    sentence: 'The pods of the node are not known for sure, and one may need it.',
    change: 'The API server answers and the pods are listed.',
  },
  ContainersUnknown: {
    sentence: 'The containers of the node are not known for sure, and one may need it.',
    change: 'The runtime lists containers and sandboxes, and says what each was made from.',
  },
  NoPolicy: {
    sentence: 'No policy governs the node.',
    change: 'A GCPolicy with spec.nodes selects the node.',
  },
  InvalidPolicy: {
    sentence: 'A policy that cannot be followed may govern the node, so nothing on it is touched.',
    change: corrected,
  },
  KeepMarked: {
    sentence: 'The label gc.dustpan.dev/keep is on the node.',
    change: unmarked,
  },
  NodeUnknown: {
    sentence: 'The node or the policies are not known for sure.',
    change: 'The API server answers, and the node and the policies are read.',
  },
};

/** Of imagegc. */
export const imageMeanings: ReasonMeanings<ImageRemoveReason | ImageKeepReason> = {
  Age: {
    sentence: 'The image was unused for longer than the maximum age.',
    change: `A longer nodes.imageGC.maximumAge; a container or a pod that uses it; a pin in the runtime; an entry in nodes.imageGC.keep. ${nodeMark}`,
  },
  Space: {
    sentence: 'The disk is too full, and of the unused images this one is next; those never used go first.',
    change: `Room on the disk; a container or a pod that uses it; a pin in the runtime; an entry in nodes.imageGC.keep. ${nodeMark}`,
  },
  InUse: {
    sentence: inUse,
    change: 'The last container made from it, running or not, is removed; containergc sees to the dead ones.',
  },
  BoundPod: {
    sentence: 'A pod of this node names the image, running or about to start.',
    change: 'The pod finishes or goes away.',
  },
  Pinned: {
    sentence:
      'The runtime has pinned it, or makes its sandboxes from it; where the runtime does not name that image, every image called pause counts as such.',
    change: 'It is unpinned in the runtime, and the runtime makes its sandboxes from another image.',
  },
  KeepListed: {
    sentence: "It is on the policy's keep list.",
    change: 'No pattern of nodes.imageGC.keep matches one of its tags or digests.',
  },
  TooYoung: {
    sentence: tooYoung,
    change:
      'nodes.imageGC.minimumAge since it was first seen is over; twice that if it was pulled again after a removal.',
  },
  UsedRecently: {
    sentence: 'It was in use at the moment of this pass.',
    change: 'The next pass finds it unused.',
  },
  BelowThreshold: {
    sentence: 'It may go, but the disk has room enough.',
    change: 'The disk fills up to nodes.imageGC.highThresholdPercent, or it reaches maximumAge.',
  },
  TargetMet: {
    sentence: 'It may go, but what goes before it frees enough.',
    change: 'The disk fills up again, or it reaches nodes.imageGC.maximumAge.',
  },
  PacingLimit: {
    sentence: 'It may go, but the pass has used up the removals that the policy allows.',
    change: 'A later pass gets to it, or a higher nodes.imageGC.maxImagesPerPass.',
  },
  DiskUnknown: {
    sentence: 'How full the disk is cannot be measured.',
    change: 'The file system of the images can be measured.',
  },
  ...shared,
  RuleOff: {
    sentence: ruleOff,
    change: 'The policy gets nodes.imageGC.',
  },
};

/** Of containergc: containers, sandboxes and logs. */
export const containerMeanings: ReasonMeanings<ContainerRemoveReason | ContainerKeepReason> = {
  PodGone: {
    sentence:
      'Its pod is absent from the API, was evicted, or was deleted longer than its grace period ago, by two passes and a live read; and nothing of the pod runs.',
    change: `Its pod is in the API and not over, or something of it runs. ${podMark}`,
  },
  DeadContainer: {
    sentence:
      'There are more dead containers than a limit allows; the oldest go first, but never the newest attempt in a pod that has not finished.',
    change: `A higher limit where it is over one: nodes.containerGC.maxPerPodContainer or maxContainers. ${podMark}`,
  },
  Sandbox: {
    sentence:
      'It is not ready and without containers, and its pod is gone, was evicted, is deleted for good, or has a newer sandbox.',
    change: `A container of it stays, or nodes.containerGC.sandboxes is off. ${podMark}`,
  },
  OrphanedLogs: {
    sentence:
      'It is the log directory of a pod that is gone, was evicted, or is deleted for good, and no container of it is left.',
    change: `Its pod is in the API and not over, or something of it runs, or nodes.containerGC.logs.orphanedDirectories is off. ${podMark}`,
  },
  BrokenLink: {
    sentence: 'It leads to a log that is gone.',
    change: `The log exists again, or nodes.containerGC.logs.brokenLinks is off. ${nodeMark}`,
  },
  RotatedLog: {
    sentence: 'There are more rotated logs than a limit allows; the oldest go first.',
    change: `A higher nodes.containerGC.logs.maxRotatedPerContainer or maxBytesPerPod. ${podMark}`,
  },
  Running: {
    sentence: 'It runs, or is a sandbox that is ready.',
    change: 'It stops, or is a sandbox no longer ready; then the rules for dead ones decide.',
  },
  NotKubelets: {
    sentence: 'It was not made by the kubelet, so it is not ours to touch.',
    change: 'Never by dustpan: whoever made it removes it.',
  },
  StaticPod: {
    sentence: 'It belongs to a static pod, which is left to the kubelet.',
    change: 'Never by dustpan: the kubelet collects it.',
  },
  UnknownState: {
    sentence: 'The runtime cannot tell its state, and its pod is not gone.',
    change: 'The runtime can tell its state, or its pod is gone.',
  },
  TooYoung: {
    sentence: tooYoung,
    change:
      'nodes.containerGC.minimumAge since its creation is over; at least two minutes if it was created and not started.',
  },
  NewestAttempt: {
    sentence:
      'It is the newest dead attempt of its container: its log may be wanted, and while the pod has not finished, the kubelet may run the container again without it.',
    change:
      'A later attempt starts or ends, or its pod is gone or over; once the pod has finished, also when the limits of the policy leave none.',
  },
  NewestSandbox: {
    sentence: 'It is the latest sandbox of its pod.',
    change: 'The pod gets a newer sandbox, or is gone.',
  },
  UnderLimit: {
    sentence: "It is within the policy's limits.",
    change: 'Newer ones make it exceed a limit, its pod is gone, or a lower limit.',
  },
  InUse: {
    sentence: inUse,
    change: 'What needs it goes: its pod, the containers of a sandbox or a log directory, the log of a link.',
  },
  Quarantined: {
    sentence:
      'Its pod is absent from the API, evicted, or deleted for good, but only one pass has seen that.',
    change: 'The next pass sees the same.',
  },
  ...shared,
  KeepMarked: {
    sentence: 'The label gc.dustpan.dev/keep is on its pod or on the node.',
    change: unmarked,
  },
  RuleOff: {
    sentence: ruleOff,
    change: 'The policy gets nodes.containerGC, and there what speaks of it: sandboxes, or a field of logs.',
  },
};
