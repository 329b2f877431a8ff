import { TTL_ANNOTATION } from '../../api/policy/matching.ts';
import { formatDuration } from '../../runtime/text/duration.ts';
import type { ReasonCatalog } from './entry.ts';
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

const podLabel = 'The label gc.dustpan.dev/keep: "true" on the pod, its namespace or its node keeps it.';

/** Caution for a pod on a missing node. */
const mayRun =
  'Its containers may still be running: a Node object that is deleted under a live kubelet comes back only when the kubelet restarts. Only the quarantine, and the live read of the node right before the deletion, protect such a pod.';

/** Reasons of podgc. */
export const podReasons: ReasonCatalog<PodEvidence> = {
  Terminated: {
    meaning:
      'More finished pods can be deleted than the threshold allows; evicted ones are first, then the oldest.',
    sentence: (line) =>
      `${lineText(line)}; this one is the ${ordinal(line.place)} to be deleted: evicted pods first, then the oldest.`,
    field: thresholdField,
    change: `A higher pods.terminated.threshold. ${podLabel}`,
  },
  TerminatedInNamespace: {
    meaning: 'In its namespace more finished pods can be deleted than the threshold of a namespace allows.',
    sentence: (line) =>
      `${namespaceLineText(line)}; this one is the ${ordinal(line.place)} to be deleted: evicted pods first, then the oldest.`,
    field: namespaceThresholdField,
    change: `A higher pods.terminated.perNamespaceThreshold, or a higher keepPerOwner if it is among the newest of an owner. ${podLabel}`,
  },
  Expired: {
    meaning: 'It finished longer ago than its time to live.',
    sentence: (finish) =>
      `${finishText(finish)}, and ${ttlText(finish)} is over.${annotationText(finish.ttl)}`,
    field: ttlField,
    change: `A longer ttl (pods.terminated.ttlByReason or ttlAfterFinished, or the annotation ${TTL_ANNOTATION} of the pod where it is shorter), or a higher keepPerOwner if it is among the newest of an owner. ${podLabel}`,
  },
  OutOfService: {
    meaning: 'It is terminating on a node that is not ready and has the out-of-service taint.',
    sentence: ({ node }) =>
      `It is terminating on node ${node}, which is not ready and has the out-of-service taint.`,
    field: () => 'pods.outOfService',
    change: `The node is ready again, or somebody removes its taint node.kubernetes.io/out-of-service. ${podLabel}`,
  },
  Orphaned: {
    meaning: 'Its node has been missing for the whole quarantine, and a live read confirms that.',
    sentence: (orphan) => `Node ${orphan.node} does not exist, and ${quarantineText(orphan)}.`,
    field: quarantineField,
    change: `The node comes back under its name, or a longer pods.orphaned.quarantine. ${podLabel}`,
    caution: mayRun,
  },
  Unscheduled: {
    meaning: 'It is terminating and was never bound to a node.',
    field: () => 'pods.unscheduledTerminating',
    change: `A policy without pods.unscheduledTerminating. ${podLabel}`,
  },
  NotTerminated: {
    meaning: 'It runs, or is about to.',
    sentence: ({ phase, isTerminating, existingNode }) =>
      `It has not finished: its phase is ${phase}${isTerminating ? ', though it is being deleted' : ''}` +
      `${existingNode === undefined ? '' : `, and node ${existingNode} exists`}.`,
    field: ({ phase }) => `status.phase=${phase}`,
    change: 'It finishes and a rule for finished pods selects it, or its node is deleted.',
  },
  UnderThreshold: {
    meaning: 'It has finished, but is within the thresholds.',
    sentence: underThresholdText,
    field: ({ overall, inNamespace }) =>
      inNamespace === undefined
        ? thresholdField(overall)
        : `${thresholdField(overall)}, ${namespaceThresholdField(inNamespace)}`,
    change:
      'More pods finish than the threshold allows and it is the next to be deleted, or the policy gives it a ttl.',
  },
  RuleOff: {
    meaning: 'It has finished, but the policy has no rule for finished pods.',
    field: () => 'pods.terminated is not set',
    change: 'The policy gets pods.terminated.',
  },
  TooYoung: {
    meaning: 'It has finished, but its time to live is not over.',
    sentence: (finish) =>
      `${finishText(finish)}, and ${ttlText(finish)} is not over yet.${annotationText(finish.ttl)}`,
    field: ttlField,
    change:
      'Its ttl is over: pods.terminated.ttlByReason or ttlAfterFinished, or a shorter annotation where the policy reads it, from the end of its last container; from when the controller first saw it finished, where the clock of its node is wrong.',
  },
  KeepMarked: {
    meaning: 'The label gc.dustpan.dev/keep is on the pod, its namespace or its node.',
    sentence: ({ on }) => `The label gc.dustpan.dev/keep is "true" on ${on}.`,
    field: keepLabelField,
    change: labelRemoved,
  },
  JobUncounted: {
    meaning: 'It has finished, but its Job has not counted it yet.',
    sentence: (owned) =>
      `${ownerText(owned)} has not counted it yet: it still has the finalizer of Job tracking.`,
    field: () => 'metadata.finalizers=batch.kubernetes.io/job-tracking',
    change: 'The Job controller counts it and removes the finalizer batch.kubernetes.io/job-tracking.',
  },
  JobUnfinished: {
    meaning: 'It has finished, but its Job has not, and the policy protects the pods of such Jobs.',
    sentence: (owned) =>
      `${ownerText(owned)} is not known to be complete or to have failed, and the policy protects the pods of such Jobs.`,
    field: () => 'pods.terminated.protectUnfinishedJobs=true',
    change: 'The Job gets the condition Complete or Failed, or pods.terminated.protectUnfinishedJobs is off.',
  },
  KeptForOwner: {
    meaning: 'It is among the newest finished pods of its owner.',
    sentence: ({ keepPerOwner }) =>
      `It is ${keepPerOwner === 1 ? 'the newest finished pod' : `one of the ${keepPerOwner} newest finished pods`} of its owner.`,
    field: ({ keepPerOwner }) => `pods.terminated.keepPerOwner=${keepPerOwner}`,
    change:
      'Newer pods of the owner finish, or a lower pods.terminated.keepPerOwner; pods.terminated.threshold does not spare it.',
  },
  FinalizerHeld: {
    meaning: 'It was deleted before and waits for its finalizers; deleting it again changes nothing.',
    sentence: ({ deletionAtMs, finalizers }) =>
      `It was deleted${deletionAtMs === undefined ? '' : ` at ${timeText(deletionAtMs)}`}, and waits only for its finalizers: ${finalizers.join(', ')}.`,
    field: ({ finalizers }) => `metadata.finalizers=${finalizers.join(',')}`,
    change:
      'The owner of the finalizers removes them; then the API server deletes it without another request.',
  },
  Quarantined: {
    meaning: 'Its node is missing, but not for long enough.',
    sentence: ({ node, quarantineMs }) =>
      `Node ${node} does not exist; its quarantine of ${formatDuration(quarantineMs)} is counted from now, because only the controller knows since when the node has been missing.`,
    field: quarantineField,
    change:
      'The node is still missing when pods.orphaned.quarantine is over; a node that comes back starts it anew.',
    caution: mayRun,
  },
  NodeExists: {
    meaning: 'It was due as an orphan, but a live read found its node.',
    change: 'The node is missing again for a whole quarantine.',
  },
  NodeUnknown: {
    meaning: 'It was due, but its node could not be read live.',
    change: 'A later pass can read the node.',
  },
  NodeRecovered: {
    meaning: 'It was due, but a live read found its node ready or without the out-of-service taint.',
    change: 'The node is not ready and has the out-of-service taint again.',
  },
  ClockUnsure: {
    meaning: 'Its age is not known: the clock of the controller differs from that of the API server.',
    change: 'The clocks agree again.',
  },
  Tripped: {
    meaning:
      'Its node is missing, but so many nodes are missing at once that the list of nodes is probably wrong.',
    sentence: ({ node, missingPercent, maxOrphanedNodesPercent }) =>
      `Node ${node} does not exist, but ${Math.round(missingPercent)} % of all nodes are missing; over ${maxOrphanedNodesPercent} % dustpan does not trust the list of nodes.`,
    field: ({ maxOrphanedNodesPercent }) => `pods.safety.maxOrphanedNodesPercent=${maxOrphanedNodesPercent}`,
    change:
      'Fewer nodes are missing than pods.safety.maxOrphanedNodesPercent; then the rule resumes by itself.',
    caution: mayRun,
  },
  PacingLimit: {
    meaning: 'It may be deleted, but the pass has used up the deletions that the policy allows.',
    sentence: ({ maxDeletesPerPass }) =>
      `It may be deleted, but a pass deletes at most ${counted(maxDeletesPerPass, 'pod')} for this policy, and others are first.`,
    field: ({ maxDeletesPerPass }) => `pods.safety.maxDeletesPerPass=${maxDeletesPerPass}`,
    change: 'A later pass deletes it, or a higher pods.safety.maxDeletesPerPass.',
  },
  NamespaceUnknown: {
    meaning: 'Its namespace, and with it the labels that decide, is not known yet.',
    sentence: ({ namespace }) =>
      `Namespace ${namespace} and its labels are not known, and they may protect the pod.`,
    change: 'The controller observes the namespace.',
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

/** The pods that a threshold counts; opted-out pods are not mentioned, held ones are. */
function finishedText({ counted: count, held, threshold }: PlaceInLine): string {
  const more =
    held === 0 ? '' : ` (${held} more cannot be deleted now and ${held === 1 ? 'does' : 'do'} not count)`;
  return `${count} ${count === 1 ? 'has' : 'have'} finished${more} and ${threshold} may be kept`;
}

const lineText = (line: PlaceInLine): string => `Of the pods of this policy, ${finishedText(line)}`;
const namespaceLineText = (line: PlaceInNamespace): string =>
  `Of its pods in namespace ${line.namespace}, ${finishedText(line)}`;

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
      ? 'It has finished, but the policy sets no threshold and no ttl for it.'
      : parts.join(' ');
  return `${text}${annotationText({ annotation })}`;
}

function placeText({ counted: count, threshold, place }: PlaceInLine): string {
  const surplus = count - threshold;
  if (surplus <= 0) return `; this one would be the ${ordinal(place)} to be deleted`;
  const first = surplus === 1 ? 'the first is deleted' : `the first ${surplus} are deleted`;
  return `, so ${first}; this one is the ${ordinal(place)}`;
}

/** `plan` and `why` have not watched the pod: if its finish time cannot be true, they count the ttl from now. */
function finishText({ reportedMs, countedMs, createdAtMs }: Finish): string {
  const reported = timeText(reportedMs);
  if (countedMs === reportedMs) return `It finished at ${reported}`;
  const doubt =
    reportedMs < createdAtMs ? `before the creation of the pod (${timeText(createdAtMs)})` : 'in the future';
  return `Its status reports that it finished at ${reported}, ${doubt}: the clock of its node is wrong. So its time counts from now, because only the controller knows when it first saw the pod finished`;
}

const ttlText = ({ ttl }: Finish): string =>
  ttl.annotation?.effect === 'sets'
    ? `the ${formatDuration(ttl.ttlMs)} that its annotation ${TTL_ANNOTATION} sets`
    : `the ${formatDuration(ttl.ttlMs)} for which ${kindText(ttl)} may be kept`;

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

function kindText({ rule }: Ttl): string {
  const { phase, reason, messagePattern } = rule ?? {};
  const traits = [
    phase === undefined ? [] : `phase ${phase}`,
    reason === undefined ? [] : `reason ${reason}`,
    messagePattern === undefined ? [] : `a message like ${JSON.stringify(messagePattern)}`,
  ].flat();
  return traits.length === 0 ? 'a finished pod' : `a pod with ${traits.join(' and ')}`;
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
