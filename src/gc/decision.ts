import type { PodRef } from '../api/pod-ref.ts';
import type { InvalidPolicy, Policy } from '../api/policy/policy.ts';
import type { Reason } from '../api/reasons.ts';

/** The units of the agent, by their names in reports, metrics and `plan`. */
export type NodeUnit = 'imagegc' | 'containergc' | 'localstorage' | 'nodepressure' | 'leftovers';
export type Unit = 'podgc' | 'eviction' | NodeUnit;
export type Verdict = 'Delete' | 'Remove' | 'Evict' | 'Warn' | 'Keep';

/** The object of a decision: its identity. Units add what they need to act on it. */
export type Target =
  | PodTarget
  | NodeTarget
  | ImageTarget
  | ContainerTarget
  | SandboxTarget
  | LogTarget
  | OrphanTarget
  | CheckpointTarget
  | LeftoverTarget;

export interface NodeTarget {
  readonly kind: 'Node';
  readonly name: string;
}

export interface PodTarget {
  readonly kind: 'Pod';
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** undefined = not bound to a node, or bound to the node of the plan. */
  readonly node: string | undefined;
  /** Podgc sets phase Failed before it deletes the pod, because the phase is neither Succeeded nor Failed. */
  readonly markFailed?: boolean;
}

export interface ImageTarget {
  readonly kind: 'Image';
  readonly id: string;
  /** A tag, else a digest; undefined = it has none. */
  readonly name: string | undefined;
}

export interface ContainerTarget {
  readonly kind: 'Container';
  readonly id: string;
  readonly name: string;
  readonly pod: PodRef;
}

export interface SandboxTarget {
  readonly kind: 'Sandbox';
  readonly id: string;
  readonly pod: PodRef;
}

export interface LogTarget {
  readonly kind: 'LogDirectory' | 'LogLink' | 'LogFile';
  readonly path: string;
  /** undefined = the kubelet does not use such directory names. */
  readonly pod: PodRef | undefined;
}

/** Orphaned resource of a pod that neither the API server nor the runtime lists. */
export interface OrphanTarget {
  readonly kind: 'PodDirectory' | 'PodCgroup';
  readonly path: string;
  /** Its name is unknown. */
  readonly pod: PodRef;
}

/** A checkpoint of a container that the kubelet has stored, or another entry of that directory. */
export interface CheckpointTarget {
  readonly kind: 'Checkpoint';
  readonly path: string;
  /** Its name has no UID. */
  readonly pod: undefined;
}

/** What containerd keeps for nobody. */
export interface LeftoverTarget {
  readonly kind: 'Leftover';
  /** Kind and name in containerd, such as `lease 123`. */
  readonly id: string;
  readonly name: string;
}

/** The verdict on one object and its reason. The same value is executed, counted, logged, printed and explained. */
export interface Decision<T extends Target = Target, R extends Reason = Reason> {
  readonly unit: Unit;
  readonly verdict: Verdict;
  readonly target: T;
  readonly reason: R;
  /** undefined = no policy selects the object. An invalid policy keeps it. */
  readonly policy: Policy | InvalidPolicy | undefined;
  /** When the object becomes due if nothing else changes; undefined = time alone does not change the verdict. */
  readonly eligibleAt: Date | undefined;
  /** Size of the object; undefined = unknown. */
  readonly bytes: number | undefined;
}

/** The result of executing one decision. `gone`: the object no longer exists. */
export type Outcome<D> =
  | { readonly kind: 'done'; readonly decision: D; readonly freedBytes: number }
  | { readonly kind: 'kept'; readonly decision: D; readonly reason: Reason }
  | { readonly kind: 'gone'; readonly decision: D }
  | { readonly kind: 'failed'; readonly decision: D; readonly error: unknown };
