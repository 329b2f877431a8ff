import type { LargestPart, PressureRequest, StoragePod, StorageUsage } from '../../api/local-storage.ts';
import type { DiskSignal, SignalReading, ThresholdSignal } from '../../api/node-pressure.ts';
import type { NodeGovernance } from '../../api/policy/node-governance.ts';
import type { NodePressurePolicy } from '../../api/policy/policy.ts';
import type { Decision, NodeTarget } from '../../gc/decision.ts';
import type { RefusedEviction } from '../../api/do-not-disrupt.ts';
import type { JudgedPod, MaxAges, PodProtection } from '../localstorage/pods.ts';

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

/** Amount that a disk is short of. */
export interface DiskDemand {
  readonly signal: DiskSignal;
  /** The threshold that is crossed, as the policy has it. */
  readonly threshold: string;
  /** Amount that must become available, bytes or inodes. */
  readonly wanted: number;
  /** Milliseconds until the kubelet's own threshold is crossed at the present growth; 0 = it is. undefined = it is not approached, or unknown. */
  readonly kubeletInMs?: number | undefined;
}

/** A pass over containers or images that frees a disk. */
export interface Relief extends DiskDemand {
  /** Measures the disk again: amount that is still missing; 0 or less = none. */
  readonly missing: (signal: AbortSignal) => Promise<number>;
}

/** What a pass over containers would remove; nothing where it has removed it. */
export interface PlannedContainers {
  /** Ids of containers. */
  readonly ids: ReadonlySet<string>;
  /** Bytes of their logs and of the other files that the pass would remove; the sizes of their writable layers are unknown. */
  readonly bytes: number;
}

/** What a reclaim of images and containers has left. Enough: the demand is met. MoreLeft: the next pass may remove more. Ungoverned: nothing can be removed, but images that only the policy's selection keeps: it has no rule for images, or its `only` leaves them out. Exhausted: nothing can be removed. The demand is not met by either. */
export type ReclaimResult = 'Enough' | 'MoreLeft' | 'Ungoverned' | 'Exhausted';

/** A threshold as the policy or the kubelet's configuration has it. */
export interface Limit {
  /** Bytes or inodes, as the signal. */
  readonly value: number;
  readonly text: string;
  /** The time until it is crossed at the present growth, 0 = it is; undefined = it is not approached. */
  readonly secondsLeft: number | undefined;
}

/** One signal in one pass. */
export interface SignalState {
  readonly reading: SignalReading & { readonly signal: ThresholdSignal };
  readonly ours: Limit | undefined;
  readonly kubelets: Limit | undefined;
  /** Amount per minute by which less becomes available; undefined = unknown, or not less. */
  readonly growthPerMinute: number | undefined;
  /** The largest total that the device has had: that of an emptier disk may be larger again. */
  readonly largestCapacity: number;
  /** When our threshold was crossed; undefined = it is not. It remains crossed until the minimum reclaim is available too. */
  readonly crossedSinceMs: number | undefined;
  /** Our threshold is crossed, or was within the transition period. */
  readonly isUnderPressure: boolean;
  /** Amount that must become available to end the pressure; 0 = none. */
  readonly wanted: number;
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

/** A pod, and what it uses of what its node is short of. */
export interface PressureUse {
  readonly shortage: {
    readonly signal: ThresholdSignal;
    readonly available: number;
    /** Value in the unit of the signal, and text as in the policy. */
    readonly threshold: { readonly value: number; readonly text: string };
  };
  /** Usage of the pod, bytes or inodes. */
  readonly used: number;
  /** Bytes. */
  readonly request: number;
  /** undefined = not known. */
  readonly priority: number | undefined;
  readonly largest?: LargestPart | undefined;
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
export type KeptBecause =
  | PodProtection
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
export type KeptPod = Decision<JudgedPod> & { readonly verdict: 'Keep' } & KeptBecause;
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

/** The result of the last pass of nodepressure, for the report. */
export interface PressureInventory {
  /** The policy of that pass. */
  readonly policy: { readonly uid: string; readonly generation: number };
  /** Signals with a threshold. */
  readonly states: readonly SignalState[];
  /** Signals with a threshold of the policy, and without a current value. */
  readonly unknown: readonly ThresholdSignal[];
  /** All signals that were measured lately. */
  readonly readings: readonly SignalReading[];
  /** One sentence for each signal that is short, or will be soon. */
  readonly warnings: readonly string[];
  /** Ordered by rank; only in mode Enforce. */
  readonly requests: readonly PressureRequest[];
}
