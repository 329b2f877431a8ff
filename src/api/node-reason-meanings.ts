import { corrected, unmarked, type ReasonMeanings } from './reason-meanings.ts';
import type {
  ContainerKeepReason,
  ContainerRemoveReason,
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
    meaning: 'Its age cannot be trusted: the clock has jumped.',
    change: 'The next pass finds that the clock goes steadily and agrees with that of the API server.',
  },
  PodsUnknown: {
    meaning: 'The pods of the node are not known for sure, and one may need it.',
    change: 'The API server answers and the pods are listed.',
  },
  ContainersUnknown: {
    meaning: 'The containers of the node are not known for sure, and one may need it.',
    change: 'The runtime lists containers and sandboxes, and says what each was made from.',
  },
  NoPolicy: {
    meaning: 'No policy governs the node.',
    change: 'A GCPolicy with spec.nodes selects the node.',
  },
  InvalidPolicy: {
    meaning: 'A policy that cannot be followed may govern the node, so nothing on it is touched.',
    change: corrected,
  },
  KeepMarked: {
    meaning: 'The label gc.dustpan.dev/keep is on the node.',
    change: unmarked,
  },
  NodeUnknown: {
    meaning: 'The node or the policies are not known for sure.',
    change: 'The API server answers, and the node and the policies are read.',
  },
};

/** Of containergc: containers, sandboxes and logs. */
export const containerMeanings: ReasonMeanings<ContainerRemoveReason | ContainerKeepReason> = {
  PodGone: {
    meaning:
      'Its pod is absent from the API, was evicted, or was deleted longer than its grace period ago, by two passes and a live read; and nothing of the pod runs.',
    change: `Its pod is in the API and not over, or something of it runs. ${podMark}`,
  },
  DeadContainer: {
    meaning:
      'There are more dead containers than a limit allows; the oldest go first, but never the newest attempt in a pod that has not finished.',
    change: `A higher limit where it is over one: nodes.containerGC.maxPerPodContainer or maxContainers. ${podMark}`,
  },
  Sandbox: {
    meaning:
      'It is not ready and without containers, and its pod is gone, was evicted, is deleted for good, or has a newer sandbox.',
    change: `A container of it stays, or nodes.containerGC.sandboxes is off. ${podMark}`,
  },
  OrphanedLogs: {
    meaning:
      'It is the log directory of a pod that is gone, was evicted, or is deleted for good, and no container of it is left.',
    change: `Its pod is in the API and not over, or something of it runs, or nodes.containerGC.logs.orphanedDirectories is off. ${podMark}`,
  },
  BrokenLink: {
    meaning: 'It leads to a log that is gone.',
    change: `The log exists again, or nodes.containerGC.logs.brokenLinks is off. ${nodeMark}`,
  },
  RotatedLog: {
    meaning: 'There are more rotated logs than a limit allows; the oldest go first.',
    change: `A higher nodes.containerGC.logs.maxRotatedPerContainer or maxBytesPerPod. ${podMark}`,
  },
  Running: {
    meaning: 'It runs, or is a sandbox that is ready.',
    change: 'It stops, or is a sandbox no longer ready; then the rules for dead ones decide.',
  },
  NotKubelets: {
    meaning: 'It was not made by the kubelet, so it is not ours to touch.',
    change: 'Never by dustpan: whoever made it removes it.',
  },
  StaticPod: {
    meaning: 'It belongs to a static pod, which is left to the kubelet.',
    change: 'Never by dustpan: the kubelet collects it.',
  },
  UnknownState: {
    meaning: 'The runtime cannot tell its state, and its pod is not gone.',
    change: 'The runtime can tell its state, or its pod is gone.',
  },
  TooYoung: {
    meaning: tooYoung,
    change:
      'nodes.containerGC.minimumAge since its creation is over; at least two minutes if it was created and not started.',
  },
  NewestAttempt: {
    meaning:
      'It is the newest dead attempt of its container: its log may be wanted, and while the pod has not finished, the kubelet may run the container again without it.',
    change:
      'A later attempt starts or ends, or its pod is gone or over; once the pod has finished, also when the limits of the policy leave none.',
  },
  NewestSandbox: {
    meaning: 'It is the latest sandbox of its pod.',
    change: 'The pod gets a newer sandbox, or is gone.',
  },
  UnderLimit: {
    meaning: "It is within the policy's limits.",
    change: 'Newer ones make it exceed a limit, its pod is gone, or a lower limit.',
  },
  InUse: {
    meaning: inUse,
    change: 'What needs it goes: its pod, the containers of a sandbox or a log directory, the log of a link.',
  },
  Quarantined: {
    meaning:
      'Its pod is absent from the API, evicted, or deleted for good, but only one pass has seen that.',
    change: 'The next pass sees the same.',
  },
  ...shared,
  KeepMarked: {
    meaning: 'The label gc.dustpan.dev/keep is on its pod or on the node.',
    change: unmarked,
  },
  RuleOff: {
    meaning: ruleOff,
    change: 'The policy gets nodes.containerGC, and there what speaks of it: sandboxes, or a field of logs.',
  },
};
