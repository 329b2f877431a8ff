import { byDiskSignal } from '../../api/node-pressure.ts';
import type { ContainerGcPolicy, LogsPolicy } from '../../api/policy/policy.ts';
import type { ContainerKeepReason, ContainerRemoveReason, ContainerWarnReason } from '../../api/reasons.ts';
import { unmountCommand } from './orphans.ts';
import { explainCheckpoint, explainWritten, underCheckpointLimits } from './checkpoint-words.ts';
import { explainNode, nodeReasons } from '../../gc/reasons/nodes.ts';
import {
  capital,
  counted,
  keepLabelField,
  labelRemoved,
  ordinal,
  orphanField,
  podText,
  readOnlyText,
  signalField,
  signalText,
  timeText,
} from '../../gc/reasons/words.ts';
import type { Meaning, Why } from '../../gc/words.ts';
import { formatDuration } from '../../runtime/text/duration.ts';
import { quantityText } from '../../runtime/text/quantity.ts';
import { sizeText } from '../../runtime/text/size-text.ts';
import type {
  AttemptPlace,
  ContainerDecision,
  ContainerGcPlan,
  ContainerGcTarget,
  ContainerKept,
  LargeLogTarget,
  LogWarning,
  PodEnd,
} from './facts.ts';

const nodeLabel = 'Or the label gc.dustpan.dev/keep: "true" on the node.';
/** For an object whose pod still exists. */
const podLabel = 'Or the label gc.dustpan.dev/keep: "true" on its pod or on the node.';
const podBack = 'Its pod exists and has not ended, or a container or sandbox of the pod runs';
const podKnown = 'The API server lists its pod, or the runtime a container or sandbox of the pod';

/** The reasons of containergc: containers, sandboxes, logs and orphaned resources. */
export const containerReasons: Readonly<
  Record<ContainerRemoveReason | ContainerKeepReason | ContainerWarnReason, Meaning>
> = {
  ...nodeReasons,
  PodGone: {
    meaning:
      'Two passes and a live read found that nothing of its pod runs and that the pod does not exist, was evicted, or was deleted longer than its grace period ago.',
    change: `${podBack}. ${podLabel}`,
  },
  DeadContainer: {
    meaning:
      'There are more dead containers than a limit allows; dustpan removes the oldest first, but never the newest attempt in a pod that has not finished.',
    change: `A higher nodes.containerGC.maxPerPodContainer or maxContainers, whichever it exceeds. ${podLabel}`,
  },
  ...byDiskSignal((signal) => ({
    meaning: `The node is low on ${signalText[signal]}, so dustpan removes dead containers and their logs, but never the newest attempt in a pod that has not finished.`,
    change: `More available than the threshold. ${podLabel}`,
  })),
  Sandbox: {
    meaning:
      'It is not ready and has no containers, and its pod is gone, was evicted, was deleted longer than its grace period ago, or has a newer sandbox.',
    change: `A container of it is kept, or nodes.containerGC.sandboxes is false. ${podLabel}`,
  },
  OrphanedLogs: {
    meaning:
      'It is the log directory of a pod that is gone, was evicted, or was deleted longer than its grace period ago, and no container of the pod is left.',
    change: `${podBack}, or nodes.containerGC.logs.orphanedDirectories is false. ${podLabel}`,
  },
  BrokenLink: {
    meaning:
      'It points to a log that does not exist, or out of /var/log/pods while the runtime does not have its container.',
    change: `The log or the container exists again, or nodes.containerGC.logs.brokenLinks is false. ${nodeLabel}`,
  },
  ContainerGone: {
    meaning:
      'It is the log of an attempt that the runtime no longer has, and its container has more dead attempts than the limit allows; the newest log of a container is always kept.',
    change: `A higher nodes.containerGC.maxPerPodContainer, or nodes.containerGC.logs.orphanedDirectories is false. ${podLabel}`,
  },
  RotatedLog: {
    meaning: 'There are more rotated logs than a limit allows; dustpan removes the oldest first.',
    change: `A higher nodes.containerGC.logs.maxRotatedPerContainer or maxBytesPerPod. ${podLabel}`,
  },
  Running: {
    meaning: 'It is a running container or a ready sandbox.',
    change: 'The container stops or the sandbox is no longer ready; then the rules for dead ones apply.',
  },
  NotKubelets: {
    meaning: 'The kubelet did not create it: it lacks the labels or the name that the kubelet sets.',
    change: 'Never by dustpan: its creator has to remove it.',
  },
  StaticPod: {
    meaning: 'It belongs to a static pod, and dustpan leaves static pods to the kubelet.',
    change: 'Never by dustpan: the kubelet removes it.',
  },
  UnknownState: {
    meaning: 'The runtime reports its state as unknown, and its pod may still exist.',
    change: 'The runtime reports its state, or its pod is gone.',
  },
  TooYoung: {
    meaning:
      "It is younger than the policy's minimum age, the kubelet has written vol_data.json of a CSI volume in it less than an hour ago, or it is a checkpoint that was written in the last ten minutes.",
    change:
      'nodes.containerGC.minimumAge has passed since its creation, or since a log was last written (at least two minutes if it was created but not started), and it exceeds a limit or its pod is gone. A directory with vol_data.json: an hour has passed since the kubelet last wrote it. A checkpoint: ten minutes have passed since it was last written.',
  },
  NewestAttempt: {
    meaning:
      'It is the newest dead attempt of its container: somebody may need its log, and without it the kubelet may run the container of an unfinished pod again.',
    change:
      "A later attempt starts, or has ended and reached the minimum age, or its pod is gone, evicted or deleted. Once the pod has finished, also if the policy's limit is 0.",
  },
  NewestSandbox: {
    meaning: 'It is the newest sandbox of its pod.',
    change: 'The pod gets a newer sandbox, or is gone.',
  },
  UnderLimit: {
    meaning: "It is within the policy's limits.",
    change: 'Newer ones exceed a limit, its pod is gone, or somebody lowers a limit.',
  },
  InUse: {
    meaning: 'Another object that dustpan keeps needs it.',
    change:
      'The object that needs it is removed: its pod, the containers of a sandbox or a log directory, or the log of a link.',
  },
  RemovalFailed: {
    meaning: 'Its removal has failed; dustpan tries again after a pause, after everything else.',
    change: "The pause has passed. The agent's log has the error of the last attempt.",
  },
  Quarantined: {
    meaning:
      'Its pod does not exist, was evicted, or was deleted longer than its grace period ago, but only one pass has observed this.',
    change: 'The next pass observes the same.',
  },
  ContainersUnknown: {
    meaning:
      'The agent has no list of the containers (ListContainers) or sandboxes (ListPodSandbox) of the node from the runtime, and one may need it.',
    change: 'The runtime lists containers and sandboxes.',
  },
  KeepMarked: {
    meaning: 'Its pod or the node has the label gc.dustpan.dev/keep.',
    change: labelRemoved,
  },
  RuleOff: {
    meaning: 'The policy of the node has no rule for it.',
    change:
      'The policy sets nodes.containerGC and, for sandboxes and logs, the field for such objects. For orphaned resources: the policy sets the field of nodes.orphans to Remove. For checkpoints: the policy sets nodes.checkpoints.',
  },
  OrphanedCgroup: {
    meaning:
      'Two passes found that neither the API server nor the runtime lists its pod, and no process is in the control group.',
    change: `${podKnown}, a process enters it, or nodes.orphans.podCgroups is Report. ${nodeLabel}`,
  },
  OrphanedDirectory: {
    meaning:
      'Two passes found that neither the API server nor the runtime lists its pod, no process is in the control group of the pod, nothing is mounted in the directory, none of its CSI volumes has a VolumeAttachment, and no file in it may outlive the pod.',
    change: `${podKnown}, a process enters the control group of the pod, something is mounted in the directory, or nodes.orphans.podDirectories is Report. ${nodeLabel}`,
  },
  OldCheckpoint: {
    meaning:
      'It is a checkpoint of a container that the kubelet has stored, and exceeds a limit of nodes.checkpoints; dustpan removes the oldest first.',
    change:
      'A higher nodes.checkpoints.maxAge, maxPerPod or maxBytes, whichever it exceeds; the label gc.dustpan.dev/keep: "true" on its pod or on the node; or a pod of the node names it as its image.',
  },
  Mounted: {
    meaning:
      'A volume is mounted in the directory, or a CSI volume of it is still mounted for the node, and its pod is gone; removing the directory could delete data of the volume.',
    change: 'The kubelet, or somebody on the node, unmounts it.',
  },
  MountsUnknown: {
    meaning:
      "The agent cannot see the node's mounts, because the kubelet's directory is mounted into the agent without mount propagation.",
    change: "The Helm value agent.mountPropagation is HostToContainer, and the node's mounts are shared.",
  },
  ProcessesUnknown: {
    meaning:
      'The agent cannot see the control groups of pods, so a process of the pod may still use the directory.',
    change:
      'The control groups of pods are visible below /sys/fs/cgroup: the kubelet creates them in kubepods (its defaults for cgroupRoot and cgroupsPerQOS).',
  },
  NotEmpty: {
    meaning:
      'Its pod is gone, but the directory contains files that may outlive the pod: of a volume plugin other than emptyDir, configMap, secret, projected and downwardAPI (except a readable vol_data.json of a CSI volume), or files that the kubelet did not create.',
    change: 'Somebody moves or removes the files.',
    caution: 'The files may be data of a persistent volume, or the kubelet may need them to detach it.',
  },
  VolumeAttached: {
    meaning:
      'Its pod is gone, but a CSI volume of the pod has a VolumeAttachment for this node, and the kubelet may need vol_data.json in the directory to detach it.',
    change: 'The attach-detach controller detaches the volume and deletes the VolumeAttachment.',
    caution: 'Another pod on the node may use the volume.',
  },
  AttachmentsUnknown: {
    meaning:
      'Its pod is gone, but the agent could not read whether a CSI volume of the pod has a VolumeAttachment: the API server did not respond, or the agent lacks the right to get volumeattachments.',
    change:
      'The API server responds; the Helm value agent.orphans.podDirectories gives the agent the right to get volumeattachments.',
  },
  ReadOnly: {
    meaning:
      'The policy removes it, but it is mounted read-only into the agent, because the Helm value agent.orphans or agent.checkpoints is not set.',
    change:
      'The Helm value agent.orphans.podCgroups, agent.orphans.podDirectories or agent.checkpoints, whichever it needs, is true.',
  },
  PacingLimit: {
    meaning: 'The directory contains more files than one pass removes.',
    change: 'The next pass removes more of them.',
  },
  LogTooLarge: {
    meaning:
      'It is running, and its current log file is larger than nodes.containerGC.logs.warnBytesPerContainer: log rotation fails or is off, or the container writes faster than the kubelet rotates.',
    change:
      'The kubelet rotates the log, the container stops, or nodes.containerGC.logs.warnBytesPerContainer is higher or empty.',
    caution:
      "dustpan never truncates or removes the current log of a running container. Compare the size with the kubelet's containerLogMaxSize, and check the kubelet's log for rotation errors.",
  },
};

export function explainContainer(
  decision: ContainerDecision | LogWarning,
  plan: Pick<ContainerGcPlan, 'rule' | 'checkpointRule' | 'ends'>,
): Why {
  const { target, policy, reason } = decision;
  const { meaning } = containerReasons[reason];
  const pod = podText(target.pod);
  const end = plan.ends.get(target.pod?.uid ?? '');
  const limits: Limits = plan.rule ?? {};
  switch (decision.reason) {
    case 'PodGone':
      return { detail: `It is not running, and ${pod} ${endText(end)}.`, field: 'nodes.containerGC' };
    case 'DeadContainer':
      return explainDead(decision.target, decision.total, limits);
    case 'nodefs.available':
    case 'nodefs.inodesFree':
    case 'imagefs.available':
    case 'imagefs.inodesFree':
      return {
        detail: `It is ${placeText(decision.target)}, and the node is low on ${signalText[decision.reason]}.`,
        field: signalField(decision.reason, decision.threshold),
      };
    case 'Sandbox': {
      const isPodGone = 'isPodGone' in target && target.isPodGone;
      return {
        detail: `It is not ready and has no containers, and ${pod} ${isPodGone ? endText(end) : 'has a newer sandbox'}.`,
        field: 'nodes.containerGC.sandboxes=true',
      };
    }
    case 'OrphanedLogs':
      return {
        detail: `It holds logs of ${pod.replace(/^its/, 'a')}, which ${endText(end)}, and no container of the pod is left.`,
        field: 'nodes.containerGC.logs.orphanedDirectories=true',
      };
    case 'BrokenLink':
      return {
        detail:
          'isOutside' in target && target.isOutside
            ? 'It points out of /var/log/pods, and the runtime does not have its container.'
            : 'It points to a log that does not exist.',
        field: 'nodes.containerGC.logs.brokenLinks=true',
      };
    case 'ContainerGone':
      return {
        detail: `The runtime no longer has its attempt, which is ${placeText(decision.target)}, and the policy allows ${countText(limits.maxPerPodContainer)}.`,
        field: `nodes.containerGC.logs.orphanedDirectories=true, ${perContainerField(limits)}`,
      };
    case 'RotatedLog':
      return {
        detail: 'There are more rotated logs than the policy allows, and this one is among the oldest.',
        field: rotatedField(limits.logs),
      };
    case 'OrphanedCgroup':
      return { detail: meaning, field: `${orphanField.PodCgroup}=Remove` };
    case 'OrphanedDirectory':
      return { detail: meaning, field: `${orphanField.PodDirectory}=Remove` };
    case 'OldCheckpoint':
      return explainCheckpoint(decision.limit, plan.checkpointRule);
    case 'LogTooLarge': {
      const { logPath, warnBytes } = decision.target;
      return {
        detail: `${largeLogClause(decision.target)}. The file is ${logPath}.`,
        field: `nodes.containerGC.logs.warnBytesPerContainer=${quantityText(warnBytes)}`,
      };
    }
    case 'Running':
      return { detail: target.kind === 'Sandbox' ? 'It is ready.' : 'It is running.' };
    case 'StaticPod':
      return {
        detail: `It belongs to ${pod}, a static pod, and dustpan leaves static pods to the kubelet.`,
      };
    case 'UnknownState':
      return { detail: `The runtime reports its state as unknown, and ${pod} may still exist.` };
    case 'TooYoung':
      return explainYoung(decision, limits);
    case 'NewestAttempt':
      return {
        detail: `It is the newest dead attempt of ${containerText(decision.target)}: somebody may need its log, and without it the kubelet may run the container of an unfinished pod again.`,
        field: perContainerField(limits),
      };
    case 'NewestSandbox':
      return { detail: `It is the newest sandbox of ${pod}, which still exists.` };
    case 'UnderLimit':
      return explainUnderLimit(decision.target, plan);
    case 'InUse':
      return { detail: inUse[target.kind](pod) };
    case 'RemovalFailed':
      return {
        detail: `Its removal has failed ${counted(decision.times, 'time')}; the pause before the next attempt doubles with each failure.`,
      };
    case 'Quarantined': {
      const seen = end === undefined ? 'seems to be gone' : `${endText(end)}, and nothing of it seems to run`;
      // A plan is one observation, and knows none of the agent.
      return {
        detail: `${capital(pod)} ${seen}. The agent removes it in the second pass that observes this; a plan does not know whether one has.`,
      };
    }
    case 'KeepMarked':
      return {
        detail: `${decision.on === 'node' ? 'The node' : capital(pod)} has the label gc.dustpan.dev/keep.`,
        field: keepLabelField(),
      };
    case 'RuleOff':
      return explainOff(decision.target.kind, plan);
    case 'ReadOnly':
      return explainReadOnly(decision.target.kind);
    case 'Mounted':
    case 'NotEmpty':
    case 'VolumeAttached':
    case 'AttachmentsUnknown':
      return { detail: heldText(decision) };
    case 'NotKubelets':
    case 'ContainersUnknown':
    case 'MountsUnknown':
    case 'ProcessesUnknown':
    case 'PacingLimit':
      return { detail: meaning };
    default:
      return explainNode(decision.reason, policy);
  }
}

/** Names what holds an orphaned directory, if that is known. */
function heldText({ reason, target, holders: [first, ...more] = [] }: ContainerKept): string {
  if (first === undefined || !('path' in target)) return containerReasons[reason].meaning;
  if (reason === 'NotEmpty') return `Its pod is gone, but ${first} may outlive the pod.`;
  if (reason === 'VolumeAttached')
    return `Its pod is gone, but a CSI volume of the pod has VolumeAttachment ${first} for this node.`;
  if (reason === 'AttachmentsUnknown') return `The agent has not read VolumeAttachment ${first}.`;
  const others = more.length === 0 ? '' : `, and ${more.length} more`;
  const command = unmountCommand(target.path, [first, ...more]);
  const remedy = command === undefined ? '' : ` On the node, "${command}" unmounts it.`;
  return `Its pod is gone, but a volume is mounted at ${first}${others}.${remedy}`;
}

type Limits = Partial<ContainerGcPolicy>;

function explainDead(target: ContainerGcTarget, total: number, limits: Limits): Why {
  const { maxPerPodContainer, maxContainers } = limits;
  return (placeOf(target)?.rank ?? 0) > (maxPerPodContainer ?? Infinity)
    ? {
        detail: `It is ${placeText(target)}, and the policy allows ${countText(maxPerPodContainer)}.`,
        field: perContainerField(limits),
      }
    : {
        detail: `The node has ${total} dead containers, the policy allows ${countText(maxContainers)}, and this one is among the oldest.`,
        field: totalField(limits),
      };
}

function explainYoung(
  { target, sinceMs, leastAgeMs, mayStart }: Extract<ContainerKept, { readonly reason: 'TooYoung' }>,
  { minimumAgeMs = 0 }: Limits,
): Why {
  if (target.kind === 'PodDirectory')
    return {
      detail: `Its pod is gone, but the kubelet wrote vol_data.json of a CSI volume in it at ${timeText(sinceMs)}. It is kept for ${formatDuration(leastAgeMs)} after that, because the kubelet may still mount the volume.`,
    };
  if (target.kind === 'Checkpoint') return explainWritten(sinceMs, leastAgeMs);
  const since = target.kind === 'LogFile' ? 'last written' : 'created';
  const least = `It was ${since} at ${timeText(sinceMs)}, and is kept for at least ${formatDuration(leastAgeMs)}`;
  return mayStart
    ? { detail: `${least}, because it may be about to start.` }
    : { detail: `${least}.`, field: `nodes.containerGC.minimumAge=${formatDuration(minimumAgeMs)}` };
}

function explainUnderLimit(
  target: ContainerGcTarget,
  plan: Pick<ContainerGcPlan, 'rule' | 'checkpointRule'>,
): Why {
  if (target.kind === 'Checkpoint') return underCheckpointLimits(plan.checkpointRule);
  const limits: Limits = plan.rule ?? {};
  return placeOf(target) === undefined
    ? {
        detail: 'It and the rotated logs beside it are within the limits.',
        field: rotatedField(limits.logs),
      }
    : {
        detail: `It is ${placeText(target)}, and the policy allows ${countText(limits.maxPerPodContainer)}.`,
        field: `${perContainerField(limits)}, ${totalField(limits)}`,
      };
}

type Kind = ContainerGcTarget['kind'];

const explainOff = (kind: Kind, { rule }: Pick<ContainerGcPlan, 'rule'>): Why => ({
  detail: `The policy of the node has no rule for ${things[kind]}.`,
  field:
    rule === undefined && !isOrphan(kind) && kind !== 'Checkpoint' ? ruleField.Container : ruleField[kind],
});

const explainReadOnly = (kind: Kind): Why =>
  isOrphan(kind)
    ? { detail: readOnlyText({ kind }), field: `${orphanField[kind]}=Remove` }
    : { detail: kind === 'Checkpoint' ? readOnlyText({ kind }) : containerReasons.ReadOnly.meaning };

const isOrphan = (kind: Kind): kind is keyof typeof orphanField => kind in orphanField;

const things: Readonly<Record<Kind, string>> = {
  Container: 'containers',
  Sandbox: 'sandboxes',
  LogDirectory: 'log directories of pods that are gone',
  LogLink: 'broken links',
  LogFile: 'rotated logs',
  PodDirectory: 'orphaned pod directories',
  PodCgroup: 'orphaned control groups of pods',
  Checkpoint: 'checkpoints',
};

const ruleField: Readonly<Record<Kind, string>> = {
  Container: 'nodes.containerGC is not set',
  Sandbox: 'nodes.containerGC.sandboxes=false',
  LogDirectory: 'nodes.containerGC.logs.orphanedDirectories is off',
  LogLink: 'nodes.containerGC.logs.brokenLinks is off',
  LogFile: 'nodes.containerGC.logs.maxRotatedPerContainer and maxBytesPerPod are not set',
  PodDirectory: `${orphanField.PodDirectory} is not Remove`,
  PodCgroup: `${orphanField.PodCgroup} is not Remove`,
  Checkpoint: 'nodes.checkpoints is not set',
};

const needed = (): string => containerReasons.InUse.meaning;
const inUse: Readonly<Record<Kind, (pod: string) => string>> = {
  Container: needed,
  Sandbox: () => 'It contains a container that dustpan keeps.',
  LogDirectory: (pod) => `It holds the logs of ${pod}, which exists or has a container that dustpan keeps.`,
  LogLink: () => 'It points to a log that exists, or its container may still write one.',
  LogFile: needed,
  PodDirectory: () =>
    'A process is in the control group of its pod, or a pod of the API server, a container or a sandbox has its UID.',
  Checkpoint: () => 'A pod or container of the node names it as its image.',
  PodCgroup: () =>
    'A process is in it or below it, or a pod of the API server, a container or a sandbox has its UID.',
};

const ends = { Evicted: 'was evicted', Deleted: 'was deleted longer than its grace period ago' };

/** The end of a pod whose remains are removed. */
const endText = (end: PodEnd | undefined): string => (end === undefined ? 'is gone' : ends[end]);

const placeOf = (target: ContainerGcTarget): AttemptPlace | undefined =>
  'place' in target ? target.place : undefined;

/** `the oldest of the 3 dead attempts of container main of pod web/api`. */
const placeText = (target: ContainerGcTarget): string =>
  `${rankText(placeOf(target))} of ${containerText(target)}`;

function rankText({ rank, attempts }: AttemptPlace = { rank: 1, attempts: 1 }): string {
  if (attempts === 1) return 'the only dead attempt';
  if (rank === 1) return `the newest of the ${attempts} dead attempts`;
  const age = rank === attempts ? 'oldest' : `${ordinal(attempts - rank + 1)} oldest`;
  return `the ${age} of the ${attempts} dead attempts`;
}

/** The container of an attempt, or of the log of one. */
function containerText(target: ContainerGcTarget): string {
  const name = target.kind === 'LogFile' ? target.containerName : 'name' in target ? target.name : '';
  return `container ${name} of ${podText(target.pod)}`;
}

function countText(limit = Infinity): string {
  if (limit === Infinity) return 'any number';
  if (limit === 0) return 'none';
  return limit === 1 ? 'one' : String(limit);
}

/** -1 = no limit, as in the policy. */
const perContainerField = ({ maxPerPodContainer = -1 }: Limits): string =>
  `nodes.containerGC.maxPerPodContainer=${maxPerPodContainer}`;

const totalField = ({ maxContainers = -1 }: Limits): string =>
  `nodes.containerGC.maxContainers=${maxContainers}`;

function rotatedField(logs: LogsPolicy | undefined): string | undefined {
  const fields = (['maxRotatedPerContainer', 'maxBytesPerPod'] as const).flatMap((name) => {
    const limit = logs?.[name];
    return limit === undefined ? [] : [`nodes.containerGC.logs.${name}=${limit}`];
  });
  return fields.length === 0 ? undefined : fields.join(', ');
}

/** The size of a log and the size above which the policy warns. */
export const largeLogClause = ({ name, pod, bytes, warnBytes }: LargeLogTarget): string =>
  `The current log of container ${name} of ${podText(pod)} is ${sizeText(bytes)}; dustpan warns above ${quantityText(warnBytes)}`;
