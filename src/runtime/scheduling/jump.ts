import type { Clock } from './clock.ts';

/** Both clocks, read at one moment. */
export interface Moment {
  readonly wallMs: number;
  readonly monotonicMs: number;
}

export const momentOf = (clock: Pick<Clock, 'now' | 'monotonicMs'>): Moment => ({
  wallMs: clock.now().getTime(),
  monotonicMs: clock.monotonicMs(),
});

export interface Jump {
  /** Latest wall clock time before the jump, Unix milliseconds. */
  readonly untilMs: number;
  readonly ms: number;
}

/** A synchronised clock is never adjusted by more; after a larger jump ages are unknown. */
const tolerableMs = 60_000;
/** Only bounds the memory. */
const maxJumps = 100;

/** Jump of the wall clock between two moments, negative if it was set back; 0 if tolerable or without an earlier moment. */
export function jumpMs(before: Moment | undefined, now: Moment): number {
  if (before === undefined) return 0;
  const ms = now.wallMs - before.wallMs - (now.monotonicMs - before.monotonicMs);
  return Math.abs(ms) > tolerableMs ? ms : 0;
}

/** Whether the wall clock has jumped since that moment. */
export const hasJumped = (since: Moment, clock: Pick<Clock, 'now' | 'monotonicMs'>): boolean =>
  jumpMs(since, momentOf(clock)) !== 0;

export function withJump(jumps: readonly Jump[], before: Moment | undefined, now: Moment): readonly Jump[] {
  const ms = jumpMs(before, now);
  return ms > 0 ? [...jumps, { untilMs: now.wallMs - ms, ms }].slice(-maxJumps) : jumps;
}

/** Milliseconds by which an object with this date seems too old; never negative, because an object that seems too young is kept. */
export function ageErrorMs(datedMs: number, jumps: readonly Jump[]): number {
  let movedMs = datedMs;
  for (const { untilMs, ms } of jumps) if (movedMs <= untilMs) movedMs += ms;
  return movedMs - datedMs;
}
