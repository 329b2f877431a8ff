/** Three times the 5 min after which an agent reports; the controller uses the same limit. */
export const staleMinutes = 15;

/** Whether a time in a report is too long ago: its agent may not run. A time that is not known is not stale. */
export const isStale = (time: string | undefined, now: Date): boolean =>
  time !== undefined && now.getTime() - Date.parse(time) > staleMinutes * 60_000;
