import type { RequestSignal } from '../../api/local-storage.ts';
import { KEEP_LABEL } from '../../api/policy/matching.ts';
import type { EvictionKeepReason } from '../../api/reasons.ts';
import type { ReasonCatalog, ReasonEntry } from './entry.ts';
import { pressureMessage, pressureReasons, thresholdField, type PressureUse } from './pressure.ts';
import { budgetsMayDelay, evictField, podStates, storageReasons } from './storage.ts';
import { evictionMessage, type ExceededLimit } from './storage-words.ts';
import { timeText } from './words.ts';

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

export interface EvictionEvidence
  extends
    Record<RequestSignal, FulfilEvidence>,
    Record<Exclude<EvictionKeepReason, 'KeepMarked'>, RequestEvidence> {
  KeepMarked: LabelEvidence;
}

const requested = (measuredAtMs: number | undefined): string =>
  measuredAtMs === undefined
    ? ''
    : ` The agent of its node requests the eviction, by a measurement of ${timeText(measuredAtMs)}.`;

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

/** A reason to keep a pod whose eviction an agent requests. */
const refused = (entry: Pick<ReasonEntry<never>, 'meaning' | 'change'>): ReasonEntry<RequestEvidence> => ({
  ...entry,
  sentence: (evidence) => `${causeOf(evidence)} ${entry.meaning}`,
});

/** Reasons of the controller, which verifies an agent's request before it evicts a pod. */
export const evictionReasons: ReasonCatalog<EvictionEvidence> = {
  'emptydirfs.limit': fulfilled(storageReasons['emptydirfs.limit']),
  'ephemeralpodfs.limit': fulfilled(storageReasons['ephemeralpodfs.limit']),
  'ephemeralcontainerfs.limit': fulfilled(storageReasons['ephemeralcontainerfs.limit']),
  'nodefs.available': fulfilled(pressureReasons['nodefs.available']),
  'nodefs.inodesFree': fulfilled(pressureReasons['nodefs.inodesFree']),
  'imagefs.available': fulfilled(pressureReasons['imagefs.available']),
  'imagefs.inodesFree': fulfilled(pressureReasons['imagefs.inodesFree']),
  PodGone: refused({
    meaning: 'The pod is not in the API any more.',
    change: 'Never: the next report of the node does not request the eviction any more.',
  }),
  PodMoved: refused({
    meaning:
      'The pod of this name is another one, or is on another node than the one that requests the eviction.',
    change: 'The node of the pod itself requests the eviction, by the UID of the pod.',
  }),
  RequestStale: refused({
    meaning: 'The measurement of the request is too old, or from the future.',
    change: 'The agent of the node measures again and reports; its clock agrees with that of the controller.',
  }),
  PolicyChanged: refused({
    meaning: 'The policy that governs the node does not request the eviction, or not any more.',
    change:
      'That policy has the block that requests it, nodes.localStorageEviction or nodes.nodePressure with evictPods: true, and is in mode Enforce.',
  }),
  KeepMarked: {
    ...podStates.KeepMarked,
    sentence: ({ on, ...request }) => `${causeOf(request)} But the label ${KEEP_LABEL} is "true" on ${on}.`,
  },
  CriticalPod: refused(podStates.CriticalPod),
  Finished: refused(podStates.Finished),
  Terminating: refused(podStates.Terminating),
  PacingLimit: refused({
    meaning:
      'For node pressure dustpan evicts one pod a minute and node at most, in the order of the agent, and waits for pods that are ending.',
    change:
      'A minute has passed, the evicted pods of the node have ended, a new measurement still shows the shortage, and no pod before it in the order may be evicted.',
  }),
  BudgetBlocked: refused({
    meaning: 'A disruption budget of the pod does not allow the eviction now; dustpan tries again.',
    change:
      'The budget allows a disruption, or nodes.localStorageEviction.respectPodDisruptionBudgets is off; budgets always hold for node pressure.',
  }),
  EvictionForbidden: refused({
    meaning:
      'The controller has no right to evict the pod, or an admission policy denies the eviction; dustpan tries again.',
    change:
      'Somebody grants the right that the Event EvictionBlocked on the pod names; in the chart by admissionPolicy.enabled and rbac.evictions.',
  }),
  EvictionFailed: refused({
    meaning: 'The API server responded with an error or did not respond; dustpan tries again.',
    change: 'Somebody fixes the cause, which is in the log of the controller.',
  }),
  NamespaceUnknown: {
    meaning: 'Its namespace, and with it a label that may keep the pod, is not known yet.',
    sentence: (request) =>
      `${causeOf(request)} But its namespace ${request.namespace}, and with it a label that may keep the pod, is not known.`,
    change: 'The controller observes the namespace.',
  },
  NodeUnknown: refused({
    meaning: 'Its node, and with it the policy that governs the node, is not known.',
    change: 'The controller observes the node.',
  }),
};
