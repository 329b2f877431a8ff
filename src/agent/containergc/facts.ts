import type {
  NodeGCReportStatusLargestOffender,
  NodeGCReportStatusOrphansPodDirectories,
} from '../../api/gen/nodegcreport.gen.ts';
import type { NodePod } from '../../api/node-pod.ts';
import { isDiskSignal, type DiskSignal } from '../../api/node-pressure.ts';
import type { NodeGovernance, NodeRule } from '../../api/policy/node-governance.ts';
import type { CheckpointsPolicy, ContainerGcPolicy, InvalidPolicy, Policy } from '../../api/policy/policy.ts';
import { podRefOf } from '../../api/pod-ref.ts';
import {
  containerRemoveReasons,
  type ContainerKeepReason,
  type ContainerRemoveReason,
  type ContainerWarnReason,
} from '../../api/reasons.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../cri/runtime.ts';
import type {
  CheckpointTarget,
  ContainerTarget,
  Decision,
  LogTarget,
  OrphanTarget,
  SandboxTarget,
} from '../../gc/decision.ts';
import type { FailedBefore } from '../../gc/failures.ts';
import type { LogListing } from '../../node/logs/list.ts';
import type { CheckpointFile, CheckpointListing } from '../../node/storage/checkpoints.ts';
import type { OrphansFound } from '../../node/storage/orphans-finder.ts';
import type { OrphanPlace } from '../../node/storage/orphans.ts';
import { ageErrorMs, type Jump } from '../../runtime/scheduling/jump.ts';
import type { DiskDemand } from '../nodepressure/facts.ts';

/** Input of a plan. undefined = unknown: nothing is removed because of it. */
export interface ContainerGcFacts {
  readonly containers: readonly RuntimeContainer[] | undefined;
  readonly sandboxes: readonly RuntimeSandbox[] | undefined;
  /** The pods of this node. Read them after the containers, or a pod that is just starting looks gone. */
  readonly pods: readonly KnownPod[] | undefined;
  readonly logs: LogListing | undefined;
  /** Resources of pods that neither the API server nor the runtime knows. */
  readonly orphans?: OrphansFound | undefined;
  /** Of the kubelet's directory of checkpoints. */
  readonly checkpoints?: CheckpointListing | undefined;
  /** Includes this observation (`observeGone`). */
  readonly sightings: Sightings;
  /** Containers and sandboxes whose removal has failed, by id. */
  readonly failedBefore?: ReadonlyMap<string, FailedBefore>;
  /** The wall clock jumped since the last pass: ages are unknown. */
  readonly clockUnsure?: boolean;
  /** Jumps forward, oldest first: what was created before one looks older than it is. */
  readonly jumps?: readonly Jump[];
}

export type KnownPod = Pick<NodePod, 'uid' | 'configHash'> &
  Partial<
    Pick<NodePod, 'isOptedOut' | 'phase' | 'evicted' | 'deletionAtMs' | 'name' | 'namespace' | 'images'>
  >;

/** Why a pod is over although the API still has it: the kubelet removes the remains of evicted pods and of deleted pods that have ended. */
export type PodEnd = 'Evicted' | 'Deleted';

/** For how many passes in a row each pod UID looked gone. */
export type Sightings = ReadonlyMap<string, number>;

export interface Given {
  readonly governance: NodeGovernance;
  readonly now: Date;
  /** Counts a pod that looks gone as seen gone for two passes. */
  readonly assumeGone?: boolean;
  /** Time between two passes; default one minute, as the kubelet's (`ContainerGCPeriod`, pkg/kubelet/kubelet.go). */
  readonly periodMs?: number;
  /** The node is short of this: no dead container is wanted any more. */
  readonly demand?: DiskDemand | undefined;
}

/**
 * The state of a pod in one observation. Exists: in the API, or something of it is alive. Finished: in the API, Succeeded or Failed, and not
 * alive. OptedOut: has the keep label. Static: left to the kubelet. LooksGone: absent, evicted, or past its deletion time, and not alive.
 */
export type ObservedState = 'Exists' | 'Finished' | 'OptedOut' | 'Static' | 'LooksGone' | 'Unknown';

/** A pod that looks gone is Quarantined in the first pass and Gone from the second on. */
export type PodState = Exclude<ObservedState, 'LooksGone'> | 'Gone' | 'Quarantined';

export interface PodStates<State = ObservedState> {
  stateOf(uid: string): State;
  /** Whether the kubelet never starts a container of it again. The phase proves nothing while something of it is alive. */
  hasFinished(uid: string): boolean;
  /** Why no rotated log of the pod is removed; undefined = the limits decide. The kubelet rotates the logs of a static pod that runs as those of any other. */
  rotatedKeptBecause(uid: string): KeptBecause | undefined;
}

export type PodsNow = PodStates<PodState>;

/** What the steps of a plan read. */
export interface PlanContext extends Omit<Given, 'governance'> {
  readonly facts: ContainerGcFacts;
  readonly pods: PodsNow;
  readonly policy: Policy;
  readonly rule: ContainerGcPolicy;
}

const defaultPeriodMs = 60_000;

export const nextPass = ({ now, periodMs = defaultPeriodMs }: Pick<Given, 'now' | 'periodMs'>): Date =>
  new Date(now.getTime() + periodMs);

/** The place of a dead attempt among those of the same container of the same pod. */
export interface AttemptPlace {
  /** From 1 for the newest. */
  readonly rank: number;
  readonly attempts: number;
}

export interface JudgedContainer extends ContainerTarget {
  readonly container: RuntimeContainer;
  /** undefined = the limits do not count it. */
  readonly place: AttemptPlace | undefined;
}

export interface JudgedSandbox extends SandboxTarget {
  readonly sandbox: RuntimeSandbox;
  /** false = it exists, or may: only an older sandbox is removed. */
  readonly isPodGone: boolean;
}

export interface LogDirectoryTarget extends LogTarget {
  readonly kind: 'LogDirectory';
  /** Paths of the links into it, which are removed with it. */
  readonly links: readonly string[];
}

export interface LogLinkTarget extends LogTarget {
  readonly kind: 'LogLink';
  /** Its target is not below /var/log/pods, so dustpan cannot see whether it exists. */
  readonly isOutside: boolean;
}

/** A rotated log; or the `N.log` of an attempt, for it and its rotations. */
export interface LogFileTarget extends LogTarget {
  readonly kind: 'LogFile';
  readonly containerName: string;
  /** Of an attempt of which only logs are left; undefined = it is a rotated log. */
  readonly place: AttemptPlace | undefined;
}

export interface JudgedOrphan extends OrphanTarget {
  /** When the kubelet last wrote data of a CSI volume into the directory, in Unix milliseconds; undefined = there is none. */
  readonly volumeDataMs: number | undefined;
}

export interface JudgedCheckpoint extends CheckpointTarget {
  readonly file: CheckpointFile;
  /** `POD_NAMESPACE-CONTAINER`; empty = the kubelet gives no such name. */
  readonly owner: string;
}

export type CheckpointLimit = 'maxAge' | 'maxPerPod' | 'maxBytes';

export type ContainerGcTarget =
  | JudgedContainer
  | JudgedSandbox
  | LogDirectoryTarget
  | LogLinkTarget
  | LogFileTarget
  | JudgedOrphan
  | JudgedCheckpoint;

/** Why an object is removed, with what neither the object nor the plan shows. */
type RemovedBecause =
  /** `total`: dead containers on the node. */
  | { readonly reason: 'DeadContainer'; readonly total: number }
  /** The threshold that is crossed, as the policy has it. */
  | { readonly reason: DiskSignal; readonly threshold: string }
  | { readonly reason: 'OldCheckpoint'; readonly limit: CheckpointLimit }
  | { readonly reason: Exclude<ContainerRemoveReason, 'DeadContainer' | 'OldCheckpoint' | DiskSignal> };

/** Why an object is kept, with what neither the object nor the plan shows. `eligibleAt`: set if it only waits for time to pass. `holders`: the obstacle of an orphaned resource by name. */
export type KeptBecause = { readonly eligibleAt?: Date | undefined; readonly holders?: readonly string[] } & (
  | {
      readonly reason: 'TooYoung';
      /** When the container was created, or the log or the checkpoint was last written. */
      readonly sinceMs: number;
      readonly leastAgeMs: number;
      /** It was created but not started, and is kept longer than the minimum age for that. */
      readonly mayStart: boolean;
    }
  /** `times`: in a row. */
  | { readonly reason: 'RemovalFailed'; readonly times: number }
  | { readonly reason: 'KeepMarked'; readonly on: 'pod' | 'node' }
  | { readonly reason: Exclude<ContainerKeepReason, 'TooYoung' | 'RemovalFailed' | 'KeepMarked'> }
);

export type Because = RemovedBecause | KeptBecause;

export type ContainerRemoval<T extends ContainerGcTarget = ContainerGcTarget> = Decision<T> & {
  readonly verdict: 'Remove';
} & RemovedBecause;
export type ContainerKept<T extends ContainerGcTarget = ContainerGcTarget> = Decision<T> & {
  readonly verdict: 'Keep';
} & KeptBecause;
export type ContainerDecision<T extends ContainerGcTarget = ContainerGcTarget> =
  ContainerRemoval<T> | ContainerKept<T>;

export interface LargeLogTarget extends ContainerTarget {
  readonly logPath: string;
  readonly bytes: number;
  /** The size above which the policy warns. */
  readonly warnBytes: number;
}

/** A running container whose current log is too large; it has a decision to keep it as well. */
export interface LogWarning extends Decision<LargeLogTarget, ContainerWarnReason> {
  readonly verdict: 'Warn';
}

/**
 * Every object has one decision, except the logs of listed containers, links into a removed directory, and rotated logs of an attempt that is removed.
 */
export interface ContainerGcPlan {
  /** undefined = no policy has a rule for containers, sandboxes and logs. */
  readonly rule: ContainerGcPolicy | undefined;
  /** undefined = no policy has a rule for checkpoints. */
  readonly checkpointRule: CheckpointsPolicy | undefined;
  /** Why pods are over that the API has, by UID. */
  readonly ends: ReadonlyMap<string, PodEnd>;
  /** In the order of execution. */
  readonly removals: readonly ContainerRemoval[];
  readonly kept: readonly ContainerKept[];
  /** The largest log first. */
  readonly warnings: readonly LogWarning[];
}

export const keptByNode = ({ reason }: Extract<NodeRule<unknown>, { kind: 'keep' }>): KeptBecause =>
  reason === 'KeepMarked' ? { reason, on: 'node' } : { reason };

/** Keeps what was written less than `minimumAgeMs` ago, or may have been. */
export function keptBecauseOfWrite(
  lastWriteMs: number,
  minimumAgeMs: number,
  { facts: { clockUnsure = false, jumps = [] }, ...given }: Pick<PlanContext, 'facts' | 'now' | 'periodMs'>,
): KeptBecause | undefined {
  if (clockUnsure && minimumAgeMs > 0) return { reason: 'ClockUnsure', eligibleAt: nextPass(given) };
  const leastAgeMs = minimumAgeMs + ageErrorMs(lastWriteMs, jumps);
  const eligibleAt = new Date(lastWriteMs + leastAgeMs);
  return eligibleAt.getTime() <= given.now.getTime()
    ? undefined
    : { reason: 'TooYoung', sinceMs: lastWriteMs, leastAgeMs, mayStart: false, eligibleAt };
}

interface Subject<T extends ContainerGcTarget> {
  readonly target: T;
  readonly policy: Policy | InvalidPolicy | undefined;
  readonly bytes?: number | undefined;
}

export function decide<T extends ContainerGcTarget>(
  { target, policy, bytes }: Subject<T>,
  because: Because,
): ContainerDecision<T> {
  const decided = { target, policy, bytes };
  if (!isToRemove(because))
    return { ...because, unit: 'containergc', verdict: 'Keep', eligibleAt: because.eligibleAt, ...decided };
  const unit = isDiskSignal(because.reason) ? 'nodepressure' : 'containergc';
  return { ...because, unit, verdict: 'Remove', eligibleAt: undefined, ...decided };
}

const isToRemove = (because: Because): because is RemovedBecause =>
  containerRemoveReasons.some((one) => one === because.reason);

export const isRemoval = <T extends ContainerGcTarget>(
  decision: ContainerDecision<T>,
): decision is ContainerRemoval<T> => decision.verdict === 'Remove';

export const isKept = <T extends ContainerGcTarget>(
  decision: ContainerDecision<T>,
): decision is ContainerKept<T> => decision.verdict === 'Keep';

export const containerTarget = (container: RuntimeContainer, place?: AttemptPlace): JudgedContainer => ({
  kind: 'Container',
  id: container.id,
  name: container.name,
  pod: podRefOf(container),
  container,
  place,
});

export const sandboxTarget = (sandbox: RuntimeSandbox, isPodGone: boolean): JudgedSandbox => ({
  kind: 'Sandbox',
  id: sandbox.id,
  pod: podRefOf(sandbox),
  sandbox,
  isPodGone,
});

/** The containers, sandboxes and logs in the last pass of containergc. */
export interface ContainerInventory {
  readonly containers: { readonly total: number; readonly running: number; readonly removable: number };
  readonly sandboxes: { readonly total: number; readonly removable: number };
  /** undefined = they could not be listed. */
  readonly logs: LogInventory | undefined;
  /** undefined = not searched in this pass. */
  readonly orphans: OrphanInventory | undefined;
  /** undefined = the directory could not be listed, or not all of it. */
  readonly checkpoints: CheckpointInventory | undefined;
  /** Largest first, at most ten. */
  readonly offenders: readonly NodeGCReportStatusLargestOffender[];
}

export interface CheckpointInventory {
  readonly total: number;
  readonly bytes: number;
  readonly removable: number;
  readonly removableBytes: number;
  /** The policy removes some, but the agent has the directory mounted read-only. */
  readonly isReadOnly: boolean;
  /** They are not on the disk of the kubelet's root directory. */
  readonly isApart: boolean;
}

interface LogInventory {
  readonly bytes: number;
  readonly removableBytes: number;
  /** By the UID of the pod. */
  readonly byPod: ReadonlyMap<string, number>;
}

/** Resources of pods that neither the API server nor the runtime knows, as the report has them. */
export interface OrphanCount extends NodeGCReportStatusOrphansPodDirectories {
  readonly count: number;
  readonly bytes: number;
  /** The policy removes them, but the agent has the place mounted read-only. */
  readonly isReadOnly: boolean;
}

/** A place that was not searched is undefined. */
export type OrphanInventory = Readonly<Record<OrphanPlace, OrphanCount | undefined>>;
