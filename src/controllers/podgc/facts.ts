import type { InvalidPolicy, Policy, TtlRule } from '../../api/policy.ts';
import { podKeepReasons, type PodDeleteReason, type PodKeepReason } from '../../api/reasons.ts';
import type { NodeFacts, OwnerRef, PodFacts } from '../../kube/objects.ts';

/** Everything a plan is made from. Maps that are undefined were not observed: nothing is decided from them. */
export interface PodGcFacts {
  readonly pods: EachPod;
  /** By name. */
  readonly nodes: ReadonlyMap<string, NodeFacts> | undefined;
  /** Labels by namespace name. */
  readonly namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** Whether each Job, by UID, has a condition Complete or Failed. */
  readonly jobsFinished: ReadonlyMap<string, boolean> | undefined;
  /** The controller of each ReplicaSet, by the ReplicaSet's UID. */
  readonly replicaSetOwners: ReadonlyMap<string, OwnerRef>;
  /** Names that were a Node's when this or an earlier pass looked; of missing nodes, those that pods still refer to. */
  readonly seenNodes: ReadonlySet<string>;
  /** How long each node name that pods refer to and that does not exist has been missing, milliseconds of a clock that only grows. */
  readonly missingForMs: ReadonlyMap<string, number>;
  /** How long the controller has seen each pod finished whose finish time cannot be true, by UID; milliseconds of the monotonic clock. */
  readonly finishedForMs: ReadonlyMap<string, number>;
}

/** A list or a map of pods. Not an iterable: that makes an object a pod until the loop is compiled, for which a pass in 20 s is too rare. */
export interface EachPod {
  forEach(visit: (pod: PodFacts) => void): void;
}

export interface Given {
  /** Highest priority first (`rankPolicies`). */
  readonly policies: readonly (Policy | InvalidPolicy)[];
  readonly now: Date;
}

export interface PodDeletion {
  readonly verdict: 'Delete';
  readonly pod: PodFacts;
  readonly reason: PodDeleteReason;
  readonly policy: Policy;
  /** The phase is patched to Failed first, because it is neither Succeeded nor Failed (upstream.md 1.7). */
  readonly markFailed: boolean;
}

export interface PodKept {
  readonly verdict: 'Keep';
  readonly pod: PodFacts;
  readonly reason: PodKeepReason;
  /** undefined: no policy governs the pod, or an invalid one does. */
  readonly policy: Policy | undefined;
  /** When time alone would change the verdict. */
  readonly eligibleAt: Date | undefined;
}

/** The decisions of one pass. */
export interface PodGcPlan {
  /** In the order of execution, policies of mode DryRun included. */
  readonly deletions: readonly PodDeletion[];
  readonly policies: readonly PolicyVerdicts[];
  /** Walks over every pod that stays. Makes no object a pod: in a pass over 100 000 they would be most of the work. */
  eachKept(visit: KeptVisitor): void;
  /** The same as a list. */
  kept(): readonly PodKept[];
  /** What more can be told of the finished pods of one policy; undefined = it has no rule for them. */
  finished(policy: Policy): FinishedPods | undefined;
}

/** What the terminated rule of one policy knows of its finished pods besides their verdicts: for whom explains one. */
export interface FinishedPods {
  /** The ttl that counts for a pod; undefined = none does. */
  ttlOf(pod: PodFacts): Ttl | undefined;
  /** From when the ttl counts, Unix milliseconds: not the reported finish where that cannot be true. */
  finishedAt(pod: PodFacts): number;
  readonly all: FinishedCount;
  /** The pod's place in the order in which the threshold takes pods, from 1; undefined = it cannot go. Looks at all of them. */
  turnOf(pod: PodFacts): number | undefined;
  /** The finished pods in a namespace that the threshold leaves; only of a policy with a perNamespaceThreshold. */
  inNamespace(namespace: string): FinishedCount;
  /** The pod's place in the order in which the perNamespaceThreshold takes pods of its namespace, from 1; undefined = it cannot go. */
  turnInNamespaceOf(pod: PodFacts): number | undefined;
}

/** Finished pods by whether a threshold counts them. */
export interface FinishedCount {
  readonly counted: number;
  /** These cannot be deleted now, so no threshold counts them. */
  readonly held: number;
}

/** Which field of the policy says how long a finished pod stays. */
export interface Ttl {
  /** `pods.terminated.ttlByReason[0].ttl` or `pods.terminated.ttlAfterFinished`. */
  readonly field: string;
  readonly ttlMs: number;
  /** undefined = it is for every finished pod. */
  readonly rule: TtlRule | undefined;
}

export type KeptVisitor = (pod: PodFacts, verdict: KeptVerdict, policy: Policy | undefined) => void;

/** Why a pod stays, and when time alone would change that (Unix milliseconds; undefined = never). */
export interface KeptVerdict {
  readonly reason: PodKeepReason;
  readonly eligibleAtMs: number | undefined;
}

/** What a pass finds under one policy. */
export interface PolicyVerdicts {
  readonly policy: Policy;
  readonly governed: number;
  readonly terminated: number;
  readonly due: number;
  readonly missingNodes: number;
  readonly trippedPercent: number | undefined;
}

/** The governed, unmarked pods of one policy, with the rules' verdicts as they come in. */
export interface Group {
  readonly policy: Policy;
  readonly pods: readonly PodFacts[];
  readonly terminated: readonly PodFacts[];
  readonly terminating: readonly PodFacts[];
}

/** Every phase but Pending, Running and Unknown, the empty one too (upstream.md 1.3). */
export const isTerminated = ({ phase }: PodFacts): boolean =>
  phase !== 'Running' && phase !== 'Pending' && phase !== 'Unknown';

export const isTerminating = (pod: PodFacts): boolean => pod.deletionAtMs !== undefined;

/** A finished pod that was already deleted with grace 0 and waits only for its finalizers: deleting it again changes nothing. */
export const isFinalizerHeld = (pod: PodFacts): boolean =>
  pod.finalizers.length > 0 &&
  isTerminating(pod) &&
  pod.deletionGracePeriodSeconds === 0 &&
  (pod.phase === 'Succeeded' || pod.phase === 'Failed');

/** The pods that one rule, or one step of it, would delete, in the order they go. */
export interface RuleHits {
  readonly reason: PodDeleteReason;
  readonly pods: readonly PodFacts[];
}

/** One shared verdict for each reason that waits for no time. */
export const keptBecause: Readonly<Record<PodKeepReason, KeptVerdict>> = verdicts();

function verdicts(): Record<PodKeepReason, KeptVerdict> {
  const entries = podKeepReasons.map((reason) => [reason, { reason, eligibleAtMs: undefined }] as const);
  return Object.fromEntries(entries) as Record<PodKeepReason, KeptVerdict>;
}
