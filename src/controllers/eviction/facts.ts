import type { EvictionRequest } from '../../api/local-storage.ts';
import type { InvalidPolicy, LocalStoragePolicy, Policy } from '../../api/policy.ts';
import type { EvictionKeepReason } from '../../api/reasons.ts';
import type { PodFacts } from '../../kube/objects.ts';
import type { EvictionMemory } from './memory.ts';

/** Everything a plan is made from; what is in none of the maps is not known, and then the pod stays. */
export interface EvictionFacts {
  readonly reports: readonly AskingNode[];
  /** By UID. */
  readonly pods: ReadonlyMap<string, AskedPod>;
  /** By name. */
  readonly nodes: ReadonlyMap<string, Labelled>;
  /** By name. */
  readonly namespaces: ReadonlyMap<string, Labelled>;
  readonly memory: EvictionMemory;
}

/** The report of a node, as far as it asks for evictions; its name is the node's. */
export interface AskingNode {
  readonly name: string;
  /** Of the policy that its agent judged by. */
  readonly policyUid: string;
  readonly policyGeneration: number;
  readonly requests: readonly EvictionRequest[];
}

export type AskedPod = Pick<
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
  /** Of a clock that only grows: for the pauses between tries. */
  readonly monotonicMs: number;
}

/** A pod that a node asks to have evicted. */
export interface AskedEviction {
  /** The name of the report. */
  readonly node: string;
  readonly request: EvictionRequest;
}

export interface PodEviction extends AskedEviction {
  readonly verdict: 'Evict';
  /** What governs the node. */
  readonly policy: Policy;
  readonly rule: LocalStoragePolicy;
}

interface PodKept extends AskedEviction {
  readonly verdict: 'Keep';
  readonly reason: EvictionKeepReason;
}

/** One for each pod that is asked for, the most excessive first. */
export type EvictionDecision = PodEviction | PodKept;
