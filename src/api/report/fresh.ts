/** An agent reports every 5 min; after three missed reports its node counts as not reporting. */
export const staleMinutes = 15;

/** Whether a time in a report is recent enough to decide by, by a clock that may be ahead or behind; undefined = the report has none. */
export const isFresh = (atMs: number | undefined, now: Date): boolean =>
  atMs !== undefined && Math.abs(now.getTime() - atMs) <= staleMinutes * 60_000;

/** Whether a time in a report is too far away: its agent may not run. A time that is not known is not stale. */
export const isStale = (time: string | undefined, now: Date): boolean =>
  time !== undefined && !isFresh(Date.parse(time), now);

/** A report waits up to 62 s, which spreads the load (docs/scale.md); images for their first pass, the next measurement and report: up to 140 s. */
export const firstValues =
  'Agents report about a minute after their start, and their images within three minutes.';
