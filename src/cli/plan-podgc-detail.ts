import { isKeepMarked, KEEP_LABEL } from '../api/matching.ts';
import { isInvalid, type Policy, type PodsPolicy, type TerminatedPolicy } from '../api/policy.ts';
import type { PodDeleteReason, PodKeepReason } from '../api/reasons.ts';
import type {
  FinishedCount,
  FinishedPods,
  PodDeletion,
  PodGcPlan,
  PolicyVerdicts,
  Ttl,
} from '../controllers/podgc/facts.ts';
import { reportedFinish } from '../controllers/podgc/finish.ts';
import type { PodFacts } from '../kube/objects.ts';
import { formatDuration } from '../runtime/duration.ts';
import type { World } from '../snapshot/world.ts';
import type { PlanOptions, Told } from './plan-document.ts';
import { counted, invalidTold, ordinal, plainly, timeText } from './plan-words.ts';

/** What the sentences about pods draw their figures from. */
export interface PodContext {
  readonly world: World;
  readonly plan: PodGcPlan;
  readonly options: PlanOptions;
}

/** Why a pod goes; `order` is its place among all that go. */
export function deletedPodTold(
  { pod, reason, policy }: PodDeletion,
  order: number,
  context: PodContext,
): Told {
  return deleted[reason]({ pod, policy, order, ...context });
}

interface KeptPod {
  readonly pod: PodFacts;
  readonly reason: PodKeepReason;
  readonly policy: Policy | undefined;
}

/** Why a pod stays. */
export function keptPodTold({ pod, reason, policy }: KeptPod, context: PodContext): Told {
  return kept[reason]({ pod, policy, order: 0, ...context });
}

interface Case extends PodContext {
  readonly pod: PodFacts;
  readonly policy: Policy | undefined;
  readonly order: number;
}

type Telling = (one: Case) => Told;

const deleted: Readonly<Record<PodDeleteReason, Telling>> = {
  Terminated: (one) => ({
    detail: `${crowd(one)}; this one is ${ordinal(one.order)} to go.`,
    field: `pods.terminated.threshold=${terminated(one)?.threshold ?? 0}`,
  }),
  TerminatedInNamespace: (one) => ({
    detail: `${namespaceCrowd(one)}; this one is ${turnInNamespaceText(one)} to go: evicted ones first, then the oldest.`,
    field: namespaceField(one),
  }),
  Expired: (one) => ttlTold(one, 'over'),
  OutOfService: ({ pod }) => ({
    detail: `It is terminating on node ${nodeOf(pod)}, which is not ready and marked out of service.`,
    field: 'pods.outOfService',
  }),
  Orphaned: (one) => ({
    detail: `Node ${nodeOf(one.pod)} does not exist, and ${overText(one)}.`,
    field: quarantineField(one),
  }),
  Unscheduled: () => ({
    detail: 'It is terminating, and no node was ever chosen for it.',
    field: 'pods.unscheduledTerminating',
  }),
};

const kept: Readonly<Record<PodKeepReason, Telling>> = {
  NotTerminated: ({ pod, ...one }) => ({
    detail: `It has not finished: its phase is ${pod.phase}${whereText({ pod, ...one })}.`,
    field: `status.phase=${pod.phase}`,
  }),
  UnderThreshold: underThreshold,
  RuleOff: () => ({
    detail: 'It has finished, but the policy has no rule for finished pods.',
    field: 'pods.terminated is not set',
  }),
  TooYoung: (one) => ttlTold(one, 'not over yet'),
  KeepMarked: ({ pod, world }) => ({
    detail: `The label ${KEEP_LABEL} is "true" on ${markedText(pod, world)}.`,
    field: `metadata.labels["${KEEP_LABEL}"]=true`,
  }),
  JobUncounted: ({ pod }) => ({
    detail: `${ownerText(pod)} has not counted it yet: it still carries the finalizer of Job tracking.`,
    field: 'metadata.finalizers=batch.kubernetes.io/job-tracking',
  }),
  JobUnfinished: ({ pod }) => ({
    detail: `${ownerText(pod)} is not known to be complete or to have failed, and the policy protects the pods of such Jobs.`,
    field: 'pods.terminated.protectUnfinishedJobs=true',
  }),
  KeptForOwner: (one) => ({
    detail: `It is ${newestText(terminated(one)?.keepPerOwner ?? 0)} of its owner.`,
    field: `pods.terminated.keepPerOwner=${terminated(one)?.keepPerOwner ?? 0}`,
  }),
  FinalizerHeld: ({ pod }) => ({
    detail: `It was deleted${pod.deletionAtMs === undefined ? '' : ` at ${timeText(pod.deletionAtMs)}`}, and waits only for its finalizers: ${pod.finalizers.join(', ')}.`,
    field: `metadata.finalizers=${pod.finalizers.join(',')}`,
  }),
  Quarantined: (one) => ({
    detail: `Node ${nodeOf(one.pod)} does not exist; its quarantine of ${quarantine(one)} is counted from now, as nothing here tells since when the controller has missed it.`,
    field: quarantineField(one),
  }),
  NodeExists: () => plainly('Its node exists.'),
  NodeUnknown: () => plainly('Whether its node exists is not known.'),
  NodeRecovered: () => plainly('Its node is ready again, or no longer marked out of service.'),
  ClockUnsure: () => plainly('The clock has jumped: ages cannot be told.'),
  Tripped: (one) => ({
    detail: `Node ${nodeOf(one.pod)} does not exist, but ${trippedPercent(one)} % of all nodes are missing, and over ${safety(one)?.maxOrphanedNodesPercent ?? 0} % the list of nodes is not believed.`,
    field: `pods.safety.maxOrphanedNodesPercent=${safety(one)?.maxOrphanedNodesPercent ?? 0}`,
  }),
  PacingLimit: (one) => ({
    detail: `It may go, but a pass deletes no more than ${counted(safety(one)?.maxDeletesPerPass ?? 0, 'pod')} for this policy, and others come first.`,
    field: `pods.safety.maxDeletesPerPass=${safety(one)?.maxDeletesPerPass ?? 0}`,
  }),
  NamespaceUnknown: ({ pod }) =>
    plainly(`Namespace ${pod.namespace} is not known, and with it the labels that decide.`),
  NoPolicy: () => plainly('No GCPolicy says anything about it.'),
  InvalidPolicy: ({ world }) => {
    const invalid = world.policies?.find((policy) => isInvalid(policy));
    return invalid === undefined
      ? plainly('A policy that cannot be followed may govern it, so nothing of it is touched.')
      : invalidTold(invalid, 'it');
  },
};

interface Governed {
  readonly policy: Policy | undefined;
}

const terminated = ({ policy }: Governed): TerminatedPolicy | undefined => policy?.pods?.terminated;
const safety = ({ policy }: Governed): PodsPolicy['safety'] | undefined => policy?.pods?.safety;
const nodeOf = ({ nodeName }: PodFacts): string => nodeName ?? '';

const finishedPods = ({ policy, plan }: Case): FinishedPods | undefined =>
  policy === undefined ? undefined : plan.finished(policy);

const verdictsOf = ({ policy, plan }: Case): PolicyVerdicts | undefined =>
  plan.policies.find((verdicts) => verdicts.policy === policy);

const noPods: FinishedCount = { counted: 0, held: 0 };
const finishedCount = (one: Case): FinishedCount => finishedPods(one)?.all ?? noPods;
const namespaceCount = (one: Case): FinishedCount =>
  finishedPods(one)?.inNamespace(one.pod.namespace) ?? noPods;

/** The pods that a threshold counts; opted-out pods are not mentioned, held ones are. */
function finishedText({ counted: count, held }: FinishedCount): string {
  const more =
    held === 0 ? '' : ` (${held} more cannot be deleted now and ${held === 1 ? 'does' : 'do'} not count)`;
  return `${count} ${count === 1 ? 'has' : 'have'} finished${more}`;
}

function crowd(one: Case): string {
  const { threshold = 0 } = terminated(one) ?? {};
  return `Of the pods of this policy, ${finishedText(finishedCount(one))} and ${threshold} may stay`;
}

const namespaceCrowd = (one: Case): string =>
  `Of its pods in namespace ${one.pod.namespace}, ${finishedText(namespaceCount(one))} and ${terminated(one)?.perNamespaceThreshold ?? 0} may stay`;

const turnInNamespace = (one: Case): number | undefined =>
  one.options.asked === undefined ? undefined : finishedPods(one)?.turnInNamespaceOf(one.pod);

function turnInNamespaceText(one: Case): string {
  const turn = turnInNamespace(one);
  return turn === undefined ? 'among the first' : ordinal(turn);
}

const namespaceField = (one: Case): string =>
  `pods.terminated.perNamespaceThreshold=${terminated(one)?.perNamespaceThreshold ?? 0}`;

/** Its place in line takes a walk over all pods: only for one that was asked about. */
function underThreshold(one: Case): Told {
  const { threshold = 0, perNamespaceThreshold } = terminated(one) ?? {};
  const isPerNamespace = perNamespaceThreshold !== undefined;
  const overall = threshold > 0 ? `${crowd(one)}${lineText(one)}` : undefined;
  const parts = [
    overall,
    isPerNamespace ? `${namespaceCrowd(one)}${namespaceLineText(one)}` : undefined,
  ].filter((text) => text !== undefined);
  const field = `pods.terminated.threshold=${threshold}`;
  return {
    detail:
      parts.length === 0
        ? 'It has finished, but the policy sets no threshold and no ttl for it.'
        : `${parts.join('. ')}.`,
    field: isPerNamespace ? `${field}, ${namespaceField(one)}` : field,
  };
}

function lineText(one: Case): string {
  const { threshold = 0 } = terminated(one) ?? {};
  const turn = one.options.asked === undefined ? undefined : finishedPods(one)?.turnOf(one.pod);
  return turnText(turn, finishedCount(one).counted - threshold);
}

function namespaceLineText(one: Case): string {
  const { perNamespaceThreshold = 0 } = terminated(one) ?? {};
  return turnText(turnInNamespace(one), namespaceCount(one).counted - perNamespaceThreshold);
}

function turnText(turn: number | undefined, surplus: number): string {
  if (turn === undefined) return '';
  if (surplus <= 0) return `; this one would be ${ordinal(turn)} to go`;
  return `, so ${surplus === 1 ? 'one goes' : `the first ${surplus} go`}; this one is ${ordinal(turn)} in line`;
}

function ttlTold(one: Case, state: 'over' | 'not over yet'): Told {
  const ttl = finishedPods(one)?.ttlOf(one.pod);
  const time = formatDuration(ttl?.ttlMs ?? 0);
  return {
    detail: `${finishText(one)}, and the ${time} for which ${likeIt(ttl)} may stay is ${state}.`,
    field: ttl === undefined ? null : `${ttl.field}=${time}`,
  };
}

/** Whoever plans here has not watched the pod: where its finish time cannot be true, the ttl counts from now. */
function finishText(one: Case): string {
  const { pod } = one;
  const reportedMs = reportedFinish(pod);
  const countedMs = finishedPods(one)?.finishedAt(pod) ?? reportedMs;
  const reported = timeText(reportedMs);
  if (countedMs === reportedMs) return `It finished at ${reported}`;
  const doubt =
    reportedMs < pod.createdAtMs
      ? `before the pod was created (${timeText(pod.createdAtMs)})`
      : 'in the future';
  return `Its status says that it finished at ${reported}, ${doubt}: the clock of its node is wrong. So its time counts from now, as only the controller knows when it first saw the pod finished`;
}

function likeIt(ttl: Ttl | undefined): string {
  const { phase, reason, messagePattern } = ttl?.rule ?? {};
  const traits = [
    phase === undefined ? [] : `phase ${phase}`,
    reason === undefined ? [] : `reason ${reason}`,
    messagePattern === undefined ? [] : `a message like ${JSON.stringify(messagePattern)}`,
  ].flat();
  return traits.length === 0 ? 'a finished pod' : `a pod with ${traits.join(' and ')}`;
}

const quarantine = ({ policy }: Governed): string =>
  formatDuration(policy?.pods?.orphaned?.quarantineMs ?? 0);
const quarantineField = (one: Governed): string => `pods.orphaned.quarantine=${quarantine(one)}`;

function overText(one: Case): string {
  if (one.policy?.pods?.orphaned?.quarantineMs === 0) return 'the policy asks for no quarantine';
  const is = one.options.assumeElapsed ? 'is taken as over' : 'is over';
  return `the quarantine of ${quarantine(one)} ${is}`;
}

const trippedPercent = (one: Case): number => Math.round(verdictsOf(one)?.trippedPercent ?? 0);

function whereText({ pod: { nodeName, deletionAtMs }, world, policy }: Omit<Case, 'order'>): string {
  const deletion = deletionAtMs === undefined ? '' : ', though it is being deleted';
  const isNodeKnown = nodeName !== undefined && world.nodes !== undefined;
  return isNodeKnown && policy?.pods?.orphaned !== undefined
    ? `${deletion}, and node ${nodeName} exists`
    : deletion;
}

function markedText(pod: PodFacts, { namespaces, nodes }: World): string {
  if (isKeepMarked(pod)) return 'the pod';
  const namespace = named(namespaces, pod.namespace);
  if (isKeepMarked(namespace)) return `namespace ${pod.namespace}`;
  return isKeepMarked(named(nodes, nodeOf(pod)))
    ? `node ${nodeOf(pod)}`
    : 'the pod, its namespace or its node';
}

function named<T extends { readonly name: string }>(
  objects: ReadonlyMap<string, T> | undefined,
  name: string,
): T | undefined {
  for (const object of objects?.values() ?? []) if (object.name === name) return object;
  return undefined;
}

const ownerText = ({ controller }: PodFacts): string =>
  controller === undefined ? 'Its Job' : `${controller.kind} ${controller.name}`;

const newestText = (count: number): string =>
  count === 1 ? 'the newest finished pod' : `one of the ${count} newest finished pods`;
