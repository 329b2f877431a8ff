import { isPressureRequest, type RequestSignal } from '../../api/local-storage.ts';
import { KEEP_LABEL } from '../../api/policy/matching.ts';
import type { Policy } from '../../api/policy/policy.ts';
import type { EvictionKeepReason } from '../../api/reasons.ts';
import type { PodTarget } from '../../gc/decision.ts';
import { keepLabelField, timeText } from '../../gc/reasons/words.ts';
import type { Meaning, Why } from '../../gc/words.ts';
import type { EvictionDecision, KeptBecause, EvictionPace, PodEviction, RequestedPod } from './facts.ts';
import {
  budgetsMayDelay,
  doNotDisruptField,
  evictField,
  evictionMessage,
  excludedField,
  podStates,
  type ExceededLimit,
  limitReasons,
} from '../../agent/localstorage/words.ts';
import { limitOfBytes } from '../../agent/localstorage/limits.ts';
import { pressureMessage, thresholdField, diskReasons } from '../../agent/nodepressure/words.ts';
import type { PressureUse } from '../../agent/nodepressure/facts.ts';

const paceText: Readonly<Record<EvictionPace, string>> = {
  owner:
    "The controller evicts at most a tenth of an owner's ready pods (at least one) a minute, and fewer while its replacements are due again.",
  ready:
    'It is the last ready pod of its owner, and others of that owner are not ready or are terminating: the controller evicts it once one of them is ready.',
  cluster:
    'The controller has evicted as many pods in the last minute as nodes.localStorageEviction.maxEvictionsPerMinute allows.',
  node: "For node pressure the controller evicts at most one pod per minute and node, in the agent's order, and waits for terminating pods.",
  leader:
    'The controller has just become leader and evicts no pod for a minute, because the leader before may just have evicted some.',
};

/** The reasons of the controller, which verifies an agent's request before it evicts a pod. */
export const evictionReasons: Readonly<Record<RequestSignal | EvictionKeepReason, Meaning>> = {
  ...limitReasons,
  ...diskReasons,
  PodGone: {
    meaning: 'The pod no longer exists.',
    change: 'Never: the next report of the node no longer requests the eviction.',
  },
  PodMoved: {
    meaning:
      'The pod with this name has another UID, or runs on another node than the agent that requests the eviction.',
    change: "The agent on the pod's own node requests the eviction with the pod's UID.",
  },
  RequestStale: {
    meaning: 'The measurement in the request is too old or in the future.',
    change: "The agent of the node reports a new measurement, and its clock agrees with the controller's.",
  },
  PolicyChanged: {
    meaning: 'The policy that governs the node does not allow the eviction, or no longer does.',
    change:
      'The policy is in mode Enforce and sets nodes.localStorageEviction, or for node pressure nodes.nodePressure with evictPods: true.',
  },
  KeepMarked: podStates.KeepMarked,
  NamespaceExcluded: podStates.NamespaceExcluded,
  CriticalPod: podStates.CriticalPod,
  DoNotDisrupt: podStates.DoNotDisrupt,
  Finished: podStates.Finished,
  Terminating: podStates.Terminating,
  PacingLimit: {
    meaning:
      'The pod is due, but the controller paces evictions: for each owner of pods, each node and the cluster.',
    change:
      'The pause of its owner (a minute, doubled up to an hour while its replacements are due again), the minute of the cluster or the new leader is over, and it is not the last ready pod of its owner while others of that owner are not ready. For node pressure also: the evicted pods of the node have ended, a new measurement still shows the shortage, and no pod before it in the order can be evicted.',
  },
  NothingFreed: {
    meaning:
      'Three evictions for the pressure of this node freed nothing, so the controller evicts no more pods there.',
    change:
      'More of the disk becomes available, or the pressure ends for ten minutes. Look for what fills the disk: often the replacement of the evicted pod.',
  },
  BudgetBlocked: {
    meaning: 'A PodDisruptionBudget does not allow the eviction now; the controller tries again.',
    change:
      'The budget allows a disruption, or nodes.localStorageEviction.respectPodDisruptionBudgets is false. Evictions for node pressure always respect budgets.',
  },
  EvictionForbidden: {
    meaning:
      'The controller has no permission to evict the pod, or an admission policy or webhook denies the eviction; the controller tries again.',
    change:
      'Somebody grants the permission that the Event EvictionBlocked on the pod names (in the Helm chart with admissionPolicy.enabled and rbac.evictions), or the policy or webhook that it names allows the eviction.',
  },
  EvictionFailed: {
    meaning: 'The API server responded with an error or did not respond; the controller tries again.',
    change: 'Somebody fixes the cause, which the controller logs.',
  },
  NamespaceUnknown: {
    meaning: "The controller has not read the pod's namespace yet, whose label may keep the pod.",
    change: 'The controller has read the namespace.',
  },
  NodeUnknown: {
    meaning:
      "The controller has not read the pod's node yet, so it does not know which policy governs the node.",
    change: 'The controller has read the node.',
  },
};

/** Why a pod is to be evicted: it uses more of a limit than it may, or its node is short of something that it uses. */
export type EvictionCause = ExceededLimit | PressureUse;

type OfPolicy = Pick<Policy, 'nodes'>;

/** The cause of a request. `policy`: the one that evicts; undefined = the pod is kept, and the text names no threshold as a policy has it. */
export function causeOf(request: RequestedPod['request'], policy?: OfPolicy): EvictionCause {
  const { observedBytes, limitBytes, largest } = request;
  if (!isPressureRequest(request)) {
    const { signal, subject } = request;
    return { signal, subject, usedBytes: observedBytes, limit: limitOfBytes(limitBytes), largest };
  }
  const { signal, shortage } = request;
  const { available, threshold } = shortage;
  const text = policy?.nodes?.nodePressure?.thresholds.get(signal)?.text ?? '';
  return {
    shortage: { signal, available, threshold: { value: threshold, text } },
    used: observedBytes,
    request: limitBytes,
    priority: undefined,
    largest,
  };
}

/** The message of an eviction, without what may delay it. */
export const causeText = (cause: EvictionCause, policy?: OfPolicy): string =>
  'shortage' in cause ? pressureMessage(cause) : evictionMessage(cause, percentOf(policy));

const percentOf = (policy: OfPolicy | undefined): number =>
  policy?.nodes?.localStorageEviction?.evictAtPercent ?? 100;

/** Explains the decision about one requested eviction with its values. */
export function explainEviction(decision: EvictionDecision): Why {
  const { request } = decision.target;
  if (decision.verdict === 'Keep')
    return explainKept(decision, `${causeText(causeOf(request))}${requestText(request)}`);
  return explainDue(decision);
}

function explainDue({ target: { request, rule }, policy }: PodEviction): Why {
  const cause = causeOf(request, policy);
  const delay = rule.respectPodDisruptionBudgets ? budgetsMayDelay : '';
  return {
    detail: `${causeText(cause, policy)}${requestText(request)}${delay}`,
    field: 'shortage' in cause ? thresholdField(cause) : evictField(percentOf(policy)),
  };
}

const requestText = ({ observedAtMs }: RequestedPod['request']): string =>
  ` The agent of its node requests the eviction (usage measured at ${timeText(observedAtMs)}).`;

/** Explains why a pod is kept that would be evicted; `due`: the sentence why it would. */
export function explainKept(
  kept: KeptBecause & { readonly target: Pick<PodTarget, 'namespace'> },
  due: string,
): Why {
  const { namespace } = kept.target;
  switch (kept.reason) {
    case 'KeepMarked':
      return { detail: `${due} But the label ${KEEP_LABEL} is on ${kept.on}.`, field: keepLabelField() };
    case 'NamespaceUnknown':
      return {
        detail: `${due} But the controller has not read namespace ${namespace} yet, whose label may keep the pod.`,
      };
    case 'PacingLimit':
      return {
        detail: `${due} ${paceText[kept.pace]}`,
        field: kept.pace === 'cluster' ? 'nodes.localStorageEviction.maxEvictionsPerMinute' : undefined,
      };
    case 'NamespaceExcluded':
      return {
        detail: `${due} ${evictionReasons.NamespaceExcluded.meaning}`,
        field: excludedField(namespace),
      };
    case 'DoNotDisrupt':
      return {
        detail: `${due} But its owner refuses evictions by an annotation, and the kubelet would not evict it.`,
        field: doNotDisruptField,
      };
    case 'PodGone':
    case 'PodMoved':
    case 'RequestStale':
    case 'PolicyChanged':
    case 'CriticalPod':
    case 'Finished':
    case 'Terminating':
    case 'NothingFreed':
    case 'BudgetBlocked':
    case 'EvictionForbidden':
    case 'EvictionFailed':
    case 'NodeUnknown':
      return { detail: `${due} ${evictionReasons[kept.reason].meaning}` };
  }
}
