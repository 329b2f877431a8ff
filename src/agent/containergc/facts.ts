import { isDiskSignal, type DiskDemand, type DiskSignal } from '../../api/node-pressure.ts';
import type { NodeGovernance, NodeRule } from '../../api/policy/node-governance.ts';
import {
  isInvalid,
  type ContainerGcPolicy,
  type InvalidPolicy,
  type Policy,
} from '../../api/policy/policy.ts';
import { podRefOf } from '../../api/pod-ref.ts';
import {
  containerRemoveReasons,
  type ContainerKeepReason,
  type ContainerRemoveReason,
  type ContainerWarnReason,
} from '../../api/reasons.ts';
import type { NodePod } from '../../api/report/node-pass.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../cri/runtime.ts';
import type {
  ContainerTarget,
  Evidenced,
  LogTarget,
  OrphanTarget,
  SandboxTarget,
} from '../../gc/decision.ts';
import type { FailedBefore } from '../../gc/failures.ts';
import type { ContainerWarnEvidence } from '../../gc/reasons/container-warnings.ts';
import type { ContainerEvidence, ContainerReason } from '../../gc/reasons/containers.ts';
import type { LogListing } from '../../node/logs/list.ts';
import type { OrphansFound } from '../../node/storage/orphans-finder.ts';
import type { Jump } from '../../runtime/scheduling/jump.ts';

/** Input of a plan. undefined = unknown: nothing is removed because of it. */
export interface ContainerGcFacts {
  readonly containers: readonly RuntimeContainer[] | undefined;
  readonly sandboxes: readonly RuntimeSandbox[] | undefined;
  /** The pods of this node. Read them after the containers, or a pod that is just starting looks gone. */
  readonly pods: readonly KnownPod[] | undefined;
  readonly logs: LogListing | undefined;
  /** Resources of pods that neither the API server nor the runtime knows. */
  readonly orphans?: OrphansFound | undefined;
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
  Partial<Pick<NodePod, 'isOptedOut' | 'phase' | 'evicted' | 'deletionAtMs'>>;

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

export interface PlanContext extends Omit<Given, 'governance'> {
  readonly policy: Policy;
  readonly rule: ContainerGcPolicy;
}

export const defaultPeriodMs = 60_000;

/** When the next pass runs. */
export const nextPass = ({ now, periodMs = defaultPeriodMs }: Pick<Given, 'now' | 'periodMs'>): Date =>
  new Date(now.getTime() + periodMs);

export interface JudgedContainer extends ContainerTarget {
  readonly container: RuntimeContainer;
}

export interface JudgedSandbox extends SandboxTarget {
  readonly sandbox: RuntimeSandbox;
}

export interface LogDirectoryTarget extends LogTarget {
  readonly kind: 'LogDirectory';
  /** Paths of the links into it, which are removed with it. */
  readonly links: readonly string[];
}

export interface LogLinkTarget extends LogTarget {
  readonly kind: 'LogLink';
}

/** A rotated log; or the `N.log` of an attempt, for it and its rotations. */
export interface LogFileTarget extends LogTarget {
  readonly kind: 'LogFile';
}

export type ContainerGcTarget =
  JudgedContainer | JudgedSandbox | LogDirectoryTarget | LogLinkTarget | LogFileTarget | OrphanTarget;

export type ContainerDecision<
  T extends ContainerGcTarget = ContainerGcTarget,
  R extends ContainerReason = ContainerReason,
> = Evidenced<T, R, ContainerEvidence[R]>;

export type ContainerKept<T extends ContainerGcTarget = ContainerGcTarget> = ContainerDecision<
  T,
  ContainerKeepReason
>;

interface RemovedFor extends Record<DiskSignal, JudgedContainer> {
  PodGone: JudgedContainer;
  DeadContainer: JudgedContainer;
  Sandbox: JudgedSandbox;
  OrphanedLogs: LogDirectoryTarget;
  BrokenLink: LogLinkTarget;
  ContainerGone: LogFileTarget;
  RotatedLog: LogFileTarget;
  OrphanedCgroup: OrphanTarget;
  OrphanedDirectory: OrphanTarget;
}

/** One member for each reason, which determines the kind of target and of evidence. */
export type ContainerRemoval = {
  [R in ContainerRemoveReason]: ContainerDecision<RemovedFor[R], R>;
}[ContainerRemoveReason];

/** A running container whose current log is too large; it has a decision to keep it as well. */
export type LogWarning = Evidenced<
  ContainerTarget,
  ContainerWarnReason,
  ContainerWarnEvidence[ContainerWarnReason]
>;

/**
 * Every object has one decision, except the logs of listed containers, links into a removed directory, and rotated logs of an attempt that is removed.
 */
export interface ContainerGcPlan {
  /** In the order of execution. */
  readonly removals: readonly ContainerRemoval[];
  readonly kept: readonly ContainerKept[];
  /** The largest log first. */
  readonly warnings: readonly LogWarning[];
}

export interface Because<R extends ContainerReason> {
  readonly reason: R;
  readonly evidence: ContainerEvidence[R];
  readonly eligibleAt?: Date | undefined;
}

/** Why a node's policy, or the lack of one, keeps an object of a kind. */
export function keptBecause(
  { reason, policy }: Extract<NodeRule<unknown>, { kind: 'keep' }>,
  rule: ContainerEvidence['RuleOff'],
): Because<ContainerKeepReason> {
  const invalid = policy !== undefined && isInvalid(policy) ? policy : undefined;
  switch (reason) {
    case 'InvalidPolicy':
      return { reason, evidence: { invalid } };
    case 'KeepMarked':
      return { reason, evidence: { pod: undefined } };
    case 'RuleOff':
      return { reason, evidence: rule };
    case 'NoPolicy':
    case 'NodeUnknown':
      return { reason, evidence: undefined };
  }
}

interface Subject<T extends ContainerGcTarget> {
  readonly target: T;
  readonly policy: Policy | InvalidPolicy | undefined;
  readonly bytes?: number | undefined;
}

export const decide = <T extends ContainerGcTarget, R extends ContainerReason>(
  { target, policy, bytes }: Subject<T>,
  { reason, evidence, eligibleAt }: Because<R>,
): ContainerDecision<T, R> => ({
  unit: isDiskSignal(reason) ? 'nodepressure' : 'containergc',
  verdict: isRemoveReason(reason) ? 'Remove' : 'Keep',
  ...{ target, reason, policy, eligibleAt, bytes, evidence },
});

const isRemoveReason = (reason: ContainerReason): boolean =>
  containerRemoveReasons.some((one) => one === reason);

export const isRemoval = (decision: ContainerDecision): decision is ContainerRemoval =>
  decision.verdict === 'Remove';

/** A removal of a container, for whatever reason. */
export type RemovedContainer = Extract<ContainerRemoval, { readonly target: JudgedContainer }>;

export const isContainerRemoval = (removal: ContainerRemoval): removal is RemovedContainer =>
  removal.target.kind === 'Container';

export const isKept = (decision: ContainerDecision): decision is ContainerKept => decision.verdict === 'Keep';

export const containerTarget = (container: RuntimeContainer): JudgedContainer => ({
  ...{ kind: 'Container', id: container.id, name: container.name },
  ...{ pod: podRefOf(container), container },
});

export const sandboxTarget = (sandbox: RuntimeSandbox): JudgedSandbox => ({
  ...{ kind: 'Sandbox', id: sandbox.id, pod: podRefOf(sandbox), sandbox },
});
