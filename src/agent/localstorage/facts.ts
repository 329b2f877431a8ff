import type { EvictionSignal, LimitUsage, StoragePod, StorageUsage } from '../../api/local-storage.ts';
import type { NodeGovernance } from '../../api/policy/node-governance.ts';
import type { StorageKeepReason } from '../../api/reasons.ts';
import type { Evidenced, PodTarget } from '../../gc/decision.ts';
import type { StorageEvidence, WarnEvidence } from '../../gc/reasons/storage.ts';

/** Facts that a plan is made from; undefined = not known. */
export interface LocalStorageFacts {
  /** The pods bound to the node. */
  readonly pods: readonly StoragePod[] | undefined;
  readonly usage: StorageUsage | undefined;
}

export interface Given {
  readonly governance: NodeGovernance;
  readonly now: Date;
  /** Older measurements are ignored; undefined = they may be of any age. */
  readonly staleAfterMs?: number | undefined;
}

/** A limit that binds a pod: its own, or the policy's default. */
export type BindingLimit = Pick<LimitUsage, 'limit' | 'isDefault' | 'evictAtPercent'>;

type StorageDecision<R extends EvictionSignal | StorageKeepReason> = Evidenced<
  PodTarget,
  R,
  StorageEvidence[R]
>;

/** A pod whose eviction the agent requests. */
export type PodEviction = StorageDecision<EvictionSignal>;
export type KeptPod = StorageDecision<StorageKeepReason>;
/** A level of warnAtPercent that the usage of a limit exceeds. */
export type LimitWarning = Evidenced<PodTarget, EvictionSignal, WarnEvidence>;

/** One verdict for each pod, and a warning for each limit that is nearly used up. Ordered by pod, then as the kubelet checks limits. */
export interface LocalStoragePlan {
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
