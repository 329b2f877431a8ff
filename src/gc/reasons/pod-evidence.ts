import type { TtlRule } from '../../api/policy/policy.ts';
import type { PodDeleteReason, PodKeepReason } from '../../api/reasons.ts';
import type { NoEvidence } from './entry.ts';
import type { InvalidEvidence } from './words.ts';

export type PodReason = PodDeleteReason | PodKeepReason;

/** The finished pods that one threshold is about, and the place of one of them. */
export interface PlaceInLine {
  /** 0 = off. */
  readonly threshold: number;
  readonly counted: number;
  /** These cannot be deleted now, so no threshold counts them. */
  readonly held: number;
  /** In the order in which the threshold deletes pods, from 1. */
  readonly place: number;
}

export interface PlaceInNamespace extends PlaceInLine {
  readonly namespace: string;
}

/** The field of the policy that says how long a finished pod stays. */
export interface Ttl {
  /** `pods.terminated.ttlByReason[0].ttl` or `pods.terminated.ttlAfterFinished`. */
  readonly field: string;
  readonly ttlMs: number;
  /** undefined = it is for every finished pod. */
  readonly rule: TtlRule | undefined;
}

/** When a pod finished, Unix milliseconds, and how long it may stay after that. */
export interface Finish {
  readonly reportedMs: number;
  /** From when the ttl counts: not the reported finish where that cannot be true. */
  readonly countedMs: number;
  readonly createdAtMs: number;
  readonly ttl: Ttl;
}

interface OnNode {
  readonly node: string;
}

export interface Owned {
  /** The owner that the pod names; undefined = it names none. */
  readonly owner: { readonly kind: string; readonly name: string } | undefined;
}

export interface PodEvidence {
  Terminated: PlaceInLine;
  TerminatedInNamespace: PlaceInNamespace;
  Expired: Finish;
  OutOfService: OnNode;
  Orphaned: OnNode & {
    readonly quarantineMs: number;
    /** Nobody has waited for the quarantine. */
    readonly isAssumed: boolean;
  };
  Unscheduled: NoEvidence;
  NotTerminated: {
    readonly phase: string;
    readonly isTerminating: boolean;
    /** undefined = that it exists decides nothing. */
    readonly existingNode: string | undefined;
  };
  UnderThreshold: {
    readonly overall: PlaceInLine;
    /** undefined = the policy has no perNamespaceThreshold. */
    readonly inNamespace: PlaceInNamespace | undefined;
  };
  RuleOff: NoEvidence;
  TooYoung: Finish;
  /** What has the label: `the pod`, `node node-1`. */
  KeepMarked: { readonly on: string };
  JobUncounted: Owned;
  JobUnfinished: Owned;
  KeptForOwner: { readonly keepPerOwner: number };
  FinalizerHeld: { readonly deletionAtMs: number | undefined; readonly finalizers: readonly string[] };
  Quarantined: OnNode & { readonly quarantineMs: number };
  NodeExists: NoEvidence;
  NodeUnknown: NoEvidence;
  NodeRecovered: NoEvidence;
  ClockUnsure: NoEvidence;
  Tripped: OnNode & { readonly missingPercent: number; readonly maxOrphanedNodesPercent: number };
  PacingLimit: { readonly maxDeletesPerPass: number };
  NamespaceUnknown: { readonly namespace: string };
  NoPolicy: NoEvidence;
  InvalidPolicy: InvalidEvidence;
}
