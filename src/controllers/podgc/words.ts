import { TTL_ANNOTATION, unselectedBy } from '../../api/policy/matching.ts';
import { isInvalid, type PodsPolicy } from '../../api/policy/policy.ts';
import { podReason } from '../../api/policy/ttl-rules.ts';
import type { PodDeleteReason, PodKeepReason } from '../../api/reasons.ts';
import { explainHold, holdMeaning } from '../../gc/reasons/hold-words.ts';
import {
  counted,
  explainInvalid,
  keepLabelField,
  labelRemoved,
  ordinal,
  policyCorrected,
  timeText,
} from '../../gc/reasons/words.ts';
import type { Meaning, Why } from '../../gc/words.ts';
import type { ContainerEnd, NodeFacts, PodFacts } from '../../kube/cache/objects.ts';
import { durationHint, formatDuration } from '../../runtime/text/duration.ts';
import { globMatcher } from '../../runtime/text/glob.ts';
import {
  isTerminating,
  type Expiry,
  type KeptForOwner,
  type PodDecision,
  type PodGcPlan,
  type PolicyVerdicts,
  type Ttl,
} from './facts.ts';
import { hasTaintLeft, removeTaint, taintLeftText } from './nodes.ts';
import { jobText, ownerText, partlyEndedText, uncountedText } from './job-words.ts';
import type { DeletionQueue } from './order.ts';

const held = { what: 'pods', field: 'pods.safety' };
const podLabel = 'Or the label gc.dustpan.dev/keep: "true" on the pod, its namespace or its node.';

/** Caution for a pod on a missing node. */
const mayRun =
  'Its containers may still be running: if somebody deletes the Node object of a live kubelet, the kubelet creates it again only when it restarts. Only the quarantine and the live read of the node right before the deletion protect such a pod.';

/** The reasons of podgc. */
export const podReasons: Readonly<Record<PodDeleteReason | PodKeepReason, Meaning>> = {
  Terminated: {
    meaning:
      'There are more finished pods than the threshold; dustpan deletes evicted pods first, then the oldest.',
    change: `A higher pods.terminated.threshold. ${podLabel}`,
  },
  TerminatedInNamespace: {
    meaning:
      'Its namespace has more finished pods than the threshold per namespace; dustpan deletes evicted pods first, then the oldest.',
    change: `A higher pods.terminated.perNamespaceThreshold, or, for one of the newest pods of an owner, a higher keepPerOwner, which keeps no pod without an owner. ${podLabel}`,
  },
  Expired: {
    meaning: 'It has finished, and its time to live has passed.',
    change: `A longer ttl (in pods.terminated.ttlByReason or ttlAfterFinished; the pod's annotation ${TTL_ANNOTATION} can only shorten it), or, for one of the newest pods of an owner, a higher keepPerOwner, which keeps no pod without an owner. ${podLabel}`,
  },
  OutOfService: {
    meaning: 'It is terminating on a node that is not ready and has the out-of-service taint.',
    change: `The node is ready again, or somebody removes its taint node.kubernetes.io/out-of-service. ${podLabel}`,
  },
  Orphaned: {
    meaning:
      'Its node has been missing for the whole quarantine, and a live read of the node confirmed this.',
    change: `A Node with this name, or a longer pods.orphaned.quarantine. ${podLabel}`,
    caution: mayRun,
  },
  Unscheduled: {
    meaning: 'It is terminating and was never bound to a node.',
    change: `A policy without pods.unscheduledTerminating. ${podLabel}`,
  },
  NotTerminated: {
    meaning: 'It is running or starting.',
    change:
      'It finishes, and a rule for finished pods selects it; or its Node is deleted, and the policy has pods.orphaned; or it is terminating, its node is not ready and has the out-of-service taint, and the policy has pods.outOfService.',
  },
  UnderThreshold: {
    meaning: 'It has finished, but no threshold is exceeded that would select it.',
    change:
      'More pods finish, a threshold is exceeded and it is the next to be deleted, or the policy sets a ttl for it.',
  },
  RuleOff: {
    meaning: 'It has finished, but the policy has no rule for finished pods.',
    change: 'The policy sets pods.terminated.',
  },
  TooYoung: {
    meaning: 'It has finished, but its time to live has not passed yet.',
    change:
      'Its ttl has passed since its last container finished; or, if that time is unknown or cannot be true, since the API server, else the controller, recorded it as finished. pods.terminated.ttlByReason or ttlAfterFinished sets the ttl, and with honorTTLAnnotation a shorter annotation.',
  },
  KeepMarked: {
    meaning: 'The label gc.dustpan.dev/keep is on the pod, its namespace or its node.',
    change: labelRemoved,
  },
  JobUncounted: {
    meaning:
      'It has finished, but has the finalizer batch.kubernetes.io/job-tracking: no Job has counted it.',
    change:
      'The finalizer is removed: by the Job controller when it counts the pod, or by a user, if the Job of the pod does not exist.',
  },
  JobUnfinished: {
    meaning:
      'It has finished, but its Job is not known to have finished, and the policy protects the pods of such Jobs.',
    change:
      'The Job gets the condition Complete or Failed, or pods.terminated.protectUnfinishedJobs is false. The pods of a Job that no longer exists are deleted by the garbage collector of kube-controller-manager.',
  },
  OwnersUnknown: {
    meaning:
      'It has finished, but the policy keeps the newest pods of each owner, and the owners are not known: ReplicaSets or Jobs are not listed.',
    change: 'The controller can list ReplicaSets and Jobs (rbac.replicaSets and rbac.jobs of the chart).',
  },
  KeptForOwner: {
    meaning: 'It is among the newest finished pods of its owner.',
    change:
      'Newer pods of the owner finish, pods.terminated.keepPerOwner or keepPerOwnerByPhase is lower, or pods.terminated.threshold is exceeded, which ignores both.',
  },
  FinalizerHeld: {
    meaning: 'It is terminating and waits only for its finalizers; another deletion would change nothing.',
    change:
      'Never by dustpan: the API server deletes it when the owners of the finalizers have removed them.',
  },
  Quarantined: {
    meaning: 'Its node is missing, but the quarantine has not passed yet.',
    change:
      'The node is still missing when pods.orphaned.quarantine has passed; if the node returns, or the circuit breaker opens, the quarantine restarts.',
    caution: mayRun,
  },
  NodeExists: {
    meaning: 'The list of nodes does not have its node, but a live read found the node.',
    change: 'The node is missing for a whole quarantine.',
  },
  NodeUnknown: {
    meaning: 'It was due, but the live read of its node from the API server failed.',
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
      'Its node is missing, but the circuit breaker is open: so many nodes are missing, or were lost within an hour, that the list of nodes is probably wrong.',
    change:
      'No more nodes are missing than pods.safety.maxOrphanedNodesPercent permits (a single one always, unless it is 0), and another quarantine has passed.',
    caution: mayRun,
  },
  Holding: holdMeaning(held),
  PacingLimit: {
    meaning: "It is due, but the pass has reached the policy's limit of deletions.",
    change: 'A later pass deletes it; with a higher pods.safety.maxDeletesPerPass an earlier one.',
  },
  DeletionFailed: {
    meaning:
      'It is due, but its deletion has failed, for example because a webhook denied it; dustpan tries it again, after all other pods.',
    change:
      "The pause has passed, and the API server accepts the deletion. The controller's log has its response to the last attempt.",
  },
  PodChanged: {
    meaning:
      'It was due, but the API server refused the deletion, because the pod had changed since the controller decided.',
    change: 'A later pass judges the pod as it is then.',
  },
  NamespaceUnknown: {
    meaning: 'The controller has not read its namespace yet, whose labels may protect the pod.',
    change: 'The controller has read the namespace.',
  },
  NoPolicy: {
    meaning: 'No GCPolicy selects it.',
    change: 'A GCPolicy with spec.pods selects it.',
  },
  InvalidPolicy: {
    meaning: 'An invalid GCPolicy may select it, so dustpan keeps it.',
    change: policyCorrected,
  },
};

/** Explains the decision about one pod with its values. */
export function explainPod(decision: PodDecision, plan: PodGcPlan): Why {
  const { policy, target } = decision;
  const { pod, namespace, node = '' } = target;
  const { meaning } = podReasons[decision.reason];
  const verdicts = plan.policies.find((one) => one.policy === policy);
  const rules = rulesOf(policy);
  switch (decision.reason) {
    case 'Terminated':
      return explainSurplus(decision, overallOf(verdicts));
    case 'TerminatedInNamespace':
      return explainSurplus(decision, inNamespaceOf(verdicts, namespace));
    case 'Expired':
      return explainTtl(pod, decision.expiry, 'has passed');
    case 'OutOfService':
      return {
        detail: `It is terminating on node ${node}, which is not ready and has the out-of-service taint.`,
        field: 'pods.outOfService',
      };
    case 'Orphaned':
      return {
        detail: `Node ${node} does not exist, and ${overText(rules, decision.isAssumed)}.`,
        field: quarantineField(rules),
      };
    case 'Unscheduled':
      return { detail: meaning, field: 'pods.unscheduledTerminating' };
    case 'NotTerminated':
      return explainUnfinished(pod, decision.node, rules);
    case 'UnderThreshold':
      return explainLeft(pod, decision.expiry, verdicts);
    case 'RuleOff':
      return { detail: meaning, field: 'pods.terminated is not set' };
    case 'TooYoung':
      return explainTtl(pod, decision.expiry, 'has not passed yet');
    case 'KeepMarked':
      return { detail: `The label gc.dustpan.dev/keep is on ${decision.on}.`, field: keepLabelField() };
    case 'JobUncounted':
      return {
        detail: uncountedText(pod, decision.jobExists),
        field: 'metadata.finalizers=batch.kubernetes.io/job-tracking',
      };
    case 'JobUnfinished':
      return {
        detail: `${jobText(pod, decision.jobExists)} The policy protects the pods of Jobs that have not finished.`,
        field: 'pods.terminated.protectUnfinishedJobs=true',
      };
    case 'OwnersUnknown':
      return { detail: meaning, field: 'pods.terminated.keepPerOwner or keepPerOwnerByPhase' };
    case 'KeptForOwner':
      return explainNewest(decision, rules);
    case 'FinalizerHeld':
      return explainFinalizers(pod);
    case 'Quarantined':
      return {
        detail: `Node ${node} does not exist; this command counts the quarantine of ${quarantineOf(rules)} from now, because only the controller knows since when the node has been missing.`,
        field: quarantineField(rules),
      };
    case 'Tripped':
      return explainTripped(node, verdicts);
    case 'Holding':
      return explainHeld(verdicts);
    case 'PacingLimit':
      return explainPace(rules);
    case 'DeletionFailed':
      return {
        detail: `It is due, but its deletion has failed ${counted(decision.times, 'time')}; the pause before the next attempt doubles with each failure.`,
      };
    case 'NamespaceUnknown':
      return {
        detail: `The list of namespaces from the API server does not have namespace ${namespace}, whose labels may protect the pod.`,
      };
    case 'InvalidPolicy':
      return explainInvalid(policy, 'this pod');
    case 'NodeExists':
    case 'NodeUnknown':
    case 'NodeRecovered':
    case 'ClockUnsure':
    case 'PodChanged':
      return { detail: meaning };
    case 'NoPolicy':
      return explainUngoverned(pod, plan.policies);
  }
}

const rulesOf = (policy: PodDecision['policy']): PodsPolicy | undefined =>
  policy === undefined || isInvalid(policy) ? undefined : policy.pods;

/** The policies that are named; a cluster may have hundreds. */
const maxNamed = 3;

function explainUngoverned(pod: PodFacts, verdicts: PodGcPlan['policies']): Why {
  const causes = verdicts.slice(0, maxNamed).flatMap(({ policy: { name, pods } }) => {
    if (pods === undefined) return [];
    const field = unselectedBy(pods, pod);
    return field === 'excludeNamespaces'
      ? [`GCPolicy ${name} excludes namespace ${pod.namespace} (pods.excludeNamespaces)`]
      : [`GCPolicy ${name} selects other pods (pods.${field})`];
  });
  const more = verdicts.length > maxNamed ? [`and ${verdicts.length - maxNamed} more`] : [];
  return causes.length === 0
    ? { detail: 'No valid GCPolicy has spec.pods.' }
    : { detail: `No GCPolicy selects it: ${[...causes, ...more].join('; ')}.` };
}

/** A threshold that counts a finished pod: its pods, which ones they are, and the policy field. */
interface Limit {
  readonly queue: DeletionQueue;
  readonly scope: string;
  readonly field: string;
}

type Verdicts = PolicyVerdicts | undefined;

function overallOf(verdicts: Verdicts): Limit | undefined {
  const queue = verdicts?.overall;
  return queue && { queue, scope: '', field: `pods.terminated.threshold=${queue.threshold}` };
}

function inNamespaceOf(verdicts: Verdicts, namespace: string): Limit | undefined {
  const queue = verdicts?.byNamespace.get(namespace);
  return (
    queue && {
      queue,
      scope: ` in namespace ${namespace}`,
      field: `pods.terminated.perNamespaceThreshold=${queue.threshold}`,
    }
  );
}

function explainSurplus({ reason, target }: PodDecision, limit: Limit | undefined): Why {
  if (limit === undefined) return { detail: podReasons[reason].meaning };
  const place = ordinal(limit.queue.placeOf(target.pod));
  return {
    detail: `${finishedText(limit)}; this one is the ${place} to be deleted: evicted pods first, then the oldest.`,
    field: limit.field,
  };
}

function explainLeft(pod: PodFacts, { ttl }: Expiry, verdicts: Verdicts): Why {
  const limits = [overallOf(verdicts), inNamespaceOf(verdicts, pod.namespace)];
  const set = limits.filter((limit) => limit !== undefined);
  const parts = set
    // Only the overall threshold can be off.
    .filter(({ queue, scope }) => queue.threshold > 0 || scope !== '')
    .map((limit) => `${finishedText(limit)}${placeText(limit, pod)}.`);
  const text =
    parts.length === 0
      ? 'It has finished, but the policy sets neither a threshold nor a ttl for it.'
      : parts.join(' ');
  return {
    detail: `${text}${annotationText(ttl)}`,
    field: set.map(({ field }) => field).join(', '),
  };
}

/** The pods that a threshold counts, and those that it does not count; opted-out pods are not mentioned. */
function finishedText({ queue, scope }: Limit): string {
  const { counted: count, undeletable: stuck, earlier, threshold } = queue;
  const others = [
    earlier === 0 ? [] : `${earlier} more ${earlier === 1 ? 'is' : 'are'} already due by another limit`,
    stuck === 0 ? [] : `${stuck} more cannot be deleted now`,
  ].flat();
  const sum = stuck + earlier;
  const more = sum === 0 ? '' : ` (${others.join(', ')}; ${sum === 1 ? 'it does' : 'they do'} not count)`;
  return `This policy governs ${counted(count, 'finished pod')}${scope}${more}, and the threshold is ${threshold}`;
}

function placeText({ queue }: Limit, pod: PodFacts): string {
  const place = ordinal(queue.placeOf(pod));
  const surplus = queue.counted - queue.threshold;
  if (surplus <= 0) return `; this one would be the ${place} to be deleted`;
  const first = surplus === 1 ? 'dustpan deletes the first' : `dustpan deletes the first ${surplus}`;
  return `, so ${first}; this one is the ${place}`;
}

function explainTtl(pod: PodFacts, expiry: Expiry, state: string): Why {
  const { ttl } = expiry;
  return {
    detail: `${finishText(pod, expiry)}, and ${ttlText(ttl)} ${state}${evidenceText(pod, ttl)}.${annotationText(ttl)}`,
    field: `${ttl.field}=${formatDuration(ttl.ttlMs)}`,
  };
}

/** `plan` and `why` have not watched the pod: if no part of it has a possible finish time, they count the ttl from now. */
function finishText(pod: PodFacts, { countedMs }: Expiry): string {
  const { finishedAtMs, finishedByMs } = pod;
  if (countedMs === finishedAtMs) return `It finished at ${timeText(finishedAtMs)}`;
  return countedMs === finishedByMs
    ? `${doubtText(pod)} The API server recorded its phase ${pod.phase} at ${timeText(finishedByMs)}`
    : `${doubtText(pod)} Its metadata.managedFields do not have the time either (kubectl leaves them out, except with --show-managed-fields). This command counts from now, because only the controller knows when it first observed the pod as finished`;
}

function doubtText({ finishedAtMs, createdAtMs }: PodFacts): string {
  if (finishedAtMs === undefined) return 'Its status does not have the time at which it finished.';
  const doubt =
    finishedAtMs < createdAtMs
      ? `before the creation of the pod (${timeText(createdAtMs)})`
      : 'in the future';
  return `Its status reports that it finished at ${timeText(finishedAtMs)}, ${doubt}: the clock of its node is wrong.`;
}

const ttlText = (ttl: Ttl): string =>
  ttl.annotation?.effect === 'sets'
    ? `the time to live of ${formatDuration(ttl.ttlMs)} in its annotation ${TTL_ANNOTATION}`
    : `${kindText(ttl)} of ${formatDuration(ttl.ttlMs)}`;

/** Why the annotation of a pod is ignored; '' = it is not. */
function annotationText({ annotation }: Ttl): string {
  if (annotation === undefined || annotation.effect === 'sets') return '';
  const subject = ` Its annotation ${TTL_ANNOTATION} is ignored: ${JSON.stringify(annotation.value)}`;
  return annotation.effect === 'longer'
    ? `${subject} is not shorter.`
    : `${subject} is not a duration from 0s to 87600h, such as 90s, 1h30m or 7d${durationHint(annotation.value)}.`;
}

/** `its time to live`, or that of a rule in ttlByReason. */
function kindText({ rule }: Ttl): string {
  const { phase, reason, exitCodes, messagePattern } = rule ?? {};
  const traits = [
    phase === undefined ? [] : `phase ${phase}`,
    reason === undefined ? [] : `reason ${reason}`,
    exitCodes === undefined ? [] : `exit code ${exitCodes.join(' or ')}`,
    messagePattern === undefined ? [] : `a message like ${JSON.stringify(messagePattern)}`,
  ].flat();
  return traits.length === 0 ? 'its time to live' : `the time to live for ${traits.join(' and ')}`;
}

/** What matched the reason or the exit codes of a rule, unless it is the reason in the pod's status as the rule has it. */
function evidenceText(pod: PodFacts, { rule }: Ttl): string {
  const { reason, exitCodes } = rule ?? {};
  const isReason = reason === undefined ? () => true : globMatcher(reason);
  if (exitCodes !== undefined || !isReason(podReason(pod)))
    return `; its containers ended with ${pod.ends.map(endText).join(', ')}`;
  if (!isReason(pod.reason)) return '; its condition DisruptionTarget shows that the kubelet evicted it';
  return [undefined, pod.reason].includes(reason) ? '' : `; its reason is ${pod.reason}`;
}

const endText = ({ reason, exitCode }: ContainerEnd): string => `${reason}:${exitCode}`;

const quarantineOf = (rules: PodsPolicy | undefined): string =>
  formatDuration(rules?.orphaned?.quarantineMs ?? 0);

const quarantineField = (rules: PodsPolicy | undefined): string =>
  `pods.orphaned.quarantine=${quarantineOf(rules)}`;

function overText(rules: PodsPolicy | undefined, isAssumed: boolean): string {
  if (rules?.orphaned?.quarantineMs === 0) return 'the policy sets no quarantine';
  return `the quarantine of ${quarantineOf(rules)} is ${isAssumed ? 'assumed to be over' : 'over'}`;
}

function explainTripped(node: string, verdicts: Verdicts): Why {
  const { isLeftOpen = false, trippedPercent = 0, policy } = verdicts ?? {};
  const max = policy?.pods?.safety.maxOrphanedNodesPercent ?? 0;
  return {
    detail: isLeftOpen
      ? `Node ${node} does not exist, but the status of the policy reports that the circuit breaker is open. A controller that has just started keeps it open for a quarantine.`
      : `Node ${node} does not exist, but ${Math.round(trippedPercent)} % of all nodes are missing, or were lost within an hour. Above ${max} % the circuit breaker opens, because the list of nodes is probably wrong.`,
    field: `pods.safety.maxOrphanedNodesPercent=${max}`,
  };
}

function explainUnfinished(
  pod: PodFacts,
  existing: NodeFacts | undefined,
  rules: PodsPolicy | undefined,
): Why {
  const { phase } = pod;
  const node =
    existing === undefined || (existing.ready && rules?.orphaned === undefined)
      ? ''
      : `, and node ${existing.name} exists`;
  return {
    detail: `It has not finished: its phase is ${phase}${isTerminating(pod) ? ', although it is terminating' : ''}${node}.${partlyEndedText(pod)}${nodeStateText(existing)}`,
    field: `status.phase=${phase}`,
  };
}

/** '' = the node is ready without a taint that was left, or not known. */
function nodeStateText(node: NodeFacts | undefined): string {
  if (node === undefined) return '';
  if (hasTaintLeft(node)) return ` ${taintLeftText(node.name)} The command: ${removeTaint(node.name)}`;
  if (node.ready) return '';
  const { readyChangedAtMs: sinceMs } = node;
  const since = sinceMs === undefined ? '' : `, since ${timeText(sinceMs)}`;
  return (
    ` But the node is not ready${since}: its kubelet does not report, or reports a problem, so the pod may have ended or may still run.` +
    ' dustpan deletes such a pod only after its Node is deleted (pods.orphaned), or, if the pod is terminating, when the node has the out-of-service taint (pods.outOfService).'
  );
}

function explainNewest({ field, owner }: KeptForOwner, rules: PodsPolicy | undefined): Why {
  const { keepPerOwner = 0, keepPerOwnerByPhase: byPhase = { succeeded: 0, failed: 0 } } =
    rules?.terminated ?? {};
  const [count, kind] = {
    keepPerOwner: [keepPerOwner, 'finished'] as const,
    'keepPerOwnerByPhase.succeeded': [byPhase.succeeded, 'succeeded'] as const,
    'keepPerOwnerByPhase.failed': [byPhase.failed, 'failed'] as const,
  }[field];
  return {
    detail: `It is ${count === 1 ? `the newest ${kind} pod` : `one of the ${count} newest ${kind} pods`} of ${ownerText(owner, 'its owner')}.`,
    field: `pods.terminated.${field}=${count}`,
  };
}

const explainFinalizers = ({ deletionAtMs, finalizers }: PodFacts): Why => ({
  detail: `It was deleted${deletionAtMs === undefined ? '' : ` at ${timeText(deletionAtMs)}`} and waits only for its finalizers: ${finalizers.join(', ')}.`,
  field: `metadata.finalizers=${finalizers.join(',')}`,
});

function explainPace(rules: PodsPolicy | undefined): Why {
  const { maxDeletesPerPass = 0 } = rules?.safety ?? {};
  return {
    detail: `It is due, but a pass deletes at most ${counted(maxDeletesPerPass, 'pod')} for this policy, and other pods are before it.`,
    field: `pods.safety.maxDeletesPerPass=${maxDeletesPerPass}`,
  };
}

function explainHeld(verdicts: Verdicts): Why {
  const { policy, selected: due = 0, governed = 0, removable = 0 } = verdicts ?? {};
  if (policy?.pods === undefined) return { detail: podReasons.Holding.meaning };
  return explainHold(held, policy.pods.hold, { due, governed, removable });
}
