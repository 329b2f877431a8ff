import { podRefOf } from '../../api/pod-ref.ts';
import type { InvalidPolicy, Policy } from '../../api/policy/policy.ts';
import {
  containerRemoveReasons,
  type ContainerKeepReason,
  type ContainerRemoveReason,
} from '../../api/reasons.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../cri/runtime.ts';
import type { ContainerTarget, Decision, LogTarget, SandboxTarget } from '../../gc/decision.ts';
import type { ContainerEvidence, ContainerReason } from '../../gc/reasons/containers.ts';

export interface JudgedContainer extends ContainerTarget {
  readonly container: RuntimeContainer;
}

export interface JudgedSandbox extends SandboxTarget {
  readonly sandbox: RuntimeSandbox;
}

export interface LogDirectoryTarget extends LogTarget {
  readonly kind: 'LogDirectory';
  /** Paths of the links that lead into it: they are removed with it. */
  readonly links: readonly string[];
}

export interface LogLinkTarget extends LogTarget {
  readonly kind: 'LogLink';
}

export interface LogFileTarget extends LogTarget {
  readonly kind: 'LogFile';
}

export type ContainerGcTarget =
  JudgedContainer | JudgedSandbox | LogDirectoryTarget | LogLinkTarget | LogFileTarget;

export type ContainerDecision<
  T extends ContainerGcTarget = ContainerGcTarget,
  R extends ContainerReason = ContainerReason,
> = Decision<T, R, ContainerEvidence[R]>;

export type ContainerKept<T extends ContainerGcTarget = ContainerGcTarget> = ContainerDecision<
  T,
  ContainerKeepReason
>;

interface RemovedFor {
  PodGone: JudgedContainer;
  DeadContainer: JudgedContainer;
  Sandbox: JudgedSandbox;
  OrphanedLogs: LogDirectoryTarget;
  BrokenLink: LogLinkTarget;
  RotatedLog: LogFileTarget;
}

/** One member for each reason: the reason gives the kind of target and of evidence. */
export type ContainerRemoval = {
  [R in ContainerRemoveReason]: ContainerDecision<RemovedFor[R], R>;
}[ContainerRemoveReason];

/** Every object has one decision, except live logs, links into a removed directory, and rotated logs of a removed container. */
export interface ContainerGcPlan {
  /** In the order of execution. */
  readonly removals: readonly ContainerRemoval[];
  readonly kept: readonly ContainerKept[];
}

export interface Because<R extends ContainerReason> {
  readonly reason: R;
  readonly evidence: ContainerEvidence[R];
  readonly eligibleAt?: Date | undefined;
}

/** What a decision is about, and whose policy makes it. */
interface Subject<T extends ContainerGcTarget> {
  readonly target: T;
  readonly policy: Policy | InvalidPolicy | undefined;
  readonly bytes?: number | undefined;
}

/** Makes the decision about one object. */
export const decide = <T extends ContainerGcTarget, R extends ContainerReason>(
  { target, policy, bytes }: Subject<T>,
  { reason, evidence, eligibleAt }: Because<R>,
): ContainerDecision<T, R> => ({
  ...{ unit: 'containergc', verdict: isToRemove(reason) ? 'Remove' : 'Keep' },
  ...{ target, reason, policy, eligibleAt, bytes, evidence },
});

const isToRemove = (reason: ContainerReason): boolean => containerRemoveReasons.some((one) => one === reason);

export const isRemoval = (decision: ContainerDecision): decision is ContainerRemoval =>
  decision.verdict === 'Remove';

export const isKept = (decision: ContainerDecision): decision is ContainerKept => decision.verdict === 'Keep';

export const containerTarget = (container: RuntimeContainer): JudgedContainer => ({
  ...{ kind: 'Container', id: container.id, name: container.name },
  ...{ pod: podRefOf(container), container },
});

export const sandboxTarget = (sandbox: RuntimeSandbox): JudgedSandbox => ({
  ...{ kind: 'Sandbox', id: sandbox.id, pod: podRefOf(sandbox), sandbox },
});
