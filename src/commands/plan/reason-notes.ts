import { isFinished } from '../../api/pod-phase.ts';
import { isInvalid } from '../../api/policy/policy.ts';
import { podReason } from '../../controllers/podgc/ttl.ts';
import { nearest } from '../../runtime/text/nearest.ts';
import type { PlanFacts } from '../../snapshot/plan-facts.ts';

/** Reasons of pods.terminated.ttlByReason that no finished pod can have, or that are probably misspelt. Those that a pod has are correct, whatever they are, so all pods must be known. */
export function reasonNotes({ policies = [], pods, part }: PlanFacts): readonly string[] {
  if (pods === undefined || part !== undefined) return [];
  const found = new Set(
    [...pods.values()]
      .filter(isFinished)
      .flatMap((pod) => [podReason(pod), ...pod.ends.map(({ reason }) => reason)]),
  );
  return policies.flatMap((policy) => {
    const rules = isInvalid(policy) ? [] : (policy.pods?.terminated?.ttlByReason ?? []);
    return rules.flatMap(({ reason = '' }, i) => {
      const doubt = found.has(reason) ? undefined : doubtAbout(reason);
      return doubt === undefined
        ? []
        : [
            `GCPolicy ${policy.name}: pods.terminated.ttlByReason[${i}].reason ${JSON.stringify(reason)} matches no finished pod; ${doubt}`,
          ];
    });
  });
}

/** undefined = none: a reason that upstream does not have may be another component's. */
function doubtAbout(reason: string): string | undefined {
  if (finishedReasons.includes(reason)) return undefined;
  if (waitingReasons.has(reason)) return 'only a waiting container has this reason.';
  // The STATUS column of kubectl puts it before the reason of an init container.
  const own = reason.replace(/^Init:/, '');
  const isSame = (known: string): boolean => known.toLowerCase() === own.toLowerCase();
  const meant = finishedReasons.find(isSame) ?? nearest(own, finishedReasons);
  return meant && `did you mean ${meant}?`;
}

/** The reasons that the kubelet, the node controller and the runtimes give finished pods and ended containers. */
const finishedReasons: readonly string[] = [
  ...['Completed', 'ContainerCannotRun', 'ContainerStatusUnknown', 'Error', 'OOMKilled', 'StartError'],
  ...['DeadlineExceeded', 'Evicted', 'NodeLost', 'NodeShutdown', 'Preempting', 'Shutdown', 'Terminated'],
  ...['AppArmor', 'NodeAffinity', 'NodeName', 'NodePorts', 'SysctlForbidden', 'TopologyAffinityError'],
  ...['OutOfcpu', 'OutOfephemeral-storage', 'OutOfmemory', 'OutOfpods', 'UnexpectedAdmissionError'],
];

/** The reasons that the kubelet gives containers that have not started, or will start again. */
const waitingReasons: ReadonlySet<string> = new Set([
  ...['ContainerCreating', 'PodInitializing', 'CrashLoopBackOff', 'RunContainerError'],
  ...['CreateContainerConfigError', 'CreateContainerError', 'PostStartHookError', 'PreCreateHookError'],
  ...['ErrImageNeverPull', 'ErrImagePull', 'ImageInspectError', 'ImagePullBackOff', 'InvalidImageName'],
  ...['PreStartHookError', 'RegistryUnavailable', 'SignatureValidationFailed'],
]);
