import type { OwnerRef, PodFacts } from '../../kube/cache/objects.ts';
import { isOf } from './facts.ts';

/** `Job report`; `unknown` if there is no owner. */
export const ownerText = (owner: OwnerRef | undefined, unknown: string): string =>
  owner === undefined ? unknown : `${owner.kind} ${owner.name}`;

/** Why a pod that has finished still has the finalizer of the Job controller. */
export function uncountedText({ controller }: PodFacts, jobExists: boolean | undefined): string {
  const has = 'It has the finalizer batch.kubernetes.io/job-tracking';
  const job = ownerText(controller, '');
  if (jobExists === true) return `${has}: ${job} has not counted it yet.`;
  if (jobExists === undefined)
    return `${has}: ${job} has not counted it, or does not exist; the list of Jobs is not known.`;
  const remedy = 'no Job counts the pod. If the finalizer stays, a user has to remove it (kubectl edit)';
  if (controller === undefined) return `${has}, but no owner: ${remedy}.`;
  return isOf(controller, 'batch', 'Job')
    ? `${has}, but ${job} does not exist, or is too new for the list of Jobs. If it was deleted, ${remedy}.`
    : `${has}, but its owner ${job} is no Job: ${remedy}.`;
}

/** Why the Job of a pod counts as unfinished. */
export function jobText(pod: PodFacts, exists: boolean | undefined): string {
  const job = ownerText(pod.controller, 'Its Job');
  if (exists === undefined) return `The list of Jobs is not known, so ${job} may still be running.`;
  return exists
    ? `${job} has neither the condition Complete nor Failed.`
    : `${job} does not exist, or is too new for the list of Jobs. If it was deleted, the garbage collector of kube-controller-manager deletes the pod, too.`;
}

/** Which containers keep a pod running whose others have ended; '' = none has ended. */
export function partlyEndedText({ partlyEnded, controller }: PodFacts): string {
  if (partlyEnded === undefined) return '';
  const [ended, running] = [partlyEnded.ended, partlyEnded.running].map(
    (names) => `${names.length === 1 ? 'container' : 'containers'} ${names.join(', ')}`,
  );
  return ` Its ${ended} ended, but its ${running} still ${partlyEnded.running.length === 1 ? 'runs' : 'run'}, so ${isOf(controller, 'batch', 'Job') ? 'neither the pod nor its Job finishes' : 'the pod does not finish'}. A sidecar must exit after the work, or be a native one: an init container with restartPolicy: Always, which the kubelet ends.`;
}
