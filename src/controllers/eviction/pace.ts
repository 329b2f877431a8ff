import type { Policy } from '../../api/policy/policy.ts';
import { isFinished } from '../../api/pod-phase.ts';
import { pauseAfter } from '../../runtime/scheduling/backoff.ts';
import type { EvictionFacts, EvictionPace, KnownPod, OwnerPace } from './facts.ts';

const minuteMs = 60_000;
const longestPauseMs = 60 * minuteMs;
/** An owner that lost no pod for so long begins anew. */
export const ownerRememberedMs = 2 * longestPauseMs;
/** The default of maxEvictionsPerMinute, for a policy that evicts for node pressure alone. */
const defaultMaxPerMinute = 10;
/** The API server cuts the time of a creation to whole seconds. */
const secondMs = 1000;

/** Identifies what replaces a pod: its controller; without one, whoever creates a pod of the same name. */
export const ownerOf = ({
  controller,
  namespace,
  name,
}: Pick<KnownPod, 'controller' | 'namespace' | 'name'>): string => controller?.uid ?? `${namespace}/${name}`;

/** Number of pods that an owner may lose in a minute: a tenth of them, at least one. */
export const allowanceOf = (replicas: number): number => Math.max(1, Math.floor(replicas / 10));

/** Time without an eviction after which the owner may lose pods again: a minute, doubled each time that a replacement was evicted. */
export const pauseMsOf = ({ strikes }: Pick<OwnerPace, 'strikes'>): number =>
  pauseAfter(strikes, { firstMs: minuteMs, longestMs: longestPauseMs });

/** Counts the pods of each owner of a requested pod that are neither finished nor terminating. */
export function replicasOf({
  reports,
  pods,
}: Pick<EvictionFacts, 'reports' | 'pods'>): EvictionFacts['replicas'] {
  const requested = reports.flatMap(({ requests }) => requests.flatMap(({ pod }) => pods.get(pod.uid) ?? []));
  const replicas = new Map(requested.map((pod) => [ownerOf(pod), 0]));
  for (const pod of pods.values()) {
    const owner = ownerOf(pod);
    const count = replicas.get(owner);
    if (count !== undefined && pod.deletionAtMs === undefined && !isFinished(pod))
      replicas.set(owner, count + 1);
  }
  return replicas;
}

/** Returns what makes the eviction of a pod of this owner wait; undefined = it may be sent now. */
export function paceOf(
  owner: string,
  { nodes }: Pick<Policy, 'nodes'>,
  {
    memory,
    replicas,
    monotonicMs,
  }: Pick<EvictionFacts, 'memory' | 'replicas'> & { readonly monotonicMs: number },
): EvictionPace | undefined {
  if (monotonicMs < memory.firstPause.untilMs) return 'leader';
  const lost = lostBy(memory.owners.get(owner), monotonicMs);
  if (lost >= allowanceOf(replicas.get(owner) ?? 0)) return 'owner';
  const most = nodes?.localStorageEviction?.maxEvictionsPerMinute ?? defaultMaxPerMinute;
  return withinMinute(memory.evictedAtMs, monotonicMs).length >= most ? 'cluster' : undefined;
}

/** Evictions of the owner since its last pause. */
const lostBy = (pace: OwnerPace | undefined, monotonicMs: number): number =>
  pace === undefined || isOver(pace, monotonicMs) ? 0 : pace.count;

const isOver = (pace: OwnerPace, monotonicMs: number): boolean =>
  monotonicMs - pace.lastMs >= pauseMsOf(pace);

/** The times, monotonic milliseconds, of the last minute. */
export const withinMinute = (timesMs: readonly number[], monotonicMs: number): readonly number[] =>
  timesMs.filter((atMs) => monotonicMs - atMs < minuteMs);

/** Returns the pace of an owner after one more eviction. */
export function paceAfter(
  before: OwnerPace | undefined,
  { createdAtMs }: Pick<KnownPod, 'createdAtMs'>,
  { now, monotonicMs }: { readonly now: Date; readonly monotonicMs: number },
): OwnerPace {
  const first: OwnerPace = {
    count: 1,
    lastMs: monotonicMs,
    sinceMs: now.getTime(),
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
    lastMs: monotonicMs,
    strikes: before.strikes + (isReplacement && !wasStruck ? 1 : 0),
    isStruck: wasStruck || isReplacement,
  };
}
