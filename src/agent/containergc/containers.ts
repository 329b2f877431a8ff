import { podRefOf, podUidOf } from '../../api/pod-ref.ts';
import type { ContainerGcPolicy } from '../../api/policy/policy.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../cri/runtime.ts';
import { ageErrorMs } from '../../runtime/scheduling/jump.ts';
import {
  containerTarget,
  decide,
  nextPass,
  sandboxTarget,
  type AttemptPlace,
  type Because,
  type ContainerDecision,
  type JudgedContainer,
  type JudgedSandbox,
  type KeptBecause,
  type PlanContext,
  type PodsNow,
  type PodState,
} from './facts.ts';
import { keptBecauseOfState, quarantined } from './pods.ts';

/**
 * Decides about each container: removes those of gone pods, then those over a limit, oldest first, as the kubelet does (`evictContainers`,
 * pkg/kubelet/kuberuntime/kuberuntime_gc.go).
 */
export function planContainers(context: PlanContext): readonly ContainerDecision<JudgedContainer>[] {
  const { facts, pods } = context;
  const containers = (facts.containers ?? []).toSorted(byNewest).reverse();
  if (facts.sandboxes === undefined)
    return containers.map((one) => about(one, { reason: 'ContainersUnknown' }, context));

  const kept: ContainerDecision<JudgedContainer>[] = [];
  const gone: ContainerDecision<JudgedContainer>[] = [];
  const dead: RuntimeContainer[] = [];
  for (const container of containers) {
    const because = keptBecauseOutright(container, context);
    if (because !== undefined) kept.push(about(container, because, context));
    else if (pods.stateOf(podRefOf(container).uid) === 'Gone')
      gone.push(about(container, { reason: 'PodGone' }, context));
    else dead.push(container);
  }
  const excess = excessIn(containers, pods);
  return [...gone, ...withDueTimes([...planDead(dead, excess, context), ...kept], excess, context)];
}

const about = (
  container: RuntimeContainer,
  because: Because,
  { policy }: PlanContext,
  place?: AttemptPlace,
): ContainerDecision<JudgedContainer> =>
  decide({ target: containerTarget(container, place), policy }, because);

/** Why the container is kept whatever the limits; undefined = the limits decide, or its pod is gone. */
function keptBecauseOutright(container: RuntimeContainer, context: PlanContext): KeptBecause | undefined {
  if (container.state === 'Running') return { reason: 'Running' };
  const uid = podUidOf(container);
  if (uid === undefined) return { reason: 'NotKubelets' };
  const podState = context.pods.stateOf(uid);
  const kept = keptBecauseOfState(podState);
  if (kept !== undefined) return kept;
  if (container.state === 'Unknown' && podState !== 'Gone')
    return podState === 'Quarantined' ? quarantined(context) : { reason: 'UnknownState' };
  return keptBecauseOfAge(container, context, container.state === 'Created' && podState !== 'Gone');
}

/** A container looks dead between its creation and its start; the kubelet gives the runtime two minutes for a call. */
const startingMs = 120_000;

function keptBecauseOfAge(
  container: RuntimeContainer,
  context: PlanContext,
  mayStart: boolean,
): KeptBecause | undefined {
  const { clockUnsure = false, jumps = [] } = context.facts;
  const { minimumAgeMs } = context.rule;
  const leastMs = mayStart ? Math.max(minimumAgeMs, startingMs) : minimumAgeMs;
  if (clockUnsure && leastMs > 0) return { reason: 'ClockUnsure', eligibleAt: nextPass(context) };
  const createdMs = Number((container.createdAtNs + msInNs - 1n) / msInNs);
  const wantedMs = leastMs + ageErrorMs(createdMs, jumps);
  // Compared to the nanosecond, as the kubelet does (pkg/kubelet/kuberuntime/kuberuntime_gc.go).
  const latest = BigInt(Math.floor(context.now.getTime() - wantedMs)) * msInNs;
  if (container.createdAtNs <= latest) return undefined;
  return {
    reason: 'TooYoung',
    sinceMs: createdMs,
    leastAgeMs: wantedMs,
    mayStart: mayStart && wantedMs > minimumAgeMs,
    eligibleAt: new Date(createdMs + wantedMs),
  };
}

const msInNs = 1_000_000n;

type Excess = (
  counted: readonly RuntimeContainer[],
  limits: ContainerLimits,
) => ReadonlySet<RuntimeContainer>;

/** The limits count every dead container, as the kubelet's do, but never remove a needed one. */
function excessIn(all: readonly RuntimeContainer[], pods: PodsNow): Excess {
  const newest = new Set(attemptsPerPodContainer(all).map(([first]) => first));
  // Without any attempt the kubelet runs even a completed container of an unfinished pod again.
  const isNeeded = (container: RuntimeContainer): boolean =>
    newest.has(container) && pods.stateOf(podRefOf(container).uid) !== 'Finished';
  return (counted, limits) => new Set([...overLimits(counted, limits)].filter((one) => !isNeeded(one)));
}

/** Under pressure no dead container is wanted any more. */
const limitsOf = ({ rule, demand }: PlanContext): ContainerLimits =>
  demand === undefined ? rule : { maxPerPodContainer: 0, maxContainers: 0 };

type ContainerLimits = Pick<ContainerGcPolicy, 'maxPerPodContainer' | 'maxContainers'>;

function planDead(
  dead: readonly RuntimeContainer[],
  excess: Excess,
  context: PlanContext,
): readonly ContainerDecision<JudgedContainer>[] {
  const { rule: limits, demand, pods } = context;
  const over = excess(dead, limits);
  const reclaimed = excess(dead, limitsOf(context));
  const becauseOf = (container: RuntimeContainer, { rank }: AttemptPlace): Because => {
    if (over.has(container)) return { reason: 'DeadContainer', total: dead.length };
    if (demand !== undefined && reclaimed.has(container))
      return { reason: demand.signal, threshold: demand.threshold };
    if (pods.stateOf(podRefOf(container).uid) === 'Quarantined') return quarantined(context);
    return { reason: rank === 1 ? 'NewestAttempt' : 'UnderLimit' };
  };
  return attemptsPerPodContainer(dead)
    .flatMap((attempts) =>
      attempts.map((one, i) => {
        const place = { rank: i + 1, attempts: attempts.length };
        return about(one, becauseOf(one, place), context, place);
      }),
    )
    .toSorted((a, b) => byNewest(b.target.container, a.target.container));
}

/**
 * Sets when each container becomes due that only the limits or its age keep. A young one counts from its minimum age on, and may then
 * push itself or an older one over a limit.
 */
function withDueTimes(
  decisions: readonly ContainerDecision<JudgedContainer>[],
  excess: Excess,
  context: PlanContext,
): readonly ContainerDecision<JudgedContainer>[] {
  const { now, pods } = context;
  const isOpen = (one: ContainerDecision<JudgedContainer>): boolean => isLeftToLimits(one, pods);
  const byTime = Map.groupBy(decisions.filter(isOpen), ({ eligibleAt = now }) => eligibleAt.getTime());
  const due = new Map<RuntimeContainer, Date>();
  let counted: readonly RuntimeContainer[] = [];
  for (const [ms, ones] of [...byTime].toSorted(([a], [b]) => a - b)) {
    const all = [...counted, ...ones.map(({ target }) => target.container)];
    const over = excess(all, limitsOf(context));
    for (const one of over) due.set(one, new Date(ms));
    counted = all.filter((one) => !over.has(one));
  }
  return decisions.map((one) => (isOpen(one) ? { ...one, eligibleAt: due.get(one.target.container) } : one));
}

/** A pod that is gone, or will be in the next pass, takes its containers along whatever the limits. */
function isLeftToLimits({ reason, target }: ContainerDecision<JudgedContainer>, pods: PodsNow): boolean {
  if (reason === 'TooYoung') return !['Gone', 'Quarantined'].includes(pods.stateOf(target.pod.uid));
  return reason === 'NewestAttempt' || reason === 'UnderLimit';
}

/** The attempts of one container of one pod, newest first. */
type Attempts = readonly RuntimeContainer[];

const attemptsPerPodContainer = (containers: readonly RuntimeContainer[]): readonly Attempts[] =>
  [...Map.groupBy(containers, attemptsKey).values()].map((attempts) => attempts.toSorted(byNewest));

/** Identifies the container of the pod that this is an attempt of. Names cannot contain the separator. */
export const attemptsKey = (container: RuntimeContainer): string =>
  `${podRefOf(container).uid}/${container.name}`;

/**
 * The dead containers over the limits: first the oldest attempts of each container of a pod, then, if all together are too many, those over
 * an equal share for each (even if fewer than the limit remain), and at last the oldest of all (`evictContainers`,
 * pkg/kubelet/kuberuntime/kuberuntime_gc.go).
 */
export function overLimits(
  dead: readonly RuntimeContainer[],
  { maxPerPodContainer, maxContainers }: ContainerLimits,
): ReadonlySet<RuntimeContainer> {
  const newest = attemptsPerPodContainer(dead).map((attempts) => attempts.slice(0, maxPerPodContainer));
  const left = new Set(underTotal(newest, maxContainers));
  return new Set(dead.filter((container) => !left.has(container)));
}

function underTotal(perPodContainer: readonly Attempts[], limit = Infinity): readonly RuntimeContainer[] {
  const all = perPodContainer.flat();
  if (all.length <= limit) return all;
  const share = Math.max(1, Math.floor(limit / perPodContainer.length));
  const shared = perPodContainer.flatMap((attempts) => attempts.slice(0, share));
  return shared.toSorted(byNewest).slice(0, limit);
}

/** Newest first; then the later attempt, then the greater id, so that the order of the list does not matter. */
export function byNewest(a: RuntimeContainer | RuntimeSandbox, b: RuntimeContainer | RuntimeSandbox): number {
  if (a.createdAtNs !== b.createdAtNs) return a.createdAtNs > b.createdAtNs ? -1 : 1;
  if (a.attempt !== b.attempt) return b.attempt - a.attempt;
  return a.id < b.id ? 1 : -1;
}

/**
 * Decides about each sandbox, oldest first: removes all inactive ones of a gone pod, and all but the newest of any other, as the kubelet does
 * (`evictSandboxes`, pkg/kubelet/kuberuntime/kuberuntime_gc.go). `left` are the containers that the plan keeps; undefined = unknown.
 */
export function planSandboxes(
  left: readonly RuntimeContainer[] | undefined,
  context: PlanContext,
): readonly ContainerDecision<JudgedSandbox>[] {
  const { sandboxes = [] } = context.facts;
  const inUse = left && new Set(left.map(({ sandboxId }) => sandboxId));
  const oldestFirst = sandboxes.toSorted(byNewest).reverse();
  const newest = new Set([...Map.groupBy(oldestFirst, podUidOf).values()].map((ofPod) => ofPod.at(-1)));
  return oldestFirst.map((sandbox) => {
    const podState = context.pods.stateOf(podRefOf(sandbox).uid);
    const because =
      sandboxKeptBecause(sandbox, inUse, podState, context) ??
      sandboxBecauseOfPod(podState, newest.has(sandbox), context);
    return decide({ target: sandboxTarget(sandbox, podState === 'Gone'), policy: context.policy }, because);
  });
}

/** Why the sandbox is kept whatever became of its pod; undefined = the pod decides. */
function sandboxKeptBecause(
  sandbox: RuntimeSandbox,
  inUse: ReadonlySet<string> | undefined,
  podState: PodState,
  context: PlanContext,
): KeptBecause | undefined {
  if (!context.rule.sandboxes) return { reason: 'RuleOff' };
  if (sandbox.state === 'Ready') return { reason: 'Running' };
  if (podUidOf(sandbox) === undefined) return { reason: 'NotKubelets' };
  const kept = keptBecauseOfState(podState);
  if (kept !== undefined) return kept;
  if (inUse === undefined) return { reason: 'ContainersUnknown' };
  return inUse.has(sandbox.id) ? { reason: 'InUse' } : undefined;
}

function sandboxBecauseOfPod(podState: PodState, isNewest: boolean, context: PlanContext): Because {
  if (podState === 'Gone' || !isNewest) return { reason: 'Sandbox' };
  return podState === 'Quarantined' ? quarantined(context) : { reason: 'NewestSandbox' };
}
