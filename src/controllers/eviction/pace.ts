import type { Policy } from '../../api/policy/policy.ts';
import { isFinished } from '../../api/pod-phase.ts';
import type { PodFacts } from '../../kube/cache/objects.ts';
import { pauseAfter } from '../../runtime/scheduling/backoff.ts';
import type { Moment } from '../../runtime/scheduling/jump.ts';
import type { EvictionFacts, EvictionPace, OwnerPace, Replica, Replicas } from './facts.ts';

const minuteMs = 60_000;
const longestPauseMs = 60 * minuteMs;
/** An owner that lost no pod for so long begins anew. */
export const ownerRememberedMs = 2 * longestPauseMs;
/** The default of maxEvictionsPerMinute, for a policy that evicts for node pressure alone. */
const defaultMaxPerMinute = 10;
/** The API server cuts the time of a creation to whole seconds. */
const secondMs = 1000;

/**
 * Identifies what replaces a pod: its controller, which is in its namespace; without one, whoever creates a pod of the same name. Anyone may write the
 * UID of a controller in another namespace.
 */
export const ownerOf = ({
  controller,
  namespace,
  name,
}: Pick<PodFacts, 'controller' | 'namespace' | 'name'>): string =>
  controller === undefined ? `${namespace}/${name}` : `${namespace} ${controller.uid}`;

/** Number of pods that an owner may lose in a minute: a tenth of those that are ready, at least one. */
export const allowanceOf = ({ ready }: Pick<Replicas, 'ready'>): number =>
  Math.max(1, Math.floor(ready / 10));

/** Returns what a pod is to its owner. */
export function replicaOf(pod: PodFacts, replicas: EvictionFacts['replicas']): Replica {
  const owner = ownerOf(pod);
  return { owner, ready: pod.ready, allowance: allowanceOf(replicas.get(owner) ?? noReplicas) };
}

export const noReplicas: Replicas = { ready: 0, others: 0 };

/** Time without an eviction after which the owner may lose pods again: a minute, doubled each time that a replacement was evicted. */
export const pauseMsOf = ({ strikes }: Pick<OwnerPace, 'strikes'>): number =>
  pauseAfter(strikes, { firstMs: minuteMs, longestMs: longestPauseMs });

/** Counts the unfinished pods of each owner of a requested pod. One that is evicted does not serve, even if the cache does not show it yet. */
export function replicasOf({
  reports,
  pods,
  memory,
}: Pick<EvictionFacts, 'reports' | 'pods' | 'memory'>): EvictionFacts['replicas'] {
  const requested = reports.flatMap(({ requests }) => requests.flatMap(({ pod }) => pods.get(pod.uid) ?? []));
  const replicas = new Map(requested.map((pod) => [ownerOf(pod), noReplicas]));
  // Few of 100 000 pods are in these, and this runs again before each eviction.
  const namespaces = new Set(requested.map(({ namespace }) => namespace));
  if (replicas.size === 0) return replicas;
  for (const pod of pods.values()) {
    if (!namespaces.has(pod.namespace)) continue;
    const owner = ownerOf(pod);
    const count = replicas.get(owner);
    if (count === undefined || isFinished(pod)) continue;
    const serves = pod.ready && pod.deletionAtMs === undefined && !memory.evicted.has(pod.uid);
    const { ready, others } = count;
    replicas.set(owner, serves ? { ready: ready + 1, others } : { ready, others: others + 1 });
  }
  return replicas;
}

/** Returns what makes the eviction of a pod wait; undefined = it may be sent now. */
export function paceOf(
  { owner, ready }: Pick<Replica, 'owner' | 'ready'>,
  { nodes }: Pick<Policy, 'nodes'>,
  {
    memory,
    replicas,
    monotonicMs,
  }: Pick<EvictionFacts, 'memory' | 'replicas'> & { readonly monotonicMs: number },
): EvictionPace | undefined {
  if (monotonicMs < memory.firstPause.untilMs) return 'leader';
  const siblings = replicas.get(owner) ?? noReplicas;
  const round = openRound(memory.owners.get(owner), monotonicMs);
  if (round !== undefined && round.count >= allowedIn(round, siblings)) return 'owner';
  if (ready && siblings.ready <= 1 && siblings.others > 0) return 'ready';
  const most = nodes?.localStorageEviction?.maxEvictionsPerMinute ?? defaultMaxPerMinute;
  return withinMinute(memory.evictedAtMs, monotonicMs).length >= most ? 'cluster' : undefined;
}

/** The evictions of the owner since its last pause; undefined = none. */
const openRound = (pace: OwnerPace | undefined, monotonicMs: number): OwnerPace | undefined =>
  pace === undefined || isOver(pace, monotonicMs) ? undefined : pace;

/** Replacements that are ready do not raise what the round allows; other pods that are not ready any more lower it. */
const allowedIn = ({ count, allowance }: OwnerPace, { ready }: Replicas): number =>
  Math.min(allowance, allowanceOf({ ready: ready + count }));

const isOver = (pace: OwnerPace, monotonicMs: number): boolean =>
  monotonicMs - pace.lastMs >= pauseMsOf(pace);

/** The times, monotonic milliseconds, of the last minute. */
export const withinMinute = (timesMs: readonly number[], monotonicMs: number): readonly number[] =>
  timesMs.filter((atMs) => monotonicMs - atMs < minuteMs);

/** Returns the pace of an owner after one more eviction. */
export function paceAfter(
  before: OwnerPace | undefined,
  { createdAtMs, allowance }: Pick<PodFacts, 'createdAtMs'> & Pick<Replica, 'allowance'>,
  { wallMs, monotonicMs }: Moment,
): OwnerPace {
  const first: OwnerPace = {
    count: 1,
    allowance,
    lastMs: monotonicMs,
    sinceMs: wallMs,
    strikes: 0,
    isStruck: false,
    reportedStrikes: undefined,
  };
  if (before === undefined) return first;
  const isNewRound = isOver(before, monotonicMs);
  const wasStruck = before.isStruck && !isNewRound;
  const isReplacement = createdAtMs >= before.sinceMs - secondMs;
  return {
    ...before,
    count: isNewRound ? 1 : before.count + 1,
    allowance: isNewRound ? allowance : before.allowance,
    lastMs: monotonicMs,
    strikes: before.strikes + (isReplacement && !wasStruck ? 1 : 0),
    isStruck: wasStruck || isReplacement,
  };
}
