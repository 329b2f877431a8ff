/** Both clocks, read at one moment. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** More than a clock that is kept right is ever set by; after such a jump ages cannot be told. */
const tolerableMs = 60_000;

/** By how much more the wall clock moved on than time did, negative when it was set back; 0 when that is tolerable or nothing came before. */
export function jumpMs(before: Moment | undefined, now: Moment): number {
  if (before === undefined) return 0;
  const ms = now.wallMs - before.wallMs - (now.monotonicMs - before.monotonicMs);
  return Math.abs(ms) > tolerableMs ? ms : 0;
}
