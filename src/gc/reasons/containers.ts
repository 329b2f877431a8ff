import { byDiskSignal, type DiskSignal } from '../../api/node-pressure.ts';
import type { LogsPolicy } from '../../api/policy/policy.ts';
import type { ContainerKeepReason, ContainerRemoveReason } from '../../api/reasons.ts';
import { formatDuration } from '../../runtime/text/duration.ts';
import type { ContainerTarget, LogTarget, OrphanTarget, SandboxTarget } from '../decision.ts';
import {
  countText,
  isOverOwnLimit,
  perContainerField,
  placeText,
  totalField,
  type DeadAttempt,
  type OfPod,
  type ReclaimedAttempt,
} from './attempt-words.ts';
import type { NoEvidence, ReasonCatalog, ReasonEntry } from './entry.ts';
import { nodeReasons, type NodeEvidence } from './nodes.ts';
import * as orphans from './orphans.ts';
import {
  capital,
  counted,
  keepLabelField,
  labelRemoved,
  podText,
  signalField,
  signalText,
  timeText,
} from './words.ts';

export type ContainerReason = ContainerRemoveReason | ContainerKeepReason;

/** Why a pod is over although the API still has it: the kubelet removes the remains of evicted pods and of deleted pods that have ended. */
export type PodEnd = 'Evicted' | 'Deleted';

type Kind = (ContainerTarget | SandboxTarget | LogTarget | OrphanTarget)['kind'];

interface EndedPod extends OfPod {
  /** undefined = the API does not have the pod. */
  readonly end: PodEnd | undefined;
}

/** undefined = the policy has no rule for logs. */
interface RotatedLogs {
  readonly limits: Pick<LogsPolicy, 'maxRotatedPerContainer' | 'maxBytesPerPod'> | undefined;
}

export interface ContainerEvidence
  extends Omit<NodeEvidence, 'KeepMarked'>, Record<DiskSignal, ReclaimedAttempt>, orphans.OrphanEvidence {
  PodGone: EndedPod;
  DeadContainer: DeadAttempt;
  Sandbox: EndedPod & {
    /** false = a newer sandbox of the pod replaces it. */
    readonly isPodGone: boolean;
  };
  OrphanedLogs: EndedPod;
  BrokenLink: {
    /** Its target is not below /var/log/pods, so dustpan cannot see whether it exists. */
    readonly isOutside: boolean;
  };
  /** Of an attempt of which only logs are left. */
  ContainerGone: DeadAttempt;
  RotatedLog: RotatedLogs;
  Running: { readonly kind: Kind };
  NotKubelets: NoEvidence;
  StaticPod: OfPod;
  UnknownState: OfPod;
  TooYoung: {
    /** When the container was created, or the log was last written. */
    readonly sinceMs: number;
    readonly isLog: boolean;
    readonly eligibleAtMs: number;
    /** The policy's minimum age. */
    readonly minimumAgeMs: number;
    /** It was created but not started. */
    readonly mayStart: boolean;
  };
  NewestAttempt: DeadAttempt;
  NewestSandbox: OfPod;
  UnderLimit: DeadAttempt | RotatedLogs;
  InUse: OfPod & { readonly kind: Kind };
  /** How often in a row. */
  RemovalFailed: { readonly times: number };
  Quarantined: EndedPod;
  /** undefined = the node has the label. */
  KeepMarked: OfPod;
  RuleOff: {
    readonly kind: Kind;
    /** The policy has no `containerGC` at all. */
    readonly isWhole: boolean;
  };
}

const nodeLabel = 'Or the label gc.dustpan.dev/keep: "true" on the node.';
/** For an object whose pod still exists. */
const podLabel = 'Or the label gc.dustpan.dev/keep: "true" on its pod or on the node.';
const podBack = 'Its pod exists and has not ended, or a container or sandbox of the pod runs';

const short = (signal: DiskSignal): ReasonEntry<ReclaimedAttempt> => ({
  meaning: `The node is low on ${signalText[signal]}, so dustpan removes dead containers and their logs, but never the newest attempt in a pod that has not finished.`,
  sentence: (attempt) => `It is ${placeText(attempt)}, and the node is low on ${signalText[signal]}.`,
  field: ({ threshold }) => signalField(signal, threshold),
  change: `More available than the threshold. ${podLabel}`,
});

/** Reasons of containergc: containers, sandboxes and logs. */
export const containerReasons: ReasonCatalog<ContainerEvidence> = {
  ...nodeReasons,
  ...orphans.reasons,
  PodGone: {
    meaning:
      'Two passes and a live read found that nothing of its pod runs and that the pod does not exist, was evicted, or was deleted longer than its grace period ago.',
    sentence: (evidence) => `It is not running, and ${podText(evidence.pod)} ${endText(evidence)}.`,
    field: () => 'nodes.containerGC',
    change: `${podBack}. ${podLabel}`,
  },
  DeadContainer: {
    meaning:
      'There are more dead containers than a limit allows; dustpan removes the oldest first, but never the newest attempt in a pod that has not finished.',
    sentence: (attempt) =>
      isOverOwnLimit(attempt)
        ? `It is ${placeText(attempt)}, and the policy allows ${countText(attempt.limits.maxPerPodContainer)}.`
        : `The node has ${attempt.total} dead containers, the policy allows ${countText(attempt.limits.maxContainers)}, and this one is among the oldest.`,
    field: (attempt) => (isOverOwnLimit(attempt) ? perContainerField(attempt) : totalField(attempt)),
    change: `A higher nodes.containerGC.maxPerPodContainer or maxContainers, whichever it exceeds. ${podLabel}`,
  },
  ...byDiskSignal(short),
  Sandbox: {
    meaning:
      'It is not ready and has no containers, and its pod is gone, was evicted, was deleted longer than its grace period ago, or has a newer sandbox.',
    sentence: (evidence) =>
      `It is not ready and has no containers, and ${podText(evidence.pod)} ${evidence.isPodGone ? endText(evidence) : 'has a newer sandbox'}.`,
    field: () => 'nodes.containerGC.sandboxes=true',
    change: `A container of it is kept, or nodes.containerGC.sandboxes is false. ${podLabel}`,
  },
  OrphanedLogs: {
    meaning:
      'It is the log directory of a pod that is gone, was evicted, or was deleted longer than its grace period ago, and no container of the pod is left.',
    sentence: (evidence) =>
      `It holds logs of ${podText(evidence.pod).replace(/^its/, 'a')}, which ${endText(evidence)}, and no container of the pod is left.`,
    field: () => 'nodes.containerGC.logs.orphanedDirectories=true',
    change: `${podBack}, or nodes.containerGC.logs.orphanedDirectories is false. ${podLabel}`,
  },
  BrokenLink: {
    meaning:
      'It points to a log that does not exist, or out of /var/log/pods while the runtime does not have its container.',
    sentence: ({ isOutside }) =>
      isOutside
        ? 'It points out of /var/log/pods, and the runtime does not have its container.'
        : 'It points to a log that does not exist.',
    field: () => 'nodes.containerGC.logs.brokenLinks=true',
    change: `The log or the container exists again, or nodes.containerGC.logs.brokenLinks is false. ${nodeLabel}`,
  },
  ContainerGone: {
    meaning:
      'It is the log of an attempt that the runtime no longer has, and its container has more dead attempts than the limit allows; the newest log of a container is always kept.',
    sentence: (attempt) =>
      `The runtime no longer has its attempt, which is ${placeText(attempt)}, and the policy allows ${countText(attempt.limits.maxPerPodContainer)}.`,
    field: (attempt) => `nodes.containerGC.logs.orphanedDirectories=true, ${perContainerField(attempt)}`,
    change: `A higher nodes.containerGC.maxPerPodContainer, or nodes.containerGC.logs.orphanedDirectories is false. ${podLabel}`,
  },
  RotatedLog: {
    meaning: 'There are more rotated logs than a limit allows; dustpan removes the oldest first.',
    sentence: () => 'There are more rotated logs than the policy allows, and this one is among the oldest.',
    field: rotatedField,
    change: `A higher nodes.containerGC.logs.maxRotatedPerContainer or maxBytesPerPod. ${podLabel}`,
  },
  Running: {
    meaning: 'It is a running container or a ready sandbox.',
    sentence: ({ kind }) => (kind === 'Sandbox' ? 'It is ready.' : 'It is running.'),
    change: 'The container stops or the sandbox is no longer ready; then the rules for dead ones apply.',
  },
  NotKubelets: {
    meaning: 'The kubelet did not create it: it lacks the labels or the name that the kubelet sets.',
    change: 'Never by dustpan: its creator has to remove it.',
  },
  StaticPod: {
    meaning: 'It belongs to a static pod, and dustpan leaves static pods to the kubelet.',
    sentence: ({ pod }) =>
      `It belongs to ${podText(pod)}, a static pod, and dustpan leaves static pods to the kubelet.`,
    change: 'Never by dustpan: the kubelet removes it.',
  },
  UnknownState: {
    meaning: 'The runtime reports its state as unknown, and its pod may still exist.',
    sentence: ({ pod }) => `The runtime reports its state as unknown, and ${podText(pod)} may still exist.`,
    change: 'The runtime reports its state, or its pod is gone.',
  },
  TooYoung: {
    meaning: "It is younger than the policy's minimum age.",
    sentence: ({ sinceMs, isLog, eligibleAtMs, minimumAgeMs, mayStart }) =>
      `It was ${isLog ? 'last written' : 'created'} at ${timeText(sinceMs)}, and is kept for at least ${formatDuration(eligibleAtMs - sinceMs)}` +
      `${mayStart && eligibleAtMs - sinceMs > minimumAgeMs ? ', because it may be about to start' : ''}.`,
    field: ({ sinceMs, eligibleAtMs, minimumAgeMs, mayStart }) =>
      mayStart && eligibleAtMs - sinceMs > minimumAgeMs
        ? undefined
        : `nodes.containerGC.minimumAge=${formatDuration(minimumAgeMs)}`,
    change:
      'nodes.containerGC.minimumAge has passed since its creation, or since a log was last written (at least two minutes if it was created but not started), and it exceeds a limit or its pod is gone.',
  },
  NewestAttempt: {
    meaning:
      'It is the newest dead attempt of its container: somebody may need its log, and without it the kubelet may run the container of an unfinished pod again.',
    sentence: ({ container, pod }) =>
      `It is the newest dead attempt of container ${container} of ${podText(pod)}: somebody may need its log, and without it the kubelet may run the container of an unfinished pod again.`,
    field: perContainerField,
    change:
      "A later attempt starts, or has ended and reached the minimum age, or its pod is gone, evicted or deleted. Once the pod has finished, also if the policy's limit is 0.",
  },
  NewestSandbox: {
    meaning: 'It is the newest sandbox of its pod.',
    sentence: ({ pod }) => `It is the newest sandbox of ${podText(pod)}, which still exists.`,
    change: 'The pod gets a newer sandbox, or is gone.',
  },
  UnderLimit: {
    meaning: "It is within the policy's limits.",
    sentence: (evidence) =>
      'place' in evidence
        ? `It is ${placeText(evidence)}, and the policy allows ${countText(evidence.limits.maxPerPodContainer)}.`
        : 'It and the rotated logs beside it are within the limits.',
    field: (evidence) =>
      'place' in evidence
        ? `${perContainerField(evidence)}, ${totalField(evidence)}`
        : rotatedField(evidence),
    change: 'Newer ones exceed a limit, its pod is gone, or somebody lowers a limit.',
  },
  InUse: {
    meaning: 'Another object that dustpan keeps needs it.',
    sentence: ({ kind, pod }) => inUse[kind](podText(pod)),
    change:
      'The object that needs it is removed: its pod, the containers of a sandbox or a log directory, or the log of a link.',
  },
  RemovalFailed: {
    meaning: 'Its removal has failed; dustpan tries again after a pause, after everything else.',
    sentence: ({ times }) =>
      `Its removal has failed ${counted(times, 'time')}; the pause before the next attempt doubles with each failure.`,
    change: "The pause has passed. The agent's log has the error of the last attempt.",
  },
  Quarantined: {
    meaning:
      'Its pod does not exist, was evicted, or was deleted longer than its grace period ago, but only one pass has observed this.',
    sentence: (evidence) =>
      evidence.end === undefined
        ? `${capital(podText(evidence.pod))} seems to be gone, but only one pass has observed this.`
        : `${capital(podText(evidence.pod))} ${endText(evidence)}, and nothing of it seems to run, but only one pass has observed this.`,
    change: 'The next pass observes the same.',
  },
  ContainersUnknown: {
    meaning: 'The agent does not know the containers or sandboxes of the node, and one may need it.',
    change: 'The runtime lists containers and sandboxes.',
  },
  KeepMarked: {
    meaning: 'Its pod or the node has the label gc.dustpan.dev/keep.',
    sentence: ({ pod }) =>
      `${pod === undefined ? 'The node' : capital(podText(pod))} has the label gc.dustpan.dev/keep.`,
    field: keepLabelField,
    change: labelRemoved,
  },
  RuleOff: {
    meaning: 'The policy of the node has no rule for it.',
    sentence: ({ kind }) => `The policy of the node has no rule for ${things[kind]}.`,
    field: ({ kind, isWhole }) => (isWhole ? 'nodes.containerGC is not set' : ruleField[kind]),
    change: `The policy sets nodes.containerGC and, for sandboxes and logs, the field for such objects. ${orphans.ruleChange}`,
  },
};

const things: Readonly<Record<Kind, string>> = {
  Container: 'containers',
  Sandbox: 'sandboxes',
  LogDirectory: 'log directories of pods that are gone',
  LogLink: 'broken links',
  LogFile: 'rotated logs',
  ...orphans.things,
};

const ruleField: Readonly<Record<Kind, string>> = {
  Container: 'nodes.containerGC',
  Sandbox: 'nodes.containerGC.sandboxes=false',
  LogDirectory: 'nodes.containerGC.logs.orphanedDirectories is off',
  LogLink: 'nodes.containerGC.logs.brokenLinks is off',
  LogFile: 'nodes.containerGC.logs.maxRotatedPerContainer and maxBytesPerPod are not set',
  ...orphans.ruleField,
};

const needed = (): string => containerReasons.InUse.meaning;
const inUse: Readonly<Record<Kind, (pod: string) => string>> = {
  Container: needed,
  Sandbox: () => 'It contains a container that dustpan keeps.',
  LogDirectory: (pod) => `It holds the logs of ${pod}, which exists or has a container that dustpan keeps.`,
  LogLink: () => 'It points to a log that exists, or its container may still write one.',
  LogFile: needed,
  ...orphans.inUse,
};

const ends = { Evicted: 'was evicted', Deleted: 'was deleted longer than its grace period ago' };

/** The end of a pod whose remains are removed. */
const endText = ({ end }: EndedPod): string => (end === undefined ? 'is gone' : ends[end]);

function rotatedField({ limits }: RotatedLogs): string | undefined {
  const fields = (['maxRotatedPerContainer', 'maxBytesPerPod'] as const).flatMap((name) => {
    const limit = limits?.[name];
    return limit === undefined ? [] : [`nodes.containerGC.logs.${name}=${limit}`];
  });
  return fields.length === 0 ? undefined : fields.join(', ');
}
