import type { Clock } from './clock.ts';

/** Both clocks, read at one moment. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

/** What both clocks say now. */
export const momentOf = (clock: Pick<Clock, 'now' | 'monotonicMs'>): Moment => ({
  wallMs: clock.now().getTime(),
  monotonicMs: clock.monotonicMs(),
});

/** A jump of the wall clock forward. */
export interface Jump {
  /** What the wall clock said right before it, at the latest; Unix milliseconds. */
  readonly untilMs: number;
  readonly ms: number;
}

/** More than a clock that is kept right is ever set by; after such a jump ages cannot be told. */
const tolerableMs = 60_000;
/** Whose clock jumps more often has other troubles. */
const maxJumps = 100;

/** By how much more the wall clock moved on than time did, negative when it was set back; 0 when that is tolerable or nothing came before. */
export function jumpMs(before: Moment | undefined, now: Moment): number {
  if (before === undefined) return 0;
  const ms = now.wallMs - before.wallMs - (now.monotonicMs - before.monotonicMs);
  return Math.abs(ms) > tolerableMs ? ms : 0;
}

/** The jumps forward so far, with the one between two moments, if there was one. */
export function withJump(jumps: readonly Jump[], before: Moment | undefined, now: Moment): readonly Jump[] {
  const ms = jumpMs(before, now);
  return ms > 0 ? [...jumps, { untilMs: now.wallMs - ms, ms }].slice(-maxJumps) : jumps;
}

/** By how many milliseconds what is dated so looks older than it is: never less than 0, for what looks too young is kept anyway. */
export function ageErrorMs(datedMs: number, jumps: readonly Jump[]): number {
  let movedMs = datedMs;
  for (const { untilMs, ms } of jumps) if (movedMs <= untilMs) movedMs += ms;
  return movedMs - datedMs;
}
