import { globMatcher } from '../../runtime/text/glob.ts';
import { nearest } from '../../runtime/text/nearest.ts';
import { isInvalid, type InvalidPolicy, type Policy } from './policy.ts';

/** A reason in `pods.terminated.ttlByReason` that probably matches no pod. */
export interface ReasonDoubt {
  readonly reason: string;
  /** `pods.terminated.ttlByReason[0].reason "ExitCode:2"`. */
  readonly entry: string;
  readonly advice: string;
  /** Whether it is no reason, but another word that kubectl shows, or several; else no component of Kubernetes gives it to a finished pod. */
  readonly isCertain: boolean;
}

/** The doubtful reasons of a policy. A reason that upstream does not have may be another component's, and is not doubted. */
export function reasonDoubts(policy: Policy | InvalidPolicy): readonly ReasonDoubt[] {
  const rules = isInvalid(policy) ? [] : (policy.pods?.terminated?.ttlByReason ?? []);
  return rules.flatMap(({ reason }, i): readonly ReasonDoubt[] => {
    if (reason === undefined) return [];
    const entry = `pods.terminated.ttlByReason[${i}].reason ${JSON.stringify(reason)}`;
    const certain = impossible(reason);
    if (certain !== undefined) return [{ reason, entry, advice: certain, isCertain: true }];
    const advice = improbable(reason);
    return advice === undefined ? [] : [{ reason, entry, advice, isCertain: false }];
  });
}

/** Returns the advice for a word that is no reason; undefined = it may be one. */
function impossible(reason: string): string | undefined {
  const own = reason.replace(/^Init:/, '');
  const words = own.split(/[,;|\s]+/).filter((word) => word !== '');
  if (words.length > 1) return `write one entry for each reason: ${words.join(' and ')}.`;
  const [, kind, number = ''] = /^(ExitCode|Signal):([\d*?-]*)$/.exec(own) ?? [];
  if (kind !== undefined) return `write ${exitCodesOf(kind, number)} instead.`;
  if (['Succeeded', 'Failed'].includes(own)) return `it is a phase: write phase: ${own} instead.`;
  if (unfinished.test(own)) return 'only a pod that has not finished has this status.';
  return own === reason
    ? undefined
    : `write ${JSON.stringify(knownSpelling(own) ?? own)}: kubectl adds the prefix to the reason of an init container.`;
}

/** Words in the STATUS column of kubectl for pods that have not finished. */
const unfinished = /^(Pending|Running|Unknown|Terminating|NotReady|SchedulingGated|\d+\/\d+)$/;

/** How a process that a signal ended exits, by convention. */
const signalOffset = 128;

function exitCodesOf(kind: string, number: string): string {
  const code = number === '' ? NaN : Number(number);
  if (!Number.isInteger(code)) return 'exitCodes';
  return `exitCodes: [${kind === 'Signal' ? signalOffset + code : code}]`;
}

function improbable(reason: string): string | undefined {
  const matches = globMatcher(reason);
  if (finishedReasons.some(matches)) return undefined;
  if (waitingReasons.some(matches)) return 'only a waiting container has this reason.';
  if (/[*?]/.test(reason)) return undefined;
  const meant = knownSpelling(reason) ?? nearest(reason, finishedReasons);
  return meant && `did you mean ${meant}?`;
}

const knownSpelling = (reason: string): string | undefined =>
  finishedReasons.find((known) => known.toLowerCase() === reason.toLowerCase());

/** The reasons that the kubelet, the node controller and the runtimes give finished pods and ended containers. */
const finishedReasons: readonly string[] = [
  ...['Completed', 'ContainerCannotRun', 'ContainerStatusUnknown', 'Error', 'OOMKilled', 'StartError'],
  ...['DeadlineExceeded', 'Evicted', 'NodeLost', 'NodeShutdown', 'Preempting', 'Shutdown', 'Terminated'],
  ...['AppArmor', 'NodeAffinity', 'NodeName', 'NodePorts', 'SysctlForbidden', 'TopologyAffinityError'],
  ...['OutOfcpu', 'OutOfephemeral-storage', 'OutOfmemory', 'OutOfpods', 'UnexpectedAdmissionError'],
];

/** The reasons that the kubelet gives containers that have not started, or will start again. */
const waitingReasons: readonly string[] = [
  ...['ContainerCreating', 'PodInitializing', 'CrashLoopBackOff', 'RunContainerError'],
  ...['CreateContainerConfigError', 'CreateContainerError', 'PostStartHookError', 'PreCreateHookError'],
  ...['ErrImageNeverPull', 'ErrImagePull', 'ImageInspectError', 'ImagePullBackOff', 'InvalidImageName'],
  ...['PreStartHookError', 'RegistryUnavailable', 'SignatureValidationFailed'],
];
