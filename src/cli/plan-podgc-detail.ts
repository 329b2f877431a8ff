import type { Policy, TerminatedPolicy } from '../api/policy.ts';
import type { PodDeleteReason, PodKeepReason } from '../api/reasons.ts';
import type { PodDeletion, PolicyVerdicts } from '../controllers/podgc/facts.ts';
import type { PodFacts } from '../kube/objects.ts';
import { formatDuration } from '../runtime/duration.ts';
import { formatRfc3339 } from '../runtime/rfc3339.ts';

/** What the sentences about pods draw their figures from. */
export interface PodContext {
  readonly verdicts: ReadonlyMap<Policy, PolicyVerdicts>;
  readonly nodesKnown: boolean;
}

/** Why a pod goes, in one sentence. */
export function deletionDetail(
  { pod, reason, policy }: PodDeletion,
  order: number,
  context: PodContext,
): string {
  return deleted[reason]({ pod, policy, order, ...context });
}

export interface KeptPod {
  readonly pod: PodFacts;
  readonly reason: PodKeepReason;
  readonly policy: Policy | undefined;
}

/** Why a pod stays, in one sentence. */
export function keptPodDetail({ pod, reason, policy }: KeptPod, context: PodContext): string {
  return kept[reason]({ pod, policy, order: 0, ...context });
}

interface Told extends PodContext {
  readonly pod: PodFacts;
  readonly policy: Policy | undefined;
  readonly order: number;
}

type Sentence = (told: Told) => string;
const plain =
  (text: string): Sentence =>
  () =>
    text;

const deleted: Readonly<Record<PodDeleteReason, Sentence>> = {
  Terminated: (told) => `${thresholdText(told)}, and this one is number ${told.order} to go.`,
  TerminatedInNamespace: ({ pod, policy }) =>
    `Namespace ${pod.namespace} has more terminated pods than pods.terminated.perNamespaceThreshold=${shownLimit(rule(policy)?.perNamespaceThreshold)}.`,
  Expired: (told) => `Finished at ${finished(told)}, and its ttl is over (${ttlFields(told)}).`,
  OutOfService: ({ pod }) =>
    `Terminating on node ${nodeOf(pod)}, which is not ready and marked out of service.`,
  Orphaned: (told) => `Node ${nodeOf(told.pod)} does not exist, and ${quarantine(told)} is over.`,
  Unscheduled: plain('Terminating, and no node was ever chosen for it.'),
};

const kept: Readonly<Record<PodKeepReason, Sentence>> = {
  NotTerminated: (told) => `It has not finished: its phase is ${told.pod.phase}${nodeExists(told)}.`,
  UnderThreshold: (told) => `${thresholdText(told)}.`,
  RuleOff: plain('It has finished, but its policy has no pods.terminated.'),
  TooYoung: (told) => `Finished at ${finished(told)}, and its ttl is not over (${ttlFields(told)}).`,
  KeepMarked: plain('The label gc.dustpan.dev/keep is "true" on the pod, its namespace or its node.'),
  JobUncounted: plain(
    'Its Job has not counted it yet: it carries the finalizer batch.kubernetes.io/job-tracking.',
  ),
  JobUnfinished: plain(
    'Its Job is not known to have finished or failed, and pods.terminated.protectUnfinishedJobs=true.',
  ),
  KeptForOwner: ({ policy }) =>
    `One of the newest finished pods of its owner: pods.terminated.keepPerOwner=${rule(policy)?.keepPerOwner ?? 0}.`,
  FinalizerHeld: ({ pod }) =>
    `Deleted already, and waits only for its finalizers: ${pod.finalizers.join(', ')}.`,
  Quarantined: (told) => `Node ${nodeOf(told.pod)} does not exist; the pod waits for ${quarantine(told)}.`,
  NodeExists: plain('Its node exists.'),
  NodeUnknown: plain('Whether its node exists is not known.'),
  NodeRecovered: plain('Its node is ready again, or no longer marked out of service.'),
  ClockUnsure: plain('The clock has jumped: ages cannot be told.'),
  Tripped: (told) =>
    `Node ${nodeOf(told.pod)} does not exist, but so many are missing (${trippedPercent(told)} %) that the list of nodes is not believed: pods.safety.maxOrphanedNodesPercent=${safety(told)?.maxOrphanedNodesPercent ?? 0}.`,
  PacingLimit: (told) =>
    `It could go, but pods.safety.maxDeletesPerPass=${safety(told)?.maxDeletesPerPass ?? 0} is used up by others.`,
  NamespaceUnknown: plain('Its namespace, and whether that is marked to be kept, is not known.'),
  NoPolicy: plain('No policy says anything about it.'),
  InvalidPolicy: plain('The policy that may govern it is invalid, and so nothing of it is touched.'),
};

const rule = (policy: Policy | undefined): TerminatedPolicy | undefined => policy?.pods?.terminated;
const safety = ({ policy }: Told): NonNullable<Policy['pods']>['safety'] | undefined => policy?.pods?.safety;
const nodeOf = ({ nodeName }: PodFacts): string => nodeName ?? '';

function thresholdText({ policy, verdicts }: Told): string {
  const terminated = policy === undefined ? 0 : (verdicts.get(policy)?.terminated ?? 0);
  return `pods.terminated.threshold=${shownLimit(rule(policy)?.threshold)}, ${terminated} terminated`;
}

const shownLimit = (limit: number | undefined): string =>
  limit === undefined || limit <= 0 ? `${limit ?? 0} (off)` : String(limit);

const nodeExists = ({ pod: { nodeName }, nodesKnown, policy }: Told): string =>
  nodeName !== undefined && nodesKnown && policy?.pods?.orphaned !== undefined
    ? `, and node ${nodeName} exists`
    : '';

const quarantine = ({ policy }: Told): string =>
  `pods.orphaned.quarantine=${formatDuration(policy?.pods?.orphaned?.quarantineMs ?? 0)}`;

const trippedPercent = ({ policy, verdicts }: Told): number =>
  Math.round((policy === undefined ? undefined : verdicts.get(policy)?.trippedPercent) ?? 0);

const finished = ({ pod: { finishedAtMs, createdAtMs } }: Told): string =>
  formatRfc3339(new Date(finishedAtMs ?? createdAtMs));

/** Which of several rules matched only the plan knows; the fields say where to look. */
function ttlFields({ policy }: Told): string {
  const { ttlAfterFinishedMs, ttlByReason = [] } = rule(policy) ?? {};
  const byReason = ttlByReason.map(({ ttlMs }) => formatDuration(ttlMs)).join(', ');
  const general = ttlAfterFinishedMs === undefined ? undefined : formatDuration(ttlAfterFinishedMs);
  return [
    byReason === '' ? undefined : `pods.terminated.ttlByReason: ${byReason}`,
    general === undefined ? undefined : `pods.terminated.ttlAfterFinished=${general}`,
  ]
    .filter((text) => text !== undefined)
    .join('; ');
}
