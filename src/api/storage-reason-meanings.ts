import type { EvictionSignal } from './local-storage.ts';
import { corrected, unmarked, type ReasonMeanings } from './reason-meanings.ts';
import type { EvictionKeepReason, StorageKeepReason } from './reasons.ts';

const keepLabel = 'the label gc.dustpan.dev/keep: "true" on the pod, its namespace or its node';

const critical = {
  meaning: 'It is critical: the mirror of a static pod, or a pod with a priority of 2000000000 or more.',
  change: 'Never by dustpan while it is critical: such pods are only warned about.',
};
const finished = {
  meaning: 'It has finished, so there is nothing to evict.',
  change: 'Never: what it left is for podgc and containergc.',
};
const terminating = {
  meaning: 'It is being deleted already.',
  change: 'Never by dustpan: it goes by itself.',
};

/** Of localstorage: pods and what they use on their node. */
export const storageMeanings: ReasonMeanings<EvictionSignal | StorageKeepReason> = {
  'emptydirfs.limit': {
    meaning: 'An emptyDir of the pod is fuller than its size limit allows.',
    change: `Less in the volume, a higher sizeLimit, nodes.localStorageEviction.evictAtPercent or defaultLimits.emptyDir, or ${keepLabel}.`,
  },
  'ephemeralpodfs.limit': {
    meaning: 'The pod uses more local storage than the limits of its containers add up to.',
    change: `Less in layers, logs and volumes, higher limits of ephemeral-storage, evictAtPercent or defaultLimits.pod, or ${keepLabel}.`,
  },
  'ephemeralcontainerfs.limit': {
    meaning: 'A container uses more for its writable layer and its logs than its limit allows.',
    change: `Less written, a higher limit of ephemeral-storage, evictAtPercent or defaultLimits.container, or ${keepLabel}.`,
  },
  UnderLimit: {
    meaning: 'It is within its limits of local storage.',
    change: 'It uses more than nodes.localStorageEviction.evictAtPercent of one of them, or that is lower.',
  },
  NoLimit: {
    meaning: 'It has no limit of local storage, and the policy sets none for such pods.',
    change: 'It declares a limit, or the policy gets nodes.localStorageEviction.defaultLimits.',
  },
  CriticalPod: critical,
  KeepMarked: {
    meaning: 'The label gc.dustpan.dev/keep is on the pod or its node.',
    change: unmarked,
  },
  Finished: finished,
  Terminating: terminating,
  UsageUnknown: {
    meaning: 'What it uses is not known, or was measured too long ago.',
    change: 'The node measures it: a new pod has its first figures after a minute or two.',
  },
  NoPolicy: {
    meaning: 'No policy governs the node.',
    change: 'A GCPolicy with spec.nodes selects the node.',
  },
  InvalidPolicy: {
    meaning: 'A policy that cannot be followed may govern the node, so no pod on it is evicted.',
    change: corrected,
  },
  NodeUnknown: {
    meaning: 'The node or the policies are not known for sure.',
    change: 'The API server answers, and the node and the policies are read.',
  },
  RuleOff: {
    meaning: 'The policy has no rule for local storage.',
    change: 'The policy gets nodes.localStorageEviction.',
  },
};

/** Of the controller, which looks at everything again before it evicts a pod on the request of an agent. */
export const evictionMeanings: ReasonMeanings<EvictionKeepReason> = {
  PodGone: {
    meaning: 'It is not in the API any more.',
    change: 'Never: the request goes with the next report.',
  },
  PodMoved: {
    meaning: 'The pod of this name is another one, or is on another node than the one that asks.',
    change: 'The node of the pod itself asks for it, by its UID.',
  },
  RequestStale: {
    meaning: 'The figures of the request are too old, or from the future.',
    change: 'The agent of the node measures again and reports; its clock agrees with ours.',
  },
  PolicyChanged: {
    meaning: 'The policy that governs the node does not ask for the eviction, or not any more.',
    change: 'That policy has nodes.localStorageEviction and is in mode Enforce.',
  },
  KeepMarked: {
    meaning: 'The label gc.dustpan.dev/keep is on the pod, its namespace or its node.',
    change: unmarked,
  },
  CriticalPod: critical,
  Finished: finished,
  Terminating: terminating,
  BudgetBlocked: {
    meaning: 'A disruption budget of the pod does not allow the eviction now; it is tried again.',
    change:
      'The budget allows a disruption, or nodes.localStorageEviction.respectPodDisruptionBudgets is off.',
  },
  EvictionForbidden: {
    meaning:
      'The controller has no right to evict the pod, or an admission policy refuses the eviction; it is tried again.',
    change:
      'The right that the Event EvictionBlocked on the pod names is granted; in the chart by admissionPolicy.enabled and rbac.evictions.',
  },
  EvictionFailed: {
    meaning: 'The API server answered with an error or did not answer; the eviction is tried again.',
    change: 'The cause in the log of the controller is fixed.',
  },
  NamespaceUnknown: {
    meaning: 'Its namespace, and with it a label that may keep it, is not known yet.',
    change: 'The namespace is observed.',
  },
  NodeUnknown: {
    meaning: 'Its node, and with it the policy that governs it, is not known.',
    change: 'The node is observed.',
  },
};
