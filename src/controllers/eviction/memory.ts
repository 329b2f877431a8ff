import type {
  DeferralReason,
  Evicted,
  EvictionMemory,
  Pause,
  RequestedPod,
  RequestingNode,
} from './facts.ts';

/** The result of one try. */
export type Result =
  | { readonly kind: 'critical' | 'kept' }
  | { readonly kind: 'evicted'; readonly requestedGraceSeconds: number | undefined }
  | {
      readonly kind: 'deferred';
      readonly reason: DeferralReason;
      /** The Retry-After of the response. */
      readonly retryAfterMs: number | undefined;
    };

export const noMemory: EvictionMemory = {
  ...{ evicted: new Map(), critical: new Set(), deferred: new Map(), pauses: new Map() },
  firstPause: { untilMs: 0, measuredAfterMs: 0 },
};

/** A moment by both clocks. */
interface Moment {
  readonly now: Date;
  readonly monotonicMs: number;
}

/** The memory of a new leader: the one before may just have evicted a pod on any node. */
export const newMemory = (at: Moment): EvictionMemory => ({ ...noMemory, firstPause: pauseAfter(at) });

/** A node under pressure loses one pod a minute at most. */
const pressurePauseMs = 60_000;
/** After that, no measurement from before the eviction is fresh. */
const rememberedMs = 10 * 60_000;

const pauseAfter = ({ now, monotonicMs }: Moment): Pause => ({
  untilMs: monotonicMs + pressurePauseMs,
  measuredAfterMs: now.getTime(),
});

/** A budget that is exhausted briefly is tried again soon; one that never allows an eviction must cost little. */
const firstPauseMs = 10_000;
const longestPauseMs = 5 * 60_000;

/** Returns the memory after one more try. */
export function remember(
  before: EvictionMemory,
  target: Pick<RequestedPod, 'uid' | 'node'>,
  { result, ...at }: { readonly result: Result } & Moment,
): EvictionMemory {
  const { uid, node } = target;
  const { monotonicMs } = at;
  const memory = mayHaveEvicted(result) ? withPause(before, node, at) : before;
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
      const pauseMs = Math.max(firstPauseMs * 2 ** (tries - 1), result.retryAfterMs ?? 0);
      const untilMs = monotonicMs + Math.min(longestPauseMs, pauseMs);
      return { ...memory, deferred: deferred.set(uid, { reason: result.reason, tries, untilMs }) };
    }
  }
}

/** A request without a response may have been fulfilled. */
const mayHaveEvicted = (result: Result): boolean =>
  result.kind === 'evicted' || (result.kind === 'deferred' && result.reason === 'EvictionFailed');

function withPause(memory: EvictionMemory, node: string, at: Moment): EvictionMemory {
  const current = [...memory.pauses].filter(([, { untilMs }]) => at.monotonicMs - untilMs < rememberedMs);
  return { ...memory, pauses: new Map(current).set(node, pauseAfter(at)) };
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

/** Returns the memory without pods that are gone or that no report requests any more; `rememberReported` removes evicted ones. */
export function forgetOthers(
  memory: EvictionMemory,
  reports: readonly RequestingNode[],
  pods: ReadonlyMap<string, unknown>,
): EvictionMemory {
  const requested = new Set(reports.flatMap(({ requests }) => requests.map(({ pod }) => pod.uid)));
  const isRequested = (uid: string): boolean => requested.has(uid) && pods.has(uid);
  return {
    ...memory,
    critical: new Set([...memory.critical].filter(isRequested)),
    deferred: new Map([...memory.deferred].filter(([uid]) => isRequested(uid))),
  };
}
