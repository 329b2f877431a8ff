import { podRefOf, podUidOf, type PodRef } from '../../api/pod-ref.ts';
import type { ContainerKeepReason } from '../../api/reasons.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../cri/runtime.ts';
import type { OrphanTarget } from '../../gc/decision.ts';
import { neededBecause } from './checkpoints.ts';
import { attemptsKey, byNewest } from './containers.ts';
import type {
  ContainerRemoval,
  JudgedContainer,
  JudgedSandbox,
  KnownPod,
  LogDirectoryTarget,
  LogFileTarget,
  PodStates,
} from './facts.ts';
import { attemptOfLog } from './log-names.ts';
import { mayNeedLink } from './logs.ts';
import { keptBecauseOfState, podStates } from './pods.ts';

/** The node, listed again right before a removal. */
export interface LiveView {
  readonly containers: readonly RuntimeContainer[];
  readonly sandboxes: readonly RuntimeSandbox[];
  /** In the cache, in the list that the API server just sent, or in both: a pod of either is protected. */
  readonly pods: readonly KnownPod[];
  /** Without a synced cache no pod counts as gone. */
  readonly isCacheSynced: boolean;
  /** By the API server's clock. */
  readonly now: Date;
}

/** Still due, already gone, or the reason to keep it. */
type Recheck = 'due' | 'absent' | ContainerKeepReason;

/** The pod that must be gone for this removal; undefined = the removal does not depend on that. */
export function podThatMustBeGone({ target, reason }: ContainerRemoval): PodRef | undefined {
  switch (target.kind) {
    case 'Container':
      return reason === 'PodGone' ? target.pod : undefined;
    case 'Sandbox':
      return target.isPodGone ? target.pod : undefined;
    case 'LogDirectory':
    case 'PodCgroup':
    case 'PodDirectory':
      return target.pod;
    case 'LogLink':
    case 'LogFile':
    case 'Checkpoint':
      return undefined;
  }
}

/** Re-checks a planned removal: every fact that it depends on must still be true. */
export function recheck({ target, reason }: ContainerRemoval, view: LiveView): Recheck {
  switch (target.kind) {
    case 'Container':
      return recheckContainer(target, reason, view);
    case 'Sandbox':
      return recheckSandbox(target, view);
    case 'LogDirectory':
      return recheckDirectory(target, view);
    case 'PodCgroup':
    case 'PodDirectory':
      return recheckOrphan(target, view);
    case 'Checkpoint':
      return neededBecause(target.path, target.owner, view)?.reason ?? 'due';
    case 'LogLink':
      return mayNeedLink(target.path, view.containers, target.isOutside) ? 'InUse' : 'due';
    case 'LogFile':
      return reason === 'ContainerGone' ? recheckAttemptLog(target, view) : recheckRotated(target, view);
  }
}

function recheckContainer(
  target: JudgedContainer,
  reason: ContainerRemoval['reason'],
  view: LiveView,
): Recheck {
  const { id, pod } = target;
  const container = view.containers.find((one) => one.id === id);
  if (container === undefined) return 'absent';
  if (container.state === 'Running') return 'Running';
  if (podUidOf(container) !== pod.uid) return 'InUse';
  if (reason === 'PodGone') return recheckGone(pod.uid, view);
  if (container.state === 'Unknown') return 'UnknownState';
  return (
    keptBecauseOfState(statesIn(view).stateOf(pod.uid))?.reason ?? recheckAttempt(container, target, view)
  );
}

function recheckAttempt(container: RuntimeContainer, { place }: JudgedContainer, view: LiveView): Recheck {
  const attempts = view.containers.filter((one) => attemptsKey(one) === attemptsKey(container));
  const isFinished = view.isCacheSynced && statesIn(view).hasFinished(podRefOf(container).uid);
  if (!isFinished && isNewestOf(container, attempts)) return 'NewestAttempt';
  const wasSuperseded = place?.rank !== 1;
  const isNewestDead = isNewestOf(container, attempts.filter(isDead));
  return wasSuperseded && isNewestDead ? 'NewestAttempt' : 'due';
}

function recheckSandbox({ id, pod: { uid }, isPodGone }: JudgedSandbox, view: LiveView): Recheck {
  const sandbox = view.sandboxes.find((one) => one.id === id);
  if (sandbox === undefined) return 'absent';
  if (sandbox.state === 'Ready') return 'Running';
  if (view.containers.some(({ sandboxId }) => sandboxId === sandbox.id)) return 'InUse';
  if (isPodGone) return recheckGone(uid, view);
  const kept = keptBecauseOfState(statesIn(view).stateOf(uid));
  if (kept !== undefined) return kept.reason;
  const rivals = view.sandboxes.filter((one) => podUidOf(one) === uid);
  return isNewestOf(sandbox, rivals) ? 'NewestSandbox' : 'due';
}

function recheckAttemptLog(target: LogFileTarget, view: LiveView): Recheck {
  if (target.pod === undefined) return 'NotKubelets';
  const key = `${target.pod.uid}/${target.containerName}`;
  const attempt = attemptOfLog(target.path.slice(target.path.lastIndexOf('/') + 1));
  const isListed = view.containers.some((one) => attemptsKey(one) === key && one.attempt === attempt);
  return isListed ? 'InUse' : (keptBecauseOfState(statesIn(view).stateOf(target.pod.uid))?.reason ?? 'due');
}

function recheckRotated({ pod }: LogFileTarget, view: LiveView): Recheck {
  return (pod && statesIn(view).rotatedKeptBecause(pod.uid))?.reason ?? 'due';
}

function recheckDirectory({ pod }: LogDirectoryTarget, view: LiveView): Recheck {
  if (pod === undefined) return 'NotKubelets';
  const { uid } = pod;
  if (view.containers.some((container) => podUidOf(container) === uid)) return 'InUse';
  return recheckGone(uid, view);
}

/** Stricter than for logs: neither a pod that is over nor a dead container may be left. */
function recheckOrphan({ pod }: OrphanTarget, view: LiveView): Recheck {
  const objects = [...view.containers, ...view.sandboxes];
  const isKnown =
    objects.some((one) => podUidOf(one) === pod.uid) ||
    view.pods.some(({ uid, configHash }) => uid === pod.uid || configHash === pod.uid);
  return isKnown ? 'InUse' : recheckGone(pod.uid, view);
}

function recheckGone(uid: string, view: LiveView): Recheck {
  if (!view.isCacheSynced) return 'PodsUnknown';
  const podState = statesIn(view).stateOf(uid);
  return podState === 'LooksGone' ? 'due' : (keptBecauseOfState(podState)?.reason ?? 'InUse');
}

const statesIn = (view: LiveView): PodStates => podStates(view, view.now);

const isDead = ({ state }: RuntimeContainer): boolean => state === 'Exited' || state === 'Created';

const isNewestOf = <T extends RuntimeContainer | RuntimeSandbox>(one: T, rivals: readonly T[]): boolean =>
  rivals.every((rival) => rival.id === one.id || byNewest(one, rival) < 0);
