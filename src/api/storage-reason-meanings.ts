import type { EvictionSignal } from './local-storage.ts';
import { corrected, unmarked, type ReasonMeanings } from './reason-meanings.ts';
import type { EvictionKeepReason, StorageKeepReason } from './reasons.ts';

const keepLabel = 'the label gc.dustpan.dev/keep: "true" on the pod, its namespace or its node';

const critical = {
  sentence: 'It is critical: the mirror of a static pod, or a pod with a priority of 2000000000 or more.',
  change: 'Never by dustpan while it is critical: such pods are only warned about.',
};
const finished = {
  sentence: 'It has finished, so there is nothing to evict.',
  change: 'Never: what it left is for podgc and containergc.',
};
const terminating = {
  sentence: 'It is being deleted already.',
  change: 'Never by dustpan: it goes by itself.',
};

/** Of localstorage: pods and what they use on their node. */
export const storageMeanings: ReasonMeanings<EvictionSignal | StorageKeepReason> = {
  'emptydirfs.limit': {
    sentence: 'An emptyDir of the pod is fuller than its size limit allows.',
    change: `Less in the volume, a higher sizeLimit, nodes.localStorageEviction.evictAtPercent or defaultLimits.emptyDir, or ${keepLabel}.`,
  },
  'ephemeralpodfs.limit': {
    sentence: 'The pod uses more local storage than the limits of its containers add up to.',
    change: `Less in layers, logs and volumes, higher limits of ephemeral-storage, evictAtPercent or defaultLimits.pod, or ${keepLabel}.`,
  },
  'ephemeralcontainerfs.limit': {
    sentence: 'A container uses more for its writable layer and its logs than its limit allows.',
    change: `Less written, a higher limit of ephemeral-storage, evictAtPercent or defaultLimits.container, or ${keepLabel}.`,
  },
  UnderLimit: {
    sentence: 'It is within its limits of local storage.',
    change: 'It uses more than nodes.localStorageEviction.evictAtPercent of one of them, or that is lower.',
  },
  NoLimit: {
    sentence: 'It has no limit of local storage, and the policy sets none for such pods.',
    change: 'It declares a limit, or the policy gets nodes.localStorageEviction.defaultLimits.',
  },
  CriticalPod: critical,
  KeepMarked: {
    sentence: 'The label gc.dustpan.dev/keep is on the pod or its node.',
    change: unmarked,
  },
  Finished: finished,
  Terminating: terminating,
  UsageUnknown: {
    sentence: 'What it uses is not known, or was measured too long ago.',
    change: 'The node measures it: a new pod has its first figures after a minute or two.',
  },
  NoPolicy: {
    sentence: 'No policy governs the node.',
    change: 'A GCPolicy with spec.nodes selects the node.',
  },
  InvalidPolicy: {
    sentence: 'A policy that cannot be followed may govern the node, so no pod on it is evicted.',
    change: corrected,
  },
  NodeUnknown: {
    sentence: 'The node or the policies are not known for sure.',
    change: 'The API server answers, and the node and the policies are read.',
  },
  RuleOff: {
    sentence: 'The policy has no rule for local storage.',
    change: 'The policy gets nodes.localStorageEviction.',
  },
};

/** Of the controller, which looks at everything again before it evicts a pod on the request of an agent. */
export const evictionMeanings: ReasonMeanings<EvictionKeepReason> = {
  PodGone: {
    sentence: 'It is not in the API any more.',
    change: 'Never: the request goes with the next report.',
  },
  PodMoved: {
    sentence: 'The pod of this name is another one, or is on another node than the one that asks.',
    change: 'The node of the pod itself asks for it, by its UID.',
  },
  RequestStale: {
    sentence: 'The figures of the request are too old, or from the future.',
    change: 'The agent of the node measures again and reports; its clock agrees with ours.',
  },
  PolicyChanged: {
    sentence: 'The policy that governs the node does not ask for the eviction, or not any more.',
    change: 'That policy has nodes.localStorageEviction and is in mode Enforce.',
  },
  KeepMarked: {
    sentence: 'The label gc.dustpan.dev/keep is on the pod, its namespace or its node.',
    change: unmarked,
  },
  CriticalPod: critical,
  Finished: finished,
  Terminating: terminating,
  BudgetBlocked: {
    sentence: 'A disruption budget of the pod does not allow the eviction now; it is tried again.',
    change:
      'The budget allows a disruption, or nodes.localStorageEviction.respectPodDisruptionBudgets is off.',
  },
  EvictionForbidden: {
    sentence:
      'The controller has no right to evict the pod, or an admission policy refuses the eviction; it is tried again.',
    change:
      'The right that the Event EvictionBlocked on the pod names is granted; in the chart by admissionPolicy.enabled and rbac.evictions.',
  },
  EvictionFailed: {
    sentence: 'The API server answered with an error or did not answer; the eviction is tried again.',
    change: 'The cause in the log of the controller is fixed.',
  },
  NamespaceUnknown: {
    sentence: 'Its namespace, and with it a label that may keep it, is not known yet.',
    change: 'The namespace is observed.',
  },
  NodeUnknown: {
    sentence: 'Its node, and with it the policy that governs it, is not known.',
    change: 'The node is observed.',
  },
};
