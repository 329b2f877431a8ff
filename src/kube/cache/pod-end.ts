import { type ContainerStatus, type Pod, type PodCondition, PodStatus } from '../gen/core.ts';
import type { Time } from '../gen/meta.ts';

/** How a container ended. */
export interface End {
  readonly reason: string;
  readonly exitCode: number;
}

/**
 * The containers that decide how a finished pod ended, and when: its main containers; of a failed pod of which no main container failed, the init
 * containers, if one of them failed. Then no main container need have started.
 */
function decisive({
  phase,
  containerStatuses: main,
  initContainerStatuses: init,
}: PodStatus): readonly ContainerStatus[] {
  const isByInit = phase === 'Failed' && !main.some(hasFailed) && init.some(hasFailed);
  return isByInit ? init : main;
}

/**
 * The ends that explain the phase of a finished pod. A container that completed must not make a failed pod match a rule for completed ones, nor a
 * sidecar that was stopped at last a succeeded pod one for failures.
 */
export function endsOf(status: PodStatus): readonly End[] {
  const { phase } = status;
  if (phase !== 'Succeeded' && phase !== 'Failed') return [];
  const ended = decisive(status).filter((one) => phase === 'Succeeded' || hasFailed(one));
  return ended.flatMap(({ state }) => state?.terminated ?? []);
}

/** A container whose process ended with 0 may have lost another one to the memory limit: the runtime gives the reason OOMKilled. */
function hasFailed({ state }: ContainerStatus): boolean {
  if (state?.terminated === undefined) return false;
  const { reason, exitCode } = state.terminated;
  return exitCode !== 0 || (reason !== 'Completed' && reason !== '');
}

/**
 * Returns when a pod finished, by the clock of its node: the end of the last container, if every container that decides has one; else the time since
 * which DisruptionTarget is True. undefined = unknown: a pod that the kubelet rejects has neither, and its creation and start are only lower bounds.
 * A time before the creation shows that the node's clock was behind, so no later time is right either: that time is returned, and no plan trusts
 * it. The start of the pod shows the same, however long the pod ran.
 */
export function finishedAtMs(pod: Pod): number | undefined {
  const status = pod.status ?? noStatus;
  const isWhole = hasEnds(pod, status);
  const disrupted = isWhole ? undefined : ms(disruption(status)?.lastTransitionTime);
  if (!isWhole && disrupted === undefined) return undefined;
  const created = ms(pod.metadata?.creationTimestamp) ?? 0;
  const started = ms(status.startTime);
  if (started !== undefined && started < created - tolerableStartSkewMs) return started;
  const ends = [...containersOf(status).map(endedAtMs), disrupted].filter((at) => at !== undefined);
  return ends.find((at) => at < created) ?? Math.max(...ends);
}

export const noStatus = PodStatus.fromPartial({});

const containersOf = (status: PodStatus): readonly ContainerStatus[] => [
  ...status.containerStatuses,
  ...status.initContainerStatuses,
  ...status.ephemeralContainerStatuses,
];

/** Whether the status has the end of every container that may have run last. A container without any status may still run. */
function hasEnds({ spec }: Pod, status: PodStatus): boolean {
  const { containerStatuses: main, initContainerStatuses: init } = status;
  const isReported = ({ name }: { readonly name: string }): boolean => main.some((one) => one.name === name);
  if (main.length === 0 || spec?.containers.every(isReported) === false) return false;
  if (containersOf(status).some(({ state }) => state?.running !== undefined)) return false;
  if (decisive(status) === main) return main.every((one) => endedAtMs(one) !== undefined);
  return [...init, ...main].every((one) => endedAtMs(one) !== undefined || hasNeverRun(one));
}

const hasNeverRun = ({ state, lastState }: ContainerStatus): boolean =>
  state?.waiting !== undefined && lastState?.terminated === undefined;

/** Whether the pod failed after a disruption with this reason. */
export const wasDisrupted = (status: PodStatus, reason: string): boolean =>
  status.phase === 'Failed' && disruption(status)?.reason === reason;

const disruption = (status: PodStatus): PodCondition | undefined => trueCondition(status, 'DisruptionTarget');

export const trueCondition = ({ conditions }: PodStatus, name: string): PodCondition | undefined =>
  conditions.find(({ type, status }) => type === name && status === 'True');

const endedAtMs = ({ state }: ContainerStatus): number | undefined => ms(state?.terminated?.finishedAt);

/** A kubelet may start a pod within a second of its creation, and its clock may be slightly behind. */
const tolerableStartSkewMs = 5_000;

/** Returns undefined for zero, which means "never": the kubelet writes 1970 for a container that it lost. */
export const ms = (time: Time | undefined): number | undefined =>
  time === undefined || time.seconds <= 0 ? undefined : time.seconds * 1000;
