import type { DeferralReason, Evicted, EvictionMemory, RequestingNode } from './facts.ts';

/** What one try came to. */
export type Result =
  | { readonly kind: 'critical' | 'kept' }
  | { readonly kind: 'evicted'; readonly requestedGraceSeconds: number | undefined }
  | {
      readonly kind: 'deferred';
      readonly reason: DeferralReason;
      /** The shortest pause that the server asks for. */
      readonly retryAfterMs: number | undefined;
    };

export const noMemory: EvictionMemory = { evicted: new Map(), critical: new Set(), deferred: new Map() };

/** A budget that is exhausted for a moment is soon tried again; one that never allows anything must cost next to nothing. */
const firstPauseMs = 10_000;
const longestPauseMs = 5 * 60_000;

/** The memory after one more try; every other one is a new value. */
export function remember(
  memory: EvictionMemory,
  uid: string,
  { result, monotonicMs }: { readonly result: Result; readonly monotonicMs: number },
): EvictionMemory {
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
      const pauseMs = Math.min(longestPauseMs, firstPauseMs * 2 ** (tries - 1));
      const untilMs = monotonicMs + Math.max(pauseMs, result.retryAfterMs ?? 0);
      return { ...memory, deferred: deferred.set(uid, { reason: result.reason, tries, untilMs }) };
    }
  }
}

/** How often in a row the pod was deferred for this reason. */
export function triesBefore({ deferred }: EvictionMemory, uid: string, reason: DeferralReason): number {
  const known = deferred.get(uid);
  return known?.reason === reason ? known.tries : 0;
}

/** The memory once it was reported that these evicted pods have not ended in time, without the evicted pods that are gone. */
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

/** The memory without the pods that no report requests any more, and those that are gone; evicted ones stay until they are gone (`rememberReported`). */
export function forgetOthers(
  memory: EvictionMemory,
  reports: readonly RequestingNode[],
  pods: ReadonlyMap<string, unknown>,
): EvictionMemory {
  const requested = new Set(reports.flatMap(({ requests }) => requests.map(({ pod }) => pod.uid)));
  const isWanted = (uid: string): boolean => requested.has(uid) && pods.has(uid);
  return {
    evicted: memory.evicted,
    critical: new Set([...memory.critical].filter(isWanted)),
    deferred: new Map([...memory.deferred].filter(([uid]) => isWanted(uid))),
  };
}
