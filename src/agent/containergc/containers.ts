import { podRefOf, podUidOf } from '../../api/pod-ref.ts';
import type { ContainerGcPolicy } from '../../api/policy/policy.ts';
import type { RuntimeContainer, RuntimeSandbox } from '../../cri/runtime.ts';
import type { ContainerReason } from '../../gc/reasons/containers.ts';
import { ageErrorMs } from '../../runtime/scheduling/jump.ts';
import {
  containerTarget,
  decide,
  nextPass,
  sandboxTarget,
  type Because,
  type ContainerDecision,
  type ContainerGcFacts,
  type JudgedContainer,
  type JudgedSandbox,
  type PlanContext,
} from './facts.ts';
import { holdOf, quarantined, type PodsNow } from './pods.ts';

/**
 * Decides about each container: removes those of gone pods, then those over a limit, oldest first, as the kubelet does (`evictContainers`,
 * pkg/kubelet/kuberuntime/kuberuntime_gc.go).
 */
export function planContainers(
  facts: ContainerGcFacts,
  pods: PodsNow,
  context: PlanContext,
): readonly ContainerDecision<JudgedContainer>[] {
  const containers = (facts.containers ?? []).toSorted(byNewest).reverse();
  if (facts.sandboxes === undefined)
    return containers.map((one) => about(one, { reason: 'ContainersUnknown', evidence: undefined }, context));

  const kept: ContainerDecision<JudgedContainer>[] = [];
  const gone: ContainerDecision<JudgedContainer>[] = [];
  const dead: RuntimeContainer[] = [];
  for (const container of containers) {
    const because = keptOutright(container, facts, pods, context);
    const pod = podRefOf(container);
    if (because !== undefined) kept.push(about(container, because, context));
    else if (pods.stateOf(pod.uid) === 'Gone')
      gone.push(about(container, { reason: 'PodGone', evidence: pods.ended(pod) }, context));
    else dead.push(container);
  }
  const excess = excessIn(containers, pods);
  return [
    ...gone,
    ...withDueTimes([...planDead(dead, excess, pods, context), ...kept], excess, pods, context),
  ];
}

const about = (
  container: RuntimeContainer,
  because: Because<ContainerReason>,
  { policy }: PlanContext,
): ContainerDecision<JudgedContainer> => decide({ target: containerTarget(container), policy }, because);

/** Why the container is kept whatever the limits; undefined = the limits decide, or its pod is gone. */
function keptOutright(
  container: RuntimeContainer,
  facts: ContainerGcFacts,
  pods: PodsNow,
  context: PlanContext,
): Because<ContainerReason> | undefined {
  const pod = podRefOf(container);
  if (container.state === 'Running') return { reason: 'Running', evidence: { kind: 'Container' } };
  if (podUidOf(container) === undefined) return { reason: 'NotKubelets', evidence: undefined };
  const podState = pods.stateOf(pod.uid);
  const hold = holdOf(podState);
  if (hold !== undefined) return { reason: hold, evidence: { pod } };
  if (container.state === 'Unknown' && podState !== 'Gone')
    return podState === 'Quarantined'
      ? quarantined(pods.ended(pod), context)
      : { reason: 'UnknownState', evidence: { pod } };
  return keptByAge(container, facts, context, container.state === 'Created' && podState !== 'Gone');
}

/** A container looks dead between its creation and its start; the kubelet gives the runtime two minutes for a call. */
const startingMs = 120_000;

function keptByAge(
  container: RuntimeContainer,
  { clockUnsure = false, jumps = [] }: ContainerGcFacts,
  context: PlanContext,
  mayStart: boolean,
): Because<'ClockUnsure' | 'TooYoung'> | undefined {
  const { minimumAgeMs } = context.rule;
  const leastMs = mayStart ? Math.max(minimumAgeMs, startingMs) : minimumAgeMs;
  if (clockUnsure && leastMs > 0)
    return { reason: 'ClockUnsure', evidence: undefined, eligibleAt: nextPass(context) };
  const createdMs = Number((container.createdAtNs + msInNs - 1n) / msInNs);
  const wantedMs = leastMs + ageErrorMs(createdMs, jumps);
  // Compared to the nanosecond, as the kubelet does (pkg/kubelet/kuberuntime/kuberuntime_gc.go).
  const latest = BigInt(Math.floor(context.now.getTime() - wantedMs)) * msInNs;
  if (container.createdAtNs <= latest) return undefined;
  const eligibleAtMs = createdMs + wantedMs;
  const evidence = { sinceMs: createdMs, isLog: false, eligibleAtMs, minimumAgeMs, mayStart };
  return { reason: 'TooYoung', evidence, eligibleAt: new Date(eligibleAtMs) };
}

const msInNs = 1_000_000n;

/** Finds the containers that limits remove, among those that count. */
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

/** Decides about dead containers by the limits, oldest first. */
function planDead(
  dead: readonly RuntimeContainer[],
  excess: Excess,
  pods: PodsNow,
  context: PlanContext,
): readonly ContainerDecision<JudgedContainer>[] {
  const { rule: limits, demand } = context;
  const over = excess(dead, limits);
  const reclaimed = excess(dead, limitsOf(context));
  const becauseOf = (
    container: RuntimeContainer,
    place: number,
    attempts: number,
  ): Because<ContainerReason> => {
    const pod = podRefOf(container);
    const { name } = container;
    const evidence = { pod, container: name, place, attempts, total: dead.length, limits };
    if (over.has(container)) return { reason: 'DeadContainer', evidence };
    if (demand !== undefined && reclaimed.has(container))
      return { reason: demand.signal, evidence: { ...evidence, threshold: demand.threshold } };
    if (pods.stateOf(pod.uid) === 'Quarantined') return quarantined(pods.ended(pod), context);
    return { reason: place === 1 ? 'NewestAttempt' : 'UnderLimit', evidence };
  };
  return attemptsPerPodContainer(dead)
    .flatMap((attempts) =>
      attempts.map((one, i) => about(one, becauseOf(one, i + 1, attempts.length), context)),
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
  pods: PodsNow,
  context: PlanContext,
): readonly ContainerDecision<JudgedContainer>[] {
  const isOpen = (one: ContainerDecision<JudgedContainer>): boolean => isLeftToLimits(one, pods);
  const { now } = context;
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
  { sandboxes = [] }: ContainerGcFacts,
  left: readonly RuntimeContainer[] | undefined,
  pods: PodsNow,
  context: PlanContext,
): readonly ContainerDecision<JudgedSandbox>[] {
  const inUse = left && new Set(left.map(({ sandboxId }) => sandboxId));
  const oldestFirst = sandboxes.toSorted(byNewest).reverse();
  const newest = new Set([...Map.groupBy(oldestFirst, podUidOf).values()].map((ofPod) => ofPod.at(-1)));
  return oldestFirst.map((sandbox) => {
    const because =
      sandboxKeptOutright(sandbox, inUse, pods, context) ??
      sandboxBecauseOfPod(sandbox, newest.has(sandbox), pods, context);
    return decide({ target: sandboxTarget(sandbox), policy: context.policy }, because);
  });
}

/** Why the sandbox is kept whatever became of its pod; undefined = the pod decides. */
function sandboxKeptOutright(
  sandbox: RuntimeSandbox,
  inUse: ReadonlySet<string> | undefined,
  pods: PodsNow,
  context: PlanContext,
): Because<ContainerReason> | undefined {
  const kind = 'Sandbox';
  if (!context.rule.sandboxes) return { reason: 'RuleOff', evidence: { kind, isWhole: false } };
  if (sandbox.state === 'Ready') return { reason: 'Running', evidence: { kind } };
  if (podUidOf(sandbox) === undefined) return { reason: 'NotKubelets', evidence: undefined };
  const pod = podRefOf(sandbox);
  const hold = holdOf(pods.stateOf(pod.uid));
  if (hold !== undefined) return { reason: hold, evidence: { pod } };
  if (inUse === undefined) return { reason: 'ContainersUnknown', evidence: undefined };
  return inUse.has(sandbox.id) ? { reason: 'InUse', evidence: { kind, pod } } : undefined;
}

function sandboxBecauseOfPod(
  sandbox: RuntimeSandbox,
  isNewest: boolean,
  pods: PodsNow,
  context: PlanContext,
): Because<ContainerReason> {
  const pod = podRefOf(sandbox);
  const podState = pods.stateOf(pod.uid);
  const ended = pods.ended(pod);
  if (podState === 'Gone') return { reason: 'Sandbox', evidence: { ...ended, isPodGone: true } };
  if (!isNewest) return { reason: 'Sandbox', evidence: { ...ended, isPodGone: false } };
  if (podState === 'Quarantined') return quarantined(ended, context);
  return { reason: 'NewestSandbox', evidence: { pod } };
}
