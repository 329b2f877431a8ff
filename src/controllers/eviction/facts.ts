import type {
  EvictionRequest,
  LimitRequest,
  PressureRequest,
  RequestSignal,
} from '../../api/local-storage.ts';
import type { InvalidPolicy, LocalStoragePolicy, Policy } from '../../api/policy/policy.ts';
import type { EvictionKeepReason } from '../../api/reasons.ts';
import type { Decision, PodTarget } from '../../gc/decision.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';

/** The input of a plan; a pod is kept if it, its node or its namespace is missing here. */
export interface EvictionFacts {
  readonly reports: readonly RequestingNode[];
  /** Keyed by UID. */
  readonly pods: ReadonlyMap<string, PodFacts>;
  /** Keyed by name. */
  readonly nodes: ReadonlyMap<string, Labelled>;
  /** Keyed by name. */
  readonly namespaces: ReadonlyMap<string, Labelled>;
  /** The pods of each owner (`replicasOf`). */
  readonly replicas: ReadonlyMap<string, Replicas>;
  readonly memory: EvictionMemory;
}

/** The unfinished pods of an owner, by whether they serve. */
export interface Replicas {
  readonly ready: number;
  /** Not ready, or terminating. */
  readonly others: number;
}

/** The eviction requests in the report of a node; its name is the node's. */
export interface RequestingNode {
  readonly name: string;
  /** The policy that the agent applied. */
  readonly policyUid: string;
  readonly policyGeneration: number;
  readonly requests: readonly EvictionRequest[];
}

export interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
}

export interface Given {
  /** Highest priority first (`rankPolicies`). */
  readonly policies: readonly (Policy | InvalidPolicy)[];
  readonly now: Date;
  /** Monotonic time, for the pauses between attempts. */
  readonly monotonicMs: number;
}

/** A pod whose eviction a node requests. */
export interface RequestedPod extends PodTarget {
  /** The name of the report. */
  readonly node: string;
  readonly request: LimitRequest | PressureRequest;
}

/** A pod to its owner. */
export interface Replica {
  /** Identifies what replaces it (`ownerOf`). */
  readonly owner: string;
  readonly ready: boolean;
  /** Number of pods that the owner may lose in a minute (`allowanceOf`). */
  readonly allowance: number;
}

/** A pod that may be evicted, and how. */
interface EvictablePod extends RequestedPod, Replica {
  readonly rule: EvictionManner;
  /** Unix milliseconds. */
  readonly createdAtMs: number;
}

/** How a pod is evicted. */
export type EvictionManner = Pick<LocalStoragePolicy, 'respectPodDisruptionBudgets' | 'gracePeriodSeconds'>;

export interface PodEviction extends Decision<EvictablePod, RequestSignal> {
  readonly verdict: 'Evict';
  /** The policy that governs the node. */
  readonly policy: Policy;
}

/** What makes a due eviction wait. */
export const evictionPaces = ['owner', 'ready', 'cluster', 'node', 'leader'] as const;
export type EvictionPace = (typeof evictionPaces)[number];

type Kept =
  /** `on`: `the pod`, `namespace web`, `node a`. */
  | { readonly reason: 'KeepMarked'; readonly on: string }
  | { readonly reason: 'PacingLimit'; readonly pace: EvictionPace };

/** Why a pod is kept, with what the request does not show. */
export type KeptBecause = Kept | { readonly reason: Exclude<EvictionKeepReason, Kept['reason']> };

/** A pod that is not evicted now. */
export type KeptPod<T extends PodTarget = RequestedPod> = Decision<T, EvictionKeepReason> & {
  readonly verdict: 'Keep';
} & KeptBecause;

/** The decision about one requested eviction. */
export type EvictionDecision = PodEviction | KeptPod;

/** Memory of the controller between passes: about pods, keyed by UID, and about nodes. */
export interface EvictionMemory {
  /** Evicted pods that are still in the cache; it may not show them as terminating yet. */
  readonly evicted: ReadonlyMap<string, Evicted>;
  /** Pods that a live read found to be critical: the cache does not have the priority. */
  readonly critical: ReadonlySet<string>;
  /** Pods that must not be tried again yet. */
  readonly deferred: ReadonlyMap<string, Deferral>;
  /** When the next pod may be evicted for node pressure, by the name of the node. */
  readonly pauses: ReadonlyMap<string, Pause>;
  /** The same for all other nodes, and for all owners: the leader before may just have evicted a pod. */
  readonly firstPause: Pause;
  /** What each owner lost, by `ownerOf`. */
  readonly owners: ReadonlyMap<string, OwnerPace>;
  /** The evictions of the last minute, monotonic time. */
  readonly evictedAtMs: readonly number[];
  /** The evictions for node pressure, by the name of the node. */
  readonly relief: ReadonlyMap<string, NodeRelief>;
}

/** The last evictions of an owner's pods. */
export interface OwnerPace {
  /** Evictions since the last pause, and requests without a response. */
  readonly count: number;
  /** Number of them that was allowed before the first. */
  readonly allowance: number;
  /** Monotonic time of the last one. */
  readonly lastMs: number;
  /** Unix milliseconds of the first one: younger pods are replacements. */
  readonly sinceMs: number;
  /** How often replacements were evicted, at most once between two pauses. */
  readonly strikes: number;
  /** Whether a replacement was evicted since the last pause. */
  readonly isStruck: boolean;
  /** The strikes when an Event last reported the pause; undefined = it was not reported. */
  readonly reportedStrikes: number | undefined;
}

/** The effect of evictions on the shortage of a node. */
export interface NodeRelief {
  /** The last three at most, for one signal, with what was available then and what the pod used. */
  readonly evictions: readonly {
    readonly signal: RequestSignal;
    readonly available: number;
    readonly used: number;
  }[];
  /** Monotonic time of the last report that requests an eviction for node pressure. */
  readonly requestedMs: number;
  /** Whether an Event has reported that they freed nothing. */
  readonly isReported: boolean;
}

/** The time after an eviction in which none follows for the pressure of the node. */
export interface Pause {
  /** Monotonic time. */
  readonly untilMs: number;
  /** Unix milliseconds; an older measurement does not have the effect of the last eviction. */
  readonly measuredAfterMs: number;
}

export interface Evicted {
  /** When the API server accepted the eviction, by the monotonic clock. */
  readonly atMs: number;
  /** undefined = the pod's own. */
  readonly requestedGraceSeconds: number | undefined;
}

export interface Deferral {
  readonly reason: DeferralReason;
  /** Consecutive failures for this reason. */
  readonly tries: number;
  /** Monotonic time. */
  readonly untilMs: number;
}

export type DeferralReason = Extract<
  EvictionKeepReason,
  'BudgetBlocked' | 'EvictionForbidden' | 'EvictionFailed' | 'DoNotDisrupt'
>;
