import { isObject } from '../../api/json.ts';
import { isFinished } from '../../api/pod-phase.ts';
import { type ContainerStatus, type Pod, type PodCondition, PodStatus } from '../gen/core.ts';
import type { Time } from '../gen/meta.ts';

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

/** A writer of fields of an object, by its managedFields. */
export interface Writer {
  /** When it last changed one of them, by the clock of the API server; undefined = unknown. */
  readonly writtenAtMs: number | undefined;
  /** The paths of its fields; undefined = unknown. */
  readonly fields: () => unknown;
}

interface Finish {
  /**
   * By the clock of the node: the end of the last container, if every container that decides has one; else the time since which DisruptionTarget is
   * True, unless `finishedByMs` is known: the pod may run on for its grace period. undefined = unknown: a pod that the kubelet rejects has neither,
   * and its creation, its start and other conditions are only lower bounds. A time before the creation shows that the node's clock was behind, so no
   * later time is right either: that time is returned, and no plan trusts it. The start of the pod shows the same, however long the pod ran.
   */
  readonly finishedAtMs: number | undefined;
  /** When the API server stored the phase, or later; only if the status does not have a possible time. The pod has finished by then. */
  readonly finishedByMs: number | undefined;
}

/** Returns when a pod finished. `writers` is called only for a finished pod. */
export function finishOf(pod: Pod, writers: () => readonly Writer[]): Finish {
  const status = pod.status ?? noStatus;
  if (!isFinished(status)) return { finishedAtMs: undefined, finishedByMs: undefined };
  const created = ms(pod.metadata?.creationTimestamp) ?? 0;
  const isWhole = hasEnds(pod, status);
  const finishedAtMs = reportedFinish(status, { created, isWhole });
  const all = writers();
  const isPossible = (atMs: number): boolean =>
    atMs >= created && all.some(({ writtenAtMs = 0 }) => atMs <= writtenAtMs);
  if (isWhole && finishedAtMs !== undefined && isPossible(finishedAtMs))
    return { finishedAtMs, finishedByMs: undefined };
  const writtenAtMs = phaseWrittenAtMs(all);
  return writtenAtMs === undefined
    ? { finishedAtMs, finishedByMs: undefined }
    : { finishedAtMs: isWhole ? finishedAtMs : undefined, finishedByMs: Math.max(writtenAtMs, created) };
}

function reportedFinish(
  status: PodStatus,
  { created, isWhole }: { readonly created: number; readonly isWhole: boolean },
): number | undefined {
  const disrupted = isWhole ? undefined : ms(disruption(status)?.lastTransitionTime);
  if (!isWhole && disrupted === undefined) return undefined;
  const started = ms(status.startTime);
  if (started !== undefined && started < created - tolerableStartSkewMs) return started;
  const ends = [...containersOf(status).map(endedAtMs), disrupted].filter((at) => at !== undefined);
  return ends.find((at) => at < created) ?? Math.max(...ends);
}

/**
 * Returns the last change by the writer of the phase: it wrote the phase then, or before. A kubelet writes a final phase only after the end of the
 * last container. undefined = nobody, or at an unknown time.
 */
function phaseWrittenAtMs(writers: readonly Writer[]): number | undefined {
  const times = writers.filter(mayOwnPhase).map(({ writtenAtMs }) => writtenAtMs);
  const known = times.filter((at) => at !== undefined);
  return known.length === 0 || known.length < times.length ? undefined : Math.max(...known);
}

function mayOwnPhase({ fields }: Writer): boolean {
  const paths = fields();
  if (!isObject(paths)) return true;
  const status = paths['f:status'];
  return isObject(status) && status['f:phase'] !== undefined;
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
