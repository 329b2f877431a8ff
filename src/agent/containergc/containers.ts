import { podRefOf, podUidOf } from '../../api/pod-ref.ts';
import type { RuntimeContainer } from '../../cri/runtime.ts';
import type { ContainerReason } from '../../gc/reasons/containers.ts';
import { ageErrorMs } from '../../runtime/scheduling/jump.ts';
import {
  containerTarget,
  decide,
  type Because,
  type ContainerDecision,
  type JudgedContainer,
} from './decisions.ts';
import { nextPass, type ContainerGcFacts, type Ruled } from './facts.ts';
import { overLimits, units } from './limits.ts';
import { byNewest, createdMs, isCreatedAfter } from './order.ts';
import { holdOf, quarantined, type PodsNow } from './pods.ts';

/**
 * Decides about each container: removes those of gone pods, then those over a limit, oldest first, as the kubelet does (`evictContainers`,
 * pkg/kubelet/kuberuntime/kuberuntime_gc.go).
 */
export function planContainers(
  facts: ContainerGcFacts,
  pods: PodsNow,
  ruled: Ruled,
): readonly ContainerDecision<JudgedContainer>[] {
  const containers = (facts.containers ?? []).toSorted(byNewest).reverse();
  if (facts.sandboxes === undefined)
    return containers.map((one) => about(one, { reason: 'ContainersUnknown', evidence: undefined }, ruled));

  const kept: ContainerDecision<JudgedContainer>[] = [];
  const gone: ContainerDecision<JudgedContainer>[] = [];
  const dead: RuntimeContainer[] = [];
  for (const container of containers) {
    const because = keptOutright(container, { facts, pods }, ruled);
    const pod = podRefOf(container);
    if (because !== undefined) kept.push(about(container, because, ruled));
    else if (pods.standing(pod.uid) === 'Gone')
      gone.push(about(container, { reason: 'PodGone', evidence: pods.ended(pod) }, ruled));
    else dead.push(container);
  }
  return [...gone, ...planDead(dead, { containers, pods }, ruled), ...kept];
}

const about = (
  container: RuntimeContainer,
  because: Because<ContainerReason>,
  { policy }: Ruled,
): ContainerDecision<JudgedContainer> => decide({ target: containerTarget(container), policy }, because);

/** What keeps a container without any limit being applied. */
function keptOutright(
  container: RuntimeContainer,
  { facts, pods }: { readonly facts: ContainerGcFacts; readonly pods: PodsNow },
  ruled: Ruled,
): Because<ContainerReason> | undefined {
  const pod = podRefOf(container);
  if (container.state === 'Running') return { reason: 'Running', evidence: { kind: 'Container' } };
  if (podUidOf(container) === undefined) return { reason: 'NotKubelets', evidence: undefined };
  const stands = pods.standing(pod.uid);
  const hold = holdOf(stands);
  if (hold !== undefined) return { reason: hold, evidence: { pod } };
  if (container.state === 'Unknown' && stands !== 'Gone')
    return stands === 'Quarantined'
      ? quarantined(pods.ended(pod), ruled)
      : { reason: 'UnknownState', evidence: { pod } };
  return keptByAge(container, facts, {
    ...ruled,
    mayStart: container.state === 'Created' && stands !== 'Gone',
  });
}

/** Between creation and start a container looks dead; the kubelet gives the runtime two minutes for a call. */
const startingMs = 120_000;

function keptByAge(
  container: RuntimeContainer,
  { clockUnsure = false, jumps = [] }: ContainerGcFacts,
  { mayStart, ...ruled }: Ruled & { readonly mayStart: boolean },
): Because<'ClockUnsure' | 'TooYoung'> | undefined {
  const { minimumAgeMs } = ruled.rule;
  const leastMs = mayStart ? Math.max(minimumAgeMs, startingMs) : minimumAgeMs;
  if (clockUnsure && leastMs > 0)
    return { reason: 'ClockUnsure', evidence: undefined, eligibleAt: nextPass(ruled) };
  const created = createdMs(container);
  const wantedMs = leastMs + ageErrorMs(created, jumps);
  if (!isCreatedAfter(container, ruled.now.getTime() - wantedMs)) return undefined;
  const eligibleAtMs = created + wantedMs;
  const evidence = { createdMs: created, eligibleAtMs, minimumAgeMs, mayStart };
  return { reason: 'TooYoung', evidence, eligibleAt: new Date(eligibleAtMs) };
}

interface Place {
  /** All of them. */
  readonly containers: readonly RuntimeContainer[];
  readonly pods: PodsNow;
}

/** Whether it is the newest attempt in a pod that has not finished: without any attempt the kubelet runs even a completed container again. */
function neededIn({ containers, pods }: Place): (container: RuntimeContainer) => boolean {
  const newest = new Set(units(containers).map(([first]) => first));
  return (container) => newest.has(container) && pods.standing(podRefOf(container).uid) !== 'Finished';
}

/** The limits count every dead container, as the kubelet's do; they never remove one that is needed. Oldest first. */
function planDead(
  dead: readonly RuntimeContainer[],
  { containers, pods }: Place,
  ruled: Ruled,
): readonly ContainerDecision<JudgedContainer>[] {
  const over = overLimits(dead, ruled.rule);
  const isNeeded = neededIn({ containers, pods });
  const becauseOf = (
    container: RuntimeContainer,
    place: number,
    attempts: number,
  ): Because<ContainerReason> => {
    const pod = podRefOf(container);
    const { name } = container;
    const evidence = { pod, container: name, place, attempts, total: dead.length, limits: ruled.rule };
    if (over.has(container) && !isNeeded(container)) return { reason: 'DeadContainer', evidence };
    if (pods.standing(pod.uid) === 'Quarantined') return quarantined(pods.ended(pod), ruled);
    return { reason: place === 1 ? 'NewestAttempt' : 'UnderLimit', evidence };
  };
  return units(dead)
    .flatMap((unit) => unit.map((one, i) => about(one, becauseOf(one, i + 1, unit.length), ruled)))
    .toSorted((a, b) => byNewest(b.target.container, a.target.container));
}
