/** A cache that is not current: nothing is decided from it. */
export interface StaleCache {
  readonly resource: string;
  /** Since when, monotonic milliseconds. */
  readonly sinceMs: number;
  /** The last failure of its list or watch; undefined = its first list has not ended. */
  readonly error: string | undefined;
}

export interface Cache {
  readonly resource: string;
  /** undefined = it is current, or nothing needs it. */
  readonly stale: StaleCache | undefined;
}

/** A pass that waits longer for its caches is reported: a list of a large cluster, and a restarted API server, take less. */
export const staleAfterMs = 2 * 60_000;

/** The caches that have not been current for so long that it must be reported. */
export const reportableStale = (caches: readonly Cache[], monotonicMs: number): readonly StaleCache[] =>
  caches.flatMap(({ stale }) =>
    stale !== undefined && monotonicMs - stale.sinceMs >= staleAfterMs ? [stale] : [],
  );
