import { TTL_ANNOTATION } from '../../api/policy/matching.ts';
import { formatDuration } from '../../runtime/text/duration.ts';
import type { ReasonCatalog } from './entry.ts';
import { holdReason } from './hold-words.ts';
import type { Finish, Owned, PlaceInLine, PlaceInNamespace, PodEvidence, Ttl } from './pod-evidence.ts';
import {
  counted,
  invalidField,
  invalidSentence,
  keepLabelField,
  labelRemoved,
  ordinal,
  policyCorrected,
  timeText,
} from './words.ts';

const podLabel = 'Or the label gc.dustpan.dev/keep: "true" on the pod, its namespace or its node.';

/** Caution for a pod on a missing node. */
const mayRun =
  'Its containers may still be running: if somebody deletes the Node object of a live kubelet, the kubelet creates it again only when it restarts. Only the quarantine and the live read of the node right before the deletion protect such a pod.';

/** Reasons of podgc. */
export const podReasons: ReasonCatalog<PodEvidence> = {
  Terminated: {
    meaning:
      'There are more finished pods than the threshold; dustpan deletes evicted pods first, then the oldest.',
    sentence: (line) =>
      `${lineText(line)}; this one is the ${ordinal(line.place)} to be deleted: evicted pods first, then the oldest.`,
    field: thresholdField,
    change: `A higher pods.terminated.threshold. ${podLabel}`,
  },
  TerminatedInNamespace: {
    meaning:
      'Its namespace has more finished pods than the threshold per namespace; dustpan deletes evicted pods first, then the oldest.',
    sentence: (line) =>
      `${namespaceLineText(line)}; this one is the ${ordinal(line.place)} to be deleted: evicted pods first, then the oldest.`,
    field: namespaceThresholdField,
    change: `A higher pods.terminated.perNamespaceThreshold, or, for one of the newest pods of an owner, a higher keepPerOwner. ${podLabel}`,
  },
  Expired: {
    meaning: 'It has finished, and its time to live has passed.',
    sentence: (finish) =>
      `${finishText(finish)}, and ${ttlText(finish)} has passed.${annotationText(finish.ttl)}`,
    field: ttlField,
    change: `A longer ttl (in pods.terminated.ttlByReason, ttlAfterFinished or the pod's annotation ${TTL_ANNOTATION}), or, for one of the newest pods of an owner, a higher keepPerOwner. ${podLabel}`,
  },
  OutOfService: {
    meaning: 'It is terminating on a node that is not ready and has the out-of-service taint.',
    sentence: ({ node }) =>
      `It is terminating on node ${node}, which is not ready and has the out-of-service taint.`,
    field: () => 'pods.outOfService',
    change: `The node is ready again, or somebody removes its taint node.kubernetes.io/out-of-service. ${podLabel}`,
  },
  Orphaned: {
    meaning:
      'Its node has been missing for the whole quarantine, and a live read of the node confirmed this.',
    sentence: (orphan) => `Node ${orphan.node} does not exist, and ${quarantineText(orphan)}.`,
    field: quarantineField,
    change: `A Node with this name, or a longer pods.orphaned.quarantine. ${podLabel}`,
    caution: mayRun,
  },
  Unscheduled: {
    meaning: 'It is terminating and was never bound to a node.',
    field: () => 'pods.unscheduledTerminating',
    change: `A policy without pods.unscheduledTerminating. ${podLabel}`,
  },
  NotTerminated: {
    meaning: 'It is running or starting.',
    sentence: ({ phase, isTerminating, existingNode }) =>
      `It has not finished: its phase is ${phase}${isTerminating ? ', although it is terminating' : ''}` +
      `${existingNode === undefined ? '' : `, and node ${existingNode} exists`}.`,
    field: ({ phase }) => `status.phase=${phase}`,
    change: 'It finishes and a rule for finished pods selects it, or its node is deleted.',
  },
  UnderThreshold: {
    meaning: 'It has finished, but no threshold is exceeded that would select it.',
    sentence: underThresholdText,
    field: ({ overall, inNamespace }) =>
      inNamespace === undefined
        ? thresholdField(overall)
        : `${thresholdField(overall)}, ${namespaceThresholdField(inNamespace)}`,
    change:
      'More pods finish, a threshold is exceeded and it is the next to be deleted, or the policy sets a ttl for it.',
  },
  RuleOff: {
    meaning: 'It has finished, but the policy has no rule for finished pods.',
    field: () => 'pods.terminated is not set',
    change: 'The policy sets pods.terminated.',
  },
  TooYoung: {
    meaning: 'It has finished, but its time to live has not passed yet.',
    sentence: (finish) =>
      `${finishText(finish)}, and ${ttlText(finish)} has not passed yet.${annotationText(finish.ttl)}`,
    field: ttlField,
    change:
      'Its ttl has passed since its last container finished; or, if that time is unknown or cannot be true, since the controller first observed it as finished. pods.terminated.ttlByReason or ttlAfterFinished sets the ttl, and with honorTTLAnnotation a shorter annotation.',
  },
  KeepMarked: {
    meaning: 'The label gc.dustpan.dev/keep is on the pod, its namespace or its node.',
    sentence: ({ on }) => `The label gc.dustpan.dev/keep is on ${on}.`,
    field: keepLabelField,
    change: labelRemoved,
  },
  JobUncounted: {
    meaning: 'It has finished, but its Job has not counted it yet.',
    sentence: (owned) =>
      `${ownerText(owned)} has not counted it yet: it still has the finalizer batch.kubernetes.io/job-tracking.`,
    field: () => 'metadata.finalizers=batch.kubernetes.io/job-tracking',
    change: 'The Job controller counts it and removes the finalizer batch.kubernetes.io/job-tracking.',
  },
  JobUnfinished: {
    meaning: 'It has finished, but its Job has not, and the policy protects the pods of such Jobs.',
    sentence: (owned) =>
      `${ownerText(owned)} has neither completed nor failed, as far as the controller knows, and the policy protects the pods of such Jobs.`,
    field: () => 'pods.terminated.protectUnfinishedJobs=true',
    change:
      'The Job gets the condition Complete or Failed, or pods.terminated.protectUnfinishedJobs is false.',
  },
  KeptForOwner: {
    meaning: 'It is among the newest finished pods of its owner.',
    sentence: ({ keepPerOwner }) =>
      `It is ${keepPerOwner === 1 ? 'the newest finished pod' : `one of the ${keepPerOwner} newest finished pods`} of its owner.`,
    field: ({ keepPerOwner }) => `pods.terminated.keepPerOwner=${keepPerOwner}`,
    change:
      'Newer pods of the owner finish, pods.terminated.keepPerOwner is lower, or pods.terminated.threshold is exceeded, which ignores keepPerOwner.',
  },
  FinalizerHeld: {
    meaning: 'It is terminating and waits only for its finalizers; another deletion would change nothing.',
    sentence: ({ deletionAtMs, finalizers }) =>
      `It was deleted${deletionAtMs === undefined ? '' : ` at ${timeText(deletionAtMs)}`} and waits only for its finalizers: ${finalizers.join(', ')}.`,
    field: ({ finalizers }) => `metadata.finalizers=${finalizers.join(',')}`,
    change:
      'Never by dustpan: the API server deletes it when the owners of the finalizers have removed them.',
  },
  Quarantined: {
    meaning: 'Its node is missing, but the quarantine has not passed yet.',
    sentence: ({ node, quarantineMs }) =>
      `Node ${node} does not exist; this command counts the quarantine of ${formatDuration(quarantineMs)} from now, because only the controller knows since when the node has been missing.`,
    field: quarantineField,
    change:
      'The node is still missing when pods.orphaned.quarantine has passed; if the node returns, or the circuit breaker opens, the quarantine restarts.',
    caution: mayRun,
  },
  NodeExists: {
    meaning: 'The list of nodes does not have its node, but a live read found the node.',
    change: 'The node is missing for a whole quarantine.',
  },
  NodeUnknown: {
    meaning: 'It was due, but the live read of its node failed.',
    change: 'A live read in a later pass succeeds.',
  },
  NodeRecovered: {
    meaning: 'It was due, but a live read found that its node is ready or has no out-of-service taint.',
    change: 'The node is not ready and has the out-of-service taint again.',
  },
  ClockUnsure: {
    meaning: 'Its age is unknown, because the clocks of the controller and the API server differ.',
    change: 'The clocks agree again.',
  },
  Tripped: {
    meaning:
      'Its node is missing, but the circuit breaker is open: so many nodes are missing that the list of nodes is probably wrong.',
    sentence: ({ node, missingPercent, maxOrphanedNodesPercent, isLeftOpen }) =>
      isLeftOpen
        ? `Node ${node} does not exist, but the status of the policy reports that the circuit breaker is open. A controller that has just started keeps it open for a quarantine.`
        : `Node ${node} does not exist, but ${Math.round(missingPercent)} % of all nodes are missing. Above ${maxOrphanedNodesPercent} % the circuit breaker opens, because the list of nodes is probably wrong.`,
    field: ({ maxOrphanedNodesPercent }) => `pods.safety.maxOrphanedNodesPercent=${maxOrphanedNodesPercent}`,
    change:
      'No more nodes are missing than pods.safety.maxOrphanedNodesPercent permits (a single one always, unless it is 0), and another quarantine has passed.',
    caution: mayRun,
  },
  Holding: holdReason('pods', 'pods.safety'),
  PacingLimit: {
    meaning: "It is due, but the pass has reached the policy's limit of deletions.",
    sentence: ({ maxDeletesPerPass }) =>
      `It is due, but a pass deletes at most ${counted(maxDeletesPerPass, 'pod')} for this policy, and other pods are before it.`,
    field: ({ maxDeletesPerPass }) => `pods.safety.maxDeletesPerPass=${maxDeletesPerPass}`,
    change: 'A later pass deletes it; with a higher pods.safety.maxDeletesPerPass an earlier one.',
  },
  DeletionFailed: {
    meaning:
      'It is due, but its deletion has failed, for example because a webhook denied it; dustpan tries it again, after all other pods.',
    sentence: ({ times }) =>
      `It is due, but its deletion has failed ${counted(times, 'time')}; the pause before the next attempt doubles with each failure.`,
    change:
      "The pause has passed, and the API server accepts the deletion. The controller's log has its response to the last attempt.",
  },
  NamespaceUnknown: {
    meaning: 'The controller has not read its namespace yet, whose labels may protect the pod.',
    sentence: ({ namespace }) => `Namespace ${namespace} is unknown, and its labels may protect the pod.`,
    change: 'The controller has read the namespace.',
  },
  NoPolicy: {
    meaning: 'No GCPolicy selects it.',
    change: 'A GCPolicy with spec.pods selects it.',
  },
  InvalidPolicy: {
    meaning: 'An invalid GCPolicy may select it, so dustpan keeps it.',
    sentence: (evidence) => invalidSentence(evidence, 'this pod'),
    field: invalidField,
    change: policyCorrected,
  },
};

/** The pods that a threshold counts, and those that it does not count; opted-out pods are not mentioned. */
function finishedText({ counted: count, held, earlier, threshold }: PlaceInLine, scope: string): string {
  const others = [
    ...(earlier === 0
      ? []
      : [`${earlier} more ${earlier === 1 ? 'is' : 'are'} already due by another limit`]),
    ...(held === 0 ? [] : [`${held} more cannot be deleted now`]),
  ];
  const sum = held + earlier;
  const more = sum === 0 ? '' : ` (${others.join(', ')}; ${sum === 1 ? 'it does' : 'they do'} not count)`;
  return `This policy governs ${counted(count, 'finished pod')}${scope}${more}, and the threshold is ${threshold}`;
}

const lineText = (line: PlaceInLine): string => finishedText(line, '');
const namespaceLineText = (line: PlaceInNamespace): string =>
  finishedText(line, ` in namespace ${line.namespace}`);

function thresholdField({ threshold }: PlaceInLine): string {
  return `pods.terminated.threshold=${threshold}`;
}

function namespaceThresholdField({ threshold }: PlaceInLine): string {
  return `pods.terminated.perNamespaceThreshold=${threshold}`;
}

function underThresholdText({ overall, inNamespace, annotation }: PodEvidence['UnderThreshold']): string {
  const parts = [
    ...(overall.threshold > 0 ? [`${lineText(overall)}${placeText(overall)}.`] : []),
    ...(inNamespace === undefined ? [] : [`${namespaceLineText(inNamespace)}${placeText(inNamespace)}.`]),
  ];
  const text =
    parts.length === 0
      ? 'It has finished, but the policy sets neither a threshold nor a ttl for it.'
      : parts.join(' ');
  return `${text}${annotationText({ annotation })}`;
}

function placeText({ counted: count, threshold, place }: PlaceInLine): string {
  const surplus = count - threshold;
  if (surplus <= 0) return `; this one would be the ${ordinal(place)} to be deleted`;
  const first = surplus === 1 ? 'dustpan deletes the first' : `dustpan deletes the first ${surplus}`;
  return `, so ${first}; this one is the ${ordinal(place)}`;
}

/** `plan` and `why` have not watched the pod: if its finish time is unknown or cannot be true, they count the ttl from now. */
function finishText(finish: Finish): string {
  const { reportedMs, countedMs } = finish;
  if (countedMs === reportedMs) return `It finished at ${timeText(reportedMs)}`;
  return `${doubtText(finish)} This command counts from now, because only the controller knows when it first observed the pod as finished`;
}

function doubtText({ reportedMs, createdAtMs }: Finish): string {
  if (reportedMs === undefined) return 'Its status does not have the time at which it finished.';
  const doubt =
    reportedMs < createdAtMs ? `before the creation of the pod (${timeText(createdAtMs)})` : 'in the future';
  return `Its status reports that it finished at ${timeText(reportedMs)}, ${doubt}: the clock of its node is wrong.`;
}

const ttlText = ({ ttl }: Finish): string =>
  ttl.annotation?.effect === 'sets'
    ? `the time to live of ${formatDuration(ttl.ttlMs)} in its annotation ${TTL_ANNOTATION}`
    : `${kindText(ttl)} of ${formatDuration(ttl.ttlMs)}`;

/** Why the annotation of a pod is ignored; '' = it is not. */
function annotationText({ annotation }: Pick<Ttl, 'annotation'>): string {
  if (annotation === undefined || annotation.effect === 'sets') return '';
  const subject = ` Its annotation ${TTL_ANNOTATION} is ignored: ${JSON.stringify(annotation.value)}`;
  return annotation.effect === 'longer'
    ? `${subject} is not shorter.`
    : `${subject} is not a duration between 0s and 87600h, such as 90s or 1h30m.`;
}

function ttlField({ ttl }: Finish): string {
  return `${ttl.field}=${formatDuration(ttl.ttlMs)}`;
}

/** `its time to live`, or that of a rule in ttlByReason. */
function kindText({ rule }: Ttl): string {
  const { phase, reason, messagePattern } = rule ?? {};
  const traits = [
    phase === undefined ? [] : `phase ${phase}`,
    reason === undefined ? [] : `reason ${reason}`,
    messagePattern === undefined ? [] : `a message like ${JSON.stringify(messagePattern)}`,
  ].flat();
  return traits.length === 0 ? 'its time to live' : `the time to live for ${traits.join(' and ')}`;
}

function quarantineText({ quarantineMs, isAssumed }: PodEvidence['Orphaned']): string {
  if (quarantineMs === 0) return 'the policy sets no quarantine';
  return `the quarantine of ${formatDuration(quarantineMs)} is ${isAssumed ? 'assumed to be over' : 'over'}`;
}

function quarantineField({ quarantineMs }: { readonly quarantineMs: number }): string {
  return `pods.orphaned.quarantine=${formatDuration(quarantineMs)}`;
}

const ownerText = ({ owner }: Owned): string =>
  owner === undefined ? 'Its Job' : `${owner.kind} ${owner.name}`;
