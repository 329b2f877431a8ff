import type { ContainerKeepReason } from '../../api/reasons.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../cri/runtime.ts';
import type { ContainerGcFacts, LogDirectoryObject, Removal } from './facts.ts';
import { unitOf } from './limits.ts';
import { mayStillWrite } from './log-links.ts';
import { byNewest } from './order.ts';
import { PodLook, podRefOf, podUidOf } from './pods.ts';

/** The node as it is listed once more, right before an act. */
export interface LiveView {
  readonly containers: readonly RuntimeContainer[];
  readonly sandboxes: readonly RuntimeSandbox[];
  readonly pods: ContainerGcFacts['pods'];
  /** By the API server's clock. */
  readonly now: Date;
  /** A minimum age asks for a clock that is right, and it is not. */
  readonly clockUnsure?: boolean;
}

/** What a second look says: still due, gone by itself, or to be kept. */
export type Recheck = 'due' | 'absent' | ContainerKeepReason;

/** Decides whether what a plan wanted removed still may go: everything the plan counted on must be so now. */
export function recheck({ object, because }: Removal, view: LiveView): Recheck {
  switch (object.kind) {
    case 'container': {
      const verdict = recheckContainer(object.container, because, view);
      return verdict === 'due' && view.clockUnsure === true ? 'ClockUnsure' : verdict;
    }
    case 'sandbox':
      return recheckSandbox(object.sandbox, because, view);
    case 'logDirectory':
      return recheckDirectory(object, view);
    case 'logLink':
      return mayStillWrite(object.path, view.containers) ? 'InUse' : 'due';
    case 'logFile':
      return 'due';
  }
}

function recheckContainer(planned: RuntimeContainer, because: Removal['because'], view: LiveView): Recheck {
  const container = view.containers.find(({ id }) => id === planned.id);
  const { uid } = podRefOf(planned);
  if (container === undefined) return 'absent';
  if (container.state === 'Running') return 'Running';
  if (podUidOf(container) !== uid) return 'InUse';
  if (because === 'podGone') return recheckGone(uid, view);
  if (container.state === 'Unknown') return 'UnknownState';
  return lookAt(view).hold(uid) ?? recheckAttempt(container, because, view);
}

function recheckAttempt(container: RuntimeContainer, because: Removal['because'], view: LiveView): Recheck {
  const attempts = view.containers.filter((one) => unitOf(one) === unitOf(container));
  const isFinished = lookAt(view).isFinished(podRefOf(container).uid);
  if (!isFinished && isNewestOf(container, attempts)) return 'NewestAttempt';
  const isNewestDead = isNewestOf(container, attempts.filter(isDead));
  return because === 'superseded' && isNewestDead ? 'NewestAttempt' : 'due';
}

function recheckSandbox(planned: RuntimeSandbox, because: Removal['because'], view: LiveView): Recheck {
  const sandbox = view.sandboxes.find(({ id }) => id === planned.id);
  const { uid } = podRefOf(planned);
  if (sandbox === undefined) return 'absent';
  if (sandbox.state === 'Ready') return 'Running';
  if (view.containers.some(({ sandboxId }) => sandboxId === sandbox.id)) return 'InUse';
  if (because === 'podGone') return recheckGone(uid, view);
  const hold = lookAt(view).hold(uid);
  if (hold !== undefined) return hold;
  const rivals = view.sandboxes.filter((one) => podUidOf(one) === uid);
  return isNewestOf(sandbox, rivals) ? 'NewestSandbox' : 'due';
}

function recheckDirectory({ pod }: LogDirectoryObject, view: LiveView): Recheck {
  if (pod === undefined) return 'NotKubelets';
  const { uid } = pod;
  if (view.containers.some((container) => podUidOf(container) === uid)) return 'InUse';
  return recheckGone(uid, view);
}

function recheckGone(uid: string, view: LiveView): Recheck {
  const look = lookAt(view);
  const gone = look.looksGone(uid);
  if (gone === undefined) return 'PodsUnknown';
  return gone ? 'due' : (look.hold(uid) ?? 'InUse');
}

const lookAt = (view: LiveView): PodLook => new PodLook(view, view.now);

const isDead = ({ state }: RuntimeContainer): boolean => state === 'Exited' || state === 'Created';

const isNewestOf = <T extends RuntimeContainer | RuntimeSandbox>(one: T, rivals: readonly T[]): boolean =>
  rivals.every((rival) => rival.id === one.id || byNewest(one, rival) < 0);
