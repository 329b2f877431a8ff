import type { RuntimeContainer } from '../../cri/runtime.ts';
import { looksOlderMs } from '../../runtime/jump.ts';
import {
  keep,
  nextPass,
  remove,
  type ContainerGcFacts,
  type ContainerObject,
  type Decision,
  type Given,
  type Kept,
} from './facts.ts';
import { overLimits, units } from './limits.ts';
import { byNewest, createdMs, isCreatedAfter } from './order.ts';
import { holdOf, podRefOf, podUidOf, type Standing } from './pods.ts';

type StandingOf = (uid: string) => Standing;

/** Decides about each container: those of gone pods, then those over a limit, oldest first (upstream.md 3.2); then what stays. */
export function planContainers(
  facts: ContainerGcFacts,
  standing: StandingOf,
  given: Given,
): readonly Decision<ContainerObject>[] {
  const containers = [...(facts.containers ?? [])].sort(byNewest).reverse();
  if (facts.sandboxes === undefined)
    return containers.map((container) => keep(objectOf(container), 'ContainersUnknown'));

  const kept: Kept<ContainerObject>[] = [];
  const gone: RuntimeContainer[] = [];
  const dead: RuntimeContainer[] = [];
  for (const container of containers) {
    const uid = podUidOf(container);
    const verdict = keptOutright(container, { facts, standing }, given);
    if (verdict !== undefined) kept.push(verdict);
    else if (uid !== undefined && standing(uid) === 'Gone') gone.push(container);
    else dead.push(container);
  }
  return [
    ...gone.map((container) => remove(objectOf(container), 'PodGone', { because: 'podGone' })),
    ...planDead(dead, { containers, standing }, given),
    ...kept,
  ];
}

/** What no limit looks at. */
function keptOutright(
  container: RuntimeContainer,
  { facts, standing }: { readonly facts: ContainerGcFacts; readonly standing: StandingOf },
  given: Given,
): Kept<ContainerObject> | undefined {
  const object = objectOf(container);
  const uid = podUidOf(container);
  if (container.state === 'Running') return keep(object, 'Running');
  if (uid === undefined) return keep(object, 'NotKubelets');
  const stands = standing(uid);
  const hold = holdOf(stands);
  if (hold !== undefined) return keep(object, hold);
  if (container.state === 'Unknown' && stands !== 'Gone') return keepUnknown(object, stands, given);
  return keptByAge(object, facts, { ...given, minimumAgeMs: minimumAge(container, stands, given) });
}

function keptByAge(
  object: ContainerObject,
  { clockUnsure = false, jumps = [] }: ContainerGcFacts,
  given: Given & { readonly minimumAgeMs: number },
): Kept<ContainerObject> | undefined {
  const { container } = object;
  if (clockUnsure && given.minimumAgeMs > 0)
    return keep(object, 'ClockUnsure', { eligibleAt: nextPass(given) });
  const wantedMs = given.minimumAgeMs + looksOlderMs(createdMs(container), jumps);
  if (!isCreatedAfter(container, given.now.getTime() - wantedMs)) return undefined;
  return keep(object, 'TooYoung', { eligibleAt: new Date(createdMs(container) + wantedMs) });
}

const keepUnknown = (object: ContainerObject, stands: Standing, given: Given): Kept<ContainerObject> =>
  stands === 'Quarantined'
    ? keep(object, 'Quarantined', { eligibleAt: nextPass(given) })
    : keep(object, 'UnknownState');

/** Between creation and start a container looks dead; the kubelet gives the runtime two minutes for a call. */
const startingMs = 120_000;

function minimumAge({ state }: RuntimeContainer, stands: Standing, { policy }: Given): number {
  const isStarting = state === 'Created' && stands !== 'Gone';
  return isStarting ? Math.max(policy.minimumAgeMs, startingMs) : policy.minimumAgeMs;
}

interface Place {
  /** All of them. */
  readonly containers: readonly RuntimeContainer[];
  readonly standing: StandingOf;
}

/** Whether it is the newest attempt in a pod that has not finished: without any attempt the kubelet runs even a completed container again. */
function neededIn({ containers, standing }: Place): (container: RuntimeContainer) => boolean {
  const newest = new Set(units(containers).map(([first]) => first));
  return (container) => newest.has(container) && standing(podRefOf(container).uid) !== 'Finished';
}

/** The limits count every dead container, as upstream's do; they never take one that is needed. */
function planDead(
  dead: readonly RuntimeContainer[],
  { containers, standing }: Place,
  given: Given,
): readonly Decision<ContainerObject>[] {
  const over = overLimits(dead, given.policy);
  const isNeeded = neededIn({ containers, standing });
  const newest = new Set(units(dead).map(([first]) => first));
  return dead.map((container) => {
    const object = objectOf(container);
    if (over.has(container) && !isNeeded(container)) {
      const because = newest.has(container) ? 'limit' : 'superseded';
      return remove(object, 'DeadContainer', { because });
    }
    if (standing(podRefOf(container).uid) === 'Quarantined')
      return keep(object, 'Quarantined', { eligibleAt: nextPass(given) });
    return keep(object, newest.has(container) ? 'NewestAttempt' : 'UnderLimit');
  });
}

const objectOf = (container: RuntimeContainer): ContainerObject => ({ kind: 'container', container });
