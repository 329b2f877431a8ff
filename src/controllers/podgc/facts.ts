import { isFinished } from '../../api/pod-phase.ts';
import type { InvalidPolicy, PodsPolicy, Policy } from '../../api/policy/policy.ts';
import type { PodDeleteReason } from '../../api/reasons.ts';
import type { Evidenced, PodTarget } from '../../gc/decision.ts';
import type { FailedBefore } from '../../gc/failures.ts';
import type { PodEvidence, PodReason } from '../../gc/reasons/pod-evidence.ts';
import type { NodeFacts, OwnerRef, PodFacts } from '../../kube/cache/objects.ts';

/** The input of a plan. Maps that are undefined were not observed: nothing is decided from them. */
export interface PodGcFacts {
  readonly pods: readonly PodFacts[];
  /** Keyed by name. */
  readonly nodes: ReadonlyMap<string, NodeFacts> | undefined;
  /** Labels by namespace name. */
  readonly namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Whether each Job, by UID, has a condition Complete or Failed. */
  readonly jobsFinished: ReadonlyMap<string, boolean> | undefined;
  /** The controller of each ReplicaSet, by the ReplicaSet's UID. */
  readonly replicaSetOwners: ReadonlyMap<string, OwnerRef>;
  /** Names of Nodes that exist in this pass or existed in an earlier one; of missing nodes only those that pods still refer to. */
  readonly seenNodes: ReadonlySet<string>;
  /** How long each node name that pods refer to and that does not exist has been missing, milliseconds of the monotonic clock; Infinity = assumed. */
  readonly missingForMs: ReadonlyMap<string, number>;
  /** For how long passes have found the circuit breaker of each policy closed, by the policy's name, in the same unit; no entry = not yet. */
  readonly closedForMs: ReadonlyMap<string, number>;
  /** For how long the controller has known a circuit breaker that an earlier controller left open, by the policy's name, in the same unit. */
  readonly leftOpenForMs: ReadonlyMap<string, number>;
  /** For each pod whose finish time is unknown or cannot be true: how long the controller has seen it finished. By UID; milliseconds of the monotonic clock. */
  readonly finishedForMs: ReadonlyMap<string, number>;
  /** Pods whose deletion has failed, by UID. */
  readonly failedBefore: ReadonlyMap<string, FailedBefore>;
  /** How long the generation of each policy in mode Enforce has been in force, by the policy's name, in the same unit; no entry = unknown: nothing is held. */
  readonly inForceForMs: ReadonlyMap<string, number>;
}

export interface Given {
  /** Highest priority first (`rankPolicies`). */
  readonly policies: readonly (Policy | InvalidPolicy)[];
  readonly now: Date;
}

export interface JudgedPod extends PodTarget {
  readonly pod: PodFacts;
  readonly markFailed: boolean;
}

export type PodDecision<R extends PodReason = PodReason> = Evidenced<JudgedPod, R, PodEvidence[R]>;

export interface PodDeletion extends PodDecision<PodDeleteReason> {
  readonly policy: Policy;
}

/** Why a pod is deleted or kept. */
export interface Because<R extends PodReason = PodReason> {
  readonly reason: R;
  readonly evidence: PodEvidence[R];
  /** Unix milliseconds; set where the verdict waits for time. */
  readonly eligibleAtMs?: number;
}

/** The decisions of one pass. */
export interface PodGcPlan {
  /** Ordered as executed, including policies in mode DryRun. */
  readonly deletions: readonly PodDeletion[];
  /** Every other pod. Each iteration makes the decisions again: a pass needs no object for each of 100 000 pods. */
  readonly kept: Iterable<PodDecision>;
  readonly policies: readonly PolicyVerdicts[];
}

/** Every decision of a plan, deletions first. */
export function* decisionsOf({ deletions, kept }: PodGcPlan): Generator<PodDecision> {
  yield* deletions;
  yield* kept;
}

/** The findings of a pass under one policy. */
export interface PolicyVerdicts {
  readonly policy: Policy;
  readonly governed: number;
  readonly terminated: number;
  readonly missingNodes: number;
  readonly trippedPercent: number | undefined;
  /** Pods that the rules select, whether this pass deletes them, a later one, or none before the end of the hold. */
  readonly selected: number;
  /** Set while a large deletion by a new generation waits: then this policy deletes no pod. */
  readonly holdLeftMs: number | undefined;
  /** How long such a deletion waits from the first pass under the generation. */
  readonly holdForMs: number;
}

/** The pods that one policy governs. */
export interface Group {
  readonly policy: Policy;
  readonly rules: PodsPolicy;
  /** The pods that the rules apply to. */
  readonly pods: readonly PodFacts[];
  /** The finished ones among `pods`. */
  readonly terminated: readonly PodFacts[];
  /** The ones among `pods` that are being deleted. */
  readonly terminating: readonly PodFacts[];
  /** The pods that no rule applies to. */
  readonly excluded: readonly Excluded[];
}

export interface Excluded {
  readonly pod: PodFacts;
  readonly because: Because;
}

/** Every phase but Pending, Running and Unknown, the empty one too; as upstream (pkg/controller/podgc/gc_controller.go, isPodTerminated). */
export const isTerminated = ({ phase }: PodFacts): boolean =>
  phase !== 'Running' && phase !== 'Pending' && phase !== 'Unknown';

export const isTerminating = (pod: PodFacts): boolean => pod.deletionAtMs !== undefined;

/** Whether a finished pod was deleted with grace 0 and waits only for its finalizers: deleting it again changes nothing. */
export const isFinalizerHeld = (pod: PodFacts): boolean =>
  pod.finalizers.length > 0 && isTerminating(pod) && pod.deletionGracePeriodSeconds === 0 && isFinished(pod);

export const finalizerHeld = ({ deletionAtMs, finalizers }: PodFacts): Because<'FinalizerHeld'> => ({
  reason: 'FinalizerHeld',
  evidence: { deletionAtMs, finalizers },
});
