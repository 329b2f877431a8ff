import { isPressureRequest } from '../../api/local-storage.ts';
import { pauseAfter } from '../../runtime/scheduling/backoff.ts';
import type {
  DeferralReason,
  Evicted,
  EvictionMemory,
  NodeRelief,
  Pause,
  PodEviction,
  RequestedPod,
  RequestingNode,
} from './facts.ts';
import { ownerRememberedMs, paceAfter, withinMinute } from './pace.ts';

/** The result of one try. */
export type Result =
  | { readonly kind: 'critical' | 'kept' }
  | { readonly kind: 'evicted'; readonly requestedGraceSeconds: number | undefined }
  | {
      readonly kind: 'deferred';
      readonly reason: DeferralReason;
      /** The Retry-After of the response. */
      readonly retryAfterMs: number | undefined;
      /** The request was sent, and no response of the API server came: it may have been fulfilled. */
      readonly isUnanswered?: boolean;
    };

export const noMemory: EvictionMemory = {
  evicted: new Map(),
  critical: new Set(),
  deferred: new Map(),
  pauses: new Map(),
  firstPause: { untilMs: 0, measuredAfterMs: 0 },
  owners: new Map(),
  evictedAtMs: [],
  relief: new Map(),
};

/** A moment by both clocks. */
interface Moment {
  readonly now: Date;
  readonly monotonicMs: number;
}

/** The memory of a new leader. The one before may just have evicted any pod. */
export const newMemory = (at: Moment, hasPredecessor: boolean): EvictionMemory =>
  hasPredecessor ? { ...noMemory, firstPause: pauseFrom(at) } : noMemory;

/** A node under pressure loses one pod a minute at most. */
const pressurePauseMs = 60_000;
/** After so many evictions for node pressure that freed nothing, no more follow. */
export const vainEvictions = 3;
/** After that, no measurement from before the eviction is fresh. */
export const rememberedMs = 10 * 60_000;

const pauseFrom = ({ now, monotonicMs }: Moment): Pause => ({
  untilMs: monotonicMs + pressurePauseMs,
  measuredAfterMs: now.getTime(),
});

/** A budget that is exhausted briefly is tried again soon; one that never allows an eviction must cost little. */
const firstPauseMs = 10_000;
const longestPauseMs = 5 * 60_000;

/** Returns the memory after one more try. */
export function remember(
  before: EvictionMemory,
  target: PodEviction['target'],
  { result, ...at }: { readonly result: Result } & Moment,
): EvictionMemory {
  const { uid } = target;
  const { monotonicMs } = at;
  const memory = mayHaveEvicted(result) ? withPaces(before, target, { result, ...at }) : before;
  const deferred = new Map(memory.deferred);
  deferred.delete(uid);
  switch (result.kind) {
    case 'evicted': {
      const { requestedGraceSeconds } = result;
      const one: Evicted = { atMs: monotonicMs, requestedGraceSeconds, isReported: false };
      return { ...memory, deferred, evicted: new Map([...memory.evicted, [uid, one]]) };
    }
    case 'critical':
      return { ...memory, deferred, critical: new Set([...memory.critical, uid]) };
    case 'kept':
      return { ...memory, deferred };
    case 'deferred': {
      const tries = triesBefore(memory, uid, result.reason) + 1;
      const pauseMs = Math.max(pauseAfter(tries - 1, { firstMs: firstPauseMs }), result.retryAfterMs ?? 0);
      const untilMs = monotonicMs + Math.min(longestPauseMs, pauseMs);
      return { ...memory, deferred: deferred.set(uid, { reason: result.reason, tries, untilMs }) };
    }
  }
}

/** Returns the memory with the paces after a request that was or may have been fulfilled. */
function withPaces(
  memory: EvictionMemory,
  target: PodEviction['target'],
  { result, ...at }: { readonly result: Result } & Moment,
): EvictionMemory {
  const before = memory.owners.get(target.owner);
  const pace = paceAfter(before, target, at);
  // A request without a response is no proof that a replacement exceeds too.
  const { strikes = 0, isStruck = false } = before ?? {};
  const proven = result.kind === 'evicted' ? pace : { ...pace, strikes, isStruck };
  const owners = new Map([...memory.owners, [target.owner, proven]]);
  const paced = { ...withPause(memory, target.node, at), owners };
  // Requests that fail must not use up the evictions of the cluster.
  return result.kind === 'evicted' ? withEviction(paced, target, at) : paced;
}

function withEviction(
  memory: EvictionMemory,
  { node, request }: Pick<RequestedPod, 'node' | 'request'>,
  { monotonicMs }: Moment,
): EvictionMemory {
  const evictedAtMs = [...withinMinute(memory.evictedAtMs, monotonicMs), monotonicMs];
  if (!isPressureRequest(request)) return { ...memory, evictedAtMs };
  const { signal, shortage, observedBytes: used } = request;
  const before = memory.relief.get(node)?.evictions.filter((one) => one.signal === signal) ?? [];
  const relief: NodeRelief = {
    evictions: [...before, { signal, available: shortage.available, used }].slice(-vainEvictions),
    requestedMs: monotonicMs,
    isReported: false,
  };
  return { ...memory, evictedAtMs, relief: new Map([...memory.relief, [node, relief]]) };
}

const mayHaveEvicted = (result: Result): boolean =>
  result.kind === 'evicted' || (result.kind === 'deferred' && result.isUnanswered === true);

function withPause(memory: EvictionMemory, node: string, at: Moment): EvictionMemory {
  const current = [...memory.pauses].filter(([, { untilMs }]) => at.monotonicMs - untilMs < rememberedMs);
  return { ...memory, pauses: new Map(current).set(node, pauseFrom(at)) };
}

/** How often in a row the pod was deferred for this reason. */
export function triesBefore({ deferred }: EvictionMemory, uid: string, reason: DeferralReason): number {
  const known = deferred.get(uid);
  return known?.reason === reason ? known.tries : 0;
}

/** Returns the memory with these evicted pods as reported, and without the evicted pods that are gone. */
export function rememberReported(
  memory: EvictionMemory,
  reported: ReadonlySet<string>,
  pods: ReadonlyMap<string, unknown>,
): EvictionMemory {
  const left = [...memory.evicted].filter(([uid]) => pods.has(uid));
  const evicted = left.map(
    ([uid, one]) => [uid, reported.has(uid) ? { ...one, isReported: true } : one] as const,
  );
  return { ...memory, evicted: new Map(evicted) };
}

/** Returns the memory with the slowed owners and the nodes that Events have reported. */
export function rememberSlowed(
  memory: EvictionMemory,
  owners: ReadonlySet<string>,
  nodes: ReadonlySet<string>,
): EvictionMemory {
  return {
    ...memory,
    owners: new Map(
      [...memory.owners].map(([owner, pace]) => [
        owner,
        owners.has(owner) ? { ...pace, reportedStrikes: pace.strikes } : pace,
      ]),
    ),
    relief: new Map(
      [...memory.relief].map(([node, one]) => [node, nodes.has(node) ? { ...one, isReported: true } : one]),
    ),
  };
}

/**
 * Returns the memory without pods that are gone or that no report requests any more (`rememberReported` removes evicted ones), without owners that
 * lost no pod for two hours, and without nodes that have been without pressure for ten minutes.
 */
export function forgetOthers(
  memory: EvictionMemory,
  {
    reports,
    pods,
    monotonicMs,
  }: {
    readonly reports: readonly RequestingNode[];
    readonly pods: ReadonlyMap<string, unknown>;
    readonly monotonicMs: number;
  },
): EvictionMemory {
  const pressed = new Set(
    reports.filter(({ requests }) => requests.some(isPressureRequest)).map(({ name }) => name),
  );
  const isCurrent = ({ requestedMs }: NodeRelief): boolean => monotonicMs - requestedMs < rememberedMs;
  const requested = new Set(reports.flatMap(({ requests }) => requests.map(({ pod }) => pod.uid)));
  const isRequested = (uid: string): boolean => requested.has(uid) && pods.has(uid);
  return {
    ...memory,
    critical: new Set([...memory.critical].filter(isRequested)),
    deferred: new Map([...memory.deferred].filter(([uid]) => isRequested(uid))),
    owners: new Map([...memory.owners].filter(([, { lastMs }]) => monotonicMs - lastMs < ownerRememberedMs)),
    relief: new Map(
      [...memory.relief]
        .filter(([, one]) => isCurrent(one))
        .map(([node, one]) => [node, pressed.has(node) ? { ...one, requestedMs: monotonicMs } : one]),
    ),
  };
}
