import type { StoragePod, StorageUsage } from '../../api/local-storage.ts';
import type {
  DiskDemand,
  DiskSignal,
  ReclaimResult,
  SignalState,
  ThresholdSignal,
} from '../../api/node-pressure.ts';
import type { NodeGovernance } from '../../api/policy/node-governance.ts';
import type { NodePressurePolicy } from '../../api/policy/policy.ts';
import type { Decision, NodeTarget } from '../../gc/decision.ts';
import type { JudgedPod, MaxAges, PodHold, RefusedEviction } from '../../gc/pod-evictions.ts';
import type { PressureUse } from '../../gc/reasons/eviction-words.ts';

/** Facts that a plan is made from; undefined = not known. */
export interface NodePressureFacts {
  readonly node: string;
  readonly signals: readonly SignalState[];
  readonly pods: readonly StoragePod[] | undefined;
  readonly usage: StorageUsage | undefined;
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
  /** Older measurements of pods decide nothing. */
  readonly maxAges: MaxAges;
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

/** A pod, an image or a log directory that uses much of what a node is short of. */
export interface Consumer {
  readonly kind: 'pod' | 'image' | 'log';
  /** `namespace/name`, a tag, or a path. */
  readonly name: string;
  /** Bytes or inodes. */
  readonly amount: number;
}

/** Why images stay that nothing uses or protects: the policy has no rule for images, or its rule does not select them. */
export type UngovernedBy = 'nodes.imageGC' | 'nodes.imageGC.only';

/** The node, and a signal whose threshold is crossed, or will be soon. */
interface ShortNode extends NodeTarget {
  readonly state: SignalState;
  /** Largest first, at most three. */
  readonly consumers: readonly Consumer[];
  /** Set if pods would be evicted next, but such images stay. */
  readonly ungoverned: UngovernedBy | undefined;
}

export interface NodeWarning extends Decision<ShortNode, ThresholdSignal> {
  readonly verdict: 'Warn';
}

export type Shortage = PressureUse['shortage'] & {
  readonly signal: DiskSignal;
  readonly capacity: number;
  /** Amount that must become available: includes the minimum reclaim. */
  readonly wanted: number;
  readonly measuredAtMs: number;
};

interface ShortageUse extends PressureUse {
  readonly shortage: Shortage;
  /** Unix milliseconds of the oldest measurement that it is made of. */
  readonly measuredAtMs: number;
}

/** Why a pod is kept, with what neither the pod nor the plan shows. */
export type PressureKept =
  | PodHold
  | {
      readonly reason: 'EvictionOff' | 'ThresholdBeyondDisk' | 'Reclaiming' | 'ReclaimSuffices' | 'PodEnding';
      readonly shortage: Shortage;
    }
  | {
      readonly reason: 'ImagesUngoverned';
      readonly shortage: Shortage;
      /** The field that keeps the images. */
      readonly field: UngovernedBy;
    }
  | ({ readonly reason: 'NoUsage' } & Pick<ShortageUse, 'shortage' | 'used'>)
  /** `place`: in the order of eviction, from 1. */
  | ({ readonly reason: 'RankedLater'; readonly place: number } & ShortageUse)
  /** `unmeasured`: parts of the pod that are not measured; empty = nothing of it is. */
  | { readonly reason: 'UsageUnknown'; readonly unmeasured: readonly string[] }
  | RefusedEviction
  | { readonly reason: 'NoPressure' | 'CriticalPod' | 'RuleOff' };

/** A pod whose eviction the agent requests. */
export interface PressureEviction extends Decision<JudgedPod & ShortageUse, DiskSignal> {
  readonly verdict: 'Evict';
}
export type KeptPod = Decision<JudgedPod> & { readonly verdict: 'Keep' } & PressureKept;
export type PressureDecision = PressureEviction | KeptPod;

export interface NodePressurePlan {
  /** undefined = no rule applies. */
  readonly rule: NodePressurePolicy | undefined;
  /** Whether anything on the node is measured. */
  readonly isUsageKnown: boolean;
  readonly warnings: readonly NodeWarning[];
  /** The longest crossed first. */
  readonly demands: readonly Demand[];
  /** Ordered by rank. The controller evicts the first pod that it may evict, at most one per minute. */
  readonly evictions: readonly PressureEviction[];
  readonly kept: readonly KeptPod[];
}
