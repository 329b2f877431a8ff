import type {
  EvictionRequest,
  EvictionSignal,
  LimitUsage,
  StorageExcess,
  StoragePod,
  StorageUsage,
} from '../../api/local-storage.ts';
import type { NodeGovernance } from '../../api/policy/node-governance.ts';
import type { LocalStoragePolicy } from '../../api/policy/policy.ts';
import type { Decision } from '../../gc/decision.ts';
import type { RefusedEviction } from '../../api/do-not-disrupt.ts';
import type { JudgedPod, MaxAges, PodProtection } from './pods.ts';

/** Facts that a plan is made from; undefined = not known. */
export interface LocalStorageFacts {
  readonly pods: readonly StoragePod[] | undefined;
  readonly usage: StorageUsage | undefined;
}

export interface Given {
  readonly governance: NodeGovernance;
  readonly now: Date;
  /** Older measurements are ignored: the usage may have changed. */
  readonly maxAges: MaxAges;
}

/** A pod, and a limit whose usage exceeds its `evictAtPercent`, or a level of warnAtPercent. */
interface LimitedPod extends JudgedPod {
  readonly excess: LimitUsage;
}

interface NearPod extends LimitedPod {
  /** The highest level of warnAtPercent that the usage exceeds. */
  readonly percent: number;
}

/** Why a pod is kept, with what neither the pod nor the plan shows. `fullest`: of its limits; undefined = none is measured. */
export type KeptBecause =
  | PodProtection
  | { readonly reason: 'UnderLimit' | 'CriticalPod'; readonly fullest: LimitUsage | undefined }
  /** `excess`: for which the policy would evict the pod. */
  | (RefusedEviction & { readonly excess: LimitUsage })
  /** `unmeasured`: what has no current measurement; empty = the pod has none. */
  | { readonly reason: 'UsageUnknown'; readonly unmeasured: readonly string[] }
  | { readonly reason: 'NoLimit' | 'RuleOff' };

/** A pod whose eviction the agent requests. */
export interface PodEviction extends Decision<LimitedPod, EvictionSignal> {
  readonly verdict: 'Evict';
}
export type KeptPod = Decision<JudgedPod> & { readonly verdict: 'Keep' } & KeptBecause;
export type StorageDecision = PodEviction | KeptPod;

export interface LimitWarning extends Decision<NearPod, EvictionSignal> {
  readonly verdict: 'Warn';
}

/** One verdict for each pod, and a warning for each limit that is nearly used up. Ordered by pod, then as the kubelet checks limits. */
export interface LocalStoragePlan {
  /** undefined = no rule applies. */
  readonly rule: LocalStoragePolicy | undefined;
  /** Whether anything on the node is measured. */
  readonly isUsageKnown: boolean;
  readonly evictions: readonly PodEviction[];
  readonly kept: readonly KeptPod[];
  readonly warnings: readonly LimitWarning[];
  /** Every measured limit of the pods that may get warnings. */
  readonly readings: readonly PodReading[];
}

export interface PodReading {
  readonly pod: StoragePod;
  readonly reading: LimitUsage;
}

/** A nearly exhausted limit of a pod, for the report. */
export interface StorageWarning {
  readonly pod: { readonly namespace: string; readonly name: string; readonly uid: string };
  readonly excess: StorageExcess;
  /** The highest exceeded level of warnAtPercent. */
  readonly percent: number;
  /** undefined = not known yet, or no growth. */
  readonly growthBytesPerMinute: number | undefined;
  readonly secondsLeft: number | undefined;
  /** Unix milliseconds of the first observation above this level. */
  readonly sinceMs: number;
}

/** The result of the last pass of localstorage, for the report. */
export interface StorageInventory {
  /** The policy of that pass. */
  readonly policy: { readonly uid: string; readonly generation: number };
  /** All active ones, nearest to its limit first. */
  readonly warnings: readonly StorageWarning[];
  /** All requests, the most excessive first; only in mode Enforce. */
  readonly evictionRequests: readonly EvictionRequest[];
}
