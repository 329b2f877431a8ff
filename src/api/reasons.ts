import type { EvictionSignal } from './local-storage.ts';
import { diskSignals, type ThresholdSignal } from './node-pressure.ts';

/** Reasons to delete a pod, in the order in which the rules apply. Logs, metrics, Events, `plan` and `why` use them unchanged. */
export const podDeleteReasons = [
  'Expired',
  'TerminatedInNamespace',
  'Terminated',
  'OutOfService',
  'Orphaned',
  'Unscheduled',
] as const;
export type PodDeleteReason = (typeof podDeleteReasons)[number];

/** Reasons to keep a pod. */
export const podKeepReasons = [
  'NotTerminated',
  'UnderThreshold',
  'RuleOff',
  'TooYoung',
  'KeepMarked',
  'JobUncounted',
  'JobUnfinished',
  'OwnersUnknown',
  'KeptForOwner',
  'FinalizerHeld',
  'Quarantined',
  'NodeExists',
  'NodeUnknown',
  'NodeRecovered',
  'ClockUnsure',
  'Tripped',
  'Holding',
  'PacingLimit',
  'DeletionFailed',
  'PodChanged',
  'NamespaceUnknown',
  'NoPolicy',
  'InvalidPolicy',
] as const;
export type PodKeepReason = (typeof podKeepReasons)[number];

/** Reasons to remove an image, in the order in which the rules apply. A disk signal: the node is short of it, so unused images are removed at any usage. */
export const imageRemoveReasons = ['RemoveListed', 'Age', 'Space', 'PullHeadroom', ...diskSignals] as const;
export type ImageRemoveReason = (typeof imageRemoveReasons)[number];

/** Reasons to remove a container, a sandbox, a log, an orphaned resource or a checkpoint. A disk signal: the node is short of it, so dead containers are removed at any limit. */
export const containerRemoveReasons = [
  'PodGone',
  'DeadContainer',
  ...diskSignals,
  'Sandbox',
  'OrphanedLogs',
  'BrokenLink',
  'ContainerGone',
  'RotatedLog',
  'OrphanedCgroup',
  'OrphanedDirectory',
  'OldCheckpoint',
] as const;
export type ContainerRemoveReason = (typeof containerRemoveReasons)[number];

/** Reasons to warn about a running container. */
export const containerWarnReasons = ['LogTooLarge'] as const;
export type ContainerWarnReason = (typeof containerWarnReasons)[number];

/** Reasons to remove nothing from a node. */
export const nodeKeepReasons = ['NoPolicy', 'InvalidPolicy', 'KeepMarked', 'NodeUnknown', 'RuleOff'] as const;
export type NodeKeepReason = (typeof nodeKeepReasons)[number];

/** Reasons to keep an image. */
export const imageKeepReasons = [
  'InUse',
  'BoundPod',
  'Pinned',
  'KeepListed',
  'Wanted',
  'NotSelected',
  'TooYoung',
  'UsedRecently',
  'BelowThreshold',
  'TargetMet',
  'Holding',
  'PacingLimit',
  'RemovalFailed',
  'ClockUnsure',
  'PodsUnknown',
  'ContainersUnknown',
  'WantedUnknown',
  'DiskUnknown',
] as const;
export type ImageKeepReason = (typeof imageKeepReasons)[number] | NodeKeepReason;

/** Reasons to keep a container, a sandbox, a log, an orphaned resource or a checkpoint. */
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
  'Mounted',
  'MountsUnknown',
  'ProcessesUnknown',
  'NotEmpty',
  'VolumeAttached',
  'AttachmentsUnknown',
  'ReadOnly',
  'PacingLimit',
  'RemovalFailed',
  'Quarantined',
  'PodsUnknown',
  'ContainersUnknown',
  'ClockUnsure',
] as const;
export type ContainerKeepReason = (typeof containerKeepReasons)[number] | NodeKeepReason;

/** Reasons to remove what containerd keeps for nobody. */
export const leftoverRemoveReasons = ['InterruptedDownload', 'UnusedLease', 'Unreferenced'] as const;
export type LeftoverRemoveReason = (typeof leftoverRemoveReasons)[number];

/** Reasons to keep it. */
export const leftoverKeepReasons = [
  'HeldByOther',
  'SandboxUnknown',
  'AgeUnknown',
  'ProgressUnknown',
  'InUse',
  'Quarantined',
  'RemovalFailed',
  'ClockUnsure',
] as const;
export type LeftoverKeepReason = (typeof leftoverKeepReasons)[number] | NodeKeepReason;

/** Reasons of the agent not to request the eviction of a pod for its local storage. */
export const storageKeepReasons = [
  'UnderLimit',
  'NoLimit',
  'CriticalPod',
  'DoNotDisrupt',
  'KeepMarked',
  'NamespaceExcluded',
  'Finished',
  'Terminating',
  'UsageUnknown',
] as const;
export type StorageKeepReason = (typeof storageKeepReasons)[number] | NodeKeepReason;

/** Reasons of the agent not to request the eviction of a pod for a disk of the node. */
export const pressureKeepReasons = [
  'NoPressure',
  'EvictionOff',
  'ThresholdBeyondDisk',
  'Reclaiming',
  'ReclaimSuffices',
  'ImagesUngoverned',
  'PodEnding',
  'NoUsage',
  'RankedLater',
  'CriticalPod',
  'DoNotDisrupt',
  'KeepMarked',
  'NamespaceExcluded',
  'Finished',
  'Terminating',
  'UsageUnknown',
] as const;
export type PressureKeepReason = (typeof pressureKeepReasons)[number] | NodeKeepReason;

/** Reasons of the controller not to evict a pod that an agent requests. */
export const evictionKeepReasons = [
  'PodGone',
  'PodMoved',
  'RequestStale',
  'PolicyChanged',
  'KeepMarked',
  'NamespaceExcluded',
  'CriticalPod',
  'DoNotDisrupt',
  'Finished',
  'Terminating',
  'PacingLimit',
  'NothingFreed',
  'BudgetBlocked',
  'EvictionForbidden',
  'EvictionFailed',
  'NamespaceUnknown',
  'NodeUnknown',
] as const;
export type EvictionKeepReason = (typeof evictionKeepReasons)[number];

type NodeRemoveReason = ImageRemoveReason | ContainerRemoveReason | LeftoverRemoveReason;
type StorageReason = EvictionSignal | StorageKeepReason | EvictionKeepReason;
type PressureReason = ThresholdSignal | PressureKeepReason;
export type Reason =
  | PodDeleteReason
  | PodKeepReason
  | NodeRemoveReason
  | ImageKeepReason
  | ContainerKeepReason
  | ContainerWarnReason
  | LeftoverKeepReason
  | StorageReason
  | PressureReason;
