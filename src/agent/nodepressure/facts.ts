import type { StoragePod, StorageUsage } from '../../api/local-storage.ts';
import type { DiskDemand, DiskSignal, ReclaimResult, ThresholdSignal } from '../../api/node-pressure.ts';
import type { NodeGovernance } from '../../api/policy/node-governance.ts';
import type { PressureKeepReason } from '../../api/reasons.ts';
import type { Evidenced, NodeTarget, PodTarget } from '../../gc/decision.ts';
import type { Consumer, ForeseenEvidence, PressureEvidence } from '../../gc/reasons/pressure.ts';
import type { SignalState } from '../../api/node-pressure.ts';

/** Facts that a plan is made from; undefined = not known. */
export interface NodePressureFacts {
  /** The name of the node. */
  readonly node: string;
  readonly signals: readonly SignalState[];
  /** The pods bound to the node. */
  readonly pods: readonly StoragePod[] | undefined;
  readonly usage: StorageUsage | undefined;
  /** The last reclaim for each signal. */
  readonly reclaimed: ReadonlyMap<DiskSignal, Reclaimed>;
  /** Images and logs, largest first; pods are added from the usage. */
  readonly consumers: readonly Consumer[];
}

/** A reclaim of images and containers for a signal that has ended; in mode DryRun, one that was only planned. */
export interface Reclaimed {
  /** Unix milliseconds. */
  readonly atMs: number;
  readonly result: ReclaimResult;
}

export interface Given {
  readonly governance: NodeGovernance;
  readonly now: Date;
}

/** Amount to free for one signal, and the units that free it. */
export interface Demand extends DiskDemand {
  /** Bytes or inodes that must be available. */
  readonly until: number;
  /** Dead containers or their logs use this file system. */
  readonly containers: boolean;
  /** Logs and the other files of pods use this file system. */
  readonly logs: boolean;
  readonly images: boolean;
}

/** A threshold that is crossed, or will be soon. */
export type NodeWarning = Evidenced<NodeTarget, ThresholdSignal, ForeseenEvidence>;
/** A pod whose eviction the agent requests. */
export type PressureEviction = Evidenced<PodTarget, DiskSignal, PressureEvidence[DiskSignal]>;
export type KeptPod = Evidenced<PodTarget, PressureKeepReason, PressureEvidence[PressureKeepReason]>;

export interface NodePressurePlan {
  readonly warnings: readonly NodeWarning[];
  /** The longest crossed first. */
  readonly demands: readonly Demand[];
  /** Ordered by rank. The controller evicts the first pod that it may evict, at most one per minute. */
  readonly evictions: readonly PressureEviction[];
  readonly kept: readonly KeptPod[];
}
