import type {
  EvictionSignal,
  StorageExcess,
  StorageLimit,
  StoragePod,
  StorageUsage,
} from '../../api/local-storage.ts';
import type { LocalStoragePolicy } from '../../api/policy.ts';
import type { StorageKeepReason } from '../../api/reasons.ts';

/** What a plan is made from; what is undefined is not known. */
export interface LocalStorageFacts {
  /** Those bound to the node. */
  readonly pods: readonly StoragePod[] | undefined;
  readonly usage: StorageUsage | undefined;
}

export interface Given {
  readonly policy: LocalStoragePolicy;
  readonly now: Date;
  /** Figures older than this decide nothing; undefined = they may be of any age. */
  readonly staleAfterMs?: number | undefined;
}

/** A limit that binds a pod: its own, or the policy's for what has none. */
export interface BindingLimit {
  readonly limit: StorageLimit;
  readonly isDefault: boolean;
}

/** How much of one limit is used. */
export interface LimitReading extends StorageExcess {
  /** When it was measured, in Unix milliseconds; where that is not known, when it was looked at. */
  readonly measuredAtMs: number;
}

/** A limit that a level of warnAtPercent of is used up. */
export interface LimitWarning {
  readonly pod: StoragePod;
  readonly reading: LimitReading;
  /** The highest of the levels. */
  readonly percent: number;
}

export interface PodEviction {
  readonly verdict: 'Evict';
  readonly pod: StoragePod;
  readonly reason: EvictionSignal;
  readonly excess: LimitReading;
}

export interface KeptPod {
  readonly verdict: 'Keep';
  readonly pod: StoragePod;
  readonly reason: StorageKeepReason;
  /** The fullest of its limits; undefined = none is measured. */
  readonly fullest: LimitReading | undefined;
}

/** One verdict for each pod; everything in the order of the pods and, of one pod, of upstream's checks. */
export interface LocalStoragePlan {
  readonly evictions: readonly PodEviction[];
  readonly kept: readonly KeptPod[];
  readonly warnings: readonly LimitWarning[];
  /** Every measured limit of the pods that may be warned about. */
  readonly readings: readonly PodReading[];
}

export interface PodReading {
  readonly pod: StoragePod;
  readonly reading: LimitReading;
}
