import type { PodRef } from '../../api/pod-ref.ts';
import type { ContainerGcPolicy } from '../../api/policy/policy.ts';
import { ordinal, podText } from './words.ts';

export interface OfPod {
  readonly pod: PodRef | undefined;
}

/** The place of a dead container among those that the limits count. */
export interface DeadAttempt extends OfPod {
  readonly container: string;
  /** Place among the dead attempts of the same container of the same pod, from 1 for the newest. */
  readonly place: number;
  readonly attempts: number;
  /** Dead containers on the node. */
  readonly total: number;
  readonly limits: Pick<ContainerGcPolicy, 'maxPerPodContainer' | 'maxContainers'>;
}

/** A dead container that the limits keep, on a node that is short of disk. */
export interface ReclaimedAttempt extends DeadAttempt {
  /** The threshold that is crossed, as the policy has it. */
  readonly threshold: string;
}

export const isOverOwnLimit = ({ place, limits: { maxPerPodContainer = Infinity } }: DeadAttempt): boolean =>
  place > maxPerPodContainer;

export const placeText = (attempt: DeadAttempt): string =>
  `${rankText(attempt)} of container ${attempt.container} of ${podText(attempt.pod)}`;

function rankText({ place, attempts }: DeadAttempt): string {
  if (attempts === 1) return 'the only dead attempt';
  if (place === 1) return `the newest of the ${attempts} dead attempts`;
  const age = place === attempts ? 'oldest' : `${ordinal(attempts - place + 1)} oldest`;
  return `the ${age} of the ${attempts} dead attempts`;
}

export function countText(limit = Infinity): string {
  if (limit === Infinity) return 'any number';
  if (limit === 0) return 'none';
  return limit === 1 ? 'one' : String(limit);
}

/** -1 = no limit, as in the policy. */
export function perContainerField({ limits: { maxPerPodContainer = -1 } }: DeadAttempt): string {
  return `nodes.containerGC.maxPerPodContainer=${maxPerPodContainer}`;
}

export const totalField = ({ limits: { maxContainers = -1 } }: DeadAttempt): string =>
  `nodes.containerGC.maxContainers=${maxContainers}`;
