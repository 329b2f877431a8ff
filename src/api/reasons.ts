import type { EvictionSignal } from './local-storage.ts';

/** Why a pod goes, in the order in which the rules apply. One word, used unchanged in logs, metrics, Events, `plan` and `why`. */
export const podDeleteReasons = [
  'Terminated',
  'TerminatedInNamespace',
  'Expired',
  'OutOfService',
  'Orphaned',
  'Unscheduled',
] as const;
export type PodDeleteReason = (typeof podDeleteReasons)[number];

/** Why a pod stays. */
export const podKeepReasons = [
  'NotTerminated',
  'UnderThreshold',
  'RuleOff',
  'TooYoung',
  'KeepMarked',
  'JobUncounted',
  'JobUnfinished',
  'KeptForOwner',
  'FinalizerHeld',
  'Quarantined',
  'NodeExists',
  'NodeUnknown',
  'NodeRecovered',
  'ClockUnsure',
  'Tripped',
  'PacingLimit',
  'NamespaceUnknown',
  'NoPolicy',
  'InvalidPolicy',
] as const;
export type PodKeepReason = (typeof podKeepReasons)[number];

/** Why an image goes. */
export const imageRemoveReasons = ['Age', 'Space'] as const;
export type ImageRemoveReason = (typeof imageRemoveReasons)[number];

/** Why a container, a sandbox or a log goes, in the order in which the rules apply. */
export const containerRemoveReasons = [
  'PodGone',
  'DeadContainer',
  'Sandbox',
  'OrphanedLogs',
  'BrokenLink',
  'RotatedLog',
] as const;
export type ContainerRemoveReason = (typeof containerRemoveReasons)[number];

/** Why nothing of a node is touched at all. */
export const nodeKeepReasons = ['NoPolicy', 'InvalidPolicy', 'KeepMarked', 'NodeUnknown', 'RuleOff'] as const;
export type NodeKeepReason = (typeof nodeKeepReasons)[number];

/** Why an image stays. */
export const imageKeepReasons = [
  'InUse',
  'BoundPod',
  'Pinned',
  'KeepListed',
  'TooYoung',
  'UsedRecently',
  'BelowThreshold',
  'TargetMet',
  'PacingLimit',
  'ClockUnsure',
  'PodsUnknown',
  'ContainersUnknown',
  'DiskUnknown',
] as const;
export type ImageKeepReason = (typeof imageKeepReasons)[number] | NodeKeepReason;

/** Why a container, a sandbox or a log stays. */
export const containerKeepReasons = [
  'Running',
  'NotKubelets',
  'StaticPod',
  'UnknownState',
  'TooYoung',
  'NewestAttempt',
  'NewestSandbox',
  'UnderLimit',
  'InUse',
  'Quarantined',
  'PodsUnknown',
  'ContainersUnknown',
  'ClockUnsure',
] as const;
export type ContainerKeepReason = (typeof containerKeepReasons)[number] | NodeKeepReason;

/** Why a pod is not evicted for its local storage, as the agent sees it. */
export const storageKeepReasons = [
  'UnderLimit',
  'NoLimit',
  'CriticalPod',
  'KeepMarked',
  'Finished',
  'Terminating',
  'UsageUnknown',
] as const;
export type StorageKeepReason = (typeof storageKeepReasons)[number] | NodeKeepReason;

/** Why the controller does not evict a pod that an agent asks it to. */
export const evictionKeepReasons = [
  'PodGone',
  'PodMoved',
  'RequestStale',
  'PolicyChanged',
  'KeepMarked',
  'CriticalPod',
  'Finished',
  'Terminating',
  'BudgetBlocked',
  'EvictionForbidden',
  'EvictionFailed',
  'NamespaceUnknown',
  'NodeUnknown',
] as const;
export type EvictionKeepReason = (typeof evictionKeepReasons)[number];

export type NodeRemoveReason = ImageRemoveReason | ContainerRemoveReason;
export type StorageReason = EvictionSignal | StorageKeepReason | EvictionKeepReason;
export type Reason =
  PodDeleteReason | PodKeepReason | NodeRemoveReason | ImageKeepReason | ContainerKeepReason | StorageReason;
