import { podRefOf, podUidOf, type PodRef } from '../../api/pod-ref.ts';
import type { ContainerKeepReason } from '../../api/reasons.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../cri/runtime.ts';
import type { OrphanTarget } from '../../gc/decision.ts';
import { attemptsKey, byNewest } from './containers.ts';
import {
  isContainerRemoval,
  type ContainerRemoval,
  type KnownPod,
  type LogDirectoryTarget,
  type LogFileTarget,
  type RemovedContainer,
} from './facts.ts';
import { attemptOfLog } from './log-names.ts';
import { mayNeedLink } from './logs.ts';
import { holdOf, PodStates } from './pods.ts';

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
export function podThatMustBeGone(removal: ContainerRemoval): PodRef | undefined {
  if (isContainerRemoval(removal)) return removal.reason === 'PodGone' ? removal.target.pod : undefined;
  switch (removal.reason) {
    case 'OrphanedLogs':
    case 'OrphanedCgroup':
    case 'OrphanedDirectory':
      return removal.target.pod;
    case 'Sandbox':
      return removal.evidence.isPodGone ? removal.target.pod : undefined;
    case 'BrokenLink':
    case 'ContainerGone':
    case 'RotatedLog':
      return undefined;
  }
}

/** Re-checks a planned removal: every fact that it depends on must still be true. */
export function recheck(removal: ContainerRemoval, view: LiveView): Recheck {
  if (isContainerRemoval(removal)) return recheckContainer(removal, view);
  switch (removal.reason) {
    case 'Sandbox':
      return recheckSandbox(removal, view);
    case 'OrphanedLogs':
      return recheckDirectory(removal.target, view);
    case 'OrphanedCgroup':
    case 'OrphanedDirectory':
      return recheckOrphan(removal.target, view);
    case 'BrokenLink':
      return mayNeedLink(removal.target.path, view.containers, removal.evidence.isOutside) ? 'InUse' : 'due';
    case 'ContainerGone':
      return recheckAttemptLog(removal, view);
    case 'RotatedLog':
      return recheckRotated(removal.target, view);
  }
}

type Removed<R extends ContainerRemoval['reason']> = Extract<ContainerRemoval, { readonly reason: R }>;

function recheckContainer(removal: RemovedContainer, view: LiveView): Recheck {
  const { id, pod } = removal.target;
  const container = view.containers.find((one) => one.id === id);
  if (container === undefined) return 'absent';
  if (container.state === 'Running') return 'Running';
  if (podUidOf(container) !== pod.uid) return 'InUse';
  if (removal.reason === 'PodGone') return recheckGone(pod.uid, view);
  if (container.state === 'Unknown') return 'UnknownState';
  return holdOf(statesIn(view).stateOf(pod.uid)) ?? recheckAttempt(container, removal, view);
}

function recheckAttempt(
  container: RuntimeContainer,
  { evidence }: Exclude<RemovedContainer, { readonly reason: 'PodGone' }>,
  view: LiveView,
): Recheck {
  const attempts = view.containers.filter((one) => attemptsKey(one) === attemptsKey(container));
  const isFinished = view.isCacheSynced && statesIn(view).isFinished(podRefOf(container).uid);
  if (!isFinished && isNewestOf(container, attempts)) return 'NewestAttempt';
  const wasSuperseded = evidence.place > 1;
  const isNewestDead = isNewestOf(container, attempts.filter(isDead));
  return wasSuperseded && isNewestDead ? 'NewestAttempt' : 'due';
}

function recheckSandbox({ target, evidence }: Removed<'Sandbox'>, view: LiveView): Recheck {
  const sandbox = view.sandboxes.find(({ id }) => id === target.id);
  const { uid } = target.pod;
  if (sandbox === undefined) return 'absent';
  if (sandbox.state === 'Ready') return 'Running';
  if (view.containers.some(({ sandboxId }) => sandboxId === sandbox.id)) return 'InUse';
  if (evidence.isPodGone) return recheckGone(uid, view);
  const hold = holdOf(statesIn(view).stateOf(uid));
  if (hold !== undefined) return hold;
  const rivals = view.sandboxes.filter((one) => podUidOf(one) === uid);
  return isNewestOf(sandbox, rivals) ? 'NewestSandbox' : 'due';
}

function recheckAttemptLog({ target, evidence }: Removed<'ContainerGone'>, view: LiveView): Recheck {
  if (target.pod === undefined) return 'NotKubelets';
  const key = `${target.pod.uid}/${evidence.container}`;
  const attempt = attemptOfLog(target.path.slice(target.path.lastIndexOf('/') + 1));
  const isListed = view.containers.some((one) => attemptsKey(one) === key && one.attempt === attempt);
  return isListed ? 'InUse' : recheckRotated(target, view);
}

function recheckRotated({ pod }: LogFileTarget, view: LiveView): Recheck {
  return (pod && holdOf(statesIn(view).stateOf(pod.uid))) ?? 'due';
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
  return podState === 'LooksGone' ? 'due' : (holdOf(podState) ?? 'InUse');
}

const statesIn = (view: LiveView): PodStates => new PodStates(view, view.now);

const isDead = ({ state }: RuntimeContainer): boolean => state === 'Exited' || state === 'Created';

const isNewestOf = <T extends RuntimeContainer | RuntimeSandbox>(one: T, rivals: readonly T[]): boolean =>
  rivals.every((rival) => rival.id === one.id || byNewest(one, rival) < 0);
