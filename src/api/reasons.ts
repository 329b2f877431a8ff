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

export type Reason = PodDeleteReason | PodKeepReason;
