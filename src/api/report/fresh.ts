/** An agent reports every 5 min; after three missed reports its node counts as not reporting. */
export const staleMinutes = 15;

/** Whether a time in a report is recent enough to decide by; undefined = the report has none. */
export const isFresh = (atMs: number | undefined, now: Date): boolean =>
  atMs !== undefined && now.getTime() - atMs <= staleMinutes * 60_000;

/** Whether a time in a report is too long ago: its agent may not run. A time that is not known is not stale. */
export const isStale = (time: string | undefined, now: Date): boolean =>
  time !== undefined && !isFresh(Date.parse(time), now);
