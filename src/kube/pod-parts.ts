import { withFinalizer } from '../api/finalizers.ts';
import { PodStatus, type ContainerStatus, type Pod } from './gen/core.ts';
import { ObjectMeta, type OwnerReference } from './gen/meta.ts';

/** Unix time; undefined = nobody says. */
export type Seconds = number | undefined;

/** What the facts of a pod are made of, in whatever form it came. Texts are '' where it has none. */
export interface PodParts {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly resourceVersion: string;
  readonly generation: number;
  readonly createdAt: Seconds;
  readonly deletionAt: Seconds;
  readonly deletionGracePeriodSeconds: number | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly ownerReferences: readonly OwnerReference[];
  /** As many as are kept. */
  readonly finalizers: readonly string[];
  readonly nodeName: string;
  readonly startedAt: Seconds;
  readonly phase: string;
  readonly reason: string;
  readonly message: string;
  /** When each container ended. */
  readonly ends: readonly Seconds[];
  /** When each init and ephemeral container ended. */
  readonly otherEnds: readonly Seconds[];
  /** When each condition changed. */
  readonly changes: readonly Seconds[];
}

const noMeta = ObjectMeta.fromPartial({});
const noStatus = PodStatus.fromPartial({});

/** The parts of a whole pod. */
export function partsOf({ metadata = noMeta, spec, status = noStatus }: Pod): PodParts {
  const { uid, name, namespace, resourceVersion, generation, deletionGracePeriodSeconds } = metadata;
  const { labels, ownerReferences } = metadata;
  const { phase, reason, message, containerStatuses, conditions } = status;
  return {
    ...{ uid, name, namespace, resourceVersion, generation, deletionGracePeriodSeconds },
    ...{ labels, ownerReferences },
    finalizers: metadata.finalizers.reduce<string[]>(withFinalizer, []),
    ...{ phase, reason, message },
    createdAt: metadata.creationTimestamp?.seconds,
    deletionAt: metadata.deletionTimestamp?.seconds,
    nodeName: spec?.nodeName ?? '',
    startedAt: status.startTime?.seconds,
    ends: containerStatuses.map(endOf),
    otherEnds: [...status.initContainerStatuses, ...status.ephemeralContainerStatuses].map(endOf),
    changes: conditions.map(({ lastTransitionTime }) => lastTransitionTime?.seconds),
  };
}

const endOf = ({ state }: ContainerStatus): Seconds => state?.terminated?.finishedAt?.seconds;
