import type { TtlRule } from '../../api/policy/policy.ts';
import type { PodDeleteReason, PodKeepReason } from '../../api/reasons.ts';
import type { NoEvidence } from './entry.ts';
import type { HoldEvidence } from './hold-words.ts';
import type { InvalidEvidence } from './words.ts';

export type PodReason = PodDeleteReason | PodKeepReason;

/** The finished pods that one threshold counts, and the place of one of them. */
export interface PlaceInLine {
  /** 0 = off. */
  readonly threshold: number;
  readonly counted: number;
  /** Pods that cannot be deleted now; no threshold counts them. */
  readonly held: number;
  /** Pods that an earlier step of the rule deletes; this threshold does not count them. */
  readonly earlier: number;
  /** Place in the order of deletion, from 1. */
  readonly place: number;
}

export interface PlaceInNamespace extends PlaceInLine {
  readonly namespace: string;
}

/** The policy field that sets the time to live of a finished pod. */
export interface Ttl {
  /** `pods.terminated.ttlByReason[0].ttl`, `pods.terminated.ttlAfterFinished`, or the annotation. */
  readonly field: string;
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

/** When a pod finished, Unix milliseconds, and its time to live. */
export interface Finish {
  /** undefined = the status does not have it. */
  readonly reportedMs: number | undefined;
  /** Start of the ttl: differs from the reported finish if that is unknown or cannot be true. */
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
    /** The caller skipped the quarantine. */
    readonly isAssumed: boolean;
  };
  Unscheduled: NoEvidence;
  NotTerminated: {
    readonly phase: string;
    readonly isTerminating: boolean;
    /** undefined = the node does not matter for the verdict. */
    readonly existingNode: string | undefined;
  };
  UnderThreshold: {
    readonly overall: PlaceInLine;
    /** undefined = the policy has no perNamespaceThreshold. */
    readonly inNamespace: PlaceInNamespace | undefined;
    /** One that is no duration; undefined = none. */
    readonly annotation: TtlAnnotation | undefined;
  };
  RuleOff: NoEvidence;
  TooYoung: Finish;
  /** The object with the label: `the pod`, `node node-1`. */
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
  Tripped: OnNode & {
    readonly missingPercent: number;
    readonly maxOrphanedNodesPercent: number;
    /** The status of the policy reports it as open. */
    readonly isLeftOpen: boolean;
  };
  Holding: HoldEvidence;
  PacingLimit: { readonly maxDeletesPerPass: number };
  /** How often in a row. */
  DeletionFailed: { readonly times: number };
  NamespaceUnknown: { readonly namespace: string };
  NoPolicy: NoEvidence;
  InvalidPolicy: InvalidEvidence;
}
