import type { RequestSignal } from '../../api/local-storage.ts';
import { KEEP_LABEL } from '../../api/policy/matching.ts';
import type { EvictionKeepReason } from '../../api/reasons.ts';
import type { ReasonCatalog, ReasonEntry } from './entry.ts';
import {
  budgetsMayDelay,
  evictField,
  evictionMessage,
  excludedField,
  podStates,
  pressureMessage,
  requestReasons,
  thresholdField,
  type ExceededLimit,
  type PressureUse,
} from './eviction-words.ts';
import { keepLabelField, timeText } from './words.ts';

/** Why a pod is to be evicted: it uses more of a limit than it may, or its node is short of something that it uses. */
export type EvictionCause = ExceededLimit | PressureUse;

export interface RequestEvidence {
  readonly namespace: string;
  readonly cause: EvictionCause;
  /** Time of the requesting agent's measurement, Unix milliseconds; undefined = no agent has requested the eviction. */
  readonly measuredAtMs: number | undefined;
}

/** A request that the controller fulfils. */
interface FulfilEvidence extends RequestEvidence {
  /** undefined = it is not for a limit. */
  readonly evictAtPercent: number | undefined;
  readonly respectsBudgets: boolean;
}

export interface LabelEvidence extends RequestEvidence {
  /** `the pod`, `namespace web`, `node a`. */
  readonly on: string;
}

/** What makes a due eviction wait. */
export const evictionPaces = ['owner', 'cluster', 'node', 'leader'] as const;
export type EvictionPace = (typeof evictionPaces)[number];

export interface PaceEvidence extends RequestEvidence {
  readonly pace: EvictionPace;
}

export interface EvictionEvidence
  extends
    Record<RequestSignal, FulfilEvidence>,
    Record<Exclude<EvictionKeepReason, 'KeepMarked' | 'PacingLimit'>, RequestEvidence> {
  KeepMarked: LabelEvidence;
  PacingLimit: PaceEvidence;
}

const requested = (measuredAtMs: number | undefined): string =>
  measuredAtMs === undefined
    ? ''
    : ` The agent of its node requests the eviction (usage measured at ${timeText(measuredAtMs)}).`;

/** The message of an eviction, without what may delay it. */
export const causeText = (cause: EvictionCause, evictAtPercent?: number): string =>
  'shortage' in cause ? pressureMessage(cause) : evictionMessage(cause, evictAtPercent);

const fulfilled = ({
  meaning,
  change,
}: Pick<ReasonEntry<never>, 'meaning' | 'change'>): ReasonEntry<FulfilEvidence> => ({
  meaning,
  change,
  sentence: ({ cause, evictAtPercent, respectsBudgets, measuredAtMs }) =>
    `${causeText(cause, evictAtPercent)}${requested(measuredAtMs)}${respectsBudgets ? budgetsMayDelay : ''}`,
  field: ({ cause, evictAtPercent = 100 }) =>
    'shortage' in cause ? thresholdField(cause) : evictField(evictAtPercent),
});

const causeOf = ({ cause, measuredAtMs }: RequestEvidence): string =>
  `${causeText(cause)}${requested(measuredAtMs)}`;

const paceText: Readonly<Record<EvictionPace, string>> = {
  owner:
    "The controller evicts at most a tenth of an owner's pods (at least one) a minute, and fewer while its replacements are due again.",
  cluster:
    'The controller has evicted as many pods in the last minute as nodes.localStorageEviction.maxEvictionsPerMinute allows.',
  node: "For node pressure the controller evicts at most one pod per minute and node, in the agent's order, and waits for terminating pods.",
  leader:
    'The controller has just become leader and evicts no pod for a minute, because the leader before may just have evicted some.',
};

/** A reason to keep a pod whose eviction an agent requests. */
const refused = (entry: Pick<ReasonEntry<never>, 'meaning' | 'change'>): ReasonEntry<RequestEvidence> => ({
  ...entry,
  sentence: (evidence) => `${causeOf(evidence)} ${entry.meaning}`,
});

/** Reasons of the controller, which verifies an agent's request before it evicts a pod. */
export const evictionReasons: ReasonCatalog<EvictionEvidence> = {
  'emptydirfs.limit': fulfilled(requestReasons['emptydirfs.limit']),
  'ephemeralpodfs.limit': fulfilled(requestReasons['ephemeralpodfs.limit']),
  'ephemeralcontainerfs.limit': fulfilled(requestReasons['ephemeralcontainerfs.limit']),
  'nodefs.available': fulfilled(requestReasons['nodefs.available']),
  'nodefs.inodesFree': fulfilled(requestReasons['nodefs.inodesFree']),
  'imagefs.available': fulfilled(requestReasons['imagefs.available']),
  'imagefs.inodesFree': fulfilled(requestReasons['imagefs.inodesFree']),
  PodGone: refused({
    meaning: 'The pod no longer exists.',
    change: 'Never: the next report of the node no longer requests the eviction.',
  }),
  PodMoved: refused({
    meaning:
      'The pod with this name has another UID, or runs on another node than the agent that requests the eviction.',
    change: "The agent on the pod's own node requests the eviction with the pod's UID.",
  }),
  RequestStale: refused({
    meaning: 'The measurement in the request is too old or in the future.',
    change: "The agent of the node reports a new measurement, and its clock agrees with the controller's.",
  }),
  PolicyChanged: refused({
    meaning: 'The policy that governs the node does not allow the eviction, or no longer does.',
    change:
      'The policy is in mode Enforce and sets nodes.localStorageEviction, or for node pressure nodes.nodePressure with evictPods: true.',
  }),
  KeepMarked: {
    ...podStates.KeepMarked,
    field: keepLabelField,
    sentence: ({ on, ...request }) => `${causeOf(request)} But the label ${KEEP_LABEL} is on ${on}.`,
  },
  NamespaceExcluded: {
    ...refused(podStates.NamespaceExcluded),
    field: ({ namespace }) => excludedField(namespace),
  },
  CriticalPod: refused(podStates.CriticalPod),
  Finished: refused(podStates.Finished),
  Terminating: refused(podStates.Terminating),
  PacingLimit: {
    meaning:
      'The pod is due, but the controller paces evictions: for each owner of pods, each node and the cluster.',
    sentence: (request) => `${causeOf(request)} ${paceText[request.pace]}`,
    field: ({ pace }) =>
      pace === 'cluster' ? 'nodes.localStorageEviction.maxEvictionsPerMinute' : undefined,
    change:
      'The pause of its owner (a minute, doubled up to an hour while its replacements are due again), the minute of the cluster or the new leader is over. For node pressure also: the evicted pods of the node have ended, a new measurement still shows the shortage, and no pod before it in the order can be evicted.',
  },
  NothingFreed: refused({
    meaning:
      'Three evictions for the pressure of this node freed nothing, so the controller evicts no more pods there.',
    change:
      'More of the disk becomes available, or the pressure ends for ten minutes. Look for what fills the disk: often the replacement of the evicted pod.',
  }),
  BudgetBlocked: refused({
    meaning: 'A PodDisruptionBudget does not allow the eviction now; the controller tries again.',
    change:
      'The budget allows a disruption, or nodes.localStorageEviction.respectPodDisruptionBudgets is false. Evictions for node pressure always respect budgets.',
  }),
  EvictionForbidden: refused({
    meaning:
      'The controller has no permission to evict the pod, or an admission policy or webhook denies the eviction; the controller tries again.',
    change:
      'Somebody grants the permission that the Event EvictionBlocked on the pod names (in the Helm chart with admissionPolicy.enabled and rbac.evictions), or the policy or webhook that it names allows the eviction.',
  }),
  EvictionFailed: refused({
    meaning: 'The API server responded with an error or did not respond; the controller tries again.',
    change: 'Somebody fixes the cause, which the controller logs.',
  }),
  NamespaceUnknown: {
    meaning: "The controller has not read the pod's namespace yet, whose label may keep the pod.",
    sentence: (request) =>
      `${causeOf(request)} But the controller has not read namespace ${request.namespace} yet, whose label may keep the pod.`,
    change: 'The controller has read the namespace.',
  },
  NodeUnknown: refused({
    meaning:
      "The controller has not read the pod's node yet, so it does not know which policy governs the node.",
    change: 'The controller has read the node.',
  }),
};
