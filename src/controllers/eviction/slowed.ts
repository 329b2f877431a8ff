import type { PodFacts } from '../../kube/cache/objects.ts';
import type { EvictionDecision, EvictionFacts, EvictionMemory, OwnerPace, Replicas } from './facts.ts';
import { noReplicas, ownerOf } from './pace.ts';
import { causeOf } from './words.ts';
import type { PressureUse } from '../../agent/nodepressure/facts.ts';

/** An owner whose pods are due and wait for its pace. */
export interface SlowedOwner {
  /** `ownerOf` its pods. */
  readonly owner: string;
  /** The first of them. */
  readonly pod: PodFacts;
  /** Number of them. */
  readonly waiting: number;
  /** Its pods. */
  readonly replicas: Replicas;
  readonly pace: OwnerPace;
}

/** Returns the owners whose pods wait for their pace, and have not been reported since the pause last doubled. */
export function planSlowed(
  decisions: readonly EvictionDecision[],
  { pods, replicas, memory }: Pick<EvictionFacts, 'pods' | 'replicas' | 'memory'>,
): readonly SlowedOwner[] {
  const waiting = decisions.flatMap((one) =>
    one.reason === 'PacingLimit' && one.pace === 'owner' ? (pods.get(one.target.uid) ?? []) : [],
  );
  return [...Map.groupBy(waiting, ownerOf)].flatMap(([owner, [pod, ...others]]) => {
    const pace = memory.owners.get(owner);
    if (pod === undefined || pace === undefined || pace.reportedStrikes === pace.strikes) return [];
    return [{ owner, pod, waiting: others.length + 1, replicas: replicas.get(owner) ?? noReplicas, pace }];
  });
}

/** Returns the shortage of each node whose evictions for pressure freed nothing, and which was not reported yet. */
export function planStopped(
  decisions: readonly EvictionDecision[],
  relief: EvictionMemory['relief'],
): ReadonlyMap<string, PressureUse['shortage']> {
  return new Map(
    decisions.flatMap(({ reason, target: { node, request } }) => {
      const cause = causeOf(request);
      return reason === 'NothingFreed' && 'shortage' in cause && relief.get(node)?.isReported !== true
        ? [[node, cause.shortage]]
        : [];
    }),
  );
}
