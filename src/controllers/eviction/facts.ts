import type { EvictionRequest, EvictionSignal } from '../../api/local-storage.ts';
import type { InvalidPolicy, LocalStoragePolicy, Policy } from '../../api/policy/policy.ts';
import type { EvictionKeepReason } from '../../api/reasons.ts';
import type { Decision, PodTarget } from '../../gc/decision.ts';
import type { EvictionEvidence } from '../../gc/reasons/evictions.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';

/** Everything a plan is made from; what is in none of the maps is not known, and then the pod stays. */
export interface EvictionFacts {
  readonly reports: readonly RequestingNode[];
  /** By UID. */
  readonly pods: ReadonlyMap<string, KnownPod>;
  /** By name. */
  readonly nodes: ReadonlyMap<string, Labelled>;
  /** By name. */
  readonly namespaces: ReadonlyMap<string, Labelled>;
  readonly memory: EvictionMemory;
}

/** The report of a node, as far as it requests evictions; its name is the node's. */
export interface RequestingNode {
  readonly name: string;
  /** Of the policy that its agent judged by. */
  readonly policyUid: string;
  readonly policyGeneration: number;
  readonly requests: readonly EvictionRequest[];
}

export type KnownPod = Pick<
  PodFacts,
  'uid' | 'namespace' | 'name' | 'nodeName' | 'labels' | 'phase' | 'deletionAtMs'
>;

export interface Labelled {
  readonly labels: Readonly<Record<string, string>>;
}

export interface Given {
  /** Highest priority first (`rankPolicies`). */
  readonly policies: readonly (Policy | InvalidPolicy)[];
  readonly now: Date;
  /** Of the monotonic clock: for the pauses between tries. */
  readonly monotonicMs: number;
}

/** A pod whose eviction a node requests. */
export interface RequestedPod extends PodTarget {
  /** The name of the report. */
  readonly node: string;
  readonly request: EvictionRequest;
}

/** A pod that may be evicted, and how. */
interface EvictablePod extends RequestedPod {
  readonly rule: LocalStoragePolicy;
}

export interface PodEviction extends Decision<
  EvictablePod,
  EvictionSignal,
  EvictionEvidence[EvictionSignal]
> {
  readonly verdict: 'Evict';
  /** What governs the node. */
  readonly policy: Policy;
}

interface KeptPod extends Decision<RequestedPod, EvictionKeepReason, EvictionEvidence[EvictionKeepReason]> {
  readonly verdict: 'Keep';
}

/** One for each pod whose eviction is requested, the most excessive first. */
export type EvictionDecision = PodEviction | KeptPod;

/** What was done about pods, by their UID. */
export interface EvictionMemory {
  /** Pods that were evicted and are still in the cache, which may not show yet that they are terminating. */
  readonly evicted: ReadonlyMap<string, Evicted>;
  /** Found to be critical when they were read live: the cache does not have the priority. */
  readonly critical: ReadonlySet<string>;
  /** Not to be tried again before their time. */
  readonly deferred: ReadonlyMap<string, Deferral>;
}

export interface Evicted {
  /** When the API server accepted the eviction, by the monotonic clock. */
  readonly atMs: number;
  /** undefined = the pod's own. */
  readonly requestedGraceSeconds: number | undefined;
  /** It was reported that the pod has not ended in time. */
  readonly isReported: boolean;
}

interface Deferral {
  readonly reason: DeferralReason;
  /** In a row. */
  readonly tries: number;
  /** Of the monotonic clock. */
  readonly untilMs: number;
}

export type DeferralReason = Extract<
  EvictionKeepReason,
  'BudgetBlocked' | 'EvictionForbidden' | 'EvictionFailed'
>;
