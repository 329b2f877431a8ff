import { isFinished } from '../../api/pod-phase.ts';
import type { InvalidPolicy, PodsPolicy, Policy, TtlRule } from '../../api/policy/policy.ts';
import type { PodDeleteReason, PodKeepReason } from '../../api/reasons.ts';
import type { Decision, PodTarget } from '../../gc/decision.ts';
import type { FailedBefore } from '../../gc/failures.ts';
import type { NodeFacts, OwnerRef, PodFacts } from '../../kube/cache/objects.ts';
import type { DeletionQueue } from './order.ts';

/** The input of a plan. Maps that are undefined were not observed: nothing is decided from them. */
export interface PodGcFacts {
  readonly pods: readonly PodFacts[];
  /** Keyed by name. */
  readonly nodes: ReadonlyMap<string, NodeFacts> | undefined;
  /** Labels by namespace name. */
  readonly namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Whether each Job, by UID, has a condition Complete or Failed. */
  readonly jobsFinished: ReadonlyMap<string, boolean> | undefined;
  /** The controller of each ReplicaSet and the CronJob of each Job, by the UID of the ReplicaSet or Job; empty where no policy needs them. */
  readonly owners: ReadonlyMap<string, OwnerRef> | undefined;
  /** Names of Nodes that exist in this pass or existed in an earlier one; of missing nodes only those that pods still refer to. */
  readonly seenNodes: ReadonlySet<string>;
  /** Names of Nodes that went missing within an hour while pods ran there, and are not back. */
  readonly lostNodes: ReadonlySet<string>;
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
  /** How long the rules of each policy in mode Enforce have been in force, by the policy's name, in the same unit; no entry = unknown: nothing is held. */
  readonly inForceForMs: ReadonlyMap<string, number>;
}

export interface Given {
  /** Highest priority first (`rankPolicies`). */
  readonly policies: readonly (Policy | InvalidPolicy)[];
  readonly now: Date;
  /** Whether a pass may end before all that is due is deleted, for another reason than `maxDeletesPerPass`. */
  readonly isLimited?: boolean;
}

export interface JudgedPod extends PodTarget {
  readonly pod: PodFacts;
  readonly markFailed: boolean;
}

/** The policy field that sets the time to live of a finished pod. */
export interface Ttl {
  /** `pods.terminated.ttlByReason[0].ttl`, `pods.terminated.ttlAfterFinished`, or the annotation. */
  readonly field: string;
  /** Infinity = none. */
  readonly ttlMs: number;
  /** undefined = the ttl applies to every finished pod. */
  readonly rule: TtlRule | undefined;
  /** undefined = the pod has no annotation, or the policy reads none. */
  readonly annotation: TtlAnnotation | undefined;
}

/** The ttl annotation of a pod: it sets the ttl, or is ignored because it would not shorten it, or because it is no duration. */
interface TtlAnnotation {
  readonly value: string;
  readonly effect: 'sets' | 'longer' | 'no duration';
}

/** When the time to live of a finished pod begins, and how long it is. */
export interface Expiry {
  /** Start of the ttl, Unix milliseconds: differs from the reported finish if that is unknown or cannot be true. */
  readonly countedMs: number;
  readonly ttl: Ttl;
}

/** A pod that is among the newest of its owner, and the field of `pods.terminated` that keeps it. */
export interface KeptForOwner {
  readonly reason: 'KeptForOwner';
  readonly field: 'keepPerOwner' | 'keepPerOwnerByPhase.succeeded' | 'keepPerOwnerByPhase.failed';
  readonly owner: OwnerRef | undefined;
}

type Removed =
  | { readonly reason: 'Expired'; readonly expiry: Expiry }
  /** `isAssumed`: the caller skipped the quarantine. */
  | { readonly reason: 'Orphaned'; readonly isAssumed: boolean };

type Kept =
  | { readonly reason: 'TooYoung' | 'UnderThreshold'; readonly expiry: Expiry }
  /** The object with the label: `the pod`, `node node-1`. */
  | { readonly reason: 'KeepMarked'; readonly on: string }
  /** `times`: in a row. */
  | { readonly reason: 'DeletionFailed'; readonly times: number }
  | KeptForOwner
  /** `node`: the one that the pod is bound to; undefined = none, or it does not exist or is not known. */
  | { readonly reason: 'NotTerminated'; readonly node: NodeFacts | undefined }
  /** Whether its Job exists; undefined = Jobs are not known. False also where its owner is no Job, or it has none. */
  | { readonly reason: 'JobUncounted' | 'JobUnfinished'; readonly jobExists: boolean | undefined };

/** Why a pod is deleted, with what neither the pod nor the plan shows. */
export type RemovedBecause = Removed | { readonly reason: Exclude<PodDeleteReason, Removed['reason']> };

/** Why a pod is kept, with what neither the pod nor the plan shows. `eligibleAt`: set where the verdict waits for time. */
export type KeptBecause = { readonly eligibleAt?: Date | undefined } & (
  Kept | { readonly reason: Exclude<PodKeepReason, Kept['reason']> }
);

interface PodDecided extends Decision {
  readonly target: JudgedPod;
}

export type PodDeletion = PodDecided & {
  readonly verdict: 'Delete';
  readonly policy: Policy;
} & RemovedBecause;
export type KeptPod = PodDecided & { readonly verdict: 'Keep' } & KeptBecause;
export type PodDecision = PodDeletion | KeptPod;

/** The decision to delete a pod. */
export const toDelete = (pod: PodFacts, because: RemovedBecause, policy: Policy): PodDeletion => ({
  unit: 'podgc',
  verdict: 'Delete',
  target: targetOf(pod),
  policy,
  eligibleAt: undefined,
  bytes: undefined,
  ...because,
});

/** The decision to keep a pod. */
export const toKeep = (
  pod: PodFacts,
  because: KeptBecause,
  policy: Policy | InvalidPolicy | undefined,
): KeptPod => ({
  unit: 'podgc',
  verdict: 'Keep',
  target: targetOf(pod),
  policy,
  eligibleAt: undefined,
  bytes: undefined,
  ...because,
});

const targetOf = (pod: PodFacts): JudgedPod => ({
  kind: 'Pod',
  namespace: pod.namespace,
  name: pod.name,
  uid: pod.uid,
  node: pod.nodeName,
  pod,
  markFailed: !isFinished(pod),
});

/** The decisions of one pass. */
export interface PodGcPlan {
  /** Ordered as executed, including policies in mode DryRun. */
  readonly deletions: readonly PodDeletion[];
  /** Every other pod. Each iteration makes the decisions again: a pass needs no object for each of 100 000 pods. */
  readonly kept: Iterable<KeptPod>;
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
  /** The share of missing nodes, set while the circuit breaker is open. */
  readonly trippedPercent: number | undefined;
  /** The circuit breaker is open only because an earlier controller left it open. */
  readonly isLeftOpen: boolean;
  /** The finished pods that the threshold counts; undefined = the policy has no rule for finished pods. */
  readonly overall: DeletionQueue | undefined;
  /** Those that perNamespaceThreshold counts, by namespace; empty = the policy has none. */
  readonly byNamespace: ReadonlyMap<string, DeletionQueue>;
  /** Pods that the rules select, whether this pass deletes them, a later one, or none before the end of the hold. */
  readonly selected: number;
  /** Pods that the rules could ever delete, without those that run. */
  readonly removable: number;
  /** Set while a large deletion by new rules waits: then this policy deletes no pod. */
  readonly holdLeftMs: number | undefined;
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
  readonly excluded: ReadonlyMap<PodFacts, KeptBecause>;
}

/** Every phase but Pending, Running and Unknown, the empty one too; as upstream (pkg/controller/podgc/gc_controller.go, isPodTerminated). */
export const isTerminated = ({ phase }: PodFacts): boolean =>
  phase !== 'Running' && phase !== 'Pending' && phase !== 'Unknown';

export const isTerminating = (pod: PodFacts): boolean => pod.deletionAtMs !== undefined;

/** Whether a pod waits only for its finalizers: with grace 0 the API server waits neither for the node nor for its kubelet. */
export const waitsForFinalizers = (pod: PodFacts): boolean =>
  pod.finalizers.length > 0 && isTerminating(pod) && pod.deletionGracePeriodSeconds === 0;

/** Whether a finished pod waits only for its finalizers: deleting it again changes nothing. */
export const isAlreadyDeleted = (pod: PodFacts): boolean => waitsForFinalizers(pod) && isFinished(pod);

/** Whether the owner is of this API group and kind: another group may have a kind of the same name. */
export const isOf = (owner: OwnerRef | undefined, group: string, kind: string): owner is OwnerRef =>
  owner?.kind === kind && owner.apiVersion.startsWith(`${group}/`);
