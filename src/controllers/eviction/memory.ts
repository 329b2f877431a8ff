import type { EvictionKeepReason } from '../../api/reasons.ts';
import type { AskingNode } from './facts.ts';

/** What was done about pods that are still asked for, by their UID. */
export interface EvictionMemory {
  /** Evicted, and still in the API: the cache may not show that yet. */
  readonly evicted: ReadonlySet<string>;
  /** Found to be critical when they were read live: the cache does not tell. */
  readonly critical: ReadonlySet<string>;
  /** Not to be tried again before their time. */
  readonly deferred: ReadonlyMap<string, Deferral>;
}

interface Deferral {
  readonly reason: DeferralReason;
  /** In a row. */
  readonly tries: number;
  /** Of a clock that only grows. */
  readonly untilMs: number;
}

export type DeferralReason = Extract<
  EvictionKeepReason,
  'BudgetBlocked' | 'EvictionForbidden' | 'EvictionFailed'
>;

/** What one try came to. */
export type Result =
  | { readonly kind: 'evicted' | 'critical' | 'kept' }
  | {
      readonly kind: 'deferred';
      readonly reason: DeferralReason;
      /** What the server asks for at least. */
      readonly retryAfterMs: number | undefined;
    };

export const noMemory: EvictionMemory = { evicted: new Set(), critical: new Set(), deferred: new Map() };

/** A budget that is short for a moment is soon asked again; one that never allows anything must cost next to nothing. */
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
    case 'evicted':
      return { ...memory, deferred, evicted: new Set([...memory.evicted, uid]) };
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

/** Without the pods that nobody asks for any more, and those that are gone. */
export function forgetOthers(
  memory: EvictionMemory,
  reports: readonly AskingNode[],
  pods: ReadonlyMap<string, unknown>,
): EvictionMemory {
  const asked = new Set(reports.flatMap(({ requests }) => requests.map(({ pod }) => pod.uid)));
  const isWanted = (uid: string): boolean => asked.has(uid) && pods.has(uid);
  return {
    evicted: new Set([...memory.evicted].filter(isWanted)),
    critical: new Set([...memory.critical].filter(isWanted)),
    deferred: new Map([...memory.deferred].filter(([uid]) => isWanted(uid))),
  };
}
